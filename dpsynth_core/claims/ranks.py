"""The error of most tables of a group, measured where the noise of single tables is too large to name any.

With k tables the error of each has sqrt(k) times the noise of one number. "80 % of the tables are off by x at most" is one number: the j-th
smallest of the errors moves by as much for one person as one error does (Proposition 3). So where the noise of single errors would exceed a
third of the limit for good tables, half of their budget measures that for each group, and the rest measures the errors, for their mean and
as an indication. Groups are all tables of a number of columns, and the tables with each column if that is still precise enough. The groups
follow from the budget, the workload and the released number of people, before any error is seen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.columns_alone import Distance
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.naming import LIMIT, MOSTLY
from dpsynth_core.vocabulary.measurement import Clique

PRECISE = LIMIT / 3
"""Noise of an error, as a share of people, up to which single tables can be named."""
RANKED = 0.5
"""Share of the budget for single errors that measures groups instead where the errors have more noise."""

_GAIN = 2
"""Smallest factor by which the variance of the noise has to be smaller for groups."""


@dataclass(frozen=True)
class Group:
    """A group of tables: all of `size` columns, or all of two or more columns that contain one column.

    Attributes:
        size: The number of columns; 0 for a group by column.
        name: The column; "" for a group by number of columns.
    """

    size: int = 0
    name: str = ""


@dataclass(frozen=True)
class Most:
    """The statement that most tables of a group have at most some error.

    Attributes:
        group: The group.
        tables: Number of its tables.
        rank: Number of tables that count as most (`rank_of`).
        error: The error, in shares of people in a wrong cell, that `rank` tables do not exceed, as
            measured.
        bound95: Upper bound of that error with 95 % confidence.
    """

    group: Group
    tables: int
    rank: int
    error: Distance
    bound95: Distance


def tables_of(groups: Collection[Group], cliques: Collection[Clique]) -> dict[Group, list[Clique]]:
    """Return, for each group, the cliques that belong to it, in the order of `cliques`; a clique may be in several groups."""
    tables: dict[Group, list[Clique]] = {group: [] for group in groups}
    of_size = {group.size: some for group, some in tables.items() if group.size}
    of_column = {group.name: some for group, some in tables.items() if not group.size}
    for clique in cliques:
        some = [of_size[len(clique)]] if len(clique) in of_size else []
        for held in (*some, *(of_column[name] for name in clique if len(clique) > 1 and name in of_column)):
            held.append(clique)
    return tables


def rank_of(tables: int) -> int:
    """Return 80 % (`MOSTLY`) of `tables`, a number of tables, rounded up."""
    return math.ceil(MOSTLY * tables - 1e-9)


def at_ranks(groups: Collection[Group], errors: Mapping[Clique, float]) -> dict[Group, float]:
    """Return, for each group, the error that most of its tables (`rank_of`) do not exceed.

    Args:
        groups: The groups.
        errors: The error of each table, by clique, in any unit.
    """
    return {group: sorted(errors[r] for r in some)[rank_of(len(some)) - 1] for group, some in tables_of(groups, errors).items()}


def groups(unit: Unit, rho: float, people: float, cliques: Collection[Clique]) -> tuple[Group, ...]:
    """Return the groups of tables to measure: by number of columns, ascending, then by column.

    The result is empty if single errors are precise enough, or if measuring groups would not at least halve the
    variance of the noise. Groups by column are left out if all groups together would not be precise enough.

    Args:
        unit: The unit of privacy.
        rho: Budget for the errors of single tables, in rho.
        people: Released number of people.
        cliques: The tables.
    """
    sizes, columns = _groups_of(tuple(cliques))

    def precise(rho: float, numbers: int) -> bool:
        return IN_WRONG_CELL * distance_sigma(unit, rho, numbers) <= PRECISE * people

    if precise(rho, len(cliques)) or len(cliques) * RANKED <= _GAIN * len(sizes):
        return ()
    return (*sizes, *columns) if precise(RANKED * rho, len(sizes) + len(columns)) else sizes


@lru_cache(maxsize=8)  # plans ask for groups of the same tables again for other budgets and numbers of people
def _groups_of(cliques: tuple[Clique, ...]) -> tuple[tuple[Group, ...], tuple[Group, ...]]:
    """Return the groups of these tables by number of columns, and the groups by column."""
    sizes = tuple(Group(size) for size in sorted({len(r) for r in cliques}))
    return sizes, tuple(Group(name=name) for name in dict.fromkeys(name for r in cliques if len(r) > 1 for name in r))


def measure(kernel: Kernel, answers: Mapping[Clique, NDArray[np.float64]], chosen: Sequence[Group], sigma: float) -> dict[Group, float]:
    """Measure, for each group, the L1 distance that most of its tables do not exceed, in records, with noise.

    Args:
        kernel: The kernel, which is charged once for each group.
        answers: The published tables by clique, in records.
        chosen: The groups.
        sigma: Standard deviation of the noise of each distance, in records.
    """
    distances = {}
    for group, tables in tables_of(chosen, answers).items():
        of_group = {r: answers[r] for r in tables}
        distances[group] = kernel.measure_ranked_error(of_group, rank_of(len(of_group)), sigma)
    return distances
