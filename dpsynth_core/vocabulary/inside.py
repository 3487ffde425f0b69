"""The number that stands for each cell of a column of bins, and the distribution of numbers inside its cells, from which rows are drawn.

A cell of 0 to 4,999 may hold zeros alone. Its parts say so: they are finer cells of the same column, with the released number of people in
each. A column without parts is spread evenly.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute

Float = NDArray[np.float64]


@dataclass(frozen=True)
class Inside:
    """The distribution inside the cells of a column.

    Attributes:
        parts: Edges of the parts, rising; the edges of the column's cells are among them.
        people: Released number of people in each part, not negative; a cell whose parts are all empty is unknown.
    """

    parts: tuple[float, ...]
    people: tuple[float, ...]

    def of(self, column: Attribute) -> Parts:
        """Return the parts of a column's cells.

        Args:
            column: The column, which has bins.

        Raises:
            InputError: The parts do not divide the column's cells, or a number of people is negative or infinite.
        """
        edges, cells = np.asarray(self.parts, dtype=np.float64), np.asarray(column.edges, dtype=np.float64)
        fits = len(self.people) == len(edges) - 1 and (np.diff(edges) > 0).all() and np.isin(cells, edges).all()
        if not fits or (edges[0], edges[-1]) != (cells[0], cells[-1]) or not all(0 <= people < np.inf for people in self.people):
            raise InputError(f"column {column.name!r}", "its parts are not parts of its cells", "the release is damaged")
        return Parts(column, edges, np.asarray(self.people, dtype=np.float64))

    @property
    def is_spread(self) -> bool:
        """True if more than half of the people are beyond the first part, which also counts texts that are not numbers."""
        return sum(self.people[1:]) > sum(self.people) / 2

    def to_json(self) -> dict[str, Any]:
        """Return the distribution as a JSON object with "parts" (edges) and "people" (numbers)."""
        return {"parts": list(self.parts), "people": list(self.people)}

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Inside:
        """Return the distribution that `to_json` wrote; whether it fits a column is checked by `of`.

        Raises:
            KeyError: An entry is missing.
        """
        return cls(tuple(obj["parts"]), tuple(obj["people"]))


@dataclass(frozen=True, eq=False)
class Parts:
    """The parts of a column's cells.

    Attributes:
        column: The column.
        edges: Edges of the parts, shape (parts + 1,).
        people: Released number of people in each part, shape (parts,).
    """

    column: Attribute
    edges: Float
    people: Float

    @cached_property
    def cell(self) -> NDArray[np.intp]:
        """The cell that contains each part, counted from 0, shape (parts,)."""
        return np.searchsorted(np.asarray(self.column.edges, dtype=np.float64), self.edges[:-1], side="right") - 1

    @cached_property
    def shares(self) -> Float:
        """Each part's share (0 to 1) of the people in its cell, shape (parts,); in a cell without people, its share of the width."""
        values = self.column.values
        people, widths = np.bincount(self.cell, self.people, values), np.bincount(self.cell, np.diff(self.edges), values)
        of_width = np.diff(self.edges) / widths[self.cell]
        return np.divide(self.people, people[self.cell], out=of_width, where=people[self.cell] > 0)

    def drawn(self, cells: NDArray[np.integer], rng: np.random.Generator) -> NDArray[np.intp]:
        """Draw a part at random for each row, by the parts' shares of the row's cell; parts are counted from 0, shape (rows,).

        Args:
            cells: The cell of each row, always a bin, counted from 0.
            rng: Randomness; the same state gives the same parts.
        """
        first = np.searchsorted(self.cell, np.arange(self.column.values))
        last = np.append(first[1:], len(self.cell)) - 1
        before = np.cumsum(self.shares) - self.shares
        reached = before[first[cells]] + rng.random(len(cells))
        return np.clip(np.searchsorted(before, reached, side="right") - 1, first[cells], last[cells])

    @cached_property
    def means(self) -> Float:
        """The mean of each cell's numbers if they are drawn evenly within parts, on the column's scale, shape (values,).

        In a cell without people, all numbers are taken to be equally likely.
        """
        middles = (self.edges[:-1] + self.edges[1:] - self.column.scale.whole) / 2
        return np.asarray(np.bincount(self.cell, self.shares * middles, self.column.values), dtype=np.float64)


def middles(attribute: Attribute) -> NDArray[np.float64]:
    """Return the middle of each bin on the column's scale, shape (size,); NaN for the cells of other and missing values.

    The scale counts days since 1970-01-01 for dates (`kinds.kind.Scale`).
    """
    edges = np.array(attribute.edges, dtype=np.float64)
    return behind((edges[:-1] + edges[1:] - attribute.scale.whole) / 2, attribute)


def behind(values: NDArray[np.float64], attribute: Attribute) -> NDArray[np.float64]:
    """Return numbers of a column's values, followed by NaN for its cells of other and missing values.

    Args:
        values: A number per value, shape (values,).
        attribute: The column.
    """
    return np.concatenate([values, np.full(attribute.size - attribute.values, np.nan)])


def one_value_each(attribute: Attribute) -> bool:
    """Return whether every bin holds at most one value, so that its middle is that value.

    True is returned for columns without bins, too, and for those whose values are to be learnt.
    """
    return all(high <= attribute.scale.beyond(low) for low, high in pairwise(attribute.edges))


def of_several_values(domain: Sequence[Attribute]) -> tuple[Attribute, ...]:
    """Return the columns of numbers in which a cell has several values, or whose cells are to be learnt."""
    return tuple(one for one in domain if one.is_number and (one.most or not one_value_each(one)))
