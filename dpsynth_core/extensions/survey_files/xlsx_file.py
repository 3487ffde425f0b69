"""The cells of Excel's workbooks in XML (.xlsx, .xlsm), each read by itself: no cell changes what another holds, or refuses the file.

A cell that cannot be read (an unknown type, a reference to a shared text that does not exist) is `DAMAGED`: a value like any other that has
no cell of its own. A malformed number is kept as text. Characters that XML does not allow are replaced where they stand; entities are
neither defined nor fetched. A workbook is refused if parts are lacking or its markup is broken.
"""

from __future__ import annotations

import codecs
import posixpath
import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from functools import lru_cache
from pathlib import Path
from typing import IO, cast
from xml.etree.ElementTree import Element, XMLPullParser

Cell = str | bool | float | datetime | date | time | timedelta | None
DAMAGED = "\ufffd"

_COLUMNS = 16_384
_PIECE = 1 << 20
_ILLEGAL = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_AMPERSAND = re.compile("&(?!(?:amp|lt|gt|quot|apos);)(?:#(?:x([0-9a-fA-F]{1,6})|([0-9]{1,7}));)?")
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?")
_ISO_MOMENT = re.compile("^([0-9]{4}-[0-9]{2}-[0-9]{2})T")
_DAY, _LASTING = "day", "lasting"
_BUILT_IN = {**dict.fromkeys((*range(14, 23), *range(27, 37), 45, 47, *range(50, 59)), _DAY), 46: _LASTING}
"""The meaning of the format numbers that every workbook has."""
_BESIDE = re.compile(r'"[^"]*"|\\.|_.|\*.')
"""The parts of a format that are shown unchanged."""
_MILLISECONDS = 86_400_000


@dataclass(frozen=True)
class _Book:
    """The parts of a workbook that its cells refer to.

    Attributes:
        texts: The shared texts, to which cells refer by index.
        formats: What a number with each style means (`_meaning`), by the style's index as text.
        zero: The day before day 1, which depends on the workbook's date system.
    """

    texts: Sequence[str]
    formats: Mapping[str, str]
    zero: datetime


def is_xlsx(path: Path) -> bool:
    """Return whether a file is an Excel workbook in XML (.xlsx, .xlsm); False also for a file that cannot be read."""
    try:
        with zipfile.ZipFile(path) as archive:
            return _member(archive, "xl/workbook.xml") is not None
    except (zipfile.BadZipFile, OSError, ValueError, NotImplementedError):
        return False


def rows(path: Path, sheet: str) -> Iterator[list[Cell]]:
    """Yield the cells of each row of a sheet, from column A; None for an empty cell.

    Rows without an entry in the file are left out.

    Args:
        path: The workbook.
        sheet: The name of the sheet.

    Raises:
        KeyError: A part of the workbook or the sheet is lacking.
        ParseError: The XML is broken.
        Exception: Errors of `zipfile`.
    """
    with zipfile.ZipFile(path) as archive:
        zero, targets = _found(archive)
        shared = _each(archive, "xl/sharedStrings.xml", "si") if _member(archive, "xl/sharedStrings.xml") else ()
        book = _Book(tuple(map(_text, shared)), {str(number): form for number, form in enumerate(_formats(archive))}, zero)
        for row in _each(archive, targets[sheet], "row"):
            yield _cells(row, book)


def sheets(path: Path) -> tuple[str, ...]:
    """Return the names of the sheets in order.

    Raises:
        KeyError: A part of the workbook is lacking.
        ParseError: The XML is broken.
        Exception: Errors of `zipfile`.
    """
    with zipfile.ZipFile(path) as archive:
        return tuple(_found(archive)[1])


def _cells(row: Element, book: _Book) -> list[Cell]:
    """Return the cells of a row, each at the index of its column."""
    cells: list[Cell] = []
    for cell in row:
        if _name(cell.tag) != "c":
            continue
        place = _column(cell.get("r", "").rstrip("0123456789"))
        place = len(cells) if place < 0 else place
        if place < _COLUMNS:
            cells.extend([None] * (place + 1 - len(cells)))
            cells[place] = _value(cell, book)
    return cells


@lru_cache(_COLUMNS)
def _column(letters: str) -> int:
    """Return the index, from 0, of a column with letters like AB; -1 for "".

    Other texts give an index beyond the last column.
    """
    if not re.fullmatch("[A-Za-z]{1,3}", letters):
        return _COLUMNS if letters else -1
    column = 0
    for letter in letters.upper():
        column = 26 * column + ord(letter) - 64
    return column - 1


def _value(cell: Element, book: _Book) -> Cell:
    """Return the value of a cell; None for an empty cell or an error value.

    A number in a format of dates, times or durations becomes one. A cell of unknown type is
    `DAMAGED`.
    """
    kind, text = cell.get("t", "n"), ""
    for inside in cell:
        if _name(inside.tag) in ("v", "is"):
            text = _text(inside)
            break
    if not text or kind == "e":
        return None
    if kind in ("str", "inlineStr"):
        return text
    if kind == "d":
        return _ISO_MOMENT.sub(r"\1 ", text)
    if kind == "s":
        return book.texts[int(text)] if re.fullmatch("[0-9]{1,9}", text) and int(text) < len(book.texts) else DAMAGED
    if kind == "b":
        return {"1": True, "true": True, "0": False, "false": False}.get(text, DAMAGED)
    if kind != "n":
        return DAMAGED
    if not _NUMBER.fullmatch(text):
        return text
    return _moment(float(text), book.formats.get(cell.get("s", ""), ""), book.zero)


