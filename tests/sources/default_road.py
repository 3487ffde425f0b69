"""Random neighbouring tables of which nothing is stated: files, folders and linked tables of every kind, with and without one person.

A family is everybody else's records, written in one of the ways of the world, and those with a record of one person that may be anything:
letters of another encoding, dates, numbers and times of another notation, signs that separate, quotes, zeros. Each table is opened by its
path alone. One that is refused tells no more than the list in SECURITY.md says. Of two that are accepted, everybody else's codes are equal.
Files of a folder may differ in types, line ends, marks and packing. Of two linked tables, either or both hold rows of one household.
`test_default_format` compares 20,000 pairs, `python -m benchmarks neighbours` as many as you like. The reading of a file by a process with
limits is done in this process, which takes no time to begin.
"""

from __future__ import annotations

import gzip
import json
import random
import re
import tempfile
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import time
from itertools import combinations
from pathlib import Path
from typing import Any
from unittest import mock

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, files, headers, opening, readers
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.detect import settled_format
from dpsynth_core.sources.formats import DELIMITERS, TableFormat
from dpsynth_core.sources.linked import LinkedSource
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.link import Link
from tests.additions import added
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
HOUSEHOLDS, MEMBERS = ("home", "town", "pay"), ("home", "born", "at", "note")
LINK = Link(Domain((DOMAIN["town"], DOMAIN["pay"])), Domain((DOMAIN["born"], DOMAIN["at"])), most=2)
FURTHER: dict[str, Callable[[Path, Sequence[str], Collection[str], Sequence[Any]], None]] = {
    kind: write for module in added("sources.unstated") for kind, write in module.WRITERS.items()
}
"""What writes files of extensions: from the names of the columns, those with types, and the records."""
KINDS = ("csv", "csv", "csv", "jsonl", "parquet", "feather", *FURTHER)
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
SORTS = ("alike", "mixed", "alike", "linked")
"""Sorts of families, in turn: a file or a folder of files that are written alike, a folder of others, two linked tables."""
PERSONS = 15
"""Tables of a family that have a record of the person; one has none."""
HOPELESS = 4
"""A family is left after so many tables if all are refused: they suggest another format whoever is in them, and make no pair."""
TYPES = {
    "town": (pa.string(), pa.large_string(), pa.dictionary(pa.int32(), pa.string())),
    "pay": (pa.string(), pa.int64(), pa.float64(), pa.int16(), pa.float32()),
    "born": (pa.string(), pa.date32(), pa.timestamp("us")),
    "at": (pa.string(), pa.time64("us"), pa.large_string()),
}
"""Types that a column of a Parquet or Feather file may have. A cell that the type cannot hold is missing."""
_NUMBER = re.compile(r"[1-9][0-9]{0,5}(\.[0-9]{1,3})?")
_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None
Codes = Counter[tuple[int, ...]]
Record = Sequence[str] | bytes
"""Cells, or a line of text as it stands."""
Table = Sequence[Sequence[Record]]
"""The records of each file."""


@dataclass(frozen=True)
class Look:
    """What files of one folder may have differently.

    Attributes:
        end: The line end of text.
        marked: Whether UTF-8 text begins with a byte order mark.
        packed: Whether text is compressed by gzip.
        types: Types of columns of Parquet and Feather; columns that are not named are text. Workbooks and JSON lines hold the columns that
            are named as numbers where cells are such.
    """

    end: str = "\n"
    marked: bool = False
    packed: bool = False
    types: dict[str, pa.DataType] = field(default_factory=dict)


@dataclass(frozen=True)
class Layout:
    """How a family writes its tables.

    Attributes:
        kind: The ending of file names.
        folder: How many files of a folder a table is in; 0 for a single file.
        encoding: Of text.
        delimiter: Of CSV.
        way: Numbers of the ways in which everybody else writes `WAYS`.
        names: The columns.
        looks: How each file is written.
    """

    kind: str
    folder: int
    encoding: str
    delimiter: str
    way: dict[str, int]
    names: Sequence[str]
    looks: Sequence[Look]

    @property
    def name(self) -> str:
        """What a report calls such tables."""
        linked, mixed = "home" in self.names, any(look != self.looks[0] for look in self.looks)
        return f"{'linked ' * linked}{'mixed ' * mixed}{'folder' if self.folder else 'file'}"


