"""Comparison of files up to differences that other libraries or another processor may cause.

Such differences are the last digits of numbers, and the packing of tables.

All content of a file is compared, in order and to the letter, visible or not: HTML, Markdown, JSON and tables are texts with numbers.
Numbers may differ in digits that a sum in another order rounds differently. Code that a reader would run may not differ at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from dpsynth_core.claims.outcome import ROUNDED

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w)(?: ?%)?")
_LONG = 7
"""Number of digits of a number that was computed and not rounded for reading; shorter numbers were stated, or rounded."""
_READABLE = 3
"""Number of digits of a number that was rounded for reading, and may be rounded to its neighbour. Numbers of fewer digits were stated, as
epsilon is, except shares in per cent, which are never stated.
"""


def same(ours: str, theirs: str) -> bool:
    """Return whether two texts are equal except for last digits of computed numbers.

    A number that is not whole and has at least 7 digits (`_LONG`) counts as computed; it may differ by a millionth of
    itself, as by the rounding of another machine.
    """
    return _alike(ours, theirs, _same_number)


def rounded(ours: str, theirs: str) -> bool:
    """Return whether two texts are equal except for the rounding of numbers.

    Besides what `same` allows, two numbers with equally many decimals may differ by one in the last decimal. Both
    must have a per cent sign, or at least 3 digits (`_READABLE`), where zeros at the start do not count. Whole
    numbers and numbers with an exponent may not differ so.
    """
    return _alike(ours, theirs, lambda a, b: _same_number(a, b) or _neighbours(a, b))


def _alike(ours: str, theirs: str, near: Callable[[str, str], bool]) -> bool:
    pairs = enumerate(zip_longest(_pieces(ours), _pieces(theirs)))
    return all(a == b or (place % 2 == 1 and a is not None and b is not None and near(a, b)) for place, (a, b) in pairs)


def _pieces(text: str) -> Iterator[str]:
    """Split a text at its numbers, and yield text and number in turn; text comes first and last."""
    end = 0
    for number in _NUMBER.finditer(text):
        yield text[end : number.start()]
        yield number[0]
        end = number.end()
    yield text[end:]


def _same_number(a: str, b: str) -> bool:
    """Return whether two computed decimal numbers are equal up to rounding.

    Whole numbers and numbers of fewer than `_LONG` digits were not computed, and give False: the
    caller has compared them to the letter before.
    """
    whole = all(number.removeprefix("-").isdigit() for number in (a, b))
    computed = max(_digits(a), _digits(b)) >= _LONG and not whole and a.endswith("%") == b.endswith("%")
    return computed and math.isclose(float(a.rstrip(" %")), float(b.rstrip(" %")), rel_tol=ROUNDED, abs_tol=1e-15)


def _neighbours(a: str, b: str) -> bool:
    (whole, _, fraction), (other_whole, _, other_fraction) = a.partition("."), b.partition(".")
    unlike = not fraction or len(fraction) != len(other_fraction) or fraction.strip("0123456789") != other_fraction.strip("0123456789")
    if unlike or not (fraction.endswith("%") or (fraction.isdigit() and min(_digits(a), _digits(b)) >= _READABLE)):
        return False
    return abs(int(whole + fraction.rstrip(" %")) - int(other_whole + other_fraction.rstrip(" %"))) == 1


def _digits(number: str) -> int:
    return len(re.split("[eE %]", number)[0].replace(".", "").lstrip("-0"))
