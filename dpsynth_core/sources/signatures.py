"""The kind of a file by the magic number in its first line (`file_kinds`). Text has none; `default_format` reads its first line."""

from __future__ import annotations

import re

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.file_kinds import FILE_KINDS, KNOWN

ZIP = b"PK\x03\x04"
_CONTROLS = bytes(set(range(32)) - set(b"\t\n\v\f\r"))
_OTHERS = {
    ZIP: ("a zip archive", "unpack it first"),
    b"BZh91AY&SY": ("compressed by bzip2", "unpack it first, or pack it with gzip"),
    b"\xfd7zXZ\0": ("compressed by xz", "unpack it first, or pack it with gzip"),
    b"%PDF-": ("a PDF document", f"export the table as {KNOWN}"),
    b"\x89PNG": ("an image", "choose a CSV or Parquet file"),
    b"\xff\xd8\xff": ("an image", "choose a CSV or Parquet file"),
    b"GIF89a": ("an image", "choose a CSV or Parquet file"),
    b"SQLite format 3\0": ("a database", f"export the table as {KNOWN}"),
}


def binary_kind(line: bytes) -> str | None:
    """Return the kind of table that a file's first bytes show, a key of `FILE_KINDS`.

    None for text, zip archives and files that are not tables.

    Args:
        line: The file's first line.

    Raises:
        InputError: The file is an encrypted Parquet file.
    """
    if line.startswith(b"PARE") and has_controls(line):  # the first name of a header may be this word
        raise InputError("data", "the file is an encrypted Parquet file", "save it without encryption")
    known = ((kind.name, kind.begins) for kind in FILE_KINDS.values() if kind.begins is not None)
    return next((name for name, begins in known if re.match(begins, line, re.DOTALL)), None)


def has_controls(line: bytes) -> bool:
    """Return whether a line has control characters that do not occur in text."""
    return len(line.translate(None, _CONTROLS)) < len(line)


def refuse_others(line: bytes) -> None:
    """Check that a line does not begin like an archive, image or other file that is not a table.

    Args:
        line: The file's first line.

    Raises:
        InputError: The line begins like such a file. The error says what the file is.
    """
    for magic, (what, remedy) in _OTHERS.items():
        if line.startswith(magic):
            raise InputError("data", f"the file is {what}, not a table that can be read", remedy)
