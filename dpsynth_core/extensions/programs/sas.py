"""rows.sas: reads the rows in SAS with labels, formats and special missing values.

Every text stands in single quotes, in which SAS resolves no macro, and which end at a single quote that is not doubled. A line break or
another invisible character is a space in a label; a value with one gets no label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsynth_core.extensions.programs.layout import CLOCK, DAY, MOMENT, NUMBER, Table, longest, tables, type_of, user_missing, values
from dpsynth_core.extensions.programs.template import filled
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.program_names import program_names
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.filled import RowColumn

_MISSING = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_LONGEST_LABEL = 256
_LONGEST_TEXT = 32_767
_INFORMATS = {NUMBER: "best32.", DAY: "yymmdd10.", MOMENT: "ymddttm26.", CLOCK: "time16."}
_FORMATS = {DAY: "yymmdd10.", MOMENT: "e8601dt26.6", CLOCK: "time16.3"}


def sas_program(release: Release) -> bytes:
    """Return rows.sas, the program that reads a release's rows in SAS, as UTF-8."""
    files = [(table, program_names(table.domain, "sas")) for table in tables(release)]
    parts = ("\n".join(_table(number, table, columns)) for number, (table, columns) in enumerate(files, start=1))
    return filled("rows_sas.txt", {"prefix": "dpsynth_", "tables": "\n\n".join(parts)})


def sas_text(text: str) -> str:
    """Return a text in single quotes, which are doubled inside, with a space for each invisible character."""
    return "'" + visible(text).replace("'", "''") + "'"


def sas_number(number: float) -> str:
    """Return a finite number as SAS reads it."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _table(number: int, table: Table, columns: Mapping[str, RowColumn]) -> Iterator[str]:
    """Yield the lines that define the formats of a table and read its file of rows.

    Args:
        number: The number of the table, from 1, which the names of formats contain.
        table: The file.
        columns: Its columns by the names that they get.
    """
    formats = dict[str, str]()
    lines = list[str]()
    for place, (name, column) in enumerate(columns.items(), start=1):
        if labels := list(_labels(column)):
            formats[name] = f"{'' if type_of(column) == NUMBER else '$'}dp{number}_{place}_"
            lines += [f"  value {formats[name]}", *(f"    {label}" for label in labels), "  ;"]
    if lines:
        yield "proc format;"
        yield from lines
        yield "run;"
    yield f"data work.{table.file.removesuffix('.csv')};"
    yield f"  infile \"&folder./{table.file}\" dsd dlm=',' firstobs=2 lrecl=1000000 encoding='utf-8' truncover;"
    for name, column in columns.items():
        yield f"  informat {name} {_INFORMATS.get(type_of(column)) or f'${min(longest(column), _LONGEST_TEXT)}.'};"
    yield "  input"
    yield from (f"    {name}" for name in columns)
    yield "  ;"
    for name, column in columns.items():
        for code, value in enumerate(_codes_for_missing(column)):
            yield f"  if {name} = {sas_number(value)} then {name} = .{_MISSING[code]};"
        if label := column.label or (column.name if column.name != name else ""):
            yield f"  label {name} = {sas_text(label[:_LONGEST_LABEL])};"
        if form := formats.get(name) or _FORMATS.get(type_of(column), ""):
            yield f"  format {name} {form if '.' in form else f'{form}.'};"
    yield "run;"


def _codes_for_missing(column: RowColumn) -> list[float]:
    """Return the numbers that stand for a missing answer, at most as many as SAS has special missing values."""
    missing = user_missing(column)
    return [float(one.value) for one in values(column) if one.value in missing and not isinstance(one.value, str | bool)][: len(_MISSING)]


def _labels(column: RowColumn) -> Iterator[str]:
    """Yield the entries of a column's format: each labelled value with its label."""
    missing = _codes_for_missing(column)
    for one in values(column):
        if isinstance(one.value, str | bool):
            text = str(one.value).lower() if isinstance(one.value, bool) else one.value
            if one.labelled and text == visible(text):
                yield f"{sas_text(text)} = {sas_text(one.label)}"
        elif one.value in missing:
            yield f".{_MISSING[missing.index(float(one.value))]} = {sas_text(one.label)}"
        elif one.labelled:
            yield f"{sas_number(one.value)} = {sas_text(one.label)}"
