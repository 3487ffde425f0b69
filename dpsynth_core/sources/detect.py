"""Suggest from a file's first bytes what it is and how it is written, and say plainly when it is no table.

A suggestion is for the curator, who states how the file is written; it is never published.
"""

from __future__ import annotations

import codecs
import csv
import io
import json
import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, packed, statistical_file
from dpsynth_core.sources.detect_notation import Doubt, detect_notation
from dpsynth_core.sources.formats import DELIMITERS, KNOWN, STATISTICAL, TableFormat, table_files
from dpsynth_core.sources.lines import known_encoding
from dpsynth_core.sources.locations import Location

_HEAD_BYTES = 1 << 20
_MOST_READ = 500
"""Records that suggest how numbers and dates are written."""
_SIGNATURES = {
    b"PK\x03\x04": ("a zip archive", "unpack it first"),
    b"BZh91AY&SY": ("compressed by bzip2", "unpack it first, or pack it with gzip"),
    b"\xfd7zXZ\0": ("compressed by xz", "unpack it first, or pack it with gzip"),
    b"%PDF-": ("a PDF document", f"export the table as {KNOWN}"),
    b"\x89PNG": ("an image", "choose a CSV or Parquet file"),
    b"\xff\xd8\xff": ("an image", "choose a CSV or Parquet file"),
    b"GIF89a": ("an image", "choose a CSV or Parquet file"),
    b"SQLite format 3\0": ("a database", f"export the table as {KNOWN}"),
}


@dataclass(frozen=True)
class Detected:
    """form: how a table seems to be written. doubts: what of it only the curator can tell."""

    form: TableFormat
    doubts: tuple[Doubt, ...] = ()


def detect_table(
    path: str | os.PathLike[str], encoding: str | None = None, delimiter: str | None = None, given: Mapping[str, str] | None = None
) -> Detected:
    """Kind, encoding, delimiter, and how numbers and dates are spelled, of a file or folder; what is given is taken over.

    given: decimal, thousands, date_format, as far as they are stated. InputError if it is missing, empty or no table.
    """
    first = table_files(path)[0]
    head = _head(first)
    if not head:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    if head.startswith(b"PAR1") and 0 in head:  # a CSV whose first column is called PAR1 has no zero bytes
        return Detected(TableFormat("parquet"))
    if head.startswith(b"PARE") and 0 in head:
        raise InputError("data", "the file is an encrypted Parquet file", "save it without encryption")
    if (kind := _binary_kind(first, head)) is not None:
        known = encoding or (_usable(confined.about("encoding_of", first, kind)) if kind in STATISTICAL else "utf-8")
        return Detected(TableFormat(kind, encoding=known))
    for signature, (what, remedy) in _SIGNATURES.items():
        if head.startswith(signature):
            raise InputError("data", f"the file is {what}, not a table that can be read", remedy)
    encoding = encoding or _encoding(head)
    text = head.decode(known_encoding(encoding), errors="ignore").lstrip("\ufeff")
    text = text if len(head) < _HEAD_BYTES or "\n" not in text else text[: text.rindex("\n") + 1]  # without a line that is cut off
    if _is_object(text):
        return Detected(TableFormat("jsonl", encoding=encoding))
    _refuse_other_text(text)
    form = TableFormat("csv", delimiter or _delimiter(text), encoding)
    header, *records = _records(text, form.delimiter, _MOST_READ) or [[]]
    found = detect_notation(records, form.notation, header, given, form.delimiter != ";")
    return Detected(replace(form, **found.stated), found.doubts)  # type: ignore[arg-type]  # fields that are texts


def detect_format(path: str | os.PathLike[str]) -> TableFormat:
    """The same without what is in doubt. Raises as `detect_table`."""
    return detect_table(path).form


def detect_without_doubt(path: str | os.PathLike[str], field: str) -> TableFormat:
    """How a table is written of which nothing can be stated. InputError, also where its numbers or dates can be read either way."""
    found = detect_table(path)
    if found.doubts:
        raise InputError(field, found.doubts[0].question, "save it as Parquet, with numbers and dates as such")
    return found.form


def _head(path: Location) -> bytes:
    try:
        with packed.opened(path) as stream:
            return stream.read(_HEAD_BYTES)
    except PermissionError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None
    except OSError:
        raise InputError("data", "the file cannot be read, or not unpacked", "check its permissions, or save it again") from None


def _binary_kind(path: Location, head: bytes) -> str | None:
    """The kind of table whose files begin so; None for text and for what is no table."""
    if head.startswith((b"ARROW1\0", b"\xff\xff\xff\xff")) or (head.startswith(b"FEA1") and 0 in head):
        return "feather"
    if head.startswith(b"\xd0\xcf\x11\xe0") or (head.startswith(b"PK\x03\x04") and confined.about("is_workbook", path, "spreadsheet")):
        return "spreadsheet"
    return statistical_file.path_kind(head[:600])


def _usable(encoding: str) -> str:
    try:
        return known_encoding(encoding)
    except InputError:
        return "utf-8"


def _is_object(text: str) -> bool:
    """Whether the first line that is not blank is a JSON object with values, as of a row."""
    first = text.lstrip().split("\n", 1)[0]
    try:
        return first.startswith("{") and any(not isinstance(value, list | dict) for value in json.loads(first).values())
    except (ValueError, RecursionError):
        return False


def _encoding(head: bytes) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    sample = head[:4096]
    if len(sample) >= 4 and sample[1::2].count(0) > 0.4 * len(sample[1::2]) and 0 not in sample[0::2]:
        return "utf-16-le"
    if len(sample) >= 4 and sample[0::2].count(0) > 0.4 * len(sample[0::2]) and 0 not in sample[1::2]:
        return "utf-16-be"
    if sum(byte < 32 and byte not in b"\t\r\n\f" for byte in sample) > 0.01 * len(sample):
        raise InputError("data", "the file is of no known kind", f"choose a file that is {KNOWN}")
    for encoding in ("utf-8", "cp1252"):
        with suppress(UnicodeDecodeError):
            codecs.getincrementaldecoder(encoding)().decode(head)  # the last character may be cut off
            return encoding
    return "latin-1"


def _refuse_other_text(text: str) -> None:
    start = text.lstrip()[:100].lower()
    if not start:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise InputError("data", "the file is a web page or XML, not a table", f"export the table as {KNOWN}")
    if start.startswith(('{"', "{\n", "{\r", "[{", "[\n", "{ ")):
        raise InputError("data", "the file is JSON, not a table", f"export the table as {KNOWN}")


def _records(text: str, delimiter: str, most: int = 200) -> list[list[str]]:
    records: list[list[str]] = []
    with suppress(csv.Error):  # a field longer than the csv module takes; what was read so far decides
        records.extend(islice(filter(None, csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)), most))
    return records


def _delimiter(text: str) -> str:
    """The delimiter with which most records have as many fields as the first; a comma if none splits them."""

    def fitness(delimiter: str) -> tuple[float, int]:
        records = _records(text, delimiter)
        width = len(records[0]) if records else 0
        return (sum(len(r) == width for r in records) / len(records), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=fitness)
