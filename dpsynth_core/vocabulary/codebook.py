"""Domains from files: JSON, a codebook in CSV or pasted from a spreadsheet, or a DDI codebook.

Every mistake is an InputError that names the column and the remedy.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from dpsynth_core.foundation.documents import parse_json, read_document
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary import ddi
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

PASTED = "pasted lines"
_HEADER = ("column", "value", "label")
_CLOCK = r"\d\d?:\d\d(?::\d\d(?:\.\d+)?)?"
_DAY = rf"(?:\d{{4}}-\d\d-\d\d|\d\d?[./]\d\d?[./]\d{{4}})(?:[ T]{_CLOCK}(?:Z|[+-]\d\d:?\d\d)?)?"
_AMOUNT = r"-?(?:0|[1-9]\d*)(?:\.\d+|(?:\.\d{3})+|(?:,\d{3})+)?"
_BOUNDS = tuple(re.compile(rf"({one}) ?(?:-|–|to|\.\.) ?({one})") for one in (_AMOUNT, _DAY, _CLOCK))
"""Numbers, dates and times; not 02139-4307."""
_MILLIONS = re.compile(r"-?\d+(?:(?:\.\d{3}){2,}|(?:,\d{3}){2,})")
_UNCLEAR, _DECIMALS = re.compile(r"-?[1-9]\d{0,2}[.,]\d{3}"), re.compile(r"-?0\.\d+|-?\d+\.(?!\d{3}$)\d+")
"""A thousand, or a one with three decimals; a number that has decimals for sure."""
_LABELLED = re.compile(r"(.*[^\s<>=!:]) ?(?:=|: ) ?([^\s=].*)")
"""A value and its label in one cell: f = female, 1=yes, 2: no; not >=5."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")


def without_statement(obj: object) -> tuple[str, ...]:
    """Return the names of columns of a domain's JSON that do not state how missing or undeclared values count.

    Such values get cells of their own. Columns that have no such cells, or whose values are to be learnt, are not
    named. The result is () for JSON without a list of attributes.

    Args:
        obj: The JSON value.

    Raises:
        InputError: A column is invalid.
    """
    entries = obj.get("attributes") if isinstance(obj, Mapping) else None
    columns = map(Column.from_json, entries) if isinstance(entries, list) else ()
    with_cells = (column for column in columns if "other" in column.about.fields and column.discover is None)
    return tuple(column.name for column in with_cells if column.other is None or column.missing is None)


def unstated_columns(text: str) -> tuple[str, ...]:
    """Return the names of columns of a file's domain that do not state how missing or undeclared values count.

    In a codebook (CSV or DDI) these are all columns. Columns of JSON that have no cells for such values, or whose values
    are to be learnt, are not named; () is returned if there are no others.

    Args:
        text: The text of the file, as `parse_domain` reads it.

    Raises:
        InputError: It is not a domain.
        CapacityError: A codebook has more than 1,000 columns.
    """
    body = text.lstrip("\ufeff \t\r\n")
    return without_statement(parse_json(body, "domain")) if body[:1] in "{[" else parse_domain(text).names


def parse_domain(text: str) -> Domain:
    """Return a domain from the text of a file.

    The text is JSON (either form of `Domain.from_json`), a codebook CSV with a header column,value[,label] (comma,
    semicolon or tab between the fields), or a DDI codebook in XML.

    Raises:
        InputError: The text is empty, of another form, or describes no valid domain.
        CapacityError: The domain has too many columns, or its rules have too many cells.
    """
    body = text.lstrip("\ufeff \t\r\n")
    if not body:
        raise InputError("domain", "the file is empty", "give a domain JSON or a codebook (CSV or DDI)")
    if body[0] in "{[":
        return Domain.stated(parse_json(body, "domain"))
    if ddi.is_xml(body):
        return Domain.from_json(ddi.declared_domain(body))
    delimiter = max(",;\t", key=body.splitlines()[0].count)
    rows = csv.DictReader(body.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True)
    try:
        return domain_from_codebook(list(map(_as_named, rows)))
    except csv.Error:
        raise InputError("domain", "the codebook cannot be read as CSV", "save it as CSV with the header column,value") from None


def _as_named(row: dict[Any, Any]) -> dict[str, str | None]:
    if any(row.pop(None, ())):
        raise InputError("domain", "a row of the codebook has more fields than its header", "quote a value that has a comma")
    return row


def load_domain(path: str | Path) -> Domain:
    """Return the domain that a file states (`parse_domain`).

    Raises:
        InputError: The file cannot be read, or is not a domain.
        CapacityError: The domain has too many columns, or its rules have too many cells.
    """
    return parse_domain(read_document(Path(path), "domain"))


