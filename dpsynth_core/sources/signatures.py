"""The kinds of files by their magic numbers: bytes that a program writes at the start of a container, in which no record takes part.

A caller passes only a file's first line. Text has no magic number; `default_format` reads the first line of a text.
"""

from __future__ import annotations

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import KNOWN

ZIP = b"PK\x03\x04"
_OLD_WORKBOOK = b"\xd0\xcf\x11\xe0"
_SAS7BDAT = bytes.fromhex("c2ea8160b31411cfbd92080009c7318c181f1011")
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
    """Return the kind of table that a file's first bytes show, a key of `formats.SUFFIXES`.

    None for text, zip archives and files that are not tables.

    Args:
        line: The file's first line.

    Raises:
        InputError: The file is an encrypted Parquet file.
    """
    if line.startswith((b"ARROW1\0", b"\xff\xff\xff\xff")):
        return "feather"
    if line.startswith((b"PAR1", b"PARE", b"FEA1")) and has_controls(line):  # a header's first name may be such a word
        if line.startswith(b"PARE"):
            raise InputError("data", "the file is an encrypted Parquet file", "save it without encryption")
        return "parquet" if line.startswith(b"PAR1") else "feather"
    return "spreadsheet" if line.startswith(_OLD_WORKBOOK) else statistical_kind(line)


def statistical_kind(start: bytes) -> str | None:
    """Return "spss", "stata" or "sas" for a file that begins with `start`; None for any other file."""
    if start.startswith((b"$FL2", b"$FL3")) or b"SPSS PORT FILE" in start or b"SPSSPORT" in start:
        return "spss"
    if start.startswith(b"<stata_dta>") or (len(start) > 3 and 104 <= start[0] <= 115 and start[1] in (1, 2) and start[2:4] == b"\1\0"):
        return "stata"
    if start.startswith(b"HEADER RECORD*******LIB") or start[12:32] == _SAS7BDAT:
        return "sas"
    return None


def has_controls(line: bytes) -> bool:
    """Return whether a line has control characters that do not occur in text."""
    return len(line.translate(None, _CONTROLS)) < len(line)


def refuse_others(line: bytes) -> None:
    """Raise InputError if the line begins like an archive, image or other file that is not a table."""
    for magic, (what, remedy) in _OTHERS.items():
        if line.startswith(magic):
            raise InputError("data", f"the file is {what}, not a table that can be read", remedy)
