"""SQLite files, all of whose passes are one transaction and so see one state.

A column may hold values of any type, regardless of its declared type: each value counts as its text, or as its number in the curator's
notation.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from functools import partial
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.extensions.databases.address import Address
from dpsynth_core.extensions.databases.catalogue import Batches, Column, Opened
from dpsynth_core.extensions.databases.statement import reading
from dpsynth_core.sources.arrays import texts as number_texts

CATALOGUE = "SELECT 'main', name FROM main.sqlite_master WHERE type IN ('table', 'view') AND name NOT LIKE 'sqlite_%'"
BATCH_ROWS = 16_384
_ARROW = {int: pa.int64(), float: pa.float64(), str: pa.string()}


def opened(address: Address, _timeout: int) -> Opened:
    """Return a read-only connection to an SQLite file, in one transaction; ignores `_timeout`.

    Raises:
        InputError: The file does not exist.
        sqlite3.Error: The file cannot be opened as such a database.
    """
    place = address.file().replace("%", "%25").replace("?", "%3f").replace("#", "%23")
    raw = sqlite3.connect(f"file:{place}?mode=ro", uri=True, check_same_thread=False, isolation_level=None)
    raw.text_factory = partial(str, encoding="utf-8", errors="replace")
    raw.execute("PRAGMA temp_store = MEMORY")  # records never reach a disk
    raw.execute("BEGIN")
    return Opened(raw)


def columns(raw: Any, select: str) -> list[Column]:
    """Return the columns of a SELECT, in order, all read as text, because a value may be of any type; no record is read.

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.

    Raises:
        sqlite3.Error: The database refuses the SELECT.
    """
    return [Column(column[0], pa.string(), "") for column in raw.execute(f"SELECT * FROM ({select}\n) LIMIT 0").description]


def batches(raw: Any, select: str, columns: Sequence[Column], order: Sequence[Column], decimal: str) -> Batches:
    """Yield the records of a SELECT, sorted by `order`, as batches of text with columns c0, c1, ... of 16,384 rows at most.

    Numbers have the decimal mark `decimal`. Records are sorted by the type of values, and then by the values (texts by their bytes).

    Args:
        raw: The connection object of the driver (`Opened`).
        select: The SELECT.
        columns: The columns of the batches, at least one.
        order: The columns by which records are sorted; empty for any order.
        decimal: The decimal mark of fractions.

    Raises:
        sqlite3.Error: The database refuses the statement.
    """

    def value(name: str, _column: Column) -> str:
        return name

    def key(name: str, _column: Column) -> str:
        return f"typeof({name}), {name} COLLATE BINARY"

    records = raw.execute(reading(select, columns, order, value, key))
    while rows := records.fetchmany(BATCH_ROWS):
        arrays = [texts(values, decimal) for values in zip(*rows, strict=True)]
        yield pa.RecordBatch.from_arrays(arrays, names=[f"c{place}" for place in range(len(arrays))])


def texts(values: Sequence[Any], decimal: str) -> pa.Array:
    """Return each value as text, converted independently of the others; None becomes null.

    Bytes are read as UTF-8; what is not UTF-8 in them becomes replacement characters.

    Args:
        values: Values as SQLite gives them: integers, floats, texts, bytes and None.
        decimal: The decimal mark of fractions.
    """
    kinds = set(map(type, values)) - {type(None)}
    if len(kinds) == 1:
        return _texts_of(kinds.pop(), values, decimal)
    parts = [_texts_of(kind, [value if type(value) is kind else None for value in values], decimal) for kind in kinds]
    return pc.coalesce(*parts) if parts else pa.nulls(len(values), pa.string())


def _texts_of(kind: type, values: Sequence[Any], decimal: str) -> pa.Array:
    """Return values that are all of the type `kind` or None as texts, null for None."""
    if kind is bytes:
        return pa.array([None if value is None else value.decode(errors="replace") for value in values], pa.string())
    array = pa.array(values, _ARROW[kind])
    if kind is not float:
        return array.cast(pa.string())
    text = number_texts(array)
    for written, meant in (("inf", "1e999"), ("-inf", "-1e999")):  # how SQLite writes a number beyond all others
        text = pc.if_else(pc.equal(text, written), meant, text)
    return pc.replace_substring(text, ".", decimal)
