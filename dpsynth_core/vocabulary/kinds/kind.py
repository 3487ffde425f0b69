"""The interface of kinds of columns, and the mapping of the values of kinds with bins to numbers.

The mapping covers the type of bounds, their text, and the widths that people would choose. `registry` lists all kinds; code that needs a
property of a kind asks its entry there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import Any, ClassVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.names import column_field

LARGEST_EXACT = 2**53
"""Number beyond which float64 does not hold every whole number."""
MOST_PARTS = 32
"""Largest number of parts into which learning divides a cell."""


class Form(Enum):
    """The form of the cells of a kind, with its words."""

    LISTED = "its listed values"
    BINNED = "bins between two bounds"
    CODED = "the codes 0, 1, 2, ... that the table holds already"
    FILLED = "no cells: the rows get values that do not depend on any record"


@dataclass(frozen=True)
class Option:
    """A field of a column of the kind besides bounds, bins and values.

    Attributes:
        field: Name in its JSON.
        title: Title for people.
        help: Explanation for people.
        example: Example for people.
        choices: Choices, the usual one first; empty for typed input.
        lines: Whether typed input has several lines.
        learnt: Whether columns whose values are to be learnt have it too.
    """

    field: str
    title: str
    help: str
    example: str = ""
    choices: tuple[str, ...] = ()
    lines: bool = False
    learnt: bool = False


@dataclass(frozen=True)
class Kind:
    """A kind of column.

    Attributes:
        name: Name in domains.
        title: Title for people.
        help: A sentence for people.
        form: Form of its cells.
        fields: Entries of a column's JSON besides name, kind and label.
        dtype: Type of the released column; "" where the listed values have one.
        ordered: Whether neighbouring cells are neighbours in meaning.
        learnable: Whether its cells can be learnt with noise.
        grouped: Whether its values are codes, which count as their groups (`hierarchies.Hierarchy`).
        scale: Returns the scale of bins for the column's precision ("" for kinds without precisions).
        precisions: Precisions of its values, from coarse to fine.
        examples: A lower bound, an upper one and a width, as people type them.
        options: Further fields of a column of the kind.
    """

    name: str
    title: str
    help: str
    form: Form
    fields: tuple[str, ...]
    dtype: str = ""
    ordered: bool = True
    learnable: bool = False
    grouped: bool = False
    scale: Callable[[str], Scale] | None = None
    precisions: tuple[str, ...] = ()
    examples: tuple[str, str, str] = ("", "", "")
    options: tuple[Option, ...] = ()


class Scale(ABC):
    """The mapping of one kind's values to numbers.

    Attributes:
        whole: Whether the numbers are whole. If so, each bin ends before its upper edge; else the last bin includes the upper bound.
        noun: Name of a single value.
        wanted: Description of bounds, in the plural.
        widths: Names of widths that bins may have besides numbers, from short to long; () without such names.
        axis: Values of kinds with the same axis can be compared.
        span: Length of one number on the axis: microseconds of dates, times and durations, 1 of whole numbers, 0 of decimal ones.
    """

    whole: ClassVar[bool] = True
    noun: ClassVar[str] = "number"
    wanted: ClassVar[str]
    widths: Sequence[str] = ()
    axis: ClassVar[str] = "number"
    span: int = 1

    def typed(self, name: str, entered: Any) -> Any:
        """Return a bound of the kind from typed or written input; `checked` tests it further.

        For numbers, a value that is not a text is returned unchanged.

        Args:
            name: The column, for errors.
            entered: A text, or a value of the type.

        Raises:
            InputError: The text cannot be read as such a value. The error shows at most 40 of its characters.
        """
        if isinstance(number := as_number(entered), str):
            remedy = "write a decimal point, and no thousands separators" if "," in number else f"give {self.wanted}"
            raise InputError(column_field(name), f"“{number[:40]}” is not a {'whole ' if self.whole else ''}{self.noun}", remedy)
        return number

    def typed_upper(self, name: str, entered: Any) -> Any:
        """Return an upper bound of the kind from typed or written input.

        It is what `typed` returns, except where a coarse value means its end: as an upper bound of
        timestamps, a day means its last moment.

        Args:
            name: The column, for errors.
            entered: A text, or a value of the type.

        Raises:
            InputError: The text cannot be read as such a value.
        """
        return self.typed(name, entered)

    @abstractmethod
    def checked(self, bound: Any) -> Any:
        """Return a bound in the kind's exact type; None if its type or range is wrong."""

    def number(self, bound: Any) -> Any:
        """Return the number of a value, such as the days since 1970-01-01 of a date; numbers are returned unchanged."""
        return bound

    def value(self, number: float) -> Any:
        """Return the value with this number, the inverse of `number`."""
        return number

    def text(self, number: float) -> str:
        """Return the value with this number as people read it, such as "2024-12-31"."""
        return str(self.value(number))

    def stated(self, bound: Any) -> Any:
        """Return a bound as JSON, a number or a text; `typed` reads it back."""
        return bound

    def edge(self, name: str, stated: Any) -> Any:
        """Return the number of a bin's edge, which is typed or written as a number or a bound.

        A number is returned unchanged, and a bound is not tested as `checked` does.

        Args:
            name: The column, for errors.
            stated: The number, or a bound that `typed` reads.

        Raises:
            InputError: The edge cannot be read.
        """
        return stated if is_number(stated) else self.number(self.typed(name, stated))

    def stated_edge(self, edge: float) -> Any:
        """Return a bin's edge as JSON from its number; `edge` reads it back."""
        return edge

    def beyond(self, number: float) -> float:
        """Return the smallest number of the scale above another one: 1 more, or the next float64 for decimal numbers.

        A cell from a number to the number beyond it holds a single value.
        """
        return number + 1 if self.whole else math.nextafter(number, math.inf)

    def start(self, _width: float) -> int:
        """Return a number at which a bin of this width begins; other bins begin whole widths from it.

        It is 0, except that weeks begin on a Monday.

        Args:
            _width: The width, in numbers of the scale.
        """
        return 0

    def named_cuts(self, _width: str, _first: float, _end: float) -> Iterator[float]:
        """Yield, as numbers, edges of bins of a named width, rising: all between two numbers, and perhaps some beyond them.

        Kinds without named widths yield nothing.

        Args:
            _width: A name in `widths`.
            _first: The lower number.
            _end: The upper number.
        """
        yield from ()

    def spacing(self, _width: str) -> float:
        """Return a lower bound on the distance between neighbouring edges of bins of a named width, in numbers of the scale."""
        return 1.0

    def default_width(self, _least: float) -> Any:
        """Return the smallest usual width of bins, such as a month, that is not below `_least`.

        If none is long enough, dates and timestamps return their longest one. Dates count a month as 30 days
        and a quarter as 91, so a bin may be up to two days shorter than `_least`.

        Args:
            _least: The smallest width wanted, in numbers of the scale (days for dates).

        Returns:
            A name in `widths` or a number; None if the kind has no width of at least `_least`.
        """
        return None

    def first_look(self) -> list[float]:
        """Return rising edges, as numbers, with which learning first counts a column.

        They follow from public knowledge alone, and every possible value is between them.

        Raises:
            NotImplementedError: Values of the kind cannot be learnt.
        """
        raise NotImplementedError

    def round_cuts(self, _low: float, _high: float) -> Iterator[list[float]]:
        """Yield lists of round numbers between two edges at which learning may divide a cell.

        Each list has fewer numbers than the one before, and the edges themselves are not in it. A list may be empty.

        Args:
            _low: The lower edge, as a number of the scale.
            _high: The upper edge.

        Raises:
            NotImplementedError: Values of the kind cannot be learnt.
        """
        raise NotImplementedError


def as_number(entered: Any) -> Any:
    """Return the number that a text states; return any other text, and a value that is not a text, unchanged.

    The result is what `int` makes of the text, or else `float`: "12" gives 12, "2.0" gives 2.0, and
    "nan" and "inf" give floats that are not finite.
    """
    for read in (int, float) if isinstance(entered, str) else ():
        with suppress(ValueError):
            return read(entered)
    return entered


def finite(text: str) -> float | None:
    """Return the finite number that a text states, or None if it states none."""
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return None


def is_number(value: Any) -> bool:
    """Return whether a value is a finite number, an int or float below 1e300 in absolute value; booleans are not."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < 1e300  # false for infinities and nan, and never overflows


def is_whole(value: Any) -> bool:
    """Return whether a value is a finite number without a fraction (2.0 is); booleans are not."""
    return is_number(value) and float(value).is_integer()
