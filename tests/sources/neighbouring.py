"""Random neighbouring text files: tables whose lines hold odd characters anywhere, and the same with one person's lines put in.

A family is a way to write a table (`Layout`), a table of everybody else, and that table with lines of one person: any two of these tables
are neighbours, by a line inserted, removed or replaced, or with a person column by all lines of a person. Blocks are tiny, so that their
borders fall everywhere. Records are compared as texts, which is more than their codes; one pair of each family also as counts of codes, in
parts and by threads. `test_neighbours` tries some thousands of pairs on every build, `python -m benchmarks neighbours` as many as you like.
"""

from __future__ import annotations

import random
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa

from dpsynth_core.sources import csv_file, jsonl_file, lines, parts, persons
from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import Part, Sizes
from dpsynth_core.vocabulary.domain import Attribute, Domain

COLUMNS = ("id", "sex", "age")
DOMAIN = Domain(
    (
        Attribute.categorical("sex", ["f", "m", "\u00e9"], other=True, missing=True),
        Attribute.integer("age", 0, 3, missing=True),
    )
)
PLAIN = ("f", "m", "1", "2", "x", "\u00e9", "F", "(1)", "2-", "1 x", "\u0661", "\uff12")
ODD = (
    *("\ufeff", "\ufeff\ufeff", "\u2028", "\u2029", "\x85", "\0", "\r", "\r\r", "\v", "\f", "\x1a", "\x1c", "\x1d", "\x1e", "\x1f", "\b"),
    *(" ", "\t", "\xa0", "\u3000", "\u200b", "\u2060", "\xad", "\u202e", "\ufffd", "\ufffe", "\uffff", "\U0001f600", "e\u0301", "\u0a0a"),
    *("\\", "\\n", "\\N", "'", '"', '""', '"""', "`", ",", ";", "#", "=1+1", "NA", "?", "null", "", "{", "[", "\u0d0d", "\x7f", "\u2c22"),
)
RAW = (
    *(b"\xff", b"\xfe\xff", b"\xff\xfe", b"\xef", b"\xef\xbb", b"\xbb\xbf", b"\xe2\x82", b"\xed\xa0\x80", b"\xc0\x8a"),
    *(b"\x80", b"\x81", b'\x81"'),
)
ME = ("me", " me", '"me"', "\ufeffme", "me\u2028", "\rme")
NOBODY = ("", " ", "NA", "?")
WIDE = {"utf-16": "utf-16-le", "utf-32": "utf-32-le"}
ENCODINGS = (
    *("utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be", "utf-32", "utf-32-be"),
    *("ascii", "cp1252", "gbk", "shift_jis", "big5", "cp949"),
)
PERSONS = 10
"""Tables of a family that have lines of the person; one has none."""

Table = list[list[bytes]]
"""The lines of each file, without header and line ends."""
Texts = Counter[tuple[str | None, ...]]


@dataclass(frozen=True)
class Layout:
    """end: of a line. written: the encoding of the bytes. mark: whether files begin with a byte order mark, before a header also with two.
    packing: how files are packed, "" for not. last_end: whether the last line of a file has a line end. limit: rows per person, 0 without a
    person column. block, longest: bytes of a block and of a line. every: bytes of a part, 0 for the whole."""

    form: TableFormat
    written: str
    end: str
    mark: bool
    packing: str
    last_end: bool
    limit: int
    block: int
    longest: int
    every: int

    @property
    def headed(self) -> bool:
        return self.form.kind == "csv" and not self.form.names


@dataclass(frozen=True)
class Family:
    """layout: of its tables. pairs: how many neighbours were compared. wrong: of each pair whose records are not what they should be."""

    layout: Layout
    pairs: int
    wrong: tuple[str, ...]


