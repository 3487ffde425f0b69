"""What tables over groups of values are called in files of marginals."""

from __future__ import annotations

from dpsynth_core.report.table_files import group_labels
from dpsynth_core.vocabulary.groups import Groups


def test_groups_are_called_by_their_values() -> None:
    ages = ["0 to 9", "10 to 19", "20 to 29", "30 to 39", "40 to 49", "missing"]
    neighbours = Groups("ages", "age", (0, 0, 1, 1, 1, 2))
    assert group_labels(neighbours, ages, True) == ["0 to 9 … 10 to 19", "20 to 29 … 40 to 49", "missing"]
    assert group_labels(Groups("towns", "town", (1, 0, 1, 2)), list("pqrs"), False) == ["q", "p | r", "s"]
    many = Groups("many", "x", (0, *[1] * 1000))
    assert group_labels(many, [str(i) for i in range(1001)], False) == ["0", "1,000 other values"]
