"""analysis.R: reads the rows in R, and prints released shares and means beside the rows' own.

The text of the program is in `analysis_r.txt`, and is the same for all releases. Names, labels and values stand in its lists as quoted
texts alone (`r_text`), so that R never runs them as code.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from functools import partial

from dpsynth_core.extensions.programs.layout import (
    CLOCK,
    MOMENT,
    Table,
    empty_code,
    is_ordered,
    other,
    shown,
    tables,
    type_of,
    user_missing,
    values,
)
from dpsynth_core.extensions.programs.statements import Statement
from dpsynth_core.extensions.programs.template import filled, rounded
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import MEMBERS
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_PLAIN = frozenset(chr(code) for code in range(32, 127)) - {'"', "\\"}
_PART = 1000
"""Characters of a quoted text, of which R allows 10,000 with escapes."""
_EXACT = 1e15
"""R reads numbers of 15 digits exactly."""


def r_program(release: Release, stated: Sequence[Statement]) -> bytes:
    """Return analysis.R of a release with rows, as UTF-8.

    Args:
        release: The release.
        stated: The statements that the program prints.
    """
    files = list(tables(release))
    places = {(table.file, column.name): place for table in files for place, column in enumerate(table.columns, start=1)}
    order = {table.file: number for number, table in enumerate(files, start=1)}
    columns: dict[str, list[str]] = {
        "table": [str(order[one.file]) for one in stated],
        "column": [str(places[one.file, one.column]) for one in stated],
        "statistic": [r_text(one.statistic) for one in stated],
        "cell": ["NA" if one.code is None else str(one.code + 1) for one in stated],
        "weighted": [_truth(one.weighted) for one in stated],
        "value": [_stated(one.value) for one in stated],
        "low": [_stated(one.low) for one in stated],
        "high": [_stated(one.high) for one in stated],
        "known": [r_text(one.known) for one in stated],
    }
    kinds = {"cell": "integer", "value": "numeric", "low": "numeric", "high": "numeric"}
    listed = ",\n".join(f"  {name} = as.{kinds.get(name, 'vector')}({_vector(of)})" for name, of in columns.items())
    return filled(
        "analysis_r.txt",
        {
            "title": r_text(visible(release.spec.name)),
            "whom": f'\ncat({r_text(whom)}, "\\n", sep = "")' if (whom := extension.whom(release.spec.extensions)) else "",
            "tables": ",\n".join(map(_table, files)),
            "stated": listed,
            "linked": _truth(any(table.file == MEMBERS for table in files)),
        },
    )


def r_text(text: str) -> str:
    """Return a text as a quoted expression of R in ASCII, whose characters cannot end the quoted text.

    A null character becomes a space, and half of a surrogate pair the replacement character. A text of more
    than 1,000 characters becomes a call of paste0.
    """
    parts = ["".join(map(_letter, text[start : start + _PART])) for start in range(0, len(text), _PART)] or [""]
    quoted = [f'"{part}"' for part in parts]
    return quoted[0] if len(quoted) == 1 else f"paste0({', '.join(quoted)})"


def _letter(letter: str) -> str:
    if letter in _PLAIN:
        return letter
    code = ord(letter)
    if code == 0:
        return " "  # which texts of R cannot hold
    if 0xD800 <= code < 0xE000:
        code = 0xFFFD
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def r_number(number: float) -> str:
    """Return a finite number as R reads it exactly; one with more than 15 digits is written in base 16."""
    if float(number).is_integer() and abs(number) < _EXACT:
        return str(int(number))
    shortest = repr(float(number))
    return shortest if len(shortest.split("e")[0].lstrip("-0.").replace(".", "")) <= 15 else float(number).hex()


def _stated(number: float | None) -> str:
    return "NA" if number is None or not math.isfinite(number) else rounded(number)


def _truth(value: bool) -> str:
    return "TRUE" if value else "FALSE"


def _vector(items: Iterable[str]) -> str:
    return f"c({', '.join(items)})"


def _value(value: str | float | int | bool) -> str:
    """Return a listed value as rows have it: a quoted text, or a number."""
    if isinstance(value, bool):
        return r_text(str(value).lower())
    return r_text(value) if isinstance(value, str) else r_number(value)


def _table(table: Table) -> str:
    texts = partial(map, r_text)
    head = f"file = {r_text(table.file)}, further = as.character({_vector(texts(table.further))}), weight = {r_text(table.weight)}"
    return f"  list({head}, columns = list(\n" + ",\n".join(f"    {_column(column)}" for column in table.columns) + "\n  ))"


def _column(column: RowColumn) -> str:
    listed, missing = values(column), user_missing(column)
    items = {"name": r_text(column.name), "label": r_text(column.label), "shown": r_text(shown(column)), "type": r_text(type_of(column))}
    if listed or other(column):
        items["values"] = _vector(_value(one.value) for one in listed)
        items["labels"] = _vector(r_text(one.label) for one in listed)
        items["ordered"] = _truth(is_ordered(column))
        items["user_missing"] = f"as.integer({_vector(str(place) for place, one in enumerate(listed, start=1) if one.value in missing)})"
    if other(column):
        items["other"] = r_text(other(column))
    if isinstance(column, Attribute):
        items["cells"] = _vector(map(r_text, column.cell_labels()))
        items["empty"] = "NA" if (code := empty_code(column)) is None else str(code + 1)
        if column.is_number:
            items["edges"] = _vector(map(r_number, column.edges))
            if type_of(column) in (MOMENT, CLOCK):
                items["unit"] = r_number(MICROSECONDS[column.precision] / 1e6)
    return f"list({', '.join(f'{name} = {item}' for name, item in items.items())})"
