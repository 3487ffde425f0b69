"""Suggest from a file's first bytes what it is and how it is written, and say plainly when it is no table.

A suggestion is for the curator, who states how the file is written; it is never published.
"""

from __future__ import annotations

import codecs
import csv
import io
import os
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import DELIMITERS, TableFormat, table_files
from dpsynth_core.sources.lines import known_encoding

_HEAD_BYTES = 1 << 20
_SIGNATURES = {
    b"PK\x03\x04": ("a zip archive or an Excel workbook", "save the table as CSV or Parquet"),
    b"\xd0\xcf\x11\xe0": ("an old Excel or Word file", "save the table as CSV or Parquet"),
    b"\x1f\x8b": ("compressed", "unpack it first"),
    b"BZh91AY&SY": ("compressed", "unpack it first"),
    b"\x28\xb5\x2f\xfd": ("compressed", "unpack it first"),
    b"%PDF-": ("a PDF document", "export the table as CSV or Parquet"),
    b"\x89PNG": ("an image", "choose a CSV or Parquet file"),
    b"\xff\xd8\xff": ("an image", "choose a CSV or Parquet file"),
    b"GIF89a": ("an image", "choose a CSV or Parquet file"),
    b"ARROW1\0": ("an Arrow file", "save the table as Parquet"),
    b"FEA1": ("an Arrow file", "save the table as Parquet"),
    b"SQLite format 3\0": ("a database", "export the table as CSV or Parquet"),
}


def sniff(path: str | os.PathLike[str], encoding: str | None = None, delimiter: str | None = None) -> TableFormat:
    """Kind, encoding and delimiter of a file or folder; what is given is taken over. InputError if it is missing, empty or no table."""
    first = table_files(path)[0]
    head = _head(first)
    if not head:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    if head.startswith(b"PAR1") and 0 in head:  # a CSV whose first column is called PAR1 has no zero bytes
        return TableFormat("parquet")
    if head.startswith(b"PARE") and 0 in head:
        raise InputError("data", "the file is an encrypted Parquet file", "save it without encryption")
    for signature, (what, remedy) in _SIGNATURES.items():
        if head.startswith(signature):
            raise InputError("data", f"the file is {what}, not a table that can be read", remedy)
    encoding = encoding or _encoding(head)
    text = _decode_head(head, known_encoding(encoding))
    _refuse_other_text(text)
    return TableFormat("csv", delimiter or _delimiter(text), encoding)


def _head(path: Path) -> bytes:
    try:
        with open(path, "rb") as stream:
            return stream.read(_HEAD_BYTES)
    except OSError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None


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
        raise InputError("data", "the file is not text, so it is no CSV", "choose a CSV or Parquet file")
    return next((encoding for encoding in ("utf-8", "cp1252") if _decodes(head, encoding)), "latin-1")


def _decodes(head: bytes, encoding: str) -> bool:
    """Whether the first bytes are valid in this encoding; the last character may be cut off."""
    try:
        codecs.getincrementaldecoder(encoding)().decode(head)
    except UnicodeDecodeError:
        return False
    return True


def _decode_head(head: bytes, encoding: str) -> str:
    """The first bytes as text, without a character or line that the cut went through."""
    text = head.decode(encoding, errors="ignore").lstrip("\ufeff")
    return text if len(head) < _HEAD_BYTES or "\n" not in text else text[: text.rindex("\n") + 1]


def _refuse_other_text(text: str) -> None:
    start = text.lstrip()[:100].lower()
    if not start:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise InputError("data", "the file is a web page or XML, not a table", "export the table as CSV or Parquet")
    if start.startswith(('{"', "{\n", "{\r", "[{", "[\n", "{ ")):
        raise InputError("data", "the file is JSON, not a table", "export the table as CSV or Parquet")


def _records(text: str, delimiter: str, most: int = 200) -> list[list[str]]:
    """The first non-blank records."""
    records: list[list[str]] = []
    try:
        for record in csv.reader(io.StringIO(text, newline=""), delimiter=delimiter):
            if record:
                records.append(record)
            if len(records) == most:
                break
    except csv.Error:
        pass  # a field longer than the csv module takes; what was read so far decides
    return records


def _delimiter(text: str) -> str:
    """The delimiter with which most records have as many fields as the first; a comma if none splits them."""

    def fitness(delimiter: str) -> tuple[float, int]:
        records = _records(text, delimiter)
        width = len(records[0]) if records else 0
        return (sum(len(r) == width for r in records) / len(records), width) if width > 1 else (0.0, 0)

    return max(DELIMITERS, key=fitness)
