"""Suggestions of how a table is written, from its first records, where that differs from the default: for the curator, who states it.

A suggestion is not a format, and no run uses one: it is a question with answers, marked curator-only. Stated fields are not examined, and
if all fields are stated, the table is not read. Fields that are neither stated nor suggested have the values of `default_format`.
"""

from __future__ import annotations

import csv
import os
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zoned, curator_only
from dpsynth_core.sources import packed, readers
from dpsynth_core.sources.default_format import default_format, header_encoding
from dpsynth_core.sources.detect_notation import Doubt, detect_notation
from dpsynth_core.sources.files import FileTable
from dpsynth_core.sources.formats import ALL_DELIMITERS, STANDARD, TableFormat
from dpsynth_core.sources.lines import known_encoding
from dpsynth_core.sources.spelling import example

_SPELLED = ("decimal", "thousands", "date_format", "time_format", "negative", "units")
SUGGESTED = ("encoding", "skip", "delimiter", *_SPELLED)
"""The fields of `TableFormat` that first records can suggest."""

_HEAD_BYTES = 1 << 20
_MOST_READ = 500
"""Records that suggest how numbers and dates are written."""
_MOST_ABOVE = 30
"""Lines above a header that are looked for."""
_LINES = 200
"""Lines that suggest how a text is divided."""
_ANY_BYTES = ("cp1252", "latin-1")
"""Encodings that fit nearly any bytes, and so are suggested of texts in others, too."""
_MOST, _ALMOST_ALL = 0.5, 0.9
_ABOVE = {0: "no line", 1: "one line"}
_MARKS = {"decimal", "thousands"}
_LINE_END = re.compile(r"\r\n|\r|\n")
_SEPARATOR_LINE = re.compile('"?sep=(.)"?', re.IGNORECASE)


def suggestions(path: str | os.PathLike[str], form: TableFormat, stated: Collection[str]) -> Zoned[tuple[Doubt, ...]]:
    """Return questions about fields of a format that a table's first records cast doubt on; () without doubts.

    Encoding, delimiter and lines above the header are judged by the first megabyte of the first file, the spelling
    of numbers and dates by about 500 records. Each question has two answers. If it is a suggestion (`is_suggestion`), the
    first answer is suggested and the second one keeps the default; there is at most one such question, the first. The
    result is curator-only, because it follows from private records.

    Args:
        path: The file or folder.
        form: Its format as stated and by default.
        stated: The fields that the curator stated, about which no question is raised.

    Raises:
        InputError: The table cannot be read in this format.
    """
    fields = [name for name in SUGGESTED if form.applies(name) and name not in stated]
    table = FileTable.of(path, form)
    suggested = _of_text(table, form, fields) if form.file_kind.is_text and fields else [{}]
    likely, asked = suggested[0], tuple[Doubt, ...]()
    if {*_SPELLED} & {*fields}:
        likely, texts = _readable(path, form, suggested)
        read = replace(form, **likely)
        given = {name: getattr(form, name) for name in _SPELLED if name in stated}
        found = detect_notation(list(texts.values()), read.notation, list(texts), given, read.delimiter != ";")
        asked, differs = found.doubts, {name for name, value in found.stated.items() if value != getattr(form, name)}
        differs |= _MARKS if _MARKS & differs else set()  # each of the two marks depends on the other
        likely = likely | {name: found.stated[name] for name in fields if name in differs}
    return curator_only((_suggestion(form, likely), *asked) if likely else asked)


def _of_text(table: FileTable, form: TableFormat, fields: Collection[str]) -> list[dict[str, Any]]:
    """Return guesses at fields of the format of a text file, the best first and {} last.

    The best guess has the encoding, the lines above the header and the delimiter; the next has the
    encoding only.

    Args:
        table: The files; the first one is examined.
        form: The format as stated and by default.
        fields: The fields to guess.
    """
    with readers.reading(), packed.opened(table.files[0]) as stream:
        head = stream.read(_HEAD_BYTES)
    encoding: dict[str, Any] = _encoding(head, form) if "encoding" in fields else {}
    division = _division(head, replace(form, **encoding), fields) if form.kind == "csv" else {}
    return [*([{**encoding, **division}] if division else []), *([encoding] if encoding else []), {}]


