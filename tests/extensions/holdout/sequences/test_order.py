"""Nobody is left out of rows in order, and the remedy fits one table."""

from __future__ import annotations

import pytest

import dpsynth_core as dps
from tests.extensions.holdout.test_coin import COLUMNS, many


def test_one_table_of_rows_in_order_is_refused_with_a_remedy_for_one_table() -> None:
    table = many().assign(day=range(len(many())))
    days = {"kind": "integer", "lower": 0, "upper": 5_000, "bins": 5}
    with pytest.raises(dps.InputError, match="rows of a person in order cannot be left out") as caught:
        dps.plan(table, {**COLUMNS, "day": days}, epsilon=1, person="person", rows_per_person=3, order=["day"], constant=["a"], holdout=5)
    assert "leave “order” and what goes with it out" in caught.value.remedy
    assert "one of the tables" not in caught.value.remedy
