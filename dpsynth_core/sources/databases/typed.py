"""Codes of columns with a type: numbers, truth values, dates and times.

Where only some values have a cell of their own, what `sources.codec` says of exactly these values is asked of it when the run is planned.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from datetime import date, datetime, time, timedelta
from decimal import Decimal, InvalidOperation
from typing import Any

import ibis
import pyarrow as pa

from dpsynth_core.foundation.arrow_times import DAY_MICROS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.codec import encode_column
from dpsynth_core.sources.databases.cells import bins, listed
from dpsynth_core.sources.databases.words import TINY, Words
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.times import MICROSECONDS
from dpsynth_core.vocabulary.names import column_field

MOST_DIGITS = 15
"""Of a decimal number that is read as Arrow reads it: every such number of units is a float64."""
_EPOCH = datetime(1970, 1, 1)
_LARGEST = 2.0**62
_NUMERIC = ("int64", "float64")


def code(words: Words, attribute: Attribute, values: Any, kind: str, notation: Notation) -> Any:
    """kind: of `connect.Column`, none of text. InputError where cells would not be exactly those of `sources.codec`."""
    if kind == "boolean":
        return _of_few(attribute, values, pa.bool_(), [False, True], notation)
    if kind.startswith("decimal") or kind in ("integer", "float"):
        return _number_code(words, attribute, values, kind, notation)
    readable = {"date": ("date", "timestamp"), "timestamp": ("date", "timestamp", "time"), "time": ("time", "duration")}[kind]
    if attribute.about.form is Form.BINNED and attribute.dtype in readable:
        return _present(attribute, values, _time_bins(attribute, values, kind))
    arrow, read = _TIMES[kind]
    return _by_values(attribute, values, arrow, _read(read, _texts(attribute, notation)), notation)


def numbers(words: Words, attribute: Attribute, number: Any, unreadable: Any, notation: Notation) -> Any:
    """Codes of float64 in bins, or codes of their own. unreadable: the code of what is no number, or a number that means missing."""
    check_edges(attribute)
    marked = notation.marked_numbers
    if any(abs(mark) > 1e300 or 0 < abs(mark) < TINY for mark in marked):
        raise InputError("data.missing_markers", "a number among them is too large or too small", "write it as a text of the table")
    absent = number.isnull()
    absent = absent | number.isnan() if words.has_nan else absent
    absent = absent | number.isin([words.double(mark) for mark in marked]) if marked else absent
    if attribute.is_coded:
        last = attribute.values - 1
        inside = (number >= words.double(1), number.floor().cast("int32"))
        own = ibis.cases((number >= words.double(last), ibis.literal(last).cast("int32")), inside, else_=0)
        return ibis.cases((absent, 0), else_=own)
    inside = bins(attribute, lambda edge: number >= words.double(edge), lambda edge: number > words.double(edge))
    return ibis.cases((absent, unreadable), else_=inside)


def check_edges(attribute: Attribute) -> None:
    if any(0 < abs(edge) < TINY for edge in attribute.edges):
        raise InputError(column_field(attribute.name), "an edge is too near to 0 for a database", "use 0, or edges above 1e-290")


def _number_code(words: Words, attribute: Attribute, values: Any, kind: str, notation: Notation) -> Any:
    arrow, double = _as_double(words, attribute, values, kind)
    if attribute.about.form is Form.LISTED or attribute.dtype not in (*_NUMERIC, "duration"):
        read = {"integer": _whole, "float": _float}.get(kind, _decimal)
        readable = _read(read, _texts(attribute, notation))
        if kind == "float":
            return _float_code(words, attribute, values.cast("float64"), readable, notation)
        return _by_values(attribute, values, arrow, [value for value in readable if _fits(value, arrow)], notation)
    if attribute.dtype == "duration":
        if kind != "integer" and (notation.decimal != "." or notation.thousands):
            remedy = "cast it to bigint or to text in a view or query"
            raise InputError(column_field(attribute.name), "durations with a fraction are not read where texts have other marks", remedy)
        readable = _read({"integer": _whole, "float": _float}.get(kind, _decimal), sorted(notation.missing_markers))
        marked = [value for value in readable if _fits(value, arrow) and _text_of(value, arrow) in notation.missing_markers]
        return _lasting(words, attribute, double, [words.double(float(value)) for value in marked])
    exact = all(abs(edge) < 2**53 for edge in attribute.edges)
    if kind == "integer" and attribute.is_number and exact and not notation.marked_numbers:
        whole = bins(attribute, lambda edge: values >= math.ceil(edge), lambda edge: values >= math.floor(edge) + 1)
        return _present(attribute, values, whole)
    return numbers(words, attribute, double, attribute.code_for_missing, notation)


def _as_double(words: Words, attribute: Attribute, values: Any, kind: str) -> tuple[pa.DataType, Any]:
    if not kind.startswith("decimal"):
        return (pa.int64() if kind == "integer" else pa.float64()), values.cast("float64")
    precision, scale = map(int, kind.removeprefix("decimal").strip("()").split(","))
    if precision > MOST_DIGITS or not 0 <= scale <= precision:
        problem = f"its numbers have more than {MOST_DIGITS} digits, which float64 does not tell apart"
        raise InputError(column_field(attribute.name), problem, "cast it to double precision in a view or query")
    units = (values * 10**scale).cast("int64").cast("float64")
    return pa.decimal128(precision, scale), units * words.double(float(f"1e-{scale}")) if scale else units


def _float_code(words: Words, attribute: Attribute, number: Any, some: list[float], notation: Notation) -> Any:
    """Some numbers by their text, which tells 0 from -0; nan counts as no number."""
    few = list(dict.fromkeys([*(value for value in some if value), math.inf, -math.inf]))
    codes = _codes(attribute, [*few, 0.0, -0.0, math.nan, _other_than(some)], pa.float64(), notation)
    zero, below, none, other = codes[-4:]
    infinite = {math.inf: number > words.double(1.7976931348623157e308), -math.inf: number < words.double(-1.7976931348623157e308)}
    finite = [(words.double(value), code) for value, code in zip(few, codes, strict=False) if not math.isinf(value)]
    chosen = listed(number.isin, finite, ibis.literal(other).cast("int32"))
    negative = number.cast("string").startswith("-")
    first = [(number.isnull() | number.isnan() if words.has_nan else number.isnull(), none)]
    first += [(number == words.double(0), ibis.cases((negative, below), else_=zero))]
    return ibis.cases(*first, *((infinite[value], codes[few.index(value)]) for value in (math.inf, -math.inf)), else_=chosen)


def _other_than(some: Iterable[float]) -> float:
    return next(value for value in (0.123456789012345 + place for place in range(10**6)) if value not in some)


def _by_values(attribute: Attribute, values: Any, arrow: pa.DataType, some: list[Any], notation: Notation) -> Any:
    """Some values have codes of their own, all others the same one."""
    some = list(dict.fromkeys(some))
    *codes, other = _codes(attribute, [*some, _another(some, arrow)], arrow, notation)
    pairs = [(ibis.literal(value), code) for value, code in zip(some, codes, strict=True) if code != other]
    return _present(attribute, values, listed(values.isin, pairs, ibis.literal(other).cast("int32")))


def _another(some: list[Any], arrow: pa.DataType) -> Any:
    """A value of the type that is none of some."""
    if pa.types.is_integer(arrow):
        return next(value for value in range(7_000_003, 8_000_000) if value not in some)
    if pa.types.is_decimal(arrow):
        return next(value for value in (Decimal(unit).scaleb(-arrow.scale) for unit in range(10**arrow.precision)) if value not in some)
    if pa.types.is_time(arrow):
        return next(value for value in (time(0, 0, 0, unit) for unit in range(1, 10**6)) if value not in some)
    days = (datetime(1901, 3, 4) + timedelta(days=unit) for unit in range(10**5))
    return next(value for value in (day.date() if pa.types.is_date(arrow) else day for day in days) if value not in some)


def _of_few(attribute: Attribute, values: Any, arrow: pa.DataType, few: list[Any], notation: Notation) -> Any:
    codes = _codes(attribute, few, arrow, notation)
    return ibis.cases(*((values == value, code) for value, code in zip(few, codes, strict=True)), else_=attribute.code_for_missing)


def _codes(attribute: Attribute, values: list[Any], arrow: pa.DataType, notation: Notation) -> list[int]:
    return [int(code) for code in encode_column(attribute, pa.array(values, arrow), notation)]


def _present(attribute: Attribute, values: Any, own: Any) -> Any:
    return ibis.cases((values.isnull(), attribute.code_for_missing), else_=own)


def _texts(attribute: Attribute, notation: Notation) -> list[str]:
    """All texts that may mean something in the column."""
    groups = () if attribute.hierarchy is None else attribute.hierarchy.groups
    if attribute.hierarchy is not None:
        remedy = "cast it to text in a view or query, as its codes are written"
        raise InputError(column_field(attribute.name), "its codes in groups are not text in the database", remedy)
    return [*attribute.categories, *notation.missing_markers, *(text for pair in groups for text in pair), "0", "1"]


def _read(read: Callable[[str], Any], texts: list[str]) -> list[Any]:
    """Those texts that are values, read."""
    values = []
    for text in texts:
        try:
            values.append(read(text))
        except (ValueError, InvalidOperation, OverflowError):
            continue
    return values


def _whole(text: str) -> int:
    value = float(text) if not text.lstrip("+-").isdigit() else int(text)
    if not float(value).is_integer() or abs(value) >= 2**63:
        raise ValueError
    return int(value)


def _float(text: str) -> float:
    if math.isnan(value := float(text)):
        raise ValueError
    return value


def _decimal(text: str) -> Decimal:
    if not (value := Decimal(text)).is_finite():
        raise ValueError
    return value


def _fits(value: Any, arrow: pa.DataType) -> bool:
    try:
        pa.array([value], arrow)
    except pa.ArrowException:
        return False
    return True


_TIMES: dict[str, tuple[pa.DataType, Callable[[str], Any]]] = {
    "date": (pa.date32(), date.fromisoformat),
    "timestamp": (pa.timestamp("us"), lambda text: datetime.fromisoformat(text).replace(tzinfo=None)),
    "time": (pa.time64("us"), lambda text: time.fromisoformat(text).replace(tzinfo=None)),
}


def _time_bins(attribute: Attribute, values: Any, kind: str) -> Any:
    unit = MICROSECONDS["microsecond"] if attribute.dtype == "date" else MICROSECONDS[attribute.precision]
    if attribute.dtype in ("time", "duration"):
        micros = ((values.hour() * 60 + values.minute()).cast("int64") * 60 + values.second()) * 1_000_000 + values.microsecond()
        return bins(attribute, lambda edge: micros >= int(edge) * unit, lambda edge: micros > int(edge) * unit)
    length = DAY_MICROS if attribute.dtype == "date" else unit

    def reaches(edge: float) -> Any:
        try:
            moment = _EPOCH + timedelta(microseconds=int(edge) * length)
        except OverflowError:  # the first moment behind the last year that can be written
            return values > (ibis.date(date.max) if kind == "date" else ibis.timestamp(datetime.max))
        if kind == "timestamp":
            return values >= ibis.timestamp(moment)
        ends_a_day = moment.time() != time()
        return values > ibis.date(moment.date()) if ends_a_day else values >= ibis.date(moment.date())

    return bins(attribute, reaches, reaches)


def _lasting(words: Words, attribute: Attribute, number: Any, marked: list[Any]) -> Any:
    """Numbers of so many microseconds each, cut to whole ones towards 0. marked: those that mean missing."""
    absent = number.isnull() | number.isnan() if words.has_nan else number.isnull()
    absent = absent | number.isin(marked) if marked else absent
    return ibis.cases((absent, attribute.code_for_missing), else_=counted(words, attribute, number, attribute.code_for_unlisted))


def counted(words: Words, attribute: Attribute, number: Any, unread: Any) -> Any:
    """The bin of a duration that is a number of so many microseconds each, cut to whole ones towards 0; unread: if it is too long."""
    unit = MICROSECONDS[attribute.precision]
    micros = number * words.double(unit)
    whole = ibis.cases((micros >= words.double(0), micros.floor().cast("float64")), else_=micros.ceil().cast("float64"))
    inside = bins(attribute, lambda edge: whole >= words.double(edge * unit), lambda edge: whole > words.double(edge * unit))
    usable = (micros < words.double(_LARGEST)) & (micros > words.double(-_LARGEST))
    in_reach = (number < words.double(1e30)) & (number > words.double(-1e30))  # larger products end a statement in some databases
    return ibis.cases((in_reach, ibis.cases((usable, inside), else_=unread)), else_=unread)


def _text_of(value: Any, arrow: pa.DataType) -> str:
    return str(pa.array([value], arrow).cast(pa.string())[0].as_py())