def domain_from_codebook(table: Iterable[Mapping[str, str | None]]) -> Domain:
    """Return the domain that the rows of a codebook state; columns have the order of their first rows.

    Each row lists one value of one column; a blank value and `*` are the cells for missing and for
    unlisted values, which every column has here. If a column has a single value such as 17..90, 0.0..99.5,
    2020-01-01..2024-12-31 (with a time of day or without) or 08:00..16:30, it gives bounds, both inclusive. Spaces
    around texts are removed. If some values of a column have a label, the others are their own labels.

    Args:
        table: The rows, each with the keys column, value and perhaps label, in any case; other keys are ignored.

    Raises:
        InputError: There are no rows, a row lacks its column or value, or a column is invalid.
        CapacityError: There are more than 1,000 columns.
    """
    columns: dict[str, list[tuple[str, str]]] = {}
    for row in table:
        cells = {str(key).strip().lower(): str(value or "").strip() for key, value in row.items()}
        if "column" not in cells or "value" not in cells:
            raise InputError("domain", "the codebook lacks the columns 'column' and 'value'", "use the header column,value[,label]")
        if not cells["column"]:
            raise InputError("domain", "a row of the codebook names no column", "fill in the first field of every row")
        columns.setdefault(cells["column"], []).append((cells["value"], cells.get("label", "")))
    return Domain(tuple(_from_codebook_rows(name, rows) for name, rows in columns.items()))


def _from_codebook_rows(name: str, rows: list[tuple[str, str]]) -> Attribute:
    categories = [(value, label) for value, label in rows if value not in ("", "*")]
    if len(categories) == 1 and ".." in categories[0][0]:
        low, high = categories[0][0].split("..", 1)
        return _from_range(name, low.strip(), high.strip())
    labels = [label or value for value, label in categories] if any(label for _, label in categories) else []
    return Attribute.categorical(name, [value for value, _ in categories], labels=labels, other=True, missing=True)


def _from_range(name: str, low: str, high: str) -> Attribute:
    """Return a column with these bounds: numbers, dates or times, as both bounds can be read.

    They are tried as whole numbers, numbers, dates, dates with a time of day and times of day.

    Raises:
        InputError: They can be read as neither.
    """
    parsers: dict[str, Callable[[str], Any]] = {"integer": int, "numeric": float}
    for kind, parse in parsers.items():
        try:
            bounds = parse(low), parse(high)
        except ValueError:
            continue
        return Attribute.binned(name, kind, *bounds, other=True, missing=True)
    days, clock = [bool(re.match(_DAY, text)) for text in (low, high)], f"{low} {high}"
    if all(days) and ":" not in clock:
        return Attribute.day(name, low, high, other=True, missing=True)
    if ":" in clock and (all(days) or not any(days)):
        kind, precision = "timestamp" if all(days) else "time", "second" if re.search(r":\d\d:", clock) else "minute"
        return Attribute.binned(name, kind, low, high, precision=precision, other=True, missing=True)
    remedy = "write them like 0..99.5, 2024-01-01..2024-12-31 or 08:00..16:30"
    raise InputError(column_field(name), "its bounds are not numbers, dates or times that can be read", remedy)


def pasted_domain(text: str) -> Domain:
    """Return the domain that pasted lines state: one value of a column each, or all values in one line.

    A line that names no column goes on with the column of the line before, as merged cells do. JSON, and a table
    whose first line has the names "column" and "value", are read too. Every column has cells for missing and for
    unlisted values, unless JSON states otherwise.

    Raises:
        InputError: There are no lines, or the lines are not a domain.
        CapacityError: The domain has too many columns, or its rules have too many cells.
    """
    if _is_json(text):
        return parse_domain(text)
    rows = _rows(text)
    if not rows:
        raise InputError(PASTED, "you have not pasted any lines", "paste two columns: the name of a column and one of its values")
    first = [cell.strip().lower() for cell in rows[0]]
    if {"column", "value"} <= set(first):
        return domain_from_codebook(_filled(rows[1:], first))
    return domain_from_codebook(_filled(list(_spread(rows, "\t" in text)), _HEADER))


def _spread(rows: list[list[str]], tabs: bool) -> Iterator[list[str]]:
    """Yield a row per value, each with the name of its column.

    A column with a single row holds all its values in that row, because a column of one value would
    tell nothing.

    Args:
        rows: The cells of the lines.
        tabs: Whether tabs separate the cells.
    """
    name, columns = "", dict[str, list[list[str]]]()
    for row in rows:
        name = row[0].strip() or name
        columns.setdefault(name, []).append(row)
    for name, own in columns.items():
        cells = [cell.strip() for cell in own[0][1:] if cell.strip()]
        yield from _labelled(own if len(own) > 1 else [[name, *all_of] for all_of in _all_of(name, cells, tabs)])


