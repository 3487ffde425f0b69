"""Random neighbouring tables of which nothing is stated: files and folders of every kind, and the same with one person's record put in.

A family is everybody else's records, written in one of the ways of the world, and those with a record of one person that may be anything:
letters of another encoding, dates, numbers and times of another notation, signs that separate, quotes, zeros. Each table is opened by its
path alone. One that is refused tells no more than the list in SECURITY.md says. Of two that are accepted, everybody else's codes are equal.
`test_default_format` tries some thousands, `python -m benchmarks neighbours` as many as you like. The reading of a file by a process with
limits is done in this process, which takes no time to begin.
"""

from __future__ import annotations

import io
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet
import xlsxwriter

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, files, readers
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.detect import settled_format
from dpsynth_core.sources.formats import DELIMITERS, TableFormat
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.sources.neighbouring import ODD, RAW

NAMES = ("town", "pay", "born", "at", "note")
DOMAIN = Domain(
    (
        Attribute.categorical("town", ["é", "ü", "x"], other=True, missing=True),
        Attribute.numeric("pay", 0, 20_000, edges=[0, 30, 2_000, 20_000], other=True, missing=True),
        Attribute.day("born", "2020-01-01", "2020-12-31", edges=["2020-01-01", "2020-07-01", "2020-12-31"], other=True, missing=True),
        Attribute.binned("at", "time", "00:00", "23:59", bins=4, other=True, missing=True),
    )
)
KINDS = ("csv", "csv", "csv", "jsonl", "parquet", "feather", "xlsx")
WAYS: dict[str, tuple[Sequence[str], ...]] = {
    "pay": (("12", "250"), ("12.5", "1000"), ("170,3", "12,5"), ("10,584", "3,127"), ("1.234,5", "2.000,5"), ("1 234", "2 000"), ("5%",)),
    "born": (("2020-02-03", "2020-11-12"), ("13/02/2020", "01/03/2020"), ("02/13/2020", "03/01/2020"), ("03/04/2020",), ("3.4.2020",)),
    "at": (("08:30", "23:15"), ("0830", "2315"), ("08.30", "23.15"), ("8h30", "23h15")),
}
"""How everybody else writes numbers, dates and times, and some others do."""
LISTED = re.compile(
    "the first records suggest|can be read either way|only one of both can be read|most lines|there are no rows|has no rows"
    "|the file is empty|no column of this name|do not have the same columns|has no columns"
)
"""Refusals by records, as SECURITY.md lists them."""
PERSONS = 7
"""Tables of a family that have a record of the person; one has none."""
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
Codes = Counter[tuple[int, ...]]
Record = Sequence[str] | bytes
"""Cells, or a line of text as it stands."""


@dataclass(frozen=True)
class Layout:
    """How a family writes its tables.

    Attributes:
        kind: The ending of file names.
        folder: How many files of a folder a table is in; 0 for a single file.
        encoding: Of text.
        delimiter: Of CSV.
        way: Numbers of the ways in which everybody else writes `WAYS`.
    """

    kind: str
    folder: int
    encoding: str
    delimiter: str
    way: dict[str, int]


@dataclass(frozen=True)
class Family:
    """What was tried of a family: its layout, numbers of tables, refused ones and pairs, and a text for each that is wrong."""

    layout: Layout
    tables: int
    refused: int
    pairs: int
    wrong: tuple[str, ...]


