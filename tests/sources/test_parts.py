"""A table in parts is the same table: every record once and in order, wherever it is cut; and the same rows of each person count."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from dpsynth_core.foundation import interrupts, processors
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.interrupts import Interrupted
from dpsynth_core.sources import lines, opening, persons
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import WHOLE, Listed, Part, Piece, Sizes, gathered
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.refusals import refused
from tests.sources.test_neighbours import HEADER, LINES
from tests.tiers import examples

ANY_LINES = st.lists(st.sampled_from([*LINES.values(), b"", b"\r", b"x,m,2,b"]), max_size=12)
TINY = Sizes(bytes=40, rows=3, divided=0)


def rows_of(path: Path, form: TableFormat, parts: Sequence[Part]) -> list[dict[str, object]]:
    names = opening.opened(path, form).column_names()
    return [row for part in parts for batch in opening.opened(path, form).batches(names, part) for row in batch.to_pylist()]


@examples(60, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(body=ANY_LINES, every=st.integers(1, 200), end=st.sampled_from([b"\n", b"\r\n", b"\r"]), quoting=st.sampled_from(["lines", "none"]))
@example(body=[b'"', b"x,m,2,b"], every=1, end=b"\n", quoting="lines")
def test_the_parts_of_a_csv_are_its_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: list[bytes], every: int, end: bytes, quoting: str
) -> None:
    monkeypatch.setattr(lines, "BLOCK_BYTES", 150)
    monkeypatch.setattr(lines, "MAX_LINE_BYTES", 4000)
    path, form = tmp_path / "a.csv", TableFormat(quoting=quoting)
    path.write_bytes(end.join([b"", b" ", HEADER, *body]))
    parts = opening.opened(path, form).divide(Sizes(bytes=every, divided=0))
    assert rows_of(path, form, parts) == rows_of(path, form, [WHOLE])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-be", "utf-32", "cp1252", "gbk"])
def test_wide_characters_and_marks_are_not_cut(tmp_path: Path, encoding: str) -> None:
    path = tmp_path / "a.csv"
    cell = "\u00e9\u010a" if encoding.startswith("utf") else "x"
    path.write_bytes("\n".join(["a,b", *(f"{i},{cell}" for i in range(30))]).encode(encoding))
    form = TableFormat(encoding=encoding)
    parts = opening.opened(path, form).divide(Sizes(bytes=17, divided=0))
    assert len(parts) > 5
    assert [row["a"] for row in rows_of(path, form, parts)] == [str(i) for i in range(30)]
    assert rows_of(path, form, parts[::-1]) != rows_of(path, form, parts)


def test_json_lines_row_groups_and_folders_are_divided_too(tmp_path: Path) -> None:
    table = pa.table({"a": [str(i) for i in range(30)]})
    (tmp_path / "a.jsonl").write_text("".join(f'{{"a": "{i}"}}\n' for i in range(30)))
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    folder = tmp_path / "folder"
    (folder / "half=1").mkdir(parents=True)
    (folder / "half=b").mkdir()
    pq.write_table(table.slice(0, 15), folder / "half=1" / "x.parquet", row_group_size=2)
    pq.write_table(table.slice(15), folder / "half=b" / "x.parquet")
    for path, form, least in (
        (tmp_path / "a.jsonl", TableFormat("jsonl"), 5),
        (tmp_path / "a.parquet", TableFormat("parquet"), 8),
        (folder, TableFormat("parquet"), 8),
    ):
        parts = opening.opened(path, form).divide(TINY)
        assert len(parts) >= least
        rows = rows_of(path, form, parts)
        assert rows == rows_of(path, form, [WHOLE])
        assert [row["a"] for row in rows] == [str(i) for i in range(30)]


def test_what_cannot_be_divided_is_one_part(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text('a,b\n' + '"x\ny",1\n' * 50)
    assert opening.opened(path, TableFormat(quoting="standard")).divide(TINY) == [WHOLE]
    packed = tmp_path / "a.csv.gz"
    with pa.output_stream(packed, compression="gzip") as stream:
        stream.write(b"a,b\n" + b"x,1\n" * 50)
    assert opening.opened(packed, TableFormat()).divide(TINY) == [(Piece(str(packed)),)]
    assert opening.opened(path, TableFormat()).divide(Sizes()) == [WHOLE]  # it is small


@given(st.lists(st.integers(0, 9), max_size=12), st.integers(1, 20))
def test_gathered_parts_hold_every_piece_in_order(sizes: list[int], most: int) -> None:
    pieces = [(Piece(str(i)), size) for i, size in enumerate(sizes)]
    parts = gathered(pieces, most)
    assert [piece for part in parts for piece in part] == [piece for piece, _ in pieces]
    assert all(part and (len(part) == 1 or sum(sizes[int(piece.file)] for piece in part) <= most) for part in parts)


@examples(60)
@given(seed=st.integers(0, 2**32 - 1), cuts=st.lists(st.integers(0, 40), max_size=5), limit=st.integers(1, 4), places=st.integers(1, 3))
def test_the_rows_of_each_person_that_count_are_those_of_one_stream(seed: int, cuts: list[int], limit: int, places: int) -> None:
    """Parts that are cut anywhere; the persons' counts meet in any number of places."""
    rng, form = np.random.default_rng(seed), TableFormat()
    names = pa.array([["ann", "bob ", "bob", "", "NA", None, "cid"][i] for i in rng.integers(0, 7, 40)], pa.string())
    bounds = sorted({0, 40, *cuts})
    parts = [names[first:last] for first, last in pairwise(bounds)]
    keys = persons.new_keys()
    turnouts = [persons.turnout([persons.named(part[:3], form), persons.named(part[3:], form)], keys, limit) for part in parts]
    met = [persons.earlier([one.bucket(place, places) for one in turnouts], limit) for place in range(places)]
    kept = []
    for i, part in enumerate(parts):
        before = persons.together([of_place[i] for of_place in met], limit).before(keys)
        kept += persons.within_limit(persons.named(part, form), {}, limit, before).tolist()
    assert kept == persons.within_limit(persons.named(names, form), {}, limit).tolist()


def test_a_failure_of_one_thread_and_a_signal_end_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.csv"
    path.write_text("a,b\n" + "1,1\n" * 5000)
    domain = Domain((Attribute.coded("a", 2), Attribute.coded("b", 2)))
    source = ArrowSource(domain, path, sizes=Sizes(bytes=2000, divided=0))
    monkeypatch.setattr(processors, "available", lambda: 3)
    assert source.counts([("a", "b")])[("a", "b")].tolist() == [[0, 0], [0, 5000]]
    monkeypatch.setattr(interrupts, "_requested", True)
    with pytest.raises(Interrupted):
        source.counts([("a", "b")])
    monkeypatch.setattr(interrupts, "_requested", False)
    real = FileTable.batches

    def failing(self: FileTable, columns: Sequence[str], part: Part, listed: Listed) -> Iterator[pa.RecordBatch]:
        if part[0].begin > 8000:
            raise InputError("data", "it broke", "mend it")
        return real(self, columns, part, listed)

    monkeypatch.setattr(FileTable, "batches", failing)
    refused(source.counts, [("a", "b")], saying="it broke")
