"""Grouped cells lose nobody, neighbours stay neighbours, and what is large stays visible."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.evaluation.comparison import group, is_ordered
from dpsynth_core.vocabulary.domain import Attribute


@given(st.integers(1, 300), st.integers(4, 60), st.booleans())
def test_every_cell_is_in_one_group_and_sums_are_kept(size: int, limit: int, ordered: bool) -> None:
    names = [f"v{i}" for i in range(size)]
    attribute = Attribute.categorical("x", names, ordered=ordered, other=True, missing=True)
    counts = np.random.default_rng(size).integers(0, 100, attribute.size).astype(np.float64)
    groups = group(attribute, counts, limit)
    assert len(groups.labels) == len(groups.cells) <= limit
    assert sorted(np.concatenate(groups.cells)) == list(range(attribute.size))
    assert groups.sum(counts).sum() == pytest.approx(counts.sum())
    assert groups.widths.sum() == attribute.size


def test_ordered_cells_are_joined_with_neighbours_and_missing_stays_alone() -> None:
    age = Attribute.integer("age", 0, 99, bins=100, missing=True)
    groups = group(age, np.zeros(101), 21)
    assert is_ordered(age)
    assert groups.labels[0] == "0 to 4"
    assert groups.labels[-1] == "missing"
    assert all((np.diff(cells) == 1).all() for cells in groups.cells)


def test_the_largest_categories_keep_their_own_cell() -> None:
    job = Attribute.categorical("job", [f"v{i}" for i in range(10)])
    counts = np.array([1.0, 50, 2, 40, 3, 30, 4, 0, 0, 0])
    groups = group(job, counts, 4)
    assert groups.labels == ("v1", "v3", "v5", "(7 smaller cells)")
    assert groups.sum(counts).tolist() == [50, 40, 30, 10]


def test_few_cells_are_left_as_they_are() -> None:
    sex = Attribute.categorical("sex", ["f", "m"])
    assert group(sex, np.zeros(2), 10).labels == ("f", "m")


def test_sums_go_along_the_axis_asked_for() -> None:
    groups = group(Attribute.integer("n", 0, 5, bins=6), np.zeros(6), 3)
    table = np.arange(12.0).reshape(2, 6)
    assert groups.sum(table, axis=1).tolist() == [[1, 5, 9], [13, 17, 21]]