def _readable(
    path: str | os.PathLike[str], form: TableFormat, suggested: Sequence[dict[str, Any]]
) -> tuple[dict[str, Any], dict[str, list[str]]]:
    """Return the first guess in whose format the table can be read, and its first texts by column.

    A guess may be unreadable, such as one whose header has blank cells. It is then passed over, so
    that records cannot make a table refused.

    Args:
        path: The file or folder.
        form: Its format as stated and by default.
        suggested: Fields that replace fields of `form`, the best guess first, and {} last.

    Raises:
        InputError: The table cannot be read in `form` itself.
    """
    for likely in suggested[:-1]:
        with suppress(InputError):
            return likely, FileTable.of(path, replace(form, **likely)).first_texts(_MOST_READ)
    return {}, FileTable.of(path, form).first_texts(_MOST_READ)


def settled_format(
    path: str | os.PathLike[str], stated: Mapping[str, Any], field: str, option: Callable[[Mapping[str, Any]], str]
) -> TableFormat:
    """Return the stated format with defaults; refuse it if the first records suggest another one.

    Args:
        path: The file or folder.
        stated: The fields of `TableFormat` that the curator states.
        field: The name of the table in errors.
        option: Writes fields and values in the form in which the curator has to state them, such as
            an option of the command line.

    Raises:
        InputError: The file cannot be read as a table, or its first records raise a question. The error has the
            first question and what to state.
    """
    try:
        form = default_format(path, stated)
        doubts = suggestions(path, form, stated).value
    except InputError as error:
        if field == "data" or not error.field.startswith("data"):
            raise
        raise InputError(field, error.problem, error.remedy) from None  # of any table it says "data"
    for doubt in doubts:
        first, second = (option(said) for _, said in doubt.answers)
        raise InputError(field, doubt.question, f"state it: {first}, or {second}{' to keep the default' * doubt.is_suggestion}")
    return form


def public_format(path: str | os.PathLike[str], field: str) -> TableFormat:
    """Return the format of a public table, following the suggestions from its records.

    Args:
        path: The file or folder.
        field: The name of the table in errors.

    Raises:
        InputError: The table cannot be read, or its numbers or dates can be read in two ways.
    """
    form = default_format(path)
    for doubt in suggestions(path, form, ()).value:
        if not doubt.is_suggestion:
            raise InputError(field, doubt.question, "save it as Parquet, with numbers and dates as such")
        form = replace(form, **doubt.answers[0][1])
    return form


def in_words(form: TableFormat, fields: Collection[str]) -> str:
    """Return a short description of the values of these fields, such as "dates like dd.mm.yyyy"; "" for no fields.

    Decimal and thousands marks are described together. Fields that are not in `SUGGESTED` are left out.
    """
    words = {
        "encoding": form.encoding,
        "skip": f"{_ABOVE.get(form.skip, f'{form.skip} lines')} above the header",
        "delimiter": f"{ALL_DELIMITERS.get(form.delimiter, repr(form.delimiter))}-separated",
        "decimal": f"numbers like {example(form.decimal, form.thousands)}",
        "date_format": f"dates like {form.date_format}",
        "time_format": f"times like {form.time_format}",
        "negative": f"numbers below zero like {form.negative}",
        "units": f"numbers with {', '.join(form.units)}" if form.units else "numbers without units",
    }
    named = {"decimal" if name == "thousands" else name for name in fields}
    return ", ".join(said for name, said in words.items() if name in named)


def _suggestion(form: TableFormat, likely: Mapping[str, Any]) -> Doubt:
    """Return the question whether to use likely fields or to keep the default.

    Args:
        form: The format as stated and by default.
        likely: The suggested fields, which differ from `form`.
    """
    default = {name: getattr(form, name) for name in likely}
    new, now = in_words(replace(form, **likely), likely), in_words(form, likely)
    others = " (or another encoding)" if likely.get("encoding") in _ANY_BYTES else ""
    return Doubt(f"the first records suggest {new}{others}", ((f"Use {new}", dict(likely)), (f"Keep {now}", default)), is_suggestion=True)


