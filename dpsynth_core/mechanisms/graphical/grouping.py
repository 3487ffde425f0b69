"""Groups of values for columns of many values: tables over groups have fewer cells for noise to enter.

The noisy columns determine the groups. In ordered columns they are neighbours, and groups hold about the same number of people; in others
the most frequent values stay alone, and the rest is one group. Cells for missing and for other values have a group of their own. A model
that measured a table over groups takes the values within a group to be independent of the other columns, as it does for everything that is
not measured.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations, product
from statistics import fmean

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, Measurement
from dpsynth_core.vocabulary.regrouping import by_name, parent
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.vocabulary.zeros import MAX_CELLS, MAX_OF_ALL

Float = NDArray[np.float64]

FINE = 512
"""Number of runs of neighbours to be divided into groups; the time grows with its square."""
WORTH = 1.5
"""Smallest ratio of cells to groups of a column with groups; otherwise its tables would hardly become smaller."""
NOISY = 0.05
"""Share of people that noise would put in a wrong cell of a table of two such columns, from which on groups are worth their time."""


def groups_of(domain: Domain, columns: Sequence[Measurement], most: int) -> tuple[Groups, ...]:
    """Return groups of values for each column of many cells, at most `most` per column, in the domain's order.

    Columns without a measurement have no groups; () for `most` = 0. Nothing is measured.

    Args:
        domain: The domain.
        columns: The measurements of the columns, which decide about groups.
        most: Largest number of groups of a column.
    """
    made = []
    for name in many_celled(domain, most):
        measured = combined(columns, (name,))
        if measured is not None:
            places = _places(domain, name, np.maximum(measured.values, 0.0), most)
            made.append(Groups(_unused(domain, f"{name} ({max(places) + 1} groups)"), name, places))
    return tuple(made)


def many_celled(domain: Domain, most: int) -> list[str]:
    """Return the names of the columns whose values are put into groups, in the order of the domain.

    A column is grouped if it has at least `WORTH` times `most` cells, and the table of its cells by its
    groups has at most `MAX_CELLS` cells. The result is empty if these tables and the tables of the
    domain's rules together have more than `MAX_OF_ALL` cells.

    Args:
        domain: The domain.
        most: Largest number of groups of a column; 0 for no groups, which gives [].
    """
    names = [name for name in domain.names if 0 < WORTH * most <= domain[name].size and domain[name].size * most <= MAX_CELLS]
    tied = sum(domain.cells(rule.attributes) for rule in domain.impossible) + sum(domain[name].size * most for name in names)
    return names if tied <= MAX_OF_ALL else []  # a domain has no room for the ties of more


def pay(domain: Domain, most: int, noise: float) -> bool:
    """Return whether groups of values are worth their time: noise would spoil tables of columns of many values.

    That is so if noise would put 5 % of the people or more in a wrong cell of a table of two such columns, on
    average; with a single such column, in its table with the column of the most cells. It is False without such
    columns (`many_celled`).

    Args:
        domain: The domain.
        most: Largest number of groups of a column.
        noise: Standard deviation of the noise of a cell, as a share of the people.
    """
    sizes = [domain[name].size for name in many_celled(domain, most)]
    pairs = [a * b for a, b in combinations(sizes, 2)] or [size * max(domain.sizes(domain.names)) for size in sizes]
    return bool(pairs) and HALF_NORMAL * noise * fmean(pairs) / 2 >= NOISY


def tables_with_groups(workload: Workload, most: int) -> int:
    """Return the number of tables that may be measured if columns of many cells have groups.

    They are the tables that AIM scores, and the tables of several columns with groups in place of some columns.

    Args:
        workload: The tables that are asked for.
        most: Largest number of groups of a column.
    """
    grouped = set(many_celled(workload.domain, most))
    forms = workload.over_closure({name: 1 + (name in grouped) for name in workload.domain.names})
    return forms - len(grouped & workload.columns)  # a single column is measured whole


def _unused(domain: Domain, name: str) -> str:
    while name in domain.column_names:
        name += "*"
    return name


def _places(domain: Domain, name: str, people: Float, most: int) -> tuple[int, ...]:
    """Return the group of each cell of a column.

    In ordered columns, groups are runs of neighbours (`_neighbours`), in others the most frequent
    values have their own (`_frequent`). Cells for missing and for other values have a group of
    their own.

    Args:
        domain: The domain.
        name: The column.
        people: Estimated number of people in each cell, 0 or more.
        most: Largest number of groups.
    """
    attribute = domain[name]
    listed, spare = people[: attribute.values], len(people) - attribute.values
    inner = (_neighbours if KINDS[attribute.kind].ordered else _frequent)(listed, max(1, most - (1 if spare else 0)))
    return (*inner, *[max(inner, default=-1) + 1] * spare)


def _neighbours(people: Float, most: int) -> list[int]:
    """Return the group of each cell of an ordered column: runs of neighbours with about equal numbers of people.

    They have the least sum of squared numbers of people, up to `FINE` cells exactly.

    Args:
        people: Estimated number of people in each cell.
        most: Largest number of groups.
    """
    if len(people) > FINE:
        runs = _runs(people)
        together = _neighbours(np.bincount(runs, people).astype(np.float64), most)
        return [together[run] for run in runs]
    before = np.concatenate([[0.0], np.cumsum(people)])
    cost, cuts = (before[1:]) ** 2, []
    for _ in range(min(most, len(people)) - 1):
        through = np.concatenate([[np.inf], cost[:-1]])[:, None] + np.tril(before[1:, None] - before[None, :-1]).T ** 2
        through[np.tril_indices(len(people), -1)] = np.inf  # a run begins where it ends or before
        cuts.append(through.argmin(axis=0))
        cost = through.min(axis=0)
    places, end = np.zeros(len(people), dtype=int), len(people)
    for group in range(len(cuts), 0, -1):
        begin = int(cuts[group - 1][end - 1])
        places[begin:end] = group
        end = begin
    return np.unique(places, return_inverse=True)[1].tolist()


def _runs(people: Float) -> NDArray[np.intp]:
    """Return the run of each cell, at most `FINE` runs with about equal numbers of people.

    In a table without people, runs have about equal numbers of cells.
    """
    through = np.cumsum(people) if people.any() else np.arange(1.0, len(people) + 1)
    return np.unique(np.minimum((FINE * through / through[-1]).astype(np.intp), FINE - 1), return_inverse=True)[1]


def _frequent(people: Float, most: int) -> list[int]:
    """Return the group of each cell of an unordered column: the most frequent cells have groups of their own.

    All other cells form one group.

    Args:
        people: Estimated number of people in each cell.
        most: Largest number of groups.
    """
    places = np.full(len(people), most - 1)
    order = np.argsort(-people, kind="stable")[: most - 1]
    places[order] = np.arange(len(order))
    return np.unique(places, return_inverse=True)[1].tolist()


@dataclass(frozen=True, eq=False)
class Candidates:
    """The tables that may be measured, with groups of values in place of some columns.

    Attributes:
        weights: Weight of each table.
        finer: For each table with groups, the table with the column in place of its last groups.
        groups: Groups by name.
    """

    weights: Mapping[Clique, float]
    finer: Mapping[Clique, Clique]
    groups: Mapping[str, Groups]

    @classmethod
    def of(cls, domain: Domain, weights: Mapping[Clique, float], groups: Sequence[Groups]) -> Candidates:
        """Return the given tables, and each table of several columns in all variants with groups in place of columns.

        Args:
            domain: The domain, which includes the groups.
            weights: Weight of each table; its variants have the same weight.
            groups: The groups of columns.
        """
        named, of_column = by_name(groups), {one.column: one for one in groups}
        every = {table: weight for clique, weight in weights.items() for table in _variants(domain, clique, of_column)}
        finer = {table: parent(domain, table, {table[-1]: named[table[-1]]}) for table in every if table[-1] in named}
        return cls(every, finer, named)

    def weighing(self, columns: Mapping[str, float]) -> dict[Clique, float]:
        """Return a new weight for each candidate table: the sum of the weights of its columns.

        A group of values in place of a column counts with the weight of that column.

        Args:
            columns: Weight of each column in a table or under a group; without one there is a
                KeyError.
        """
        every = {**columns, **{name: columns[one.column] for name, one in self.groups.items()}}
        return {table: sum(every[name] for name in table) for table in self.weights}

    def answers(self, model: GraphicalModel, tables: Collection[Clique]) -> dict[Clique, Float]:
        """Return a model's marginals over these tables, in counts; tables with groups are summed from their columns."""
        answers = model.marginals(list(dict.fromkeys(map(self._of_columns, tables))))
        return {table: self._answer(table, answers) for table in tables}

    def _of_columns(self, table: Clique) -> Clique:
        while table in self.finer:
            table = self.finer[table]
        return table

    def _answer(self, table: Clique, answers: dict[Clique, Float]) -> Float:
        """Return the answer to one table, summed from the answer to its finer table if it has groups.

        Args:
            table: The table.
            answers: Known answers, to which all intermediate ones are added.
        """
        if table not in answers:
            finer, groups = self.finer[table], self.groups[table[-1]]
            answers[table] = groups.summed(self._answer(finer, answers), finer.index(groups.column))
        return answers[table]


def _variants(domain: Domain, clique: Clique, groups: Mapping[str, Groups]) -> Iterator[Clique]:
    """Yield the clique with each subset of its columns replaced by their groups, first the clique itself."""
    if len(clique) == 1:
        yield clique
        return
    for names in product(*([name, groups[name].name] if name in groups else [name] for name in clique)):
        yield domain.clique(names)


@dataclass(frozen=True, eq=False)
class OfColumns:
    """A model whose answers and rows leave out groups of values.

    Attributes:
        model: The model, with groups as further columns.
        domain: The domain without groups, whose columns come first in the model's domain.
    """

    model: GraphicalModel
    domain: Domain

    def marginal(self, clique: Clique) -> Float:
        """Return the model's marginal over columns without groups: estimated counts with one axis per attribute."""
        return self.model.marginal(self.domain.clique(clique))

    def rows(self, n: int, marginals: Mapping[Clique, float], rng: np.random.Generator) -> NDArray[np.integer]:
        """Return codes of n synthetic rows drawn at random, shape (n, columns of `domain`), without groups.

        Args:
            n: Number of rows.
            marginals: The marginals that rows are refined towards, with their weights c_r.
            rng: Source of randomness.
        """
        return self.model.rows_of(self.domain, n, marginals, rng)
