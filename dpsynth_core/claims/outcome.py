"""Outcomes of a check: a sentence, or one of three exceptions; and the form of names in such sentences."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpsynth_core.foundation.visible import listed
from dpsynth_core.vocabulary.measurement import Clique

NEAR = 1e-9
"""Relative difference that rounding on another machine may cause."""
ROUNDED = 1e-6
"""Relative difference that rounding may cause in results of many sums."""


class Wrong(Exception):
    """A check failed; the text says how."""


class Open(Exception):
    """A check cannot be made; the text says why."""


class Nothing(Exception):
    """The release lacks the statement that the check is about; the text names it."""


def expect(holds: object, otherwise: str) -> None:
    """Check a condition of a release.

    Args:
        holds: Whether it holds.
        otherwise: The text of the error.

    Raises:
        Wrong: It does not hold.
    """
    if not holds:
        raise Wrong(otherwise)


def near(a: float, b: float) -> bool:
    """Return whether two numbers are equal up to rounding on another machine: relative difference 1e-9, absolute 1e-12."""
    return math.isclose(a, b, rel_tol=NEAR, abs_tol=1e-12)


def named(clique: Clique) -> str:
    """Return the name of a table in a sentence, unescaped; "the number of records" for ()."""
    return " × ".join(clique) or "the number of records"


def some(names: list[str], most: int = 3) -> str:
    """Return the first `most` names, each cut at 60 characters, as a list in words with the number of the others; unescaped."""
    return listed([name[:60] for name in names], most)


def alike(a: Any, b: Any) -> bool:
    """Return whether two documents are equal up to a relative difference of 1e-6 in numbers (`ROUNDED`).

    A mapping `b` may have entries that `a` lacks; lists must have the same length.
    """
    if isinstance(a, Mapping) and isinstance(b, Mapping):
        return a.keys() <= b.keys() and all(alike(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(alike(x, y) for x, y in zip(a, b, strict=True))
    if isinstance(a, int | float) and isinstance(b, int | float):
        return math.isclose(a, b, rel_tol=ROUNDED, abs_tol=1e-12)
    return bool(a == b)
