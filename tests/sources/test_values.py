"""Keyed counts: exact whatever fits in memory, and a person's records change as many keys as they are records."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.values import keyed_counts
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.keys import LONGEST, MISSING, OTHER, key
from tests.tiers import examples

MARKERS = frozenset({"NA", "?"})
CELLS = st.lists(st.one_of(st.none(), st.text(max_size=3), st.sampled_from(["a", "b", "NA", " a ", "other", "x" * 200])), max_size=60)


def counted(cells: list[str | None], batch: int, most: int) -> Counter[str]:
    parts = list(keyed_counts(lambda: [pa.array(cells[i : i + batch], pa.string()) for i in range(0, len(cells), batch)], MARKERS, most))
    assert all(len(part) <= most for part in parts)
    whole = Counter[str]()
    for part in parts:
        assert not whole.keys() & part.keys()
        whole.update(part)
    return whole


@examples(40)
@given(CELLS, st.integers(1, 20), st.integers(1, 8))
def test_counts_are_the_same_however_few_keys_fit(cells: list[str | None], batch: int, most: int) -> None:
    expected = Counter(key(None if cell is None else pa.compute.utf8_trim_whitespace(cell).as_py(), MARKERS) for cell in cells)
    assert counted(cells, batch, most) == expected


@examples(40)
@given(CELLS, st.one_of(st.none(), st.text(max_size=3)), st.integers(0, 60), st.integers(1, 8))
def test_one_more_record_changes_one_key_by_one(cells: list[str | None], more: str | None, at: int, most: int) -> None:
    before, after = counted(cells, 7, most), counted([*cells[:at], more, *cells[at:]], 7, most)
    assert sum(((after - before) + (before - after)).values()) == 1


@given(st.text(max_size=8))
def test_what_may_be_found_can_be_a_category_and_takes_the_records_that_it_was_found_in(text: str) -> None:
    trimmed = pa.compute.utf8_trim_whitespace(text).as_py()
    own_key = key(trimmed, MARKERS)
    if own_key in (MISSING, OTHER):
        return
    column = Attribute.categorical("city", [own_key], other=True, missing=True)
    assert column.categories == (own_key,)
    assert encode_column(column, pa.array([text]), Notation(MARKERS)).tolist() == [0]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (None, MISSING),
        ("", MISSING),
        ("NA", MISSING),
        ("other", OTHER),
        ("é" * (LONGEST // 2), "é" * (LONGEST // 2)),
        ("é" * (LONGEST // 2) + "a", OTHER),
        ("two\nlines", OTHER),
        ("bell\a", OTHER),
        ("non\u00a0breaking", "non\u00a0breaking"),
    ],
)
def test_keys(text: str | None, expected: str) -> None:
    assert key(text, MARKERS) == expected


@pytest.mark.parametrize(
    "column",
    [pa.array([1, 2, None, 2]), pa.array([True, False, None, False]), pa.array(["1", "2", None, "2"]).dictionary_encode()],
    ids=lambda column: str(column.type),
)
def test_values_of_any_type_are_their_texts(column: pa.Array) -> None:
    texts = {1: "true", 2: "false"} if column.type == pa.bool_() else {1: "1", 2: "2"}
    assert Counter(next(keyed_counts(lambda: [column], MARKERS))) == {texts[1]: 1, texts[2]: 2, MISSING: 1}


def test_lists_are_missing() -> None:
    assert Counter(next(keyed_counts(lambda: [pa.array([[1], None])], MARKERS))) == {MISSING: 2}


def test_rows_beyond_a_persons_limit_have_no_keys(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("who,city\nann,Ghent\nann,Bruges\nann,Mons\n,Liege\nbob,Ghent\nbob,?\n")
    source = ArrowSource(Domain.from_json({"city": 2}), path, TableFormat(missing_markers=MARKERS), "who", 2)
    assert [dict(part) for part in source.values("city")] == [{"Ghent": 2, "Bruges": 1, MISSING: 1}]


def test_the_same_records_in_other_cells(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("age\n3\n12\n-5\nold\n99\n")
    source = ArrowSource(Domain.from_json({"age": 2}), path).over(Domain((Attribute.integer("age", 0, 19, bins=2, missing=True),)))
    assert source.counts([("age",)])[("age",)].tolist() == [2, 2, 1]
