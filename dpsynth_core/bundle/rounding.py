"""What may differ in a bundle that other libraries or another processor wrote: the last digits of numbers, and how tables are packed.

All that a file holds is compared, in order and to the letter, seen or unseen: HTML, Markdown, JSON and tables are all texts with numbers in
them. Numbers may differ in digits that a sum in another order rounds otherwise. What a reader would run has no excuse at all.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from dpsynth_core.claims.outcome import ROUNDED

_NUMBER = re.compile(r"(?<![\w.])-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?(?!\w)(?: ?%)?")
_LONG = 7
"""Digits of a number that was computed and not rounded for reading. Shorter ones were stated, or rounded."""
_READABLE = 3
"""Digits of a number that was rounded for reading, and may be rounded to its neighbour. One of fewer digits was stated, as epsilon is, but
for shares in per cent, which are never stated."""


def same(ours: str, theirs: str) -> bool:
    """Whether two texts say the same, numbers that were not rounded for reading up to rounding on another machine."""
    return _alike(ours, theirs, _same_number)


def rounded(ours: str, theirs: str) -> bool:
    """The same where numbers may be off by one in the last digit that was written."""
    return _alike(ours, theirs, lambda a, b: _same_number(a, b) or _neighbours(a, b))


def _alike(ours: str, theirs: str, near: Callable[[str, str], bool]) -> bool:
    pairs = enumerate(zip_longest(_pieces(ours), _pieces(theirs)))
    return all(a == b or (place % 2 == 1 and a is not None and b is not None and near(a, b)) for place, (a, b) in pairs)


def _pieces(text: str) -> Iterator[str]:
    """Text, number, text, number, ..., text."""
    end = 0
    for number in _NUMBER.finditer(text):
        yield text[end : number.start()]
        yield number[0]
        end = number.end()
    yield text[end:]


def _same_number(a: str, b: str) -> bool:
    """Of whole numbers, and of two that are short, every digit counts; beside zero, nothing but what rounding leaves."""
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
