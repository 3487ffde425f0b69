"""A run watched through its events: the table follows them, and the time left makes sense."""

from __future__ import annotations

import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Progress
from dpsynth_core.web.run import watch
from dpsynth_core.web.shell import numbers

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
