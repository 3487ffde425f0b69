"""JSON lines as records: every line is exactly one record, with any content.

As in `csv_file`, the lines about one person are this person's lines, and a record depends on its own line alone. A line that is not a JSON
object, an empty line included, is malformed: a record whose cells are all missing. A column that a line lacks is a missing cell, like null,
lists and objects. Numbers keep the digits they are written with.

JSON lines have no header. The first lines suggest which columns there are, and in which order; a stated domain selects the columns that
are used, and a column that the first lines lack is refused before anything is charged.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import pyarrow as pa

from dpsynth_core.sources import lines, packed
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.parts import Piece

_HEAD_BYTES = 1 << 20


def names(path: Location, form: TableFormat) -> tuple[str, ...]:
    """Return the keys of the objects in the first lines (about 1 MB), in order of appearance: the columns; () without any.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    first = next(lines.blocks(path, _writing(path, form), _HEAD_BYTES), b"")
    return tuple(dict.fromkeys(name for record in map(_record, first.splitlines()) if record is not None for name in record))


def first_texts(path: Location, form: TableFormat, rows: int) -> dict[str, list[str]]:
    """Return by column the text values in the first `rows` lines, in order, without numbers and others.

    Only the first megabyte, about, is read. A column without texts has an empty list.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    first = next(lines.blocks(path, _writing(path, form), _HEAD_BYTES), b"")
    texts: dict[str, list[str]] = {}
    for record in (_record(line, float) or {} for line in first.splitlines()[:rows]):
        for name, value in record.items():
            texts.setdefault(name, []).extend([value] if isinstance(value, str) else [])
    return texts


def batches(path: Location, form: TableFormat, columns: Sequence[str], _rows: int) -> Iterator[pa.RecordBatch]:
    """Yield these columns of all records, in order, as dictionary-encoded text; `_rows` is ignored.

    A cell is null if its line is malformed or lacks the column, or if the value is null, a list or an object.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    return piece_batches(Piece(str(path)), form, columns)


def cuts(path: Location, form: TableFormat, every: int) -> list[int]:
    """Return ascending byte positions at which lines begin, at least `every` bytes apart, to cut the file.

    The result is [] for a small file and for a packed one, which cannot be divided.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    return [] if packed.is_packed(path) else lines.cuts(path, _writing(path, form), every)


def piece_batches(piece: Piece, form: TableFormat, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
    """Yield record batches with these columns from a piece of a file, in order, as dictionary-encoded text.

    A cell is null if its line is malformed or lacks the column, or if the value is null, a list or an object.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    path = located(piece.file)
    for block in lines.blocks(path, _writing(path, form), None, piece.begin, piece.end):
        records = [_record(line) or {} for line in block.removesuffix(b"\n").split(b"\n")]
        cells = [pa.array([_text(record.get(name)) for record in records], pa.string()).dictionary_encode() for name in columns]
        yield pa.RecordBatch.from_arrays(cells, names=list(columns))


def malformed(path: Location, form: TableFormat) -> tuple[int, int]:
    """Return two numbers: lines that are not JSON objects, and how many of these are blank.

    Blank lines have no characters but spaces and tabs. The counts are exact and private.

    Raises:
        OSError: The file cannot be read.
        InputError: The encoding leaves the byte order open.
    """
    wrong = blank = 0
    for block in lines.blocks(path, _writing(path, form)):
        for line in block.removesuffix(b"\n").split(b"\n"):
            wrong += _record(line) is None
            blank += not line.strip()
    return wrong, blank


def _writing(path: Location, form: TableFormat) -> lines.Writing:
    return lines.Writing.of(path, form.encoding, headed=False)


def _record(line: bytes, number: Callable[[str], Any] = str) -> Mapping[str, Any] | None:
    """Return the object of a line, with trimmed keys; None for a line that is not a JSON object.

    Args:
        line: The line in UTF-8.
        number: A function that converts the digits of a number; by default they stay text.
    """
    try:
        record = json.loads(line.decode(), parse_int=number, parse_float=number, parse_constant=lambda _: None)
    except (ValueError, RecursionError):
        return None
    return {name.strip(): value for name, value in record.items()} if isinstance(record, dict) else None


def _text(value: Any) -> str | None:
    """Return a JSON value as the text of a cell; None for null, lists and objects."""
    if isinstance(value, bool):
        return str(value).lower()
    return value.encode(errors="replace").decode() if isinstance(value, str) else None  # a lone surrogate may be escaped in it
