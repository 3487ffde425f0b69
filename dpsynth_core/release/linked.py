"""The rows of two linked tables: households under new keys, and members under the keys of theirs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.release.rows import Rows
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.rows import Repeated


@dataclass(frozen=True, eq=False)
class MemberRows:
    """The rows of members, with the keys of their synthetic households.

    Attributes:
        drawn: The rows; their own keys, which count up, are replaced.
        owners: Index of each member's household, from 0, ascending.
        key: Name of the column of keys.
    """

    drawn: Rows
    owners: NDArray[np.int64]
    key: str

    @property
    def num_rows(self) -> int:
        """The number of members."""
        return self.drawn.num_rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Return the rows in order as tables, at least one, which may be empty. Keys number the households from 1.

        Args:
            columns: Names of the columns; None for all.
        """
        return keyed(self.drawn.batches(), {self.key: self.owners + 1}, columns)


def keyed(batches: Iterator[pa.Table], keys: Mapping[str, NDArray[np.int64]], columns: Sequence[str] | None) -> Iterator[pa.Table]:
    """Yield tables of rows with other keys.

    Args:
        batches: The rows, in tables.
        keys: By name of a column of keys, the key of each row, shape (rows,).
        columns: Names of the columns of the result; None for all.
    """
    first = 0
    for table in batches:
        last = first + table.num_rows
        for name, values in keys.items():
            table = table.set_column(table.column_names.index(name), name, pa.array(values[first:last], pa.int64()))
        first = last
        yield table if columns is None else table.select(columns)


def in_order(weights: NDArray[np.float64], owners: NDArray[np.int64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the weight of each household and of each member, in the order of the rows.

    Args:
        weights: Weights of households in the order of `Link.split`, which sorts them by number of
            members.
        owners: Index of each member's household, from 0, ascending.

    Returns:
        Arrays of shapes (households,) and (members,); a member has the weight of its household.
    """
    sizes = np.bincount(owners, minlength=len(weights))
    households = np.empty(len(weights))
    households[np.argsort(sizes, kind="stable")] = weights
    return households, households[owners]


def pairs(link: Link, households: NDArray[np.integer], owners: NDArray[np.int64], members: NDArray[np.integer]) -> Repeated:
    """Return two linked tables as codes of pairs of members, the records of the link's domain.

    Each household has the same number of records in total (`vocabulary.link`).

    Args:
        link: The link of the tables.
        households: Codes, shape (n, columns).
        owners: Index of each member's household, from 0, ascending.
        members: Codes, shape (members, columns of `Link.carried`).
    """
    sizes, slots = link.slots(len(households), owners, members)
    return link.repeated(households.astype(np.int32), sizes, slots)
