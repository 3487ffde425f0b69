"""A hash of records knows which records there are and how often, and nothing of their order."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from dpsynth_core.sources.record_hash import total

KEY = b"k" * 32
CELL = st.none() | st.sampled_from(["", "-", ":", "1:", "a", "b", "aa", "ab", "1", "é"])
TABLE = st.lists(st.tuples(CELL, CELL), max_size=6)


def hashed(rows: list[tuple[Any, Any]], key: bytes = KEY, chunk: int = 3) -> bytes:
    table = pa.table({name: pa.array([row[place] for row in rows], pa.string()) for place, name in enumerate("xy")})
    return total(table.to_batches(max_chunksize=chunk), key)


@given(one=TABLE, other=TABLE)
@settings(max_examples=300, deadline=None)
def test_it_is_the_same_exactly_where_the_records_are(one: list[Any], other: list[Any]) -> None:
    assert (hashed(one) == hashed(other)) == (Counter(one) == Counter(other))


@given(rows=TABLE, data=st.data())
@settings(max_examples=100, deadline=None)
def test_order_and_batches_make_no_difference(rows: list[Any], data: st.DataObject) -> None:
    assert hashed(data.draw(st.permutations(rows)), chunk=data.draw(st.integers(1, 7))) == hashed(rows)


def test_equal_marginals_are_not_equal_records() -> None:
    assert hashed([("a", "a"), ("b", "b")]) != hashed([("a", "b"), ("b", "a")])


def test_records_of_any_number_do_not_cancel_out() -> None:
    """As they would in a sum without carry: 256 times the same record is not none."""
    sums = {hashed([("a", "b")] * number) for number in (0, 1, 2, 256, 65_536, 70_000)}
    assert len(sums) == 6


def test_another_key_gives_another_hash() -> None:
    assert hashed([("a", "b")]) != hashed([("a", "b")], b"l" * 32)


@pytest.mark.parametrize(
    "column",
    [
        pa.array(["a", None, "b"]).dictionary_encode(),
        pa.array(["a", None, "b"], pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(["a", None, "b"])),
    ],
)
def test_how_texts_are_stored_makes_no_difference(column: pa.Array) -> None:
    plain = pa.record_batch({"x": pa.array(["a", None, "b"])})
    assert total([pa.record_batch({"x": column})], KEY) == total([plain], KEY)


@pytest.mark.parametrize("kind", [pa.int8(), pa.int32(), pa.uint64(), pa.int64()])
def test_the_width_of_whole_numbers_makes_no_difference(kind: pa.DataType) -> None:
    numbers = pa.array([1, None, 7])
    assert total([pa.record_batch({"x": numbers.cast(kind)})], KEY) == total([pa.record_batch({"x": numbers})], KEY)


def test_lists_nulls_and_numbers_are_hashed() -> None:
    days = np.array(["2024-01-01", "NaT"], "M8[s]")
    columns = {"l": [[1], None], "n": [None, None], "f": [float("nan"), 1.5], "b": [True, None], "d": days}
    batch = pa.record_batch({name: pa.array(values) for name, values in columns.items()})
    assert total([batch], KEY) != total([batch.slice(1)], KEY)
    assert total([batch.take(pa.array([1, 0]))], KEY) == total([batch], KEY)