@dataclass(frozen=True)
class Family:
    """What was tried of a family: its layout, numbers of tables, refused ones and pairs, and a text for each that is wrong."""

    layout: Layout
    tables: int
    refused: int
    pairs: int
    wrong: tuple[str, ...]


def family(seed: int, number: int) -> Family:
    """Write, open and compare one family of neighbours, of the sort whose turn it is."""
    rng, sort = random.Random(f"{seed}:{number}"), SORTS[number % len(SORTS)]
    if sort == "linked":
        return _linked(rng)
    layout = _layout(rng, NAMES, mixed=sort == "mixed")
    others = _dealt([_record(rng, layout) for _ in range(rng.randrange(layout.folder or 1, 8))], layout)
    tables = [others, *(_with(rng, layout, others, 1) for _ in range(PERSONS))]
    return _compared(layout, tables, lambda path, table: _read(_write(path, layout, table)), most=1)


def _linked(rng: random.Random) -> Family:
    """Compare two linked tables with and without the rows of one household in either or both."""
    layouts = [_layout(rng, names, mixed=rng.random() < 0.3) for names in (HOUSEHOLDS, MEMBERS)]
    homes = [f"h{number}" for number in range(rng.randrange(1, 8))]
    others = [
        _dealt([_record(rng, layouts[0], home) for home in homes], layouts[0]),
        _dealt([_record(rng, layouts[1], rng.choice(homes)) for _ in range(rng.randrange(layouts[1].folder or 1, 10))], layouts[1]),
    ]
    tables = [others]
    for _ in range(PERSONS):
        mine = rng.choice(((1, 0), (0, 1), (1, 1), (1, 2), (2, 3)))
        tables.append([_with(rng, layout, table, rows) for layout, table, rows in zip(layouts, others, mine, strict=True)])

    def read(path: Path, both: Sequence[Table]) -> Codes:
        places = [_write(path.with_name(f"{path.name}-{place}"), layouts[place], table) for place, table in enumerate(both)]
        forms = [settled_format(place, {}, "data", str) for place in places]
        first, second = (opening.opened(place, form) for place, form in zip(places, forms, strict=True))
        first.check()
        second.check()
        counted: Codes = Counter()
        for records, codes in LinkedSource(LINK, first, second, "home")._records():
            for pair in codes.tolist():
                counted[tuple(pair)] += records
        return counted

    return _compared(layouts[0], tables, read, most=LINK.records_each, also=layouts[1])


def _dealt(records: Sequence[Record], layout: Layout) -> Table:
    """Return records in files, where they stay whoever comes in: files may write the same cell differently."""
    return [records[number :: len(layout.looks)] for number in range(len(layout.looks))]


def _with(rng: random.Random, layout: Layout, table: Table, rows: int) -> Table:
    """Return the table with so many rows of one person anywhere."""
    found = [list(records) for records in table]
    for _ in range(rows):
        records = rng.choice(found)
        records.insert(rng.randint(0, len(records)), _mine(rng, layout, "me" if "home" in layout.names else ""))
    return found


