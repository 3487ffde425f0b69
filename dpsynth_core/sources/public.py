"""A public table as a file: read into the codes of a domain, and compared with it, so that other labels are noticed before they mislead.

What is found here may be shown and published. The one look at private records is `is_same_table`, which compares files byte by byte so
that the private table is not taken for a public one by mistake; it keeps nothing and its answer is for the curator.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from hashlib import sha256
from itertools import zip_longest
from pathlib import Path
from typing import Any

import numpy as np

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.visible import listed
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.listing import table_files
from dpsynth_core.sources.locations import Location
from dpsynth_core.sources.outside import outside
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable

FIELD = "public table"
MOST = 0.5
"""A column with at least this share of its values outside the domain is written differently: the table is refused."""
MAX_CODES = 500_000_000
"""Rows times columns that are kept, at 4 bytes each."""

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Differences:
    """The differences between a public table and a domain.

    Attributes:
        missing: Columns of the domain that the table lacks.
        extra: Columns of the table that the domain lacks, which are not used.
        outside: For each column with values outside the domain, the share of rows with such a
            value, from 0 to 1; the largest first.
        rows: The number of rows of the table.
    """

    missing: tuple[str, ...]
    extra: tuple[str, ...]
    outside: Mapping[str, float]
    rows: int


@contextmanager
def _about_this_table() -> Iterator[None]:
    """Turn errors about a table's files into errors about the public table."""
    try:
        yield
    except InputError as error:
        raise (InputError(FIELD, error.problem, error.remedy) if error.field == "data" else error) from None


@_about_this_table()
def compare(path: Location, form: TableFormat, domain: Domain) -> Differences:
    """Return how a public table differs from the domain, after one pass over the table.

    Columns that the table lacks are differences, not errors (`refusal` turns them into an error).

    Args:
        path: The file or folder of the table.
        form: The format of the table.
        domain: The domain of the private table.

    Raises:
        InputError: The table cannot be read.
        CapacityError: Its rows times the columns of the domain exceed 500 million (`MAX_CODES`).
    """
    return _read(FileTable.of(path, form), domain)[0]


@_about_this_table()
def read(path: Location, form: TableFormat, domain: Domain) -> PublicTable:
    """Return a public table as codes of the domain.

    All rows are kept. A value outside the domain gets the code that it would get in the private table. Columns
    that the domain lacks are not used.

    Args:
        path: The file or folder of the table.
        form: The format of the table.
        domain: The domain of the private table.

    Raises:
        InputError: The table cannot be read, has more than 2 GB, lacks a column or has fewer than two rows; at least
            half of the values of a column are outside the domain; or the table has fewer than two different rows that
            the domain calls possible.
        CapacityError: Its rows times the columns of the domain exceed 500 million (`MAX_CODES`).
        OSError: A file cannot be read a second time, for its hash.
    """
    table = FileTable.of(path, form)
    table.check()
    differences, codes = _read(table, domain)
    if problem := refusal(differences):
        raise problem
    known = PublicTable(domain, codes, path.name, digest(path))
    if len(known.support()[0]) < 2:
        raise InputError(FIELD, "fewer than two different rows of it are possible in this domain", "choose a larger table, or none")
    return known


def refusal(differences: Differences) -> InputError | None:
    """Return an error that says why a table with these differences cannot be used; None if it can.

    It cannot if it lacks a column, has fewer than two rows, or has half of the values of a column or more outside the
    domain. The error has the first of these reasons that holds, and names up to 5 missing columns or one column with
    values outside. It is returned, not raised.
    """
    if names := differences.missing:
        problem = f"it lacks the column{'s' * (len(names) > 1)} {listed(list(map(repr, names)), 5)} of the domain"
        return InputError(FIELD, problem, "add the column, under the same name, or drop it from the domain")
    if differences.rows < 2:
        return InputError(FIELD, "it has one row", "choose a table with many rows: a mechanism can only give weights to rows that it holds")
    for name, share in differences.outside.items():
        if share >= MOST:
            remedy = "write its values as the domain lists them (Domain page), or leave the public table out"
            return InputError(FIELD, f"{share:.0%} of the values of its column {name!r} are not in the domain", remedy)
    return None


def section(path: Path) -> dict[str, Any]:
    """Return the part of a spec about a public table: a JSON object with the format of the file and its SHA-256.

    Args:
        path: The file or folder.

    Raises:
        InputError: The table cannot be read, or its numbers or dates can be read in two ways.
        OSError: A file cannot be read for its hash.
    """
    from dpsynth_core.sources.detect import public_format  # loaded where a public table is named

    return public_format(path, "public").section(path) | {"sha256": digest(path)}


@_about_this_table()
def digest(path: Location) -> str:
    """Return the SHA-256, in hexadecimal digits, of the bytes of a table's files in order.

    Raises:
        InputError: No table is found at the path.
        OSError: A file cannot be read.
    """
    content_hash = sha256()
    for file in table_files(path):
        for chunk in _chunks(file):
            content_hash.update(chunk)
    return content_hash.hexdigest()


def is_same_table(public: Location, private: Location) -> bool:
    """Return whether a file of the public table has the same bytes as one of the private table; for the curator only.

    Args:
        public: The file or folder of the public table.
        private: The file or folder of the private table.

    Raises:
        InputError: No table is found at a path.
        OSError: A file cannot be read.
    """
    theirs: dict[int, list[Location]] = {}
    for file in table_files(private):
        theirs.setdefault(file.stat().st_size, []).append(file)
    with _about_this_table():
        ours = table_files(public)
    pairs = ((file, other) for file in ours for other in theirs.get(file.stat().st_size, ()))
    return any(all(one == two for one, two in zip_longest(_chunks(file), _chunks(other))) for file, other in pairs)


def _chunks(file: Location) -> Iterator[bytes]:
    with file.open("rb") as stream:
        while chunk := stream.read(_CHUNK):
            yield chunk


def _read(table: FileTable, domain: Domain) -> tuple[Differences, np.ndarray[tuple[int, int], np.dtype[np.int32]]]:
    """Return the differences between table and domain, and the table's codes.

    The codes have shape (rows, columns of the domain), with 0 in columns that the table lacks.

    Raises:
        CapacityError: The table has more than `MAX_CODES` cells.
    """
    names = table.column_names()
    there = [attribute for attribute in domain if attribute.name in names]
    extra = tuple(name for name in names if name not in domain)
    blocks, counts, rows = [], dict.fromkeys((attribute.name for attribute in there), 0), 0
    for batch in table.batches([attribute.name for attribute in there]) if there else ():
        codes = np.zeros((batch.num_rows, len(domain)), dtype=np.int32)
        for attribute in there:
            column = batch.column(batch.schema.get_field_index(attribute.name))
            codes[:, domain.position(attribute.name)] = encode_column(attribute, column, table.form.notation)
            counts[attribute.name] += outside(attribute, column, table.form.notation)
        blocks.append(codes)
        rows += batch.num_rows
        if rows * len(domain) > MAX_CODES:
            raise CapacityError(FIELD, "it has too many rows", f"use a sample of at most {MAX_CODES // len(domain):,} rows of it")
    shares = {name: count / rows for name, count in sorted(counts.items(), key=lambda item: -item[1]) if count}
    missing = tuple(name for name in domain.names if name not in names)
    return Differences(missing, extra, shares, rows), np.concatenate(blocks) if blocks else np.zeros((0, len(domain)), dtype=np.int32)
