"""Which events count, and of which row: what the person's own rows in the three tables say."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.errors import InputError
from tests.extensions.sequences.events.tables import link, read, source

PERSONS = [("1", "0"), ("2", "1")]
ROWS = [("1", "v1", "a", "5"), ("1", "v2", "b", "1"), ("2", "v1", "b", "3")]


def test_an_event_is_of_its_own_person_and_of_that_persons_row() -> None:
    """The key v1 names another row of each person."""
    events = [("2", "v1", "z", "high"), ("1", "v2", "x", "low"), ("1", "v1", "y", "low"), ("1", "v2", "y", "high")]
    assert read(link(), PERSONS, ROWS, events) == [[("a", ["yl"]), ("b", ["xl", "yh"])], [("b", ["zh"])]]
    assert read(link(order="time"), PERSONS, ROWS, events)[0] == [("b", ["xl", "yh"]), ("a", ["yl"])]


def test_events_of_nobody_of_no_row_and_of_rows_that_do_not_count_do_not_count() -> None:
    strangers = [("", "v1", "x", "low"), ("3", "v1", "x", "low"), ("1", "", "x", "low"), ("1", "v9", "x", "low")]
    assert read(link(), PERSONS, [*ROWS, ("1", "", "a", "9")], strangers) == [[("a", []), ("b", []), ("a", [])], [("b", [])]]
    assert read(link(most=1), PERSONS, ROWS, [("1", "v2", "x", "low")])[0] == [("a", [])]


def test_only_the_first_events_of_a_row_count_in_file_order() -> None:
    events = [("1", "v1", drug, "low") for drug in "zyxzy"]
    assert read(link(), PERSONS, ROWS, events)[0][0] == ("a", ["zl", "yl", "xl"])
    assert read(link(most_events=1), PERSONS, ROWS, events)[0][0] == ("a", ["zl"])


def test_the_first_row_of_a_person_with_a_key_has_its_events_and_spellings_of_numbers_are_one_key() -> None:
    twice = [("1", "7", "a", "1"), ("1", "7.0", "b", "2")]
    assert read(link(), PERSONS[:1], twice, [("1", "7.0", "x", "low"), ("1.0", "7", "y", "low")]) == [[("a", ["xl", "yl"]), ("b", [])]]


def test_a_person_has_one_weight_in_every_table() -> None:
    for most_events in (1, 4, 6):
        for rows in range(5):
            for number in range(8):
                three = link(most_events=most_events)
                events = [("1", f"v{place % 2}", "x", "low") for place in range(number)]
                made = source(three, PERSONS[:1], [("1", f"v{place}", "a", "") for place in range(rows)], events)
                counts = made.counts([(), ("ward",), ("events", "drug"), ("region", "drug", "dose")])
                assert {int(table.sum()) for table in counts.values()} == {three.records_each}


def test_a_table_without_the_key_of_rows_is_refused_by_name() -> None:
    with pytest.raises(InputError, match="stay"):
        source(link(event_key="stay"), PERSONS, ROWS, [])


@pytest.mark.parametrize("wrong", [{"most_events": 0}, {"most_events": 7}, {"event_key": "ward"}, {"event_key": "drug"}])
def test_limits_and_keys_that_cannot_be_are_refused(wrong: dict[str, object]) -> None:
    with pytest.raises(InputError):
        link(**wrong)  # type: ignore[arg-type]