def family(seed: int, number: int) -> Family:
    """Write and compare one family of neighbours."""
    rng = random.Random(f"{seed}:{number}")
    layout = _layout(rng)
    tables = _tables(rng, layout)
    wrong = []
    with tempfile.TemporaryDirectory(dir=_MEMORY) as folder, _small(layout):
        read = [_read(Path(folder, str(place)), layout, table) for place, table in enumerate(tables)]
        pairs = list(combinations(range(len(tables)), 2))
        for first, second in pairs:
            if why := _wrong(layout, tables[first], tables[second], read[first], read[second], absent=first == 0):
                wrong.append(f"{why}\n  {layout}\n  {tables[first]}\n  {tables[second]}")
        if number % 4 == 0 and layout.form.kind == "csv":  # the columns of JSON lines are those that some line has
            why = _wrong_codes(layout, Path(folder, "0"), Path(folder, "1"))
            wrong += [f"{why}\n  {layout}\n  {tables[0]}\n  {tables[1]}"] if why else []
    return Family(layout, len(pairs), tuple(wrong))


_MEMORY = "/dev/shm" if Path("/dev/shm").is_dir() else None


def _layout(rng: random.Random) -> Layout:
    kind = rng.choices(("csv", "jsonl"), (9, 1))[0]
    encoding = rng.choice(ENCODINGS) if rng.random() < 0.5 else "utf-8"
    mark = encoding == "utf-8-sig" or rng.random() < 0.3
    headed = kind == "csv" and rng.random() < 0.7
    if encoding in WIDE and not headed:
        mark = True
    written = WIDE.get(encoding, encoding).removesuffix("-sig")
    if mark and encoding in WIDE and rng.random() < 0.5:
        written = written.replace("-le", "-be")
    form = TableFormat(
        kind,
        delimiter=rng.choice(",,,;\t|"),
        encoding=encoding,
        quoting=rng.choice(("lines", "lines", "none", "standard")) if kind == "csv" else "lines",
        names=() if headed or kind == "jsonl" else COLUMNS,
        negative=rng.choice(("-5", "(5)", "5-")),
        units=rng.choice(((), ("x",), ("%", "f"))),
        same_text=rng.choice(("exact", "look", "case")),
    )
    block = rng.choice((2, 5, 13, 21, 34, 34, 55, 55, 89, 1000))
    return Layout(
        form,
        written,
        end=rng.choice(("\n", "\n", "\r\n", "\r") if headed else ("\n", "\r\n")),
        mark=mark and (encoding in WIDE or written.startswith("utf")),
        packing=rng.choice(("", "", "", "gzip", "zstd")),
        last_end=rng.random() < 0.7,
        limit=rng.choice((0, 0, 0, 1, 2)),
        block=block,
        longest=max(block, 400),
        every=rng.choice((0, 0, 0, 20, 40)),
    )


# Tables


