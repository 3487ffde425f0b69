"""Distinct records with how many there are: whatever the batches, and in tables that nothing could hold."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.vocabulary import occupied
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.occupied import MAX_BINARY, OccupiedCounts, row_cells
from tests.refusals import refused

THREE = Domain.from_json({"a": 2, "b": 3, "c": 4})
WIDE = Domain.from_json({f"c{i}": 2 for i in range(MAX_BINARY + 1)})


@given(
    rows=st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)), max_size=40),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    columns=st.sampled_from([("a", "b", "c"), ("a", "c"), ("b",), ()]),
    merged_at=st.integers(0, 6),
)
def test_batches_and_parts_add_up_to_the_distinct_records(
    rows: list[tuple[int, ...]], cuts: list[int], columns: tuple[str, ...], merged_at: int
) -> None:
    """Against a dictionary of tuples; every second batch is another part's, which is absorbed."""
    codes = np.array(rows, dtype=np.int32).reshape(-1, 3)
    mine, other = OccupiedCounts(THREE, columns), OccupiedCounts(THREE, columns)
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(occupied, "_MERGED_AT", merged_at)
        for number, some in enumerate(np.split(codes, sorted(min(cut, len(codes)) for cut in cuts))):
            (mine, other)[number % 2].add({name: some[:, THREE.position(name)] for name in columns}, len(some))
        mine.absorb(other.tables)
    expected = Counter(tuple(row[THREE.position(name)] for name in columns) for row in rows)
    found = mine.occupied
    assert [tuple(row) for row in found.codes.tolist()] == sorted(expected)
    assert found.records.tolist() == [expected[row] for row in sorted(expected)]


def test_the_distinct_records_of_the_widest_table_come_back_as_they_were() -> None:
    codes = np.random.default_rng(1).integers(0, 2, (300, MAX_BINARY + 1)).astype(np.int32)
    found = row_cells(WIDE, codes, WIDE.names[1:])
    assert np.array_equal(found.codes, np.unique(codes[:, 1:], axis=0))
    assert found.records.sum() == 300


def test_a_table_whose_cells_cannot_be_numbered_is_refused_before_a_record_is_seen() -> None:
    refused(OccupiedCounts, WIDE, WIDE.names, kind=ValueError, saying="too many cells")
