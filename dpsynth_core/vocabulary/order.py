"""Orders of columns: "admission is at most discharge", and the cells of two columns that it excludes.

Two values are compared in the precision of the coarser column: a day and a timestamp by their days. A rule holds where both columns have a
value; missing values, and those with no cell but "other", are not compared. Consequences of several rules (a ≤ b and b ≤ c) hold too, also
where the column between them has no value.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.names import column_field

FIELD = "impossible combination"
_WORDS = {
    "number": ("at most", "below"),
    "length": ("at most", "shorter than"),
    "moment": ("not after", "before"),
    "clock": ("not after", "before"),
}


@dataclass(frozen=True)
class Order:
    """The rule that a value of `first` is at most the value of `second` in the same record.

    Attributes:
        first: Column of the lower value.
        second: Column of the higher value.
        gap: Smallest number of steps between the values; 0 if they may be equal.
        span: Length of a step on the common axis, the precision in which values are compared: in microseconds for
            dates, times and durations, 1 for whole numbers, 0 for decimal numbers.
    """

    first: str
    second: str
    gap: int
    span: int

    def holds(self, first: NDArray[Any], second: NDArray[Any]) -> NDArray[np.bool_]:
        """Return whether the rule holds for pairs of values, as a mask of the arrays' common shape.

        Args:
            first: Positions of the first column's values on the common axis (`positions`).
            second: Positions of the second column's values, of a shape that broadcasts with the first.
        """
        if self.span:
            first, second = first // self.span, second // self.span
            return np.asarray(first + self.gap <= second)
        return np.asarray((first < second) | ((first == second) & (self.gap == 0)))

    def impossible(self, first: Attribute, second: Attribute) -> NDArray[np.bool_]:
        """Return a table that is True in cells in which no two values fit the rule, shape (size of first, size of second).

        Cells of other and missing values are never impossible.

        Args:
            first: The column of the lower value.
            second: The column of the higher value.
        """
        table = np.zeros((first.size, second.size), dtype=bool)
        lowest = positions(first, np.array(first.edges[:-1]))[:, None]
        highest = positions(second, np.array(second.edges[1:]) - second.scale.whole)[None, :]
        impossible = ~self.holds(lowest, highest)
        if not second.scale.whole:
            impossible |= lowest >= highest  # which is the end of a half-open bin
        table[: first.values, : second.values] = impossible
        return table


def positions(attribute: Attribute, numbers: NDArray[Any]) -> NDArray[Any]:
    """Return numbers of a column's values as positions on the axis that it shares with comparable columns.

    Positions of dates and times are microseconds. They are int64, or float64 for decimal numbers.
    """
    return numbers.astype(np.int64) * attribute.scale.span if attribute.scale.whole else numbers.astype(np.float64)


def order(first: Attribute, second: Attribute, strict: bool, field: str = FIELD) -> Order:
    """Return the rule that orders two columns.

    Args:
        first: Column of the lower value.
        second: Column of the higher value.
        strict: Whether equal values break the rule.
        field: Name of the rule in errors.

    Raises:
        InputError: A column has no bins, or the columns' values cannot be compared, such as numbers with dates.
    """
    for attribute in (first, second):
        if not attribute.is_number:
            problem = f"{column_field(attribute.name)} has no bounds, so that its values have no order that is known"
            raise InputError(field, problem, "name two columns of numbers, dates or times")
    if first.scale.axis != second.scale.axis:
        problem = f"{column_field(first.name)} and {column_field(second.name)} hold different things ({first.kind}, {second.kind})"
        raise InputError(field, problem, "compare numbers with numbers, days with days or timestamps, times with times")
    span = 0 if 0 in (first.scale.span, second.scale.span) else max(first.scale.span, second.scale.span)
    return Order(first.name, second.name, int(strict), span)


def sentence(rule: Order, attributes: Mapping[str, Attribute]) -> str:
    """Return the rule as a sentence such as "a is at most b, where both are known"; names of columns are unescaped."""
    words = _WORDS[attributes[rule.first].scale.axis][rule.gap > 0]
    return f"{rule.first} is {words} {rule.second}, where both are known."


def implied(rules: Sequence[Order]) -> list[Order]:
    """Return the rules and all rules that follow from them (a <= c from a <= b and b <= c).

    Each pair of columns has one rule, the stricter one if there are several. [] is returned for no rules.

    Raises:
        InputError: The rules form a circle, or strict rules follow each other between columns that
            are compared in different precisions.
    """
    spans = {rule.span for rule in rules}
    known: dict[tuple[str, str], Order] = {}
    for rule in rules:
        known[rule.first, rule.second] = _stricter(rule, known.get((rule.first, rule.second)))
    for middle in _names(rules):
        for before in [rule for rule in known.values() if rule.second == middle]:
            for after in [rule for rule in known.values() if rule.first == middle]:
                if before.first == after.second:
                    raise InputError("impossible combinations", "the orders of columns go round in a circle", "remove one of them")
                if (before.gap or after.gap) and len(spans) > 1:
                    problem = f"orders around {column_field(middle)} are strict, and its columns are written to different precisions"
                    raise InputError("impossible combinations", problem, "use the same precision, or “at most” instead of “below”")
                both = Order(before.first, after.second, before.gap + after.gap, max(before.span, after.span))
                known[both.first, both.second] = _stricter(both, known.get((both.first, both.second)))
    return list(known.values())


def _stricter(one: Order, other: Order | None) -> Order:
    """Return the rule that holds if both rules about the same pair of columns hold; `other` may be None."""
    return one if other is None else Order(one.first, one.second, max(one.gap, other.gap), min(one.span, other.span))


def _names(rules: Iterable[Order]) -> list[str]:
    return list(dict.fromkeys(name for rule in rules for name in (rule.first, rule.second)))


def from_first_to_last(rules: Sequence[Order]) -> list[str]:
    """Return the columns that rules name, each once, with the lower column of a rule before the higher; [] for no rules.

    Args:
        rules: Rules that form no circle; the function does not end for a circle.
    """
    names, placed = _names(rules), list[str]()
    while len(placed) < len(names):
        placed += [name for name in names if name not in placed and all(r.first in placed for r in rules if r.second == name)]
    return placed
