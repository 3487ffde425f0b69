"""Groups of a column's values: a column with fewer cells, in which each record is through the column it is made from.

A table of counts over groups tells less than one over values, and has far fewer cells for noise to enter. The groups are public: released
answers determine them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import InputError

Number = TypeVar("Number", np.int64, np.float64)


@dataclass(frozen=True)
class Groups:
    """Groups of the cells of a column.

    Attributes:
        name: Name of the groups.
        column: Name of the column.
        places: The group of each of the column's cells, in code order; groups are numbered from 0.

    Raises:
        InputError: A group has no cell.
    """

    name: str
    column: str
    places: tuple[int, ...]

    def __post_init__(self) -> None:
        used = sorted(set(self.places))
        if used != list(range(len(used))):
            raise InputError(f"groups {self.name!r}", "a group is empty", "the release is damaged")

    @property
    def size(self) -> int:
        """The number of groups."""
        return max(self.places, default=-1) + 1

    @cached_property
    def members(self) -> tuple[tuple[int, ...], ...]:
        """The cells of each group, as ascending codes from 0, in the order of the groups."""
        members: list[list[int]] = [[] for _ in range(self.size)]
        for cell, place in enumerate(self.places):
            members[place].append(cell)
        return tuple(map(tuple, members))

    def summed(self, table: NDArray[Number], axis: int) -> NDArray[Number]:
        """Return a table in which the cells of the column are summed to groups; the axis of the groups is the last one.

        Args:
            table: The table, int64 or float64; it is not changed.
            axis: The number of the column's axis, from 0.
        """
        summed: NDArray[Number] = np.tensordot(table, self._belongs.astype(table.dtype), (axis, 0))
        return summed

    @cached_property
    def _belongs(self) -> NDArray[np.bool_]:
        """True where a cell of the column is in a group, shape (cells, groups)."""
        return self._place[:, None] == np.arange(self.size)

    @cached_property
    def _place(self) -> NDArray[np.intp]:
        return np.array(self.places, dtype=np.intp)

    def codes(self, codes: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the index of each record's group, int32 of the shape of `codes`.

        Args:
            codes: Each record's cell in the column `column`, from 0.
        """
        return self._place[codes].astype(np.int32)

    def to_json(self) -> dict[str, Any]:
        """Return the groups as a JSON object with "name", "column" and "places"."""
        return {"name": self.name, "column": self.column, "places": list(self.places)}

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Groups:
        """Return the groups that `to_json` wrote.

        Raises:
            InputError: A group has no cell.
            KeyError: An entry is missing.
        """
        return cls(str(obj["name"]), str(obj["column"]), tuple(int(place) for place in obj["places"]))
