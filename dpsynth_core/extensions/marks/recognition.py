"""The check whether a table that somebody chose for a release says of itself that its rows are synthetic. No record is read.

Looked at are: the file beside it, the first column's name, and the title that this program writes into Parquet, Feather, SPSS, Stata, SAS
and Excel files, at the places where these formats have it. Titles are found as bytes, without a library that a damaged file could confuse.
"""

from __future__ import annotations

import json
import os
import re
import zipfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from dpsynth_core.extensions.marks.names import COLUMN, SUFFIX
from dpsynth_core.foundation.documents import is_uri

_TITLE = re.compile(rb"(SYNTHETIC|DUMMY) ROWS, (?:plan|order) [0-9a-f]{12}")
_HEAD = 4096
"""Bytes of a file in which the formats have what tells them apart, and SPSS, Stata and SAS their titles."""
_MOST = 16 << 20
"""Bytes of a document or of a format's own description that are read at most."""
_MOST_FILES = 20
"""Files of a folder that are looked at."""
_SPSS, _SAS, _ARROW, _PARQUET, _ZIP = (b"$FL2", b"$FL3"), b"HEADER RECORD*******LIB", b"ARROW1", b"PAR1", b"PK\x03\x04"
_STATA = b"<stata_dta>"
_OF_SPSS, _OF_SAS, _OF_STATA = slice(109, 173), slice(240, 640), slice(0, 400)
"""Where the titles are: the file label of SPSS, the member header of a transport file of SAS, the header of Stata."""


def said(table: Any) -> str:
    """Return a sentence for the person who chose a table for a release if the table calls its rows synthetic, else "".

    Of a folder, the first 20 files by name are looked at, without the files beside files of rows. A table that
    cannot be read gives "" here, and nothing is raised: opening the table says why. Where a table says it is listed at the top
    of this file; the name of a column is looked at in text files and tables in memory alone.

    Args:
        table: The path of a file or folder, or a table in memory; for an address (such as s3://...), nothing is
            looked at, and the result is "".
    """
    try:
        found = _of_place(os.fspath(table)) if isinstance(table, str | os.PathLike) else _of_table(table)
    except Exception:  # noqa: BLE001 - this only advises: whatever a damaged, encrypted or foreign table raises, opening it says why
        return ""
    if not found:
        return ""
    kind = "dummy rows, which were invented from a codebook" if found == "DUMMY" else "synthetic rows"
    return (
        f"This table says that it holds {kind} of this program: no record in it is a person's. A release of it spends budget and protects "
        "nobody. To have more rows, or rows of a group, use the release that it came from; to make a release, choose the people's table."
    )


def _of_table(table: Any) -> str:
    """Return "SYNTHETIC" or "DUMMY" for a table in memory that says so in its metadata or by its first column, else ""."""
    about = getattr(table, "attrs", None)
    if isinstance(about, dict) and about.get("synthetic") is True:
        return "DUMMY" if about.get("dummy") is True else "SYNTHETIC"
    metadata = getattr(getattr(table, "schema", None), "metadata", None)
    if isinstance(metadata, dict) and (found := _in(metadata.get(b"title", b""))):
        return found
    names = getattr(table, "column_names", getattr(table, "columns", ()))
    return "SYNTHETIC" if isinstance(next(iter(names), None), str) and next(iter(names)) == COLUMN else ""


def _of_place(place: str) -> str:
    if is_uri(place):
        return ""
    path = Path(place)
    if path.is_dir():
        files = sorted(one for one in path.iterdir() if one.is_file() and not one.name.endswith(SUFFIX))[:_MOST_FILES]
        return next((found for found in map(_of_file, files) if found), "")
    return _of_file(path) if path.is_file() else ""


def _of_file(path: Path) -> str:
    if found := _beside(path):
        return found
    with path.open("rb") as stream:
        head = stream.read(_HEAD)
        if head[:4] in _SPSS:
            return _in(head[_OF_SPSS])
        if head.startswith(_STATA):
            return _in(head[_OF_STATA].partition(b"<timestamp>")[0])
        if head.startswith(_SAS):
            return _in(head[_OF_SAS])
        longer: dict[bytes, Callable[[BinaryIO], bytes]] = {_PARQUET: _footer, _ARROW: _schema, _ZIP: _properties}
        for mark, read in longer.items():
            if head.startswith(mark):
                return _in(read(stream))
    return "SYNTHETIC" if _first_name(head) == COLUMN else ""


def _in(text: bytes) -> str:
    found = _TITLE.search(text)
    return found[1].decode() if found else ""


def _beside(path: Path) -> str:
    """Return what the file beside a file of rows says; "" if there is none, or if it is about a file of another size."""
    beside = path.with_name(f"{path.name}{SUFFIX}")
    if not beside.is_file() or beside.stat().st_size > _MOST:
        return ""
    with suppress(ValueError, RecursionError, KeyError, IndexError, TypeError):
        note = json.loads(beside.read_bytes())["notes"][0]
        if note["synthetic"] is True and note["bytes"] == path.stat().st_size:
            return "DUMMY" if note.get("dummy") is True else "SYNTHETIC"
    return ""


def _first_name(head: bytes) -> str:
    """Return the name of the first column of a CSV, or of the first entry of JSON lines, from the beginning of the file."""
    line = head.split(b"\n")[0].decode("utf-8-sig", errors="replace").strip()
    entry = re.match(r'\{\s*"([^"]*)"', line)
    return entry[1] if entry else re.split("[,;\t|]", line)[0].strip().strip('"')


def _footer(stream: BinaryIO) -> bytes:
    """Return the metadata of a Parquet file, which are at its end; what is too long is not read."""
    size = stream.seek(0, os.SEEK_END)
    stream.seek(max(0, size - 8))
    length = int.from_bytes(stream.read(4), "little")
    if not 0 < length <= min(size - 8, _MOST):
        return b""
    stream.seek(size - 8 - length)
    return stream.read(length)


def _schema(stream: BinaryIO) -> bytes:
    """Return the first message of a Feather file, its schema with metadata."""
    stream.seek(8)
    mark, length = stream.read(4), int.from_bytes(stream.read(4), "little")
    return stream.read(length) if mark == b"\xff\xff\xff\xff" and length <= _MOST else b""


def _properties(stream: BinaryIO) -> bytes:
    """Return the properties of a workbook, of which the title is one; nothing for other archives."""
    with zipfile.ZipFile(stream) as archive, suppress(KeyError), archive.open("docProps/core.xml") as part:
        return part.read(_MOST)
    return b""
