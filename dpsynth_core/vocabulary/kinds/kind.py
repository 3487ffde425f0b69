"""What a kind of column is, and how the values of one with bins are numbers: what a bound may be, how it is written, which widths people
would choose. `registry` lists all kinds; code that needs to know what a kind does asks its entry there."""

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
"""Beyond it float64 no longer holds every whole number."""
MOST_PARTS = 32
"""Learning divides a cell into so many at most."""


class Form(Enum):
    LISTED = "its listed values"
    BINNED = "bins between two bounds"
    CODED = "the codes 0, 1, 2, ... that the table holds already"
    FILLED = "no cells: the rows get values that do not depend on any record"


@dataclass(frozen=True)
class Option:
    """Something that a column of the kind says beside bounds, bins and values. field: in its JSON. title, help, example: for people.
    choices: of which one is chosen, the usual one first; none for something that is typed.  lines: whether that has several lines.
    learnt: whether it is said of a column whose values are to be learnt, too."""

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

    name: as domains name it.  title, help: for people; help is a sentence.
    fields: entries of a column's JSON beside name, kind and label.  dtype: of the released column; "" where the listed values have one.
    ordered: whether neighbouring cells are neighbours in meaning.  learnable: whether its cells can be learnt with noise.
    grouped: whether its values are codes, which count as their groups (`hierarchies.Hierarchy`).
    scale: of bins, by the precision that the column states ("" for kinds without one): how its values are numbers.
    precisions: that the column's values can be written to, from coarse to fine.
    examples: of a lower bound, an upper one and a width, as people type them.  options: what else a column of the kind says.
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
    """Values of one kind as numbers.

    whole: whether the numbers are whole; bins then end before the next edge, else the last one includes the upper bound.
    noun: what a single value is called; wanted: what bounds have to be, in the plural.
    widths: names of widths that bins may have beside numbers.
    axis: values of kinds with the same one can be compared; span: what one number takes of it: microseconds of times, 1 of whole numbers,
    0 of decimal ones.
    """

    whole: ClassVar[bool] = True
    noun: ClassVar[str] = "number"
    wanted: ClassVar[str]
    widths: Sequence[str] = ()
    axis: ClassVar[str] = "number"
    span: int = 1

    def typed(self, name: str, entered: Any) -> Any:
        """A bound from what is typed, or written in a domain. Raises InputError that names the column."""
        if isinstance(number := as_number(entered), str):
            remedy = "write a decimal point, and no thousands separators" if "," in number else f"give {self.wanted}"
            raise InputError(column_field(name), f"“{number[:40]}” is not a {'whole ' if self.whole else ''}{self.noun}", remedy)
        return number

    def typed_upper(self, name: str, entered: Any) -> Any:
        """The same of an upper bound, for kinds in which a coarse one means its end."""
        return self.typed(name, entered)

    @abstractmethod
    def checked(self, bound: Any) -> Any:
        """A bound in its type, None for what cannot be one."""

    def number(self, bound: Any) -> Any:
        """The number of a value."""
        return bound

    def value(self, number: float) -> Any:
        """The inverse of `number`."""
        return number

    def text(self, number: float) -> str:
        """A number as people read its value."""
        return str(self.value(number))

    def stated(self, bound: Any) -> Any:
        """A bound as JSON."""
        return bound

    def edge(self, name: str, stated: Any) -> Any:
        """The number of an edge that is typed, or written in a domain: as a number, or as a bound."""
        return stated if is_number(stated) else self.number(self.typed(name, stated))

    def stated_edge(self, edge: float) -> Any:
        """The inverse of `edge`."""
        return edge

    def beyond(self, number: float) -> float:
        """The least number above one: a cell from here to there holds one value."""
        return number + 1 if self.whole else math.nextafter(number, math.inf)

    def start(self, _width: float) -> int:
        """A number where bins of this many begin, before or behind others."""
        return 0

    def named_cuts(self, _width: str, _first: float, _end: float) -> Iterator[float]:
        """Edges of bins of a width from `widths`, those between two numbers among them."""
        yield from ()

    def spacing(self, _width: str) -> float:
        """Between the edges of bins of a named width are at least so many."""
        return 1.0

    def default_width(self, _least: float) -> Any:
        """A width of at least so many that people would choose, where the kind has such; else None."""
        return None

    def first_look(self) -> list[float]:
        """Edges of cells that hold whatever such a column can hold, from public knowledge alone: where learning begins."""
        raise NotImplementedError

    def round_cuts(self, _low: float, _high: float) -> Iterator[list[float]]:
        """Round numbers between two edges, ever fewer: how learning divides a cell."""
        raise NotImplementedError


def as_number(entered: Any) -> Any:
    """The number that a text says; anything else as it is."""
    for read in (int, float) if isinstance(entered, str) else ():
        with suppress(ValueError):
            return read(entered)
    return entered


def finite(text: str) -> float | None:
    """The finite number that a text says; None for any other text."""
    with suppress(ValueError):
        if math.isfinite(number := float(text)):
            return number
    return None


def is_number(value: Any) -> bool:
    """A finite number. Booleans do not count as numbers."""
    if not isinstance(value, (int, float)) or isinstance(value, bool):
        return False
    return abs(value) < 1e300  # false for infinities and nan, and never overflows


def is_whole(value: Any) -> bool:
    return is_number(value) and float(value).is_integer()
