"""The default format of a table where the curator states none: from file names, magic numbers and the header line, never from a record.

Only the header is passed on here (`_first_line`, `csv_file.header_text`). A file without a header begins with a record: JSON lines,
recognised by their name, and text whose column names are stated, are not opened; they are read as UTF-8 with commas. Numbers and dates have
the defaults of `TableFormat`. Suggestions from the first records are made by `detect`, and the curator has to state them.
"""

from __future__ import annotations

import codecs
import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache, partial
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import confined, csv_file, packed, signatures
from dpsynth_core.sources.file_kinds import FILE_KINDS, KNOWN
from dpsynth_core.sources.formats import DELIMITERS, TableFormat
from dpsynth_core.sources.lines import known_encoding
from dpsynth_core.sources.listing import kind_of, table_files
from dpsynth_core.sources.locations import Location

_LONGEST_HEADER = 1 << 20
_BLANK = b" \t\r\n\v\f\0"
_MARKS = {  # byte order marks, the longer ones first
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF32_LE: "utf-32",
    codecs.BOM_UTF32_BE: "utf-32",
    codecs.BOM_UTF16_LE: "utf-16",
    codecs.BOM_UTF16_BE: "utf-16",
}
_UTF16_SHARE = 0.5
"""Share of zero bytes in every second place of a UTF-16 header, at least."""


def default_format(path: str | os.PathLike[str], stated: Mapping[str, Any] | None = None) -> TableFormat:
    """Return the format of a file or folder: stated fields, else defaults from name and header.

    Args:
        path: The file or folder. In a folder, the header of the first file decides.
        stated: The fields of `TableFormat` that the curator states; None for no field.

    Raises:
        InputError: The file does not exist, is empty, or does not begin like a table, or a stated field is invalid.
        CapacityError: A folder holds too many files.
    """
    stated, first = stated or {}, table_files(path)[0]
    first_line = cache(partial(_first_line, first))
    form = TableFormat(**{**stated, "kind": stated.get("kind") or _kind(first, first_line, is_headed=not stated.get("names"))})
    if "encoding" not in stated:
        form = replace(form, encoding=_encoding(first, first_line, form))
    if form.kind == "csv" and not form.names:
        header = csv_file.header_text(first, form)
        _check_header(header, is_stated="kind" in stated)
        form = form if "delimiter" in stated else replace(form, delimiter=header_delimiter(header, form))
    return form


def header_delimiter(header: str, form: TableFormat) -> str:
    """Return the delimiter that divides a header into most cells: comma, semicolon, tab or bar.

    If several give the same number of cells, the first in this order is returned: a comma for a header of a single cell.

    Args:
        header: The header line.
        form: The format of the file, whose quoting counts.
    """

    def cells(delimiter: str) -> int:
        try:
            return len(csv_file.cells(header, replace(form, delimiter=delimiter)))
        except InputError:
            return 0

    return max(DELIMITERS, key=cells)


def _kind(path: Location, first_line: Callable[[], bytes], is_headed: bool) -> str:
    """Return the kind of a file, from the ending of its name and its first line.

    Args:
        path: The file.
        first_line: A function that reads the first line.
        is_headed: Whether the first line is a header. If it may be a record, it is not read.
    """
    promised = FILE_KINDS.get(kind_of(path) or "")
    if promised is not None and (not promised.declares or (promised.name == "csv" and not is_headed)):  # it begins with a record
        return promised.name
    line = first_line()
    if line.startswith(signatures.ZIP) and (kind := _archived(path)) is not None:
        return kind
    if (kind := signatures.binary_kind(line)) is not None:
        return kind
    if promised is not None and promised.named_late and signatures.has_controls(line):
        return promised.name
    signatures.refuse_others(line)
    return "csv"


def _archived(path: Location) -> str | None:
    """Return the kind of a table that is a zip archive; None for any other archive."""
    kinds = (kind for kind in FILE_KINDS.values() if kind.archive)
    return next((kind.name for kind in kinds if confined.about(kind.archive, path, kind.name)), None)


def _encoding(path: Location, first_line: Callable[[], bytes], form: TableFormat) -> str:
    """Return the encoding of a file, as far as it follows from no record; else UTF-8.

    Files with labels state it. The header line of a CSV file shows it
    (`header_encoding`), unless names are stated, so that the first line is a record.
    """
    if form.file_kind.declares == "labels":
        try:
            return known_encoding(confined.about("encoding_of", path, form.kind))
        except InputError:
            return TableFormat.encoding
    return header_encoding(first_line()) if form.kind == "csv" and not form.names else TableFormat.encoding


def header_encoding(line: bytes) -> str:
    """Return the encoding that a header shows by its byte order mark or zero bytes, else UTF-8.

    A mark gives "utf-8", "utf-16" or "utf-32". Without a mark, the result is "utf-16-le" or "utf-16-be" if more than half
    of the bytes in every second place are zero and none of the others is.

    Args:
        line: The first bytes of the file, at least its header line.
    """
    for mark, encoding in _MARKS.items():
        if line.startswith(mark):
            return encoding
    even, odd = line[::2], line[1::2]
    if 0 not in even and odd.count(0) > _UTF16_SHARE * len(odd):
        return "utf-16-le"
    if 0 not in odd and even.count(0) > _UTF16_SHARE * len(even):
        return "utf-16-be"
    return TableFormat.encoding


def _first_line(path: Location) -> bytes:
    """Return the bytes of the first line that is not blank, without its line end.

    They begin at an even position of the file, so that no code unit of UTF-16 is cut.

    Raises:
        InputError: The file cannot be read or unpacked.
    """
    try:
        with packed.opened(path) as stream:
            head = stream.read(_LONGEST_HEADER)
    except PermissionError:
        raise InputError("data", "the file cannot be read", "check its permissions") from None
    except OSError:
        raise InputError("data", "the file cannot be read, or not unpacked", "check its permissions, or save it again") from None
    blank = len(head) - len(text := head.lstrip(_BLANK))
    if blank > 2 and b"\n" not in head[:blank] and b"\r" not in head[:blank]:  # a container may begin with zeros
        blank, text = 0, head
    ends = [end for end in (text.find(b"\n"), text.find(b"\r")) if end >= 0]
    return head[blank - blank % 2 : blank + min(ends, default=len(text))]


def _check_header(header: str, is_stated: bool) -> None:
    """Raise InputError for a header that no table has, such as HTML or JSON.

    Args:
        header: The header as text.
        is_stated: Whether the curator stated the kind of the file; then only an empty header is
            refused.
    """
    start = header.lstrip()[:100].lower()
    if not start:
        raise InputError("data", "the file is empty", "choose a file with a header line and rows")
    if is_stated:
        return
    if start.startswith(("<!doctype", "<html", "<?xml")):
        raise InputError("data", "the file is a web page or XML, not a table", f"export the table as {KNOWN}")
    if start.startswith(('{"', "{ ", "[{")) or start.strip() in ("{", "[", "{}"):
        problem = "its first line looks like JSON, and its name does not end in .jsonl or .ndjson"
        raise InputError("data.kind", problem, "state the kind jsonl if each line is a record, or csv; or rename the file")
    if signatures.has_controls(header.replace("\0", "").encode(errors="replace")):
        raise InputError("data", "the file is of no known kind", f"choose a file that is {KNOWN}")
    if "\0" in header:
        raise InputError("data", "its header has NUL characters, as no text has", "save it as UTF-8, or state its encoding")