def _tables(rng: random.Random, layout: Layout) -> list[Table]:
    """A table without the person, and some with lines of the person: one, always at the same place, or with a person column a few."""
    least = 0 if layout.headed else 1  # no header and no line is not a file
    others = [[_line(rng, layout, mine=False) for _ in range(rng.randrange(least, 6))] for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    file = rng.randrange(len(others))
    at = rng.choice((0, len(others[file]), rng.randint(0, len(others[file]))))
    tables = [others]
    for _ in range(PERSONS):
        table = [list(lines_of_file) for lines_of_file in others]
        table[file].insert(at, _line(rng, layout, mine=True))
        for _ in range(rng.randrange(3) if layout.limit else 0):
            further = rng.choice(table)
            further.insert(rng.randint(0, len(further)), _line(rng, layout, mine=True))
        tables.append(table)
    return tables


def _line(rng: random.Random, layout: Layout, mine: bool) -> bytes:
    """A line; with a person column one that names the person who changes, or nobody, or another of a few persons."""
    names = (*ME, *NOBODY) if mine else ("p1", "p1", "p2", "\ufeffp1", '"p2"', "p\ufeff3", *NOBODY)
    first = rng.choice([name for name in names if _is_name(layout, name)]) if layout.limit else None
    if layout.form.kind == "jsonl":
        text = _json(rng, first)
    elif layout.form.quoting == "standard":
        text = _quoted(rng, layout, first)
    else:
        text = _loose(rng, layout, first)
    return _without_end(layout, _encoded(layout, text))


def _is_name(layout: Layout, text: str) -> bool:
    """Whether this can be written, and means what it means elsewhere."""
    if ('"' in text and layout.form.quoting == "none") or (text.startswith("\ufeff") and layout.form.kind == "jsonl"):
        return False
    try:
        text.encode(layout.written)
    except UnicodeEncodeError:
        return False
    return True


def _loose(rng: random.Random, layout: Layout, first: str | None) -> list[str | bytes]:
    mark = layout.form.delimiter
    if rng.random() < 0.25:
        free = [rng.choice((*PLAIN, *ODD, *RAW, mark, mark, '"')) for _ in range(rng.randrange(8))]
        return free if first is None else [rng.choice(NOBODY)] if len(free) < 2 else [first, mark, *free]
    cells: list[str | bytes] = []
    for place in range(rng.choice((3, 3, 3, 3, 3, 3, 2, 4))):
        cells += [mark] if place else []
        cells += _cell(rng) if place or first is None else [first]
    return [*([rng.choice(ODD)] if first is None and rng.random() < 0.2 else []), *cells]


def _cell(rng: random.Random) -> list[str | bytes]:
    if rng.random() < 0.6:
        return [rng.choice(PLAIN)]
    tokens: list[str | bytes] = [rng.choice((*PLAIN, *ODD, *RAW)) for _ in range(rng.randrange(3))]
    if rng.random() < 0.02:
        tokens.append("y" * 500)
    return ['"', *tokens, '"'] if rng.random() < 0.3 else tokens


def _quoted(rng: random.Random, layout: Layout, first: str | None) -> list[str | bytes]:
    """A record that may have line breaks in its cells, its quotes where they may stand."""
    cells: list[str | bytes] = []
    forbidden = ('"', layout.form.delimiter)
    for place in range(rng.choice((3, 3, 3, 3, 3, 3, 2, 4))):
        tokens = [rng.choice((*PLAIN, *ODD, "\n", "\r\n", "\n\ufeff")) for _ in range(rng.randrange(3))]
        text = first if place == 0 and first is not None else "".join(tokens)
        inner = text.strip('"')
        if rng.random() < 0.5:
            start = "\ufeff" * (place == 0 and inner.startswith("\ufeff"))
            text = start + '"' + inner.removeprefix(start).replace('"', '""') + '"'
        else:
            text = "".join(c for c in inner if c not in (*forbidden, "\n", "\r"))
            text = text.lstrip("\ufeff") if place else text  # before a quote it would stand where none may
        cells += [layout.form.delimiter, text] if place else [text]
    return cells


def _json(rng: random.Random, first: str | None) -> list[str | bytes]:
    if rng.random() < 0.3:
        return [rng.choice(('{"sex": "f"', "", "[1]", "7", '{"id": "p1"} x', "{}", "null", '"a"', *(ODD if first is None else ())))]
    name = ("p1" if first is None else first).replace('"', "").replace("\r", "")
    value: str | bytes = rng.choice((*PLAIN, *ODD, *RAW))
    value = value.replace('"', "") if isinstance(value, str) else value
    start = rng.choice(("", "", " ", "\ufeff", "\r", "\ufeff\ufeff"))
    return [f'{start}{{"id": "{name}", "sex": "', value, f'", "age": {rng.choice(("1", "2.0", "true", "null", "[1]", "1e400"))}}}']


def _encoded(layout: Layout, tokens: Sequence[str | bytes]) -> bytes:
    written = b""
    for token in tokens:
        try:
            written += token.encode(layout.written, "surrogatepass") if isinstance(token, str) else _units(layout, token)
        except UnicodeEncodeError:
            assert isinstance(token, str)
            written += token.encode()  # bytes that mean something else
    return written


def _units(layout: Layout, raw: bytes) -> bytes:
    """Whole code units."""
    unit = _unit(layout)
    return raw * unit if len(raw) % unit else raw


def _unit(layout: Layout) -> int:
    return len("x".encode(layout.written))


def _without_end(layout: Layout, line: bytes) -> bytes:
    """What can be a line: nothing in it ends it, and where lines end with CR it does not begin with LF."""
    unit = _unit(layout)
    units = [line[at : at + unit] for at in range(0, len(line), unit)]
    ends = "\r" if layout.end == "\r" else "\n"
    if layout.form.quoting == "standard" and layout.form.kind == "csv":
        kept = b"".join(units)
    else:
        kept = b"".join(one for one in units if one != ends.encode(layout.written))
    feed = "\n".encode(layout.written)
    while layout.end == "\r" and kept.startswith(feed):
        kept = kept[unit:]
    return kept


# Files


def _write(path: Path, layout: Layout, table: Table) -> Part:
    """The table as a file or a folder of files."""
    end, mark = layout.end.encode(layout.written), "\ufeff".encode(layout.written) if layout.mark else b""
    path.mkdir()
    written = []
    for number, file in enumerate(table):
        content = mark
        if layout.headed:
            content += layout.form.delimiter.join(COLUMNS).encode(layout.written) + end
        content += end.join(file) + end * (bool(file) and (layout.last_end or not file[-1]))
        name = path / f"{number}.{layout.form.kind}"
        name.write_bytes(pa.compress(content, layout.packing, asbytes=True) if layout.packing else content)
        written.append(name)
    return parts.uncut(written)


@contextmanager
def _small(layout: Layout) -> Iterator[None]:
    with mock.patch.object(lines, "BLOCK_BYTES", layout.block), mock.patch.object(lines, "MAX_LINE_BYTES", layout.longest):
        yield


def _read(path: Path, layout: Layout, table: Table) -> Texts:
    """The records that count, as texts."""
    part = _write(path, layout, table)
    seen: dict[object, int] = {}
    records: Texts = Counter()
    for batch in _batches(part, layout):
        kept = batch
        if layout.limit:
            named = persons.named(batch.column("id"), layout.form)
            kept = batch.filter(pa.array(persons.within_limit(named, seen, layout.limit)))
        records.update(zip(*(column.dictionary_decode().to_pylist() for column in kept.columns), strict=True))
    return records


def _batches(part: Part, layout: Layout) -> Iterator[pa.RecordBatch]:
    if layout.form.kind == "jsonl":
        for piece in part:
            yield from jsonl_file.piece_batches(piece, layout.form, COLUMNS)
        return
    divided = [part]
    if layout.every:
        divided = [(piece,) for one in part for piece in parts.cut(one.file, csv_file.cuts(Path(one.file), layout.form, layout.every))]
    for some in divided:
        for block in csv_file.blocks(some, layout.form):
            yield block.batch(COLUMNS)


# What should be


def _wrong(layout: Layout, first: Table, second: Table, of_first: Texts, of_second: Texts, absent: bool) -> str:
    """Why these records are not those of neighbours, "" if they are. absent: whether the first table is the one without the person."""
    lost, gained = (of_first - of_second).total(), (of_second - of_first).total()
    rows, others = sum(map(len, first)), sum(map(len, second))
    if not layout.limit and (of_first.total() != rows or of_second.total() != others):
        return f"{of_first.total()} records of {rows} lines, {of_second.total()} of {others}"
    most = max(1, layout.limit)
    if lost > (0 if absent else most) or gained > most:
        return f"{lost} records lost and {gained} gained"
    return ""


def _wrong_codes(layout: Layout, path: Path, other: Path) -> str:
    """The same of codes, in parts and by several threads."""
    sizes = Sizes(bytes=max(layout.every, 1), rows=1, divided=0)
    person = "id" if layout.limit else None
    first, second = (
        ArrowSource(DOMAIN, one, layout.form, person, max(1, layout.limit), sizes).counts([DOMAIN.names])[DOMAIN.names]
        for one in (path, other)
    )
    difference = second - first
    lost, gained = -int(np.minimum(difference, 0).sum()), int(np.maximum(difference, 0).sum())
    return f"{lost} codes lost and {gained} gained" if max(lost, gained) > max(1, layout.limit) else ""
