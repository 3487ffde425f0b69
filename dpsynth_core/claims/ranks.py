"""How far off most tables of a group are: measured where the noise of single tables is too large to name any.

With k tables the error of each has sqrt(k) times the noise of one number. "80 % of them are off by x at most" is one number: the
j-th smallest of the errors moves by as much for one person as one error does (Proposition 3). So where the noise of single errors would
exceed a third of the limit for good tables, half of their budget measures that for each group, and what is left of it the errors, for their
mean and as an indication. Groups are all tables of so many columns, and the tables with each column if that is still precise enough.
Which it is follows from the budget, the workload and the released number of people: before any error is seen.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

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
"""Share of the budget for single errors that measures groups instead where they have more."""

_GAIN = 2
"""By how much at least the variance of the noise has to be smaller for groups."""


@dataclass(frozen=True)
class Group:
    """The tables of `size` columns; those of two columns or more with the column `name`, where size is 0."""

    size: int = 0
    name: str = ""


@dataclass(frozen=True)
class Most:
    """`rank` of the `tables` of a group are off by `error` at most, as measured; with 95 % confidence, by bound95 at most."""

    group: Group
    tables: int
    rank: int
    error: Distance
    bound95: Distance


def tables_of(groups: Collection[Group], cliques: Collection[Clique]) -> dict[Group, list[Clique]]:
    """Those of the tables that are in each group, in their order."""
    tables: dict[Group, list[Clique]] = {group: [] for group in groups}
    of_size = {group.size: some for group, some in tables.items() if group.size}
    of_column = {group.name: some for group, some in tables.items() if not group.size}
    for clique in cliques:
        some = [of_size[len(clique)]] if len(clique) in of_size else []
        for held in (*some, *(of_column[name] for name in clique if len(clique) > 1 and name in of_column)):
            held.append(clique)
    return tables


def rank_of(tables: int) -> int:
    """How many of so many tables are most of them."""
    return math.ceil(MOSTLY * tables - 1e-9)


def at_ranks(groups: Collection[Group], errors: Mapping[Clique, float]) -> dict[Group, float]:
    """What most of each group's tables are within, of errors that are known."""
    return {group: sorted(errors[r] for r in some)[rank_of(len(some)) - 1] for group, some in tables_of(groups, errors).items()}


def groups(unit: Unit, rho: float, people: float, cliques: Collection[Clique]) -> tuple[Group, ...]:
    """Of which groups it is measured; none where single errors are precise enough, or where it would not help. rho: for single errors.
    people: as released."""
    sizes = [Group(size) for size in sorted({len(r) for r in cliques})]
    columns = [Group(name=name) for name in dict.fromkeys(name for r in cliques if len(r) > 1 for name in r)]

    def precise(rho: float, numbers: int) -> bool:
        return IN_WRONG_CELL * distance_sigma(unit, rho, numbers) <= PRECISE * people

    if precise(rho, len(cliques)) or len(cliques) * RANKED <= _GAIN * len(sizes):
        return ()
    return (*sizes, *columns) if precise(RANKED * rho, len(sizes) + len(columns)) else tuple(sizes)


def measure(
    kernel: Kernel, answers: Mapping[Clique, NDArray[np.float64]], chosen: Sequence[Group], sigma: float
) -> dict[Group, float]:
    """The error at the rank of each group, as measured, in records. answers: counts."""
    distances = {}
    for group, tables in tables_of(chosen, answers).items():
        of_group = {r: answers[r] for r in tables}
        distances[group] = kernel.measure_ranked_error(of_group, rank_of(len(of_group)), sigma)
    return distances
