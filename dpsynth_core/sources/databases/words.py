"""The few functions on texts and numbers that databases write or do differently, by database.

Everything else is the same Ibis expression everywhere. Compared are texts by their bytes, never by a collation, and numbers as the nearest
float64, as `sources.codec` does.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal, localcontext
from typing import Any

import ibis
from ibis.expr import types as ir

SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\xa0\u1680\u2000\u2001\u2002\u2003\u2004"
    "\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"
)
"""What is trimmed: all that Arrow takes for white space."""
HUGE = 1e301
"""Stands for numbers beyond the bounds of any column (`kinds.scale.is_number`)."""
TINY = 1e-290
"""No edge that is not 0 may be nearer to 0."""


@ibis.udf.scalar.builtin(name="trim")
def _trim(text: str, characters: str) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="ltrim")
def _ltrim(text: str, characters: str) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="encode")
def _encode(text: str) -> bytes: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="decode")
def _decode(content: bytes) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="convert_to")
def _convert_to(text: str, encoding: str) -> bytes: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="convert_from")
def _convert_from(content: bytes, encoding: str) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="btrim")
def _btrim(text: str, characters: str) -> str: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="glob")
def _glob(pattern: str, text: str) -> bool: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="dpsynth_number")
def _python_number(text: str) -> float: ...  # type: ignore[empty-body]


@ibis.udf.scalar.builtin(name="typeof")
def storage(value: str) -> str:  # type: ignore[empty-body]
    """SQLite's name for what a single value is."""


@dataclass(frozen=True)
class Words:
    """plain: a text that is compared by its bytes, without spaces around it. number: the float64 of a text that is a number. matches:
    whether a text has a form. has_nan: whether a number can be nan. reads_exactly: whether a number in a statement is the nearest
    float64. keeps: whether a read-only connection can keep codes in a table of its own. groups_numbers: whether it groups by one number
    faster than by several. once: what a common table expression needs to be worked out once."""

    plain: Callable[[ir.StringValue], Any]
    number: Callable[[Any], Any]
    matches: Callable[[Any, str], Any]
    has_nan: bool = True
    reads_exactly: bool = True
    keeps: bool = False
    groups_numbers: bool = False
    once: str = "MATERIALIZED"

    def double(self, value: float) -> Any:
        """A float64 as the database's, to the last bit."""
        if float(value).is_integer() and abs(value) < 2**53:
            return ibis.literal(int(value)).cast("float64")
        written = ibis.literal(repr(float(value)))
        return written.cast("float64") if self.reads_exactly else self.number(written)


def _matches(text: Any, pattern: str) -> Any:
    return text.re_search(pattern)


def _printable(text: Any, pattern: str) -> Any:
    """Only ASCII is asked: a text that is no UTF-8 could not be handed to a function in Python."""
    return ~_glob(ibis.literal("*[^ -~]*"), text) & text.re_search(pattern)


_TAME = r"^[+-]?([0-9]{1,150}\.?[0-9]{0,150}|\.[0-9]{1,150})([eE][+-]?0*[0-9]{1,2})?$"
"""Numbers that no cast refuses for their size."""


def _guarded(text: Any) -> Any:
    """For databases that end a statement when a text is too large or too small a number for float64.

    Such a number becomes `HUGE` or the negative of it, 0, or a negative number that is not 0: no edge lies between it and them.
    """
    return ibis.cases((_matches(text, _TAME), text.cast("float64")), else_=_wild(text))


def _wild(text: Any) -> Any:
    whole = _or_nothing(text.re_extract(r"^[+-]?0*([0-9]*)", 1))
    fraction = _or_nothing(text.re_extract(r"\.([0-9]*)", 1))
    behind = _ltrim(fraction, "0")
    digits = _ltrim(whole.concat(fraction), "0")
    power = _or_nothing(text.re_extract(r"[eE][+-]?0*([0-9]*)$", 1))
    size = ibis.cases((power == "", ibis.literal(0).cast("int64")), (power.length() > 9, ibis.literal(10**10)), else_=_whole(power))
    exponent = ibis.cases((_matches(text, "[eE]-"), -size), else_=size)
    place = exponent + ibis.cases((whole != "", whole.length()), else_=behind.length() - fraction.length())
    sign = ibis.cases((_matches(text, "^-"), -1), else_=1)
    # 0.digits times 10 to the power of `place`; what is not above half of the smallest float64 is 0
    least = (place == -323) & (digits > ibis.literal(_half_of_the_smallest()))
    return ibis.cases(
        (digits == "", ibis.literal(0).cast("float64")),
        (place > 300, sign.cast("float64") * ibis.literal(repr(HUGE)).cast("float64")),
        (place >= -289, text.cast("float64")),
        ((sign < 0) & ((place > -323) | least), ibis.literal("-1e-300").cast("float64")),
        else_=ibis.literal(0).cast("float64"),
    )


def _half_of_the_smallest() -> str:
    with localcontext() as exact:
        exact.prec = 2000
        return "".join(map(str, (Decimal(2) ** -1075).as_tuple().digits))


def _or_nothing(text: Any) -> Any:
    return ibis.coalesce(text, ibis.literal(""))


def _whole(digits: Any) -> Any:
    return digits.cast("int64")


WORDS = {
    "duckdb": Words(lambda text: _trim(_decode(_encode(text)), SPACES), lambda text: text.try_cast("float64"), _matches, keeps=True),
    "postgres": Words(lambda text: _btrim(_convert_from(_convert_to(text, "UTF8"), "UTF8"), SPACES), _guarded, _matches),
    "sqlite": Words(
        lambda text: _trim(text, SPACES), _python_number, _printable, has_nan=False, reads_exactly=False, keeps=True, groups_numbers=True
    ),
}
OTHERS = Words(lambda text: _trim(text, SPACES), _guarded, _matches, once="")
"""Of databases that nobody has tried here."""
