"""Columns of the rows that no record influences: constants, and identifiers that count up.

They are not attributes: they are never read, measured or charged. Their values follow from the curator's input and the number of the row.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import LABEL_DTYPES, MAX_LABEL, TYPED, Attribute
from dpsynth_core.vocabulary.kinds.kind import LARGEST_EXACT, is_whole
from dpsynth_core.vocabulary.kinds.registry import CONSTANT, NUMERIC
from dpsynth_core.vocabulary.names import column_field, trimmed

_LONGEST = 200
_COUNTED = re.compile(r"(.*?)([0-9]+)([^0-9]*)", re.DOTALL)
_MOST_DIGITS = 15
MOST_ROWS = 10**9
"""An upper bound on the number of rows of a release."""


@dataclass(frozen=True)
class Filled:
    """A constant or an identifier.

    Attributes:
        name: Name of the column.
        kind: "constant" or "identifier".
        text: The value of every row, or the first identifier, whose last number counts up; at most 200 characters.
        dtype: Type of the column; an identifier that is a plain number has "int64", any other identifier "string".
        label: Description for people; "" without one.
        place: Place among the columns of the rows, counted from 0.
        start: Number of rows of other tables that come before the first.

    Raises:
        InputError: The declaration is invalid.
    """

    name: str
    kind: str
    text: str
    dtype: str = "string"
    label: str = ""
    place: int = 0
    start: int = 0

    labels: ClassVar[tuple[str, ...]] = ()
    decimals: ClassVar[int | None] = None
    precision: ClassVar[str] = ""

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name or trimmed(self.name) != self.name:
            raise InputError("domain", "a column has no name, or one with spaces around it", "give every column a name")
        if len(self.label) > MAX_LABEL:
            raise self._error(f"its label has more than {MAX_LABEL:,} characters", "shorten it")
        if not self.text or len(self.text) > _LONGEST or not self.text.isprintable():
            what = "value" if self.is_constant else "pattern"
            raise self._error(f"its {what} is not a short text", f"write one of at most {_LONGEST} characters")
        if self.is_constant:
            if self.dtype not in LABEL_DTYPES:
                raise self._error("dtype is not known", f"use one of {', '.join(LABEL_DTYPES)}")
            Attribute.categorical(self.name, [self.text], dtype=self.dtype)  # the same texts are values of that type
        elif (match := _COUNTED.fullmatch(self.text)) is None or len(match[2]) > _MOST_DIGITS:
            raise self._error("its pattern has no number to count up", "write the first identifier, such as P000001")
        else:
            object.__setattr__(self, "dtype", "int64" if self.text == str(int(match[2])) else "string")

    @property
    def is_constant(self) -> bool:
        """True for a constant, False for an identifier."""
        return self.kind == CONSTANT.name

    @property
    def is_listed(self) -> bool:
        """True unless the values are float64: writers of rows then treat them like listed values."""
        return self.dtype != "float64"

    @property
    def categories(self) -> tuple[str, ...]:
        """The value of a constant, as a tuple of one; () for an identifier."""
        return (self.text,) if self.is_constant else ()

    @property
    def edges(self) -> tuple[float, ...]:
        """The bounds of an identifier's values if they are numbers: the first identifier, and a number 10^9 (`MOST_ROWS`) above it.

        It is () for constants and for identifiers that are texts.
        """
        return () if self.is_constant or self.dtype != "int64" else (int(self.text), int(self.text) + MOST_ROWS)

    def values(self, rows: int, first: int = 0) -> list[Any]:
        """Return the values of consecutive rows, in the column's type; [] for no rows.

        Args:
            rows: Number of rows.
            first: Number of the first row, counted from 0.
        """
        if self.is_constant:
            return [TYPED[self.dtype](self.text)] * rows
        match = _COUNTED.fullmatch(self.text)
        assert match is not None
        before, number, behind = match.groups()
        begin = int(number) + self.start + first
        numbers = range(begin, begin + rows)
        if self.dtype == "int64":
            return list(numbers)
        return [f"{before}{one:0{len(number)}d}{behind}" for one in numbers]

    def after(self, rows: int) -> Self:
        """Return the column for rows that follow the rows of another table.

        Identifiers go on counting; a constant stays the same.

        Args:
            rows: Number of rows of the other table, added to `start`.
        """
        return replace(self, start=self.start + rows)

    def holds(self, values: list[Any], first: int) -> bool:
        """Return whether consecutive rows have the values that this column gives them.

        Args:
            values: The values of the rows.
            first: Number of the first row, counted from 0.
        """
        return values == self.values(len(values), first)

    def in_words(self) -> str:
        """Return a sentence or two for people that explain the values."""
        if self.is_constant:
            return f"Every row has the value '{self.text}', as the curator wrote it. It is not measured."
        first, second = self.values(2)
        return f"New identifiers, counted up: {first}, {second}, … They do not depend on any record."

    def _error(self, problem: str, remedy: str) -> InputError:
        return InputError(column_field(self.name), problem, remedy)


@dataclass(frozen=True, eq=False)
class Calibrated(Filled):
    """The calibrated weight of each row (`claims.weighing`).

    Attributes:
        of: Returns all weights, float64 of shape (rows,); empty before a plan is run.
    """

    of: Callable[[], NDArray[np.float64]] = lambda: np.empty(0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dtype", "float64")

    @classmethod
    def of_column(cls, name: str, of: Callable[[], NDArray[np.float64]] = lambda: np.empty(0)) -> Self:
        """Return the column of calibrated weights that belongs to a column of weights.

        Args:
            name: Name of the column of weights; the new name ends in "_calibrated".
            of: Returns all calibrated weights, shape (rows,).
        """
        return cls(f"{name}_calibrated", NUMERIC.name, "", label="Calibrated weight", of=of)

    @override
    def values(self, rows: int, first: int = 0) -> list[Any]:
        """Return the weights of consecutive rows; fewer if there are fewer weights, [] before a plan is run.

        Args:
            rows: Number of rows.
            first: Number of the first row, counted from 0.
        """
        return list(self.of()[first : first + rows].tolist())

    def holds(self, values: list[Any], first: int) -> bool:
        """Return whether consecutive rows have these weights, up to rounding of sums on another machine.

        Two weights may differ by 1e-5 plus 1e-6 of the weight. False is returned if a weight is None or there
        are fewer weights than rows.

        Args:
            values: The weights of the rows.
            first: Number of the first row, counted from 0.
        """
        ours = self.values(len(values), first)
        return None not in values and len(ours) == len(values) and bool(np.allclose(ours, values, rtol=1e-6, atol=1e-5))

    @override
    def in_words(self) -> str:
        """Return a sentence or two for people that explain the weights."""
        return "What the row stands for in weighted tables. It follows from the rows and what else is published."


RowColumn = Attribute | Filled
"""A column of the rows: measured, or without influence of any record."""


def filled(name: str, kind: str, stated: dict[str, Any]) -> Filled:
    """Return a constant or an identifier from JSON or typed input.

    Args:
        name: Name of the column.
        kind: "constant" or "identifier".
        stated: The entries: value and dtype, or pattern. Spaces around a text are removed. Without dtype, a text is
            "string", a truth value "bool", and a number "int64" or "float64".

    Raises:
        InputError: The value is missing, or not a text, number or truth value, or the declaration is invalid.
    """
    text = stated.get("value" if kind == CONSTANT.name else "pattern", "")
    if isinstance(text, bool):
        return Filled(name, kind, str(text).lower(), str(stated.get("dtype", "bool")))
    if isinstance(text, int | float):
        usual = "int64" if is_whole(text) and abs(text) < LARGEST_EXACT else "float64"
        return Filled(name, kind, str(text), str(stated.get("dtype", usual)))
    if not isinstance(text, str):
        raise InputError(column_field(name), "the value of its rows is not text", "write a text or a number")
    return Filled(name, kind, text.strip(), str(stated.get("dtype", "string")))
