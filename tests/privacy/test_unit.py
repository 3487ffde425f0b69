"""The unit of privacy: its table of sensitivities. That the table is right is shown by brute force in test_sensitivity."""

from __future__ import annotations

from fractions import Fraction

import pytest

from dpsynth_core.privacy.unit import Unit
from tests.refusals import refused


@pytest.mark.parametrize(
    ("relation", "rows", "l1", "l2_squared", "total_l2"),
    [("add-remove", 1, 1, 1, 1), ("replace", 1, 2, 2, 0), ("add-remove", 3, 3, 9, 3), ("replace", 3, 6, 18, 3)],
)
def test_sensitivities(relation: str, rows: int, l1: int, l2_squared: int, total_l2: int) -> None:
    unit = Unit(relation, rows)
    assert (unit.marginal_l1, unit.total_l2) == (l1, total_l2)
    assert unit.marginal_l2**2 == pytest.approx(l2_squared)
    assert unit.total_is_public == (total_l2 == 0)


def test_a_replaced_person_may_own_no_row_that_counts_where_a_column_names_people() -> None:
    unit = Unit("replace", 1, rows_may_not_count=True)
    assert (unit.marginal_l1, unit.total_l2, unit.total_is_public) == (2, 1, False)


@pytest.mark.parametrize("rows", range(1, 200))
def test_a_rounded_root_is_never_rounded_down(rows: int) -> None:
    assert Fraction(Unit("replace", rows).marginal_l2) ** 2 >= 2 * rows**2


@pytest.mark.parametrize(
    ("relation", "rows", "field"),
    [("swap", 1, "unit.relation"), ("replace", 0, "max_rows"), ("replace", 1.5, "max_rows"), ("replace", True, "max_rows")],
)
def test_units_that_mean_nothing_are_refused_by_field(relation: str, rows: int, field: str) -> None:
    refused(Unit, relation, rows, saying=field)