def family(seed: int, number: int) -> Family:
    """Write, open and compare one family of neighbours."""
    rng = random.Random(f"{seed}:{number}")
    layout = Layout(
        rng.choice(KINDS),
        rng.choice((0, 0, 0, 2, 3)),
        rng.choice((*["utf-8"] * 7, "utf-8-sig", "cp1252", "utf-16")),
        rng.choice(list(DELIMITERS)),
        {column: rng.choice((*[0] * 9, rng.randrange(len(ways)))) for column, ways in WAYS.items()},
    )
    others: list[Record] = [_record(rng, layout) for _ in range(rng.randrange(layout.folder or 1, 8))]
    at = rng.randint(0, len(others))
    tables: list[list[Record]] = [others, *([*others[:at], _mine(rng, layout), *others[at:]] for _ in range(PERSONS))]
    wrong: list[str] = []
    read: list[Codes | None] = []
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder, _in_this_process():
        for place, table in enumerate(tables):
            try:
                read.append(_read(_write(Path(folder, str(place)), layout, table)))
            except InputError as error:
                read.append(None)
                wrong += [] if LISTED.search(str(error)) else [f"{error}\n  {layout}\n  {table}"]
    accepted = [(place, codes) for place, codes in enumerate(read) if codes is not None]
    for (first, before), (second, after) in combinations(accepted, 2):
        lost, gained = (before - after).total(), (after - before).total()
        if lost > (first > 0) or gained > 1:
            wrong.append(f"{lost} records lost, {gained} gained\n  {layout}\n  {tables[first]}\n  {tables[second]}")
    return Family(layout, len(tables), read.count(None), len(accepted) * (len(accepted) - 1) // 2, tuple(wrong))


def _record(rng: random.Random, layout: Layout) -> list[str]:
    some = {column: rng.randrange(len(ways)) if rng.random() < 0.05 else layout.way[column] for column, ways in WAYS.items()}
    cells = {column: rng.choice(WAYS[column][way]) for column, way in some.items()}
    return [rng.choice(("é", "ü", "x")), cells["pay"], cells["born"], cells["at"], rng.choice(("", "nothing", "né"))]


def _mine(rng: random.Random, layout: Layout) -> Record:
    """Return a record of the person: odd cells, each in any notation; of text also a line that is no record."""
    cells: list[str] = [rng.choice(("é", "x", "zz", *ODD)), *(rng.choice(rng.choice(ways)) for ways in WAYS.values())]
    cells.append(rng.choice((*ODD, "3,14", "13/02/2020", "0830", "a;b;c", "a\tb|c", "nothing")))
    for place in range(5):
        if rng.random() < 0.2:
            cells[place] = rng.choice((*ODD, "NA", "x", "1,234,567", "-", "3.14", "late"))
    if layout.kind not in ("csv", "jsonl") or rng.random() < 0.6:
        return cells
    parts: list[str | bytes] = rng.choices((*RAW, *ODD, *cells, layout.delimiter), k=6)
    line = b"".join(part if isinstance(part, bytes) else _encoded(part, layout) for part in parts)
    return line.replace(b"\n", b"").replace(b"\r", b"")


def _encoded(text: str, layout: Layout) -> bytes:
    return text.encode(layout.encoding.removesuffix("-sig").replace("utf-16", "utf-16-le"), "replace")


def _write(path: Path, layout: Layout, table: Sequence[Record]) -> Path:
    """Write a table as a file, or a folder of files."""
    if not layout.folder:
        return _written(path.with_suffix(f".{layout.kind}"), layout, table)
    path.mkdir()
    for number in range(layout.folder):
        _written(path / f"{number}.{layout.kind}", layout, table[number :: layout.folder])
    return path


def _written(path: Path, layout: Layout, table: Sequence[Record]) -> Path:
    if layout.kind in ("csv", "jsonl"):
        headed = layout.kind == "csv"
        mark = "" if not headed or layout.encoding not in ("utf-8-sig", "utf-16") else "\ufeff"
        lines = [_encoded(mark + layout.delimiter.join(NAMES), layout)] if headed else []
        lines += [record if isinstance(record, bytes) else _encoded(_line(record, layout), layout) for record in table]
        unit = len(_encoded("x", layout))
        path.write_bytes(b"".join(line[: len(line) // unit * unit] + _encoded("\n", layout) for line in lines))
    elif layout.kind == "xlsx":
        content = io.BytesIO()
        with xlsxwriter.Workbook(content, {"in_memory": True, "strings_to_formulas": False, "strings_to_urls": False}) as book:
            sheet = book.add_worksheet()
            for place, record in enumerate((NAMES, *table)):
                for column, cell in enumerate(record):
                    sheet.write_string(place, column, "".join(sign for sign in str(cell) if sign.isprintable()))
        path.write_bytes(content.getvalue())
    else:
        texts = pa.table({name: pa.array([str(record[place]) for record in table], pa.string()) for place, name in enumerate(NAMES)})
        (pa.parquet.write_table if layout.kind == "parquet" else pa.feather.write_feather)(texts, str(path))
    return path


def _line(cells: Sequence[str], layout: Layout) -> str:
    if layout.kind == "jsonl":
        return json.dumps(dict(zip(NAMES, cells, strict=True)), ensure_ascii=False)
    signs = {layout.delimiter, '"'}
    quoted = ('"' + cell.replace('"', '""') + '"' if signs & {*cell} else cell for cell in cells)
    return layout.delimiter.join(quoted).replace("\n", " ").replace("\r", " ")


def _read(path: Path) -> Codes:
    """Return the codes of a table that is opened by its path alone."""
    form = settled_format(path, {}, "data", str)
    table = files.opened(path, form)
    table.check()
    return Counter(_codes(table, form))


def _codes(table: files.Table, form: TableFormat) -> Iterator[tuple[int, ...]]:
    for batch in table.batches(DOMAIN.names):
        codes = [encode_column(attribute, batch.column(attribute.name), form.notation).tolist() for attribute in DOMAIN]
        yield from zip(*codes, strict=True)


@contextmanager
def _in_this_process() -> Iterator[None]:
    def answer(table: files.FileTable, question: Any, *arguments: Any) -> Any:
        return question(table, *arguments)

    def batches(table: files.FileTable, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        return readers.batches(table, columns, readers.BATCH_ROWS)

    def about(which: str, path: Path, kind: str) -> Any:
        return getattr(readers.reader(kind), which)(path)

    with (
        mock.patch.object(files.FileTable, "_answer", answer),
        mock.patch.object(files.FileTable, "batches", batches),
        mock.patch.object(confined, "about", about),
    ):
        yield