def _encoding(head: bytes, form: TableFormat) -> dict[str, str]:
    """Return the encoding that the first bytes suggest, as a field; empty if UTF-8 fits.

    UTF-8 does not fit if most of the characters beyond ASCII are damaged in it.
    """
    if form.encoding != TableFormat.encoding:
        return {}
    if (marked := header_encoding(head)) != form.encoding:
        return {"encoding": marked}
    text = head[: head.rfind(b"\n") + 1 or len(head)].decode(errors="replace")
    damaged = text.count("\ufffd")
    if not damaged or damaged < sum(character > "\x7f" for character in text) - damaged:
        return {}
    try:
        head.decode("cp1252")
    except UnicodeDecodeError:
        return {"encoding": "latin-1"}
    return {"encoding": "cp1252"}


def _division(head: bytes, form: TableFormat, fields: Collection[str]) -> dict[str, Any]:
    """Return the suggested fields `skip` and `delimiter`, where they differ from `form`; {} for no suggestion.

    A first line such as "sep=;" states the delimiter and is to be skipped. Otherwise fields are
    suggested only if most lines do not have as many cells as the header, and if nearly all lines
    have as many with the suggested fields.

    Args:
        head: The first bytes of the file.
        form: The format as stated, by default, and with the suggested encoding.
        fields: The fields that may be suggested.
    """
    if form.quoting == STANDARD:  # whose records are not lines
        return {}
    text = head.decode(known_encoding(form.encoding), "replace")
    text = text if len(head) < _HEAD_BYTES else text[: text.rfind("\n") + 1]
    first = list(islice((line for line in _LINE_END.split(text) if line.strip("\ufeff \t")), form.skip, form.skip + _MOST_ABOVE + _LINES))
    if not first:
        return {}
    if (separator := _SEPARATOR_LINE.fullmatch(first[0])) and "skip" in fields and not form.names:
        return {"skip": form.skip + 1} | ({"delimiter": separator[1]} if separator[1] != form.delimiter and "delimiter" in fields else {})
    offered = [*ALL_DELIMITERS] if "delimiter" in fields else [form.delimiter]
    widths = {mark: [_width(line, replace(form, delimiter=mark)) for line in first] for mark in {*offered, form.delimiter}}
    own = widths[form.delimiter]
    width = len(form.names) or own[0]
    below = own if form.names else own[1:]
    if not below or (_share(below, width + 1) >= _ALMOST_ALL and width > 1):  # as where R writes the names of rows
        return {}
    if _share(below, width) >= _MOST:
        blanks = widths.get(" ", [1])
        return {"delimiter": " "} if width == 1 < blanks[0] and _share(blanks[1:], blanks[0]) >= _ALMOST_ALL else {}
    if form.names:
        best = max(offered, key=lambda mark: _share(widths[mark], width))
        return {"delimiter": best} if _share(widths[best], width) >= _ALMOST_ALL and best != form.delimiter else {}
    for skipped in range(min(_MOST_ABOVE, len(first) - 1) if "skip" in fields else 1):
        best = max(offered, key=lambda mark: (_share(widths[mark][skipped + 1 :], widths[mark][skipped]), widths[mark][skipped]))
        is_comment = first[skipped].startswith("#")
        if not is_comment and widths[best][skipped] > 1 and _share(widths[best][skipped + 1 :], widths[best][skipped]) >= _ALMOST_ALL:
            return ({"skip": form.skip + skipped} if skipped else {}) | ({"delimiter": best} if best != form.delimiter else {})
    return {}


def _width(line: str, form: TableFormat) -> int:
    """Return the number of cells of a line; 0 for a line that cannot be divided."""
    try:
        return len(
            next(csv.reader([line], delimiter=form.delimiter, quoting=csv.QUOTE_NONE if form.quoting == "none" else csv.QUOTE_MINIMAL))
        )
    except (csv.Error, StopIteration):
        return 0


def _share(widths: Sequence[int], width: int) -> float:
    """Return the share, from 0 to 1, of lines that have `width` cells."""
    return widths.count(width) / len(widths) if widths else 0.0