def _moment(number: float, form: str, zero: datetime) -> Cell:
    """Return the date, time, date with time, or duration that a number with this format shows.

    The number itself is returned for a plain format, or where the day does not exist.

    Args:
        number: The number in days, as Excel counts them.
        form: The meaning of the format (`_meaning`).
        zero: The day before day 1.
    """
    if not form:
        return number
    try:
        passed = timedelta(milliseconds=round(number * _MILLISECONDS))
        if form == _LASTING:
            return passed
        if 0 <= number < 1:
            return (datetime.min + passed).time()
        first = timedelta(days=1) if zero.year == 1899 and number < 60 else timedelta()  # its calendar has a 29 February 1900
        moment = zero + passed + first
    except (OverflowError, ValueError):
        return number
    if number < 0:
        return number
    return moment.date() if number == int(number) else moment


def _text(element: Element) -> str:
    """Return the text of a value, or of all parts of a formatted text without phonetic annotations."""
    if _name(element.tag) == "v":
        written = element.text or ""
    else:
        parts = [one for child in element for one in (child, *(child if _name(child.tag) == "r" else ())) if _name(one.tag) == "t"]
        written = "".join(part.text or "" for part in parts)
    return _ESCAPED.sub(_unescaped, written) if "_x" in written else written


def _unescaped(match: re.Match[str]) -> str:
    """Return the character that an escape like _x000A_ stands for; `DAMAGED` for a surrogate."""
    point = int(match[1], 16)
    return DAMAGED if 0xD800 <= point < 0xE000 else chr(point)


# Parts of the archive


def _found(archive: zipfile.ZipFile) -> tuple[datetime, dict[str, str]]:
    """Return the day before day 1, and by sheet name, in order, its part in the archive."""
    zero, identifiers = datetime(1899, 12, 30), dict[str, str]()
    for element in _each(archive, "xl/workbook.xml", "workbookPr", "sheet"):
        if _name(element.tag) == "sheet":
            identifiers[element.get("name", "")] = next((value for name, value in element.items() if name.endswith("}id")), "")
        elif element.get("date1904", "") in ("1", "true"):
            zero = datetime(1904, 1, 1)
    targets = {one.get("Id"): one.get("Target", "") for one in _each(archive, "xl/_rels/workbook.xml.rels", "Relationship")}
    parts = {name: posixpath.join("/xl", targets[identifier]) for name, identifier in identifiers.items() if identifier in targets}
    return zero, {name: posixpath.normpath(part).lstrip("/") for name, part in parts.items()}


def _formats(archive: zipfile.ZipFile) -> Iterator[str]:
    """Yield for each style, in order, what a number with this style means (`_meaning`)."""
    if not _member(archive, "xl/styles.xml"):
        return
    own: dict[str, str] = {}
    for element in _each(archive, "xl/styles.xml", "numFmt", "cellXfs"):
        if _name(element.tag) == "numFmt":
            own[element.get("numFmtId", "")] = _meaning(element.get("formatCode", ""))
        else:
            for style in element:
                number = style.get("numFmtId", "")
                yield own[number] if number in own else _BUILT_IN.get(int(number) if number.isdecimal() else 0, "")


def _meaning(code: str) -> str:
    """Return what a format shows: `_DAY` for dates and times, `_LASTING` for durations, else "".

    Args:
        code: The format, such as dd.mm.yyyy or [h]:mm.
    """
    shown = _BESIDE.sub("", code).lower()
    if re.search(r"\[(h+|m+|s+)\]", shown):
        return _LASTING
    return _DAY if re.search("[dmyhs]", re.sub(r"\[[^\]]*\]|general", "", shown)) else ""


def _member(archive: zipfile.ZipFile, part: str) -> str | None:
    """Return a part's name as the archive spells it, ignoring case; None for an absent part."""
    return next((name for name in archive.namelist() if name.lower() == part.lower()), None)


def _each(archive: zipfile.ZipFile, part: str, *names: str) -> Iterator[Element]:
    """Yield the XML elements with these names in a part of the archive.

    An element is emptied when the next one is requested, so that memory stays bounded.
    """
    parser: XMLPullParser[Element] = XMLPullParser(("end",))
    with archive.open(_member(archive, part) or part) as stream:
        for text in _legal_pieces(stream):
            parser.feed(text)
            for _, element in cast(Iterator[tuple[str, Element]], parser.read_events()):
                if _name(element.tag) in names:
                    yield element
                    element.clear()
        parser.close()


def _legal_pieces(stream: IO[bytes]) -> Iterator[str]:
    """Yield the text of a part in pieces, with `DAMAGED` for characters that XML does not allow.

    All pieces but the last end with ">".
    """
    first, rest = stream.read(_PIECE), ""
    decoder = codecs.getincrementaldecoder("utf-16" if first.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig")("replace")
    while first:
        whole, mark, rest = (rest + decoder.decode(first)).rpartition(">")
        yield _AMPERSAND.sub(_reference, _ILLEGAL.sub(DAMAGED, whole + mark))
        first = stream.read(_PIECE)
    yield _ILLEGAL.sub(DAMAGED, rest + decoder.decode(b"", final=True))


def _reference(match: re.Match[str]) -> str:
    """Return a matched character reference unchanged if XML allows the character.

    An ampersand without a reference becomes "&amp;", and any other reference `DAMAGED`.
    """
    if match[1] is None and match[2] is None:
        return "&amp;"
    point = int(match[1], 16) if match[1] else int(match[2])
    return DAMAGED if point > 0x10FFFF or _ILLEGAL.match(chr(point)) else match[0]


@lru_cache
def _name(tag: object) -> str:
    """Return the name of an element without its XML namespace; "" for a comment."""
    return tag.rpartition("}")[2] if isinstance(tag, str) else ""
