"""Runs side by side: only what can be compared, settings by what differs, wins by intervals that do not overlap."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpsynth_core.evaluation import side_by_side
from dpsynth_core.foundation.zones import Zone, Zoned, curator_only, released
from dpsynth_core.vocabulary.domain import Domain


def table(zone: Zone = Zone.RELEASED, **limits: tuple[float, float]) -> Zoned[pd.DataFrame]:
    """(low, limit) by label of the table; the measured error is in the middle."""
    rows = [{"marginal": name, "error": (low + high) / 2, "low": low, "limit": high} for name, (low, high) in limits.items()]
    return Zoned(zone, pd.DataFrame(rows))


A = table(x=(0.1, 0.2), y=(0.3, 0.4), z=(0.0, 0.1))
B = table(x=(0.3, 0.4), y=(0.35, 0.5), z=(0.0, 0.05))


def test_tables_come_side_by_side_the_worst_first() -> None:
    both = side_by_side.side_by_side({"A": A, "B": B}, ["x", "y", "z"])
    assert both.zone is Zone.RELEASED
    assert both.value["marginal"].tolist() == ["y", "y", "x", "x", "z", "z"]
    assert both.value["run"].tolist() == ["A", "B"] * 3


def test_a_win_beyond_doubt_needs_intervals_that_do_not_overlap() -> None:
    a, b = side_by_side.wins(side_by_side.side_by_side({"A": A, "B": B}, ["x", "y", "z"])).value
    assert (a.best, a.surely, a.tables) == (2, 1, 3)
    assert (b.best, b.surely) == (1, 0)
    assert a.mean == pytest.approx(0.7 / 3)


def test_a_table_that_nothing_bounds_is_nobodys_win() -> None:
    unknown = table(x=(0.1, math.nan))
    a, b = side_by_side.wins(side_by_side.side_by_side({"A": A, "B": unknown}, ["x"])).value
    assert (a.best, b.best, b.surely) == (0, 0, 0)


def test_true_errors_decide_where_every_run_tells_them() -> None:
    exact = [curator_only(frame.value.assign(true=values)) for frame, values in ((A, [0.1, 0.1, 0.3]), (B, [0.2, 0.05, 0.2]))]
    both = side_by_side.side_by_side({"A": exact[0], "B": exact[1]}, ["x", "y", "z"])
    assert both.zone is Zone.CURATOR
    assert [one.best for one in side_by_side.wins(both).value] == [1, 2]
    assert both.value["marginal"].iloc[0] == "z"
    assert "true" not in side_by_side.side_by_side({"A": exact[0], "B": B}, ["x"]).value


def test_only_tables_over_the_same_cells_are_compared() -> None:
    first = Domain.from_json({"a": 2, "b": 3, "c": 4})
    other = Domain.from_json({"a": 2, "b": 5, "c": 4})
    cliques = [("a", "c"), ("a", "b"), ("b", "c")]
    assert side_by_side.shared([first, other], [cliques, cliques[:2]]) == ("a × c",)
    assert side_by_side.shared([first, first], [[("a",)], [("b",)]]) == ()


def spec(**fields: object) -> dict:
    plan = {"name": "n", "domain": {"a": 2}, "workload": {"kind": "all", "k": 1}, "budget": {"epsilon": 1.0}, "mechanism": {"name": "aim"}}
    return plan | fields


def test_only_settings_that_differ_are_listed() -> None:
    differing = side_by_side.differences({"A": spec(), "B": spec(name="other", budget={"epsilon": 2.0}, domain={"a": 3})})
    assert differing.to_dict("records") == [
        {"setting": "budget.epsilon", "A": "1.0", "B": "2.0"},
        {"setting": "domain", "A": "no. 1", "B": "no. 2"},
    ]


def test_a_setting_that_one_run_lacks_differs() -> None:
    differing = side_by_side.differences({"A": spec(), "B": spec(mechanism={"name": "aim", "settings": {"max_size_mb": 7.0}})})
    assert differing.to_dict("records") == [{"setting": "mechanism.settings.max_size_mb", "A": "–", "B": "7.0"}]


def test_texts_that_differ_behind_the_cut_differ() -> None:
    specs = {run: spec(about=80 * "x" + run) for run in ("A", "B")} | {"C": spec(about=80 * "x" + "A")}
    (row,) = side_by_side.differences(specs).to_dict("records")
    assert row["setting"] == "about"
    assert (row["A"][-8:], row["B"][-8:], row["C"]) == ("… (no. 1)"[-8:], "… (no. 2)"[-8:], row["A"])


def test_equal_plans_differ_in_nothing() -> None:
    assert side_by_side.differences({"A": spec(), "B": spec()}).empty
    assert list(side_by_side.differences({"A": spec(), "B": spec()}).columns) == ["setting", "A", "B"]


def test_one_run_alone_has_nothing_to_win_against() -> None:
    (only,) = side_by_side.wins(released(side_by_side.side_by_side({"A": A}, ["x"]).value)).value
    assert only.best == only.tables == 1