def _labelled(lines: list[list[str]]) -> list[list[str]]:
    """Return the lines of a column, with labels apart from values if all lines have both in one cell.

    Raises:
        InputError: A line has dots in place of values, or bounds beside single numbers.
    """
    values = [line[1].strip() if len(line) > 1 else "" for line in lines]
    if any(re.fullmatch(r"\.\.+|…", value) for value in values):
        raise InputError(PASTED, "dots stand for values", "list every value, or give bounds such as 1-10")
    between, numbers = ([value for value in values if form.fullmatch(value)] for form in (_BOUNDS[0], _NUMBER))
    if len(between) == 1 and numbers:
        remedy = "give the bounds alone, and say what stands for missing on the Data page"
        raise InputError(PASTED, "a column has bounds and single numbers", remedy)
    found = [_LABELLED.fullmatch(value) for line, value in zip(lines, values, strict=True) if not any(line[2:])]
    if len(found) < len(lines) or not all(found):
        return lines
    return [[line[0], *match.groups()] for line, match in zip(lines, found, strict=True) if match]


def _all_of(name: str, cells: list[str], tabs: bool) -> list[list[str]]:
    """Return a line per value, or a line with bounds, from the cells behind a column's name.

    Bounds are written as 0-95 or 2020-01-01 to 2024-12-31. Values are in one cell each, or between
    semicolons, bars or commas. In a sheet with tabs between its cells, the second one is a label.

    Args:
        name: Name of the column in errors.
        cells: The cells.
        tabs: Whether tabs separate the cells.

    Raises:
        InputError: A bound may be in thousands or have three decimals.
    """
    value = ",".join(cells)
    bounds = next((found for form in _BOUNDS if (found := form.fullmatch(value))), None)
    if bounds and not (tabs and len(cells) > 1):
        if any(map(_UNCLEAR.fullmatch, bounds.groups())) and not any(map(_DECIMALS.fullmatch, bounds.groups())):
            problem = "a bound may be in thousands or have three decimals"
            raise InputError(column_field(name), problem, "write it without that mark, or with another number of decimals")
        plain = (re.sub("[.,]", "", one) if _MILLIONS.fullmatch(one) else one for one in bounds.groups())
        return [["..".join(plain)]]
    if len(cells) != 1:
        return [cells] if tabs or not cells else [[cell] for cell in cells]
    mark = next((mark for mark in ";|," if mark in value and ".." not in value), None)
    return [[one.strip()] for one in value.split(mark) if one.strip()] if mark else [[value]]


def holds_values(text: str) -> bool:
    """Return whether pasted lines state values of columns, and not only names.

    True is returned for JSON, and for several lines of which one has more than one cell.

    Raises:
        InputError: A quotation mark is not closed.
    """
    rows = _rows(text)
    return _is_json(text) or (len(rows) > 1 and any(len(row) > 1 for row in rows))


def pasted_names(text: str) -> tuple[str, ...]:
    """Return the names of columns in a text: one a line, or side by side in a single line, in order.

    If several lines have several cells, the first cell of each is the name. Blank names are left out.

    Raises:
        InputError: There are no names, one is there twice, or a quotation mark is not closed.
    """
    rows = _rows(text)
    cells = rows[0] if len(rows) == 1 else [row[0] for row in rows]
    names = [cell.strip() for cell in cells if cell.strip()]
    if not names:
        raise InputError(PASTED, "there are no names", "paste the names of the columns")
    if len(set(names)) < len(names):
        raise InputError(PASTED, "a name is there twice", "give every column a name of its own")
    return tuple(names)


def _is_json(text: str) -> bool:
    return text.lstrip()[:1] in ("{", "[")


def _rows(text: str) -> list[list[str]]:
    """Return the cells of each line that is not empty.

    Raises:
        InputError: A quotation mark is not closed.
    """
    delimiter = next((mark for mark in "\t;," if mark in text), "\t")
    lines = csv.reader(text.splitlines(keepends=True), delimiter=delimiter, skipinitialspace=True, strict=True)
    try:
        return [cells for cells in lines if any(cell.strip() for cell in cells)]
    except csv.Error:
        raise InputError(PASTED, "a quotation mark has no other", "write a second one where the value ends, or leave it out") from None


def _filled(rows: list[list[str]], header: list[str] | tuple[str, ...]) -> Iterator[dict[str, str]]:
    column = ""
    for row in rows:
        if len(row) > len(header):
            raise InputError(PASTED, "a line has more cells than the first one names", "quote a value that has a comma")
        cells = dict(zip(header, (*row, *[""] * len(header)), strict=False))
        if len([cell for cell in row if cell.strip()]) == 1 and cells["column"].strip() and not cells["value"].strip():
            raise InputError(PASTED, "a line has a single field", "paste two columns: the name of a column and one of its values")
        column = cells["column"] = cells["column"].strip() or column
        yield cells
