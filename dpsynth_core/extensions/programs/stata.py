"""analysis.do: reads the rows in Stata with labels and user-missing codes, and prints released shares and means beside the rows' own.

Stata expands macros (` and $) and comment marks inside quoted texts, and renders { } where it shows a text. So every text is an expression:
plain letters in quotes, each other character as char() or uchar().
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence

from dpsynth_core.extensions.programs.layout import (
    CLOCK,
    DAY,
    MOMENT,
    NUMBER,
    TRUTH,
    Table,
    Value,
    empty_code,
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
from dpsynth_core.release.program_names import program_names
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.filled import RowColumn
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS

_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789 .,:-_()<>=+?!&")
_BRACES = {"{": "(", "}": ")"}
_MISSING = "abcdefghijklmnopqrstuvwxyz"
"""Stata has 26 codes of missing values beside the usual one."""
_CODES = (-2_147_483_647, 2_147_483_620)
"""Whole numbers that Stata has value labels for."""
_LONGEST = {"name": 80, "value": 300}
"""Characters of labels that are written; Stata allows 80 for a variable."""


def stata_program(release: Release, stated: Sequence[Statement]) -> bytes:
    """Return analysis.do of a release with rows, as UTF-8.

    Args:
        release: The release.
        stated: The statements that the program prints.
    """
    files = [(table, program_names(table.domain, "stata")) for table in tables(release)]
    prefix = "dp_"
    while any(name.lower().startswith(prefix) for _, columns in files for name in columns):
        prefix += "_"
    parts = []
    for table, columns in files:
        own = [one for one in stated if one.file == table.file]
        parts.append("\n".join(_table(prefix, table, columns, own)))
    said = f'\nmata: printf("%s\\n", {stata_text(whom)})\n' if (whom := extension.whom(release.spec.extensions)) else ""
    return filled("analysis_stata.txt", {"prefix": prefix, "whom": said, "tables": "\n\n".join(parts)})


def stata_text(text: str) -> str:
    """Return a text as an expression of Stata and Mata in ASCII, whose characters cannot end the quoted text or start a macro.

    A null character becomes a space, and half of a surrogate pair the replacement character.
    """
    parts: list[str] = []
    plain = ""
    for letter in text:
        if letter in _PLAIN:
            plain += letter
            continue
        if plain:
            parts.append(f'"{plain}"')
            plain = ""
        code = ord(letter)
        if 0xD800 <= code < 0xE000:
            code = 0xFFFD
        parts.append(f"char({code or 32})" if code < 128 else f"uchar({code})")
    if plain or not parts:
        parts.append(f'"{plain}"')
    return " + ".join(parts)


def _label(text: str, of: str) -> str:
    """Return a label as an expression, cut, with brackets for braces, which Stata would render."""
    plain = "".join(_BRACES.get(letter, letter) for letter in visible(text))
    return stata_text(plain[: _LONGEST[of]])


def _number(number: float | None) -> str:
    return "." if number is None or not math.isfinite(number) else rounded(number)


def _exact(number: float) -> str:
    return str(int(number)) if float(number).is_integer() else repr(float(number))


def _table(prefix: str, table: Table, columns: Mapping[str, RowColumn], stated: Sequence[Statement]) -> Iterator[str]:
    """Yield the lines that read a file of rows and print its statements.

    Args:
        prefix: The beginning of names that no column has.
        table: The file.
        columns: Its columns by the names that they get.
        stated: The statements about its columns.
    """
    yield f"* ---- {table.file} ----"
    options = 'delimiters(",") varnames(nonames) rowrange(2:) stringcols(_all) bindquote(strict) encoding("UTF-8") clear'
    yield f'import delimited using "{table.file}", {options}'
    yield f"rename v# {prefix}raw#"
    yield f"generate double {prefix}is = ."
    yield f"generate double {prefix}one = 1"
    raw = {name: f"{prefix}raw{number}" for number, name in enumerate(columns, start=1)}
    for name, column in columns.items():
        yield from _variable(name, raw[name], column)
    places = {column.name: name for name, column in columns.items()}
    weight = places[table.weight] if table.weight else f"{prefix}one"
    heading = None
    for one in stated:
        name = places[one.column]
        attribute = table.domain[one.column]
        if heading != (one.column, one.weighted):
            heading = (one.column, one.weighted)
            yield f"mata: {prefix}heading({_label(shown(attribute) + (' (weighted)' if one.weighted else ''), 'name')})"
        yield from _line(prefix, raw[name], attribute, one, weight if one.weighted else f"{prefix}one")
    yield f"drop {prefix}*"


def _codes(column: RowColumn) -> list[tuple[Value, str]]:
    """Return the listed values of a column, each with the number that stands for it in Stata.

    Whole numbers stand for themselves, texts are numbered, user-missing codes are .a to .z.
    """
    missing, found, used = user_missing(column), list[tuple[Value, str]](), 0
    whole = column.dtype == "int64"
    for place, one in enumerate(values(column), start=1):
        if one.value in missing and used < len(_MISSING):
            found.append((one, f".{_MISSING[used]}"))
            used += 1
        else:
            found.append((one, _exact(float(one.value)) if whole else str(int(one.value)) if type_of(column) == TRUTH else str(place)))
    return found


def _is_coded(column: RowColumn) -> bool:
    """Return whether a column becomes numbers with value labels; decimal numbers stay as they are."""
    return bool(values(column) or other(column)) and column.dtype != "float64"


def _variable(name: str, raw: str, column: RowColumn) -> Iterator[str]:
    kind = type_of(column)
    if _is_coded(column):
        yield f"generate double {name} = ."
        labelled = list[str]()
        codes = _codes(column)
        if kind == NUMBER:
            yield f"replace {name} = real({raw})"
        for one, code in codes:
            if kind != NUMBER or code.startswith("."):
                yield f"replace {name} = {code} if {_is_value(raw, one)}"
            wanted = kind != NUMBER or one.labelled or code.startswith(".")
            if wanted and (code.startswith(".") or _CODES[0] <= int(code) <= _CODES[1]):
                labelled.append(f'mata: st_vlmodify("{name}", {code}, {_label(one.label, "value")})')
        if other(column):
            code = str(len(codes) + 1)
            yield f"replace {name} = {code} if {raw} == {stata_text(other(column))}"
            labelled.append(f'mata: st_vlmodify("{name}", {code}, {_label(other(column), "value")})')
        yield from labelled
        if labelled:
            yield f"label values {name} {name}"
    elif kind == NUMBER:
        yield f"generate double {name} = real({raw})"
    elif kind == DAY:
        yield f'generate double {name} = daily({raw}, "YMD")'
        yield f"format {name} %td"
    elif kind == MOMENT:
        yield f'generate double {name} = clock({raw}, "YMDhms")'
        yield f'replace {name} = clock({raw}, "YMDhm") if length({raw}) == 16'
        yield f"format {name} %tc"
    else:
        yield f"generate strL {name} = {raw}"
    label = column.label or (column.name if column.name != name else "")
    if label:
        yield f'mata: st_varlabel("{name}", {_label(label, "name")})'


def _is_value(raw: str, one: Value) -> str:
    if isinstance(one.value, bool):
        return f'{raw} == "{str(one.value).lower()}"'
    if isinstance(one.value, str):
        return f"{raw} == {stata_text(one.value)}"
    return f"real({raw}) == {_exact(one.value)}"


def _line(prefix: str, raw: str, column: Attribute, one: Statement, weight: str) -> Iterator[str]:
    """Yield the lines that count a statement in the rows and print it."""
    if one.code is None:
        yield f"quietly replace {prefix}is = real({raw})"
        cell = '"mean"'
    else:
        yield f"quietly replace {prefix}is = ({_in_cell(raw, column, one.code)})"
        cell = _label(column.cell_labels()[one.code], "name")
    numbers = ", ".join(map(_number, (one.value, one.low, one.high)))
    yield f'mata: {prefix}line({cell}, {numbers}, "{one.known}", "{weight}")'


def _in_cell(raw: str, column: Attribute, code: int) -> str:
    """Return an expression that is 1 in the rows of a cell and 0 in others."""
    if code == empty_code(column):
        return f'{raw} == ""'
    if code >= column.values:
        return f"{raw} == {stata_text(other(column))}" if other(column) else "0"
    if not column.is_number:
        return _is_value(raw, values(column)[code])
    low, high = column.edges[code], column.edges[code + 1]
    scale = _scale(raw, column)
    end = "<=" if code == column.values - 1 else "<"
    return f'{raw} != "" & {scale} >= {_exact(low)} & {scale} {end} {_exact(high)}'


def _scale(raw: str, column: Attribute) -> str:
    """Return an expression for the number of a value on the scale of the column's edges."""
    kind = type_of(column)
    if kind == DAY:
        return f'(daily({raw}, "YMD") - td(01jan1970))'
    unit = MICROSECONDS.get(column.precision, 1000) / 1000
    if kind == MOMENT:
        moment = f'cond(length({raw}) == 16, clock({raw}, "YMDhm"), clock({raw}, "YMDhms"))'
        return f"round(({moment} - tc(01jan1970 00:00:00)) / {_exact(unit)})"
    if kind == CLOCK:
        sign = f'cond(substr({raw}, 1, 1) == "-", -1, 1)'
        hours = f'abs(real(substr({raw}, 1, strpos({raw}, ":") - 1)))'
        minutes = f'real(substr({raw}, strpos({raw}, ":") + 1, 2))'
        seconds = f'real("0" + substr({raw}, strpos({raw}, ":") + 4, .))'
        return f"round({sign} * ({hours} * 3600000 + {minutes} * 60000 + {seconds} * 1000) / {_exact(unit)})"
    return f"real({raw})"
