"""Every kind of file is a converter: records in order, each of which becomes the same row alone, in any block, cut and company.

A family is some records of other people and some of one person. Each record is written alone and read; then tables with and without the
person's records are written, and their rows must be those that the records have alone. So any two tables of a family differ by the
person's records alone: one inserted, removed or replaced. Text in every spelling and encoding is tried by `neighbouring` as well.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import date
from functools import partial
from pathlib import Path
from unittest import mock

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from dpsynth_core.sources import lines, readers
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import Files, kind_of
from tests.additions import added, listed
from tests.sources.neighbouring import ODD
from tests.sources.written import WRITERS

Record = tuple[str | None, float | None, date | None]
Rows = list[str]
Write = Callable[[pa.Table, Path], None]

SCHEMA = pa.schema([("text", pa.string()), ("number", pa.float64()), ("day", pa.date32())])
AS_TEXT = SCHEMA.set(2, pa.field("day", pa.string()))
NUMBERS = (0.0, -1.5, 3.0, 1e300, 12345678.0, 0.1, None)
DAYS = (date(2024, 2, 29), date(1900, 3, 1), date(1999, 12, 31))
CONVERTERS: Mapping[str, tuple[Write, Sequence[str]]] = {
    **{ending: (write, tuple(text for text in ODD if text != "\r\r")) for ending, write in WRITERS.items()},
    ".jsonl": (lambda table, path: WRITERS[".jsonl"](table.cast(AS_TEXT), path), ODD),
    ".parquet": (partial(pq.write_table, row_group_size=2), ODD),
    **{ending: (WRITERS[ending], texts) for module in added("sources.texts") for ending, texts in module.TEXTS.items()},
}
"""By the ending of a name: what writes such a file, and the odd texts that it can hold."""
TABLES, FAMILIES = 14, 10
"""Tables of a family, and families of a kind of file: 910 pairs of each."""


def test_every_kind_of_file_is_here() -> None:
    assert {kind_of(Path(f"a{ending}")) for ending in CONVERTERS} == set(FILE_KINDS)
    assert FAMILIES * TABLES * (TABLES - 1) // 2 > 900


@pytest.mark.parametrize("ending", CONVERTERS)
def test_a_record_is_the_same_row_alone_and_in_every_table(ending: str, tmp_path: Path) -> None:
    write, odd = CONVERTERS[ending]
    rng, alone = random.Random(ending), dict[Record, Rows]()

    def rows_of(records: Sequence[Record]) -> Rows:
        path = tmp_path / f"a{ending}"
        write(pa.Table.from_pylist([dict(zip(SCHEMA.names, record, strict=True)) for record in records], SCHEMA), path)
        return list(_rows(Files.of(path, TableFormat(str(kind_of(path)))), rng))

    for number in range(FAMILIES):
        for records in _family(rng, odd):
            for record in {*records} - {*alone}:
                alone[record] = rows_of([record])
            expected = [row for record in records for row in alone[record]]
            assert rows_of(records) == expected, f"family {number}: {records}"


def test_a_damaged_converter_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that drops a mark at the start of a block, as the reader of CSV once did."""
    real = readers.batches

    def damaged(*asked: object) -> Iterator[pa.RecordBatch]:
        for batch in real(*asked):  # type: ignore[arg-type]
            first = batch.column(0).cast(pa.string()).to_pylist()
            first[0] = first[0] and first[0].removeprefix("x")
            yield batch.set_column(0, batch.schema.names[0], pa.array(first, pa.string()))

    monkeypatch.setattr(readers, "batches", damaged)
    with pytest.raises(AssertionError, match="family"):
        test_a_record_is_the_same_row_alone_and_in_every_table(".feather", tmp_path)


def _family(rng: random.Random, odd: Sequence[str]) -> Iterator[list[Record]]:
    """Tables that differ in one person's records: the first without any, then one, or one and others anywhere."""
    others = [_record(rng, odd) for _ in range(rng.randrange(1, 6))]
    yield others
    at = rng.choice((0, len(others), rng.randint(0, len(others))))
    for number in range(TABLES - 1):
        table = [*others[:at], _record(rng, odd), *others[at:]]
        if number % 4 == 3:
            table.insert(rng.randint(0, len(table)), _record(rng, odd))
        yield table


def _record(rng: random.Random, odd: Sequence[str]) -> Record:
    sign = rng.choice(odd)
    text = rng.choice(("x", "f", "xy", None, sign, f"{sign}x", f"x{sign}", f"x{sign}x", sign * 2, "x" * 90))
    return text, rng.choice(NUMBERS), rng.choice(DAYS)


def _rows(table: Files, rng: random.Random) -> Iterator[str]:
    """In blocks of any size, or in parts."""
    with _small_blocks(rng):
        every = rng.choice((1, 20, 1 << 20))
        pieces = [(piece,) for piece, _ in readers.pieces(table, every)] if rng.random() < 0.5 else [()]
        for part in pieces:
            for batch in readers.batches(table, readers.names(table), rng.choice((1, 2, 3, 100)), part):
                yield from map(repr, zip(*(column.to_pylist() for column in batch.columns), strict=True))


@contextmanager
def _small_blocks(rng: random.Random) -> Iterator[None]:
    with ExitStack() as patched:
        patched.enter_context(mock.patch.object(lines, "BLOCK_BYTES", rng.choice((13, 34, 89, 1000))))
        patched.enter_context(mock.patch.object(lines, "MAX_LINE_BYTES", 1000))
        for name in listed("ROWS_OF_A_BLOCK"):
            patched.enter_context(mock.patch(name, rng.choice((1, 2, 100))))
        yield