def _compared(
    layout: Layout, tables: Sequence[Any], read_one: Callable[[Path, Any], Codes], most: int, also: Layout | None = None
) -> Family:
    """Read tables, of which the first lacks one person, and compare all that are accepted.

    Args:
        layout: How they are written.
        tables: The records of each.
        read_one: Writes and reads a table.
        most: The number of records that one person changes.
        also: How second tables are written.
    """
    wrong: list[str] = []
    read: list[Codes | None] = []
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder, in_this_process():
        for place, table in enumerate(tables):
            try:
                read.append(read_one(Path(folder, str(place)), table))
            except InputError as error:
                read.append(None)
                wrong += [] if LISTED.search(str(error)) else [f"{error}\n  {layout}\n  {also}\n  {table}"]
            if len(read) == HOPELESS and not any(one is not None for one in read):
                break
    accepted = [(place, codes) for place, codes in enumerate(read) if codes is not None]
    for (first, before), (second, after) in combinations(accepted, 2):
        lost, gained = (before - after).total(), (after - before).total()
        if lost > most * (first > 0) or gained > most:
            wrong.append(f"{lost} records lost, {gained} gained\n  {layout}\n  {also}\n  {tables[first]}\n  {tables[second]}")
    return Family(layout, len(read), read.count(None), len(accepted) * (len(accepted) - 1) // 2, tuple(wrong))


def _layout(rng: random.Random, names: Sequence[str], *, mixed: bool) -> Layout:
    kind = rng.choice(KINDS)
    folder = rng.choice((2, 3)) if mixed else rng.choice((0, 0, 0, 2, 3))
    return Layout(
        kind,
        folder,
        rng.choice((*["utf-8"] * 7, "utf-8-sig", "cp1252", "utf-16")),
        rng.choice(list(DELIMITERS)),
        {column: rng.choice((*[0] * 9, rng.randrange(len(ways)))) for column, ways in WAYS.items()},
        names,
        [_look(rng) for _ in range(folder)] if mixed else [Look()] * max(1, folder),
    )


def _look(rng: random.Random) -> Look:
    return Look(
        rng.choice(("\n", "\n", "\r\n")),
        marked=rng.random() < 0.3,
        packed=rng.random() < 0.2,
        types={column: rng.choice(types) for column, types in TYPES.items() if rng.random() < 0.6},
    )


def _record(rng: random.Random, layout: Layout, home: str = "") -> list[str]:
    some = {column: rng.randrange(len(ways)) if rng.random() < 0.05 else layout.way[column] for column, ways in WAYS.items()}
    cells = {column: rng.choice(WAYS[column][way]) for column, way in some.items()}
    cells |= {"home": home, "town": rng.choice(("é", "ü", "x")), "note": rng.choice(("", "nothing", "né"))}
    return [cells[name] for name in layout.names]


def _mine(rng: random.Random, layout: Layout, home: str = "") -> Record:
    """Return a record of the person: like others' or of odd cells, each in any notation; of text also a line that is no record."""
    if rng.random() < 0.2:
        return _record(rng, layout, home)
    cells = {column: rng.choice(rng.choice(ways)) for column, ways in WAYS.items()}
    cells |= {"town": rng.choice(("é", "x", "zz", *ODD))}
    cells |= {"note": rng.choice((*ODD, "3,14", "13/02/2020", "0830", "a;b;c", "a\tb|c", "nothing"))}
    for column in cells:
        if rng.random() < 0.2:
            cells[column] = rng.choice((*ODD, "NA", "x", "1,234,567", "-", "3.14", "late"))
    cells |= {"home": rng.choice((home, home, home, ""))}
    if layout.kind not in ("csv", "jsonl") or rng.random() < 0.6:
        return [cells[name] for name in layout.names]
    parts: list[str | bytes] = rng.choices((*RAW, *ODD, *cells.values(), layout.delimiter), k=6)
    parts = [home, layout.delimiter, *parts] if home else parts  # or it could name another household
    line = b"".join(part if isinstance(part, bytes) else _encoded(part, layout) for part in parts)
    return line.replace(b"\n", b"").replace(b"\r", b"")


def _encoded(text: str, layout: Layout) -> bytes:
    return text.encode(layout.encoding.removesuffix("-sig").replace("utf-16", "utf-16-le"), "replace")


def _write(path: Path, layout: Layout, table: Table) -> Path:
    """Write a table as a file, or a folder of files."""
    if not layout.folder:
        return _written(path, layout, layout.looks[0], table[0])
    path.mkdir()
    for number, (look, records) in enumerate(zip(layout.looks, table, strict=True)):
        _written(path / str(number), layout, look, records)
    return path


def _written(path: Path, layout: Layout, look: Look, table: Sequence[Record]) -> Path:
    path = path.with_name(f"{path.name}.{layout.kind}{'.gz' * (look.packed and layout.kind in ('csv', 'jsonl'))}")
    if layout.kind in ("csv", "jsonl"):
        content = _text(layout, look, table)
        path.write_bytes(gzip.compress(content, 1) if look.packed else content)
    elif layout.kind in FURTHER:
        FURTHER[layout.kind](path, layout.names, look.types, table)
    else:
        types = [look.types.get(name, pa.string()) for name in layout.names]
        columns = {name: _typed([str(one[at]) for one in table], types[at]) for at, name in enumerate(layout.names)}
        (pa.parquet.write_table if layout.kind == "parquet" else pa.feather.write_feather)(pa.table(columns), str(path))
    return path


def _text(layout: Layout, look: Look, table: Sequence[Record]) -> bytes:
    headed = layout.kind == "csv"
    is_marked = layout.encoding in ("utf-8-sig", "utf-16") or (look.marked and layout.encoding == "utf-8")
    mark = "\ufeff" if headed and is_marked else ""
    lines = [_encoded(mark + layout.delimiter.join(layout.names), layout)] if headed else []
    lines += [one if isinstance(one, bytes) else _encoded(_line(one, layout, look), layout) for one in table]
    unit = len(_encoded("x", layout))
    return b"".join(line[: len(line) // unit * unit] + _encoded(look.end, layout) for line in lines)


def _typed(cells: Sequence[str], type_: pa.DataType) -> pa.Array:
    """Return cells in a type, each converted by itself; null where the type cannot hold the cell."""
    if pa.types.is_string(type_):
        return pa.array(cells, type_)
    if pa.types.is_dictionary(type_):
        return pa.array(cells, type_.value_type).dictionary_encode()
    return pa.concat_arrays([pa.array([], type_), *(_converted(cell, type_) for cell in cells)])


def _converted(cell: str, type_: pa.DataType) -> pa.Array:
    try:
        if pa.types.is_time(type_):
            return pa.array([time.fromisoformat(cell)], type_)
        return pa.array([cell]).cast(type_)
    except (pa.ArrowException, ValueError):
        return pa.nulls(1, type_)


def _line(cells: Sequence[str], layout: Layout, look: Look) -> str:
    if layout.kind == "jsonl":
        named = zip(layout.names, cells, strict=True)
        values = {name: float(cell) if name in look.types and _NUMBER.fullmatch(cell) else cell for name, cell in named}
        return json.dumps(values, ensure_ascii=False)
    signs = {layout.delimiter, '"'}
    quoted = ('"' + cell.replace('"', '""') + '"' if signs & {*cell} else cell for cell in cells)
    return layout.delimiter.join(quoted).replace("\n", " ").replace("\r", " ")


def _read(path: Path) -> Codes:
    """Return the codes of a table that is opened by its path alone."""
    form = settled_format(path, {}, "data", str)
    table = opening.opened(path, form)
    table.check()
    return Counter(_codes(table, form))


def _codes(table: opening.Table, form: TableFormat) -> Iterator[tuple[int, ...]]:
    for batch in table.batches(DOMAIN.names):
        codes = [encode_column(attribute, batch.column(attribute.name), form.notation).tolist() for attribute in DOMAIN]
        yield from zip(*codes, strict=True)


@contextmanager
def in_this_process() -> Iterator[None]:
    """Files that a library in C reads are read in this process."""

    def answer(table: files.FileTable, question: Any, *arguments: Any) -> Any:
        return question(table, *arguments)

    def batches(table: files.FileTable, columns: Sequence[str], *part_and_listed: Any) -> Iterator[pa.RecordBatch]:
        return readers.batches(table, columns, headers.BATCH_ROWS, *part_and_listed)

    def about(which: str, path: Path, kind: str) -> Any:
        return getattr(readers.reader(kind), which)(path)

    with (
        mock.patch.object(files.FileTable, "_answer", answer),
        mock.patch.object(files.FileTable, "batches", batches),
        mock.patch.object(confined, "about", about),
    ):
        yield
