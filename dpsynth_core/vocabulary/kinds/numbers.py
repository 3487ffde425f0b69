"""Whole and decimal numbers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

from typing_extensions import override

from dpsynth_core.vocabulary.kinds.kind import LARGEST_EXACT, MOST_PARTS, Form, Kind, Option, Scale, is_number, is_whole


class _Numbers(Scale):
    """The common part of whole and decimal numbers: round numbers are 1, 2 and 5 times a power of ten."""

    powers: ClassVar[range]
    """Powers of ten at which learning begins."""
    finest: ClassVar[int]
    """Smallest power of ten by which learning divides cells."""

    def exact(self, number: float) -> float:
        """Return an edge in the type of the kind."""
        return number

    def first_look(self) -> list[float]:
        positive = [float(f"{digit}e{power}") for power in self.powers for digit in (1, 2, 5)]
        return [self.exact(edge) for edge in [-edge for edge in reversed(positive)] + [0.0] + positive]

    def round_cuts(self, low: float, high: float) -> Iterator[list[float]]:
        """Multiples of ever larger round steps."""
        for power in range(self.finest, 16):
            for digit in (1, 2, 5):
                step = float(f"{digit}e{power}")
                if (high - low) / step > MOST_PARTS:
                    continue
                inner = [float(f"{digit * i}e{power}") for i in range(int(low // step), int(high // step) + 2)]
                yield [self.exact(edge) for edge in inner if low < edge < high]


class WholeNumbers(_Numbers):
    """The scale of whole numbers."""

    wanted = "whole numbers between -2^53 and 2^53"
    powers, finest = range(16), 0

    @override
    def checked(self, bound: Any) -> Any:
        """Return a bound as int; None if it has a fraction, is not a number, or is 2^53 or more in absolute value."""
        return int(bound) if is_whole(bound) and abs(bound) < LARGEST_EXACT else None

    @override
    def exact(self, number: float) -> float:
        """Return an edge as int."""
        return int(number)


class _RealNumbers(_Numbers):
    whole, span = False, 0
    wanted = "finite numbers"
    powers, finest = range(-6, 16), -12

    def checked(self, bound: Any) -> Any:
        return float(bound) if is_number(bound) else None


_BINS = ("lower", "upper", "width", "bins", "edges", "own_cells", "other", "missing")

_OWN_CELLS = Option(
    "own_cells",
    "Values with a group of their own (optional)",
    "Does 0 stand for none? Is there a code for “that much or more”? With a group of their own they are never mixed with their neighbours.",
    "0 99999",
)

INTEGER = Kind(
    "integer",
    "Whole number",
    "Numbers without a fraction, such as ages and counts, between two bounds.",
    Form.BINNED,
    _BINS,
    dtype="int64",
    learnable=True,
    scale=lambda _: WholeNumbers(),
    examples=("0", "120", "10"),
    options=(_OWN_CELLS,),
)
NUMERIC = Kind(
    "numeric",
    "Number",
    "Numbers with a fraction, such as prices and lengths, between two bounds.",
    Form.BINNED,
    (*_BINS, "decimals"),
    dtype="float64",
    learnable=True,
    scale=lambda _: _RealNumbers(),
    examples=("0", "250.5", "10"),
    options=(_OWN_CELLS,),
)


def plain_number(number: float) -> str:
    """Return the shortest text that is this number; whole numbers below 1e15 have no fraction ("2", not "2.0")."""
    return str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
