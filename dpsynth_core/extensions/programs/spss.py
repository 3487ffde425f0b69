"""rows.sps: reads the rows in SPSS with labels and user-missing codes.

Every text stands in single quotes, which end at a single quote that is not doubled or at the end of the line. Long texts are several quoted
parts, because lines of older versions may have 256 bytes. A line break or another invisible character is a space in a label; a value with
one gets no label.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from dpsynth_core.extensions.programs.layout import (
    CLOCK,
    DAY,
    MOMENT,
    NUMBER,
    Table,
    is_ordered,
    longest,
    tables,
    type_of,
    values,
)
from dpsynth_core.extensions.programs.template import filled
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.program_names import program_names, spss_user_missing
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.filled import RowColumn

_PART = 40
"""Characters of a quoted part, at most 160 bytes."""
_LONGEST_LABEL, _LONGEST_VALUE_LABEL = 255, 120
_LONGEST_TEXT = 32_767
_FORMATS = {NUMBER: "F20", DAY: "SDATE10", MOMENT: "YMDHMS26", CLOCK: "TIME16"}


def spss_program(release: Release) -> bytes:
    """Return rows.sps, the program that reads a release's rows in SPSS, as UTF-8."""
    files = [(table, program_names(table.domain, "spss")) for table in tables(release)]
    last = files[-1][0].file
    parts = ("\n".join(_table(table, columns, table.file == last)) for table, columns in files)
    return filled("rows_spss.txt", {"tables": "\n\n".join(parts)})


def spss_text(text: str) -> str:
    """Return a text in single quotes, which are doubled inside, in parts of 40 characters that are joined by plus signs.

    An invisible character becomes a space.
    """
    plain = visible(text)
    parts = [plain[start : start + _PART].replace("'", "''") for start in range(0, len(plain), _PART)] or [""]
    return " +\n    ".join(f"'{part}'" for part in parts)


def spss_number(number: float) -> str:
    """Return a finite number as SPSS reads it."""
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _table(table: Table, columns: Mapping[str, RowColumn], is_last: bool) -> Iterator[str]:
    """Yield the commands that read a file of rows and label its variables.

    Args:
        table: The file.
        columns: Its columns by the names that they get.
        is_last: Whether no other file is read afterwards. Of others a copy stays open, because
            reading a file closes the active data set in some versions.
    """
    yield f"GET DATA /TYPE=TXT /FILE='{table.file}' /ENCODING='UTF8' /ARRANGEMENT=DELIMITED /DELIMITERS=',' /QUALIFIER='\"' /FIRSTCASE=2"
    yield "  /VARIABLES="
    for name, column in columns.items():
        yield f"    {name} {_FORMATS.get(type_of(column)) or f'A{min(longest(column), _LONGEST_TEXT)}'}"
    yield "  ."
    for name, column in columns.items():
        if label := column.label or (column.name if column.name != name else ""):
            yield f"VARIABLE LABELS {name}\n    {spss_text(label[:_LONGEST_LABEL])}."
        if labels := list(_labels(column)):
            yield "\n".join([f"VALUE LABELS {name}", *(f"    {label}" for label in labels), "  ."])
        if codes := _missing(column):
            yield f"MISSING VALUES {name} ({codes})."
        yield f"VARIABLE LEVEL {name} ({'SCALE' if not column.is_listed else 'ORDINAL' if is_ordered(column) else 'NOMINAL'})."
    yield "EXECUTE."
    yield f"DATASET {'NAME' if is_last else 'COPY'} {table.file.removesuffix('.csv')}."


def _is_plain(value: str | float | int | bool) -> bool:
    return not isinstance(value, str) or value == visible(value)


def _code(value: str | float | int | bool) -> str:
    if isinstance(value, bool):
        return spss_text(str(value).lower())
    return spss_text(value) if isinstance(value, str) else spss_number(value)


def _labels(column: RowColumn) -> Iterator[str]:
    """Yield the labelled values of a column, each with its label."""
    for one in values(column):
        if one.labelled and _is_plain(one.value):
            yield f"{_code(one.value)} {spss_text(one.label[:_LONGEST_VALUE_LABEL])}"


def _missing(column: RowColumn) -> str:
    """Return the user-missing values as MISSING VALUES lists them; "" without any."""
    found = spss_user_missing(column)
    ranges = [f"{spss_number(one['lo'])} THRU {spss_number(one['hi'])}" for one in found if isinstance(one, dict)]
    return ", ".join([*ranges, *(_code(one) for one in found if not isinstance(one, dict) and _is_plain(one))])
