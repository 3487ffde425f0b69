"""A run watched through its events, what runs are called, and the filters of its rows."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa
import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.release.release import Progress
from dpsynth_core.store.runs import Run
from dpsynth_core.vocabulary.domain import Attribute
from dpsynth_core.web.compare.compare_view import run_name
from dpsynth_core.web.results import results_view
from dpsynth_core.web.run import watch
from dpsynth_core.web.shell import document, numbers
from tests.web.drafts import complete

SAID = [
    Progress("phase", message="counting"),
    Progress("measured", 0, ("a",), 9.0, 0.1, 0.1, cells=3),
    Progress("fitted", 0, rho_spent=0.1, done=0.1, message="fit"),
    Progress("measured", 1, ("a (2 groups)", "b"), 4.0, 0.5, 0.5, cells=12),
]


def test_measurements_are_listed_in_order_with_their_share_of_the_budget() -> None:
    table = watch.measured(SAID, 1.0)
    assert table.zone is Zone.RELEASED
    assert table.value["marginal"].tolist() == ["a", "a (2 groups) × b"]
    assert table.value["cells"].tolist() == [3, 12]
    assert table.value["share_used"].tolist() == [0.1, 0.5]


def test_rounds_that_choose_are_told_in_words_with_what_they_cost() -> None:
    game = [Progress("phase", message="counting"), Progress("measured", 0, (), 41.9, 0.02, 0.0)]
    game += [Progress("fitted", i, rho_spent=0.02 + 0.49 * i, done=i / 2, message=f"{i} records") for i in (1, 2)]
    table = watch.round_lines(game, 1.0)
    assert table.zone is Zone.RELEASED
    assert table.value["said"].tolist() == ["(all rows), ± 41.9 people", "1 records", "2 records"]
    assert table.value["share_used"].tolist() == pytest.approx([0.02, 0.51, 1.0])
    assert watch.chooses(game)
    assert not watch.chooses(SAID)
    assert not watch.chooses([])
    assert not watch.chooses([*SAID, *game[2:], *game[2:]])  # rounds of sums of roots, which are not tables


def test_a_run_that_said_nothing_yet_has_an_empty_table() -> None:
    assert watch.measured([], 1.0).value.empty
    assert watch.share_done([]) == 0.0


def test_time_left_follows_the_forecast_first_and_the_pace_at_the_end() -> None:
    assert watch.seconds_left([], 2.0, 10.0) == 8.0
    assert watch.seconds_left([], 20.0, 10.0) == 0.0
    assert watch.seconds_left(SAID, 30.0, 10.0) == pytest.approx(15.0)  # half done: half the pace's 30 s, the forecast has run out
    nearly = [*SAID, Progress("measured", 2, ("b",), 2.0, 0.99, 0.99)]
    assert watch.seconds_left(nearly, 99.0, 1000.0) == pytest.approx(0.99 * 1.0 + 0.01 * 901.0)


@pytest.mark.parametrize(("seconds", "words"), [(0.2, "less than a second"), (12, "12 s"), (200, "3 min"), (7800, "2 h 10 min")])
def test_durations_are_read_as_people_say_them(seconds: float, words: str) -> None:
    assert numbers.duration(seconds) == words


PAPER = {"name": "mst", "settings": {"preset": "paper"}}
TITLE = registry.PUBLISHED["mst"].card.title


def test_a_run_as_published_is_called_so() -> None:
    def named(mechanism: dict[str, object]) -> str:
        spec = document.spec(complete() | {"mechanism": mechanism}, "Trial").model_dump_json()
        run = Run("1", "me", "2", spec, "abc", "People", 0.1, "done", True, "2026-01-02T03:04:05", None, None, None, "")
        return run_name(run).split(" · ")[0]

    assert named(PAPER) == TITLE
    assert named({"name": "mst", "settings": {}}) == registry.get("mst").card.title != TITLE


TABLE = pa.table({"sex": ["f", "m", None, "f"], "age": pa.array([10, None, 30, 40]), "day": [dt.date(2020, 1, d) for d in (1, 2, 3, 4)]})


def test_picked_values_and_missing_are_kept() -> None:
    assert results_view.one_of(TABLE, "sex", ["f"]).column("age").to_pylist() == [10, 40]
    assert results_view.one_of(TABLE, "sex", [None]).column("age").to_pylist() == [30]
    assert results_view.one_of(TABLE, "sex", ["m", None]).num_rows == 2
    assert results_view.one_of(TABLE, "sex", []).num_rows == 4


def test_ranges_include_both_ends_and_no_missing_value() -> None:
    assert results_view.between(TABLE, "age", 10, 30).column("age").to_pylist() == [10, 30]
    assert results_view.between(TABLE, "day", dt.date(2020, 1, 2), dt.date(2020, 1, 3)).num_rows == 2


def test_numbers_and_long_lists_are_not_picked_from() -> None:
    assert results_view.has_choices(Attribute.categorical("a", ["x"]))
    assert not results_view.has_choices(Attribute.integer("a", 0, 9))
    assert not results_view.has_choices(Attribute.categorical("a", [str(i) for i in range(1000)]))
