"""Filters keep exactly the rows that match, missing ones only when asked for."""

from __future__ import annotations

import datetime as dt

import pyarrow as pa

from dpsynth_core.vocabulary.domain import Attribute
from dpsynth_core.web.results import results_view

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
