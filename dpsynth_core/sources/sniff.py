"""Find out from a file's first bytes what it is, and say plainly when it is no table."""

from __future__ import annotations

import csv
import io
import os
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import DELIMITERS, TableFormat, table_files

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


def sniff(path: str | os.PathLike[str]) -> TableFormat:
    """Find kind, encoding and delimiter of a file or folder. InputError if it is missing, empty or no table."""
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
    encoding = _encoding(first, head)
    text = _decode_head(head, encoding)
    _refuse_other_text(text)
    return TableFormat("csv", _delimiter(text), encoding)


def head_records(path: Path, form: TableFormat, most: int = 200) -> list[list[str]]:
    """The first non-blank records of a CSV file, header included, as far as they lie in its first megabyte."""
    return _records(_decode_head(_head(path), form.encoding), form.delimiter, most)


def _head(path: Path) -> bytes:
    with open(path, "rb") as stream:
        return stream.read(_HEAD_BYTES)


def _encoding(path: Path, head: bytes) -> str:
    if head.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if head.startswith((b"\xff\xfe", b"\xfe\xff")):
        return "utf-16"
    sample = head[:4096]
    if len(sample) >= 4 and sample[1::2].count(0) > 0.4 * len(sample[1::2]) and 0 not in sample[0::2]:
        return "utf-16-le"
    if len(sample) >= 4 and sample[0::2].count(0) > 0.4 * len(sample[0::2]) and 0 not in sample[1::2]:
        return "utf-16-be"
    control = sum(byte < 32 and byte not in b"\t\r\n\f" for byte in sample)
    if 0 in head or control > 0.01 * len(sample):
        raise InputError("data", "the file is not text, so it is no CSV", "choose a CSV or Parquet file")
    return "utf-8" if _decodes(path, "utf-8") else "cp1252" if _decodes(path, "cp1252") else "latin-1"


def _decodes(path: Path, encoding: str) -> bool:
    """Whether the whole file is valid in this encoding; reads it in pieces."""
    try:
        with open(path, encoding=encoding, newline="") as stream:
            while stream.read(_HEAD_BYTES):
                pass
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
