"""Reduction of a record problem to the parts that affect its answer, so that its size grows with its queries and not with the domain.

Values of an attribute that no query mentions, and that the rules about impossible records cannot tell apart, differ by their perturbation
only: the cheapest one represents the others. The rest are *options*, one or more values each, of which a record takes exactly one per
attribute. The queries alone determine the options, so one reduced problem serves all draws of a round.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.records.problem import NO_COLUMN, Codes, Linear, NetQueries, SignedQueries, Zeros

Options = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Clause:
    """A clause about options: a record that takes all options of `premise` must take one of `then`.

    Attributes:
        premise: Numbers of options, counted through all attributes from 0.
        then: Numbers of options of one other attribute.
    """

    premise: tuple[int, ...]
    then: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """A clause about queries that differ in one attribute only.

    A record that takes all options of `shared`, and no option of `outside`, satisfies one of the
    queries. This holds for every record: the queries ask for the shared options and, together, for
    every option of the attribute that is not in `outside`.

    Attributes:
        shared: Numbers of the shared options, counted through all attributes from 0.
        outside: Numbers of options of the attribute in which the queries differ.
        queries: Places of the queries in `Reduced.queries`, counted from 0.
    """

    shared: tuple[int, ...]
    outside: tuple[int, ...]
    queries: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A reduced problem, whose attributes have options in place of values.

    Attributes:
        option: For each attribute, the option that each value belongs to; options are numbered through all attributes from 0.
        starts: First option of each attribute, followed by the number of all options.
        queries: The m queries.
        literals: Options that each query names, shape (m, k); NO_COLUMN (-1) where a query has fewer
            than k.
        zeros: Tables of impossible combinations, with one entry per option of an attribute, in
            order.
    """

    option: tuple[Options, ...]
    starts: Options
    queries: NetQueries
    literals: Options
    zeros: Zeros

    @property
    def size(self) -> int:
        """The sum of the attributes' numbers of options."""
        return int(self.starts[-1])

    def blocks(self) -> Iterator[range]:
        """Yield the range of options of each attribute, in order."""
        for first, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield range(int(first), int(end))

    def ceiling(self, costs: NDArray[np.float64]) -> float:
        """Return an upper bound of every record's value that needs no search.

        It is the sum of all positive weights and the queries' constant, less the cost of the cheapest option of each
        attribute.

        Args:
            costs: Cost of each option, shape (options of all attributes,).
        """
        cheapest = np.minimum.reduceat(costs, self.starts[:-1])
        return float(self.queries.weights.clip(min=0.0).sum() + self.queries.constant - cheapest.sum())

    def clauses(self) -> Iterator[Clause]:
        """Yield clauses that exclude the impossible combinations of options.

        A rule about several attributes has one attribute with the most options. Each combination of
        the others' options gives one clause: that attribute must take a possible option.
        """
        for columns, table in self.zeros:
            target = int(np.argmax(table.shape))
            others = [int(self.starts[column]) for axis, column in enumerate(columns) if axis != target]
            start = int(self.starts[columns[target]])
            last = np.moveaxis(table, target, -1)
            for cell in np.argwhere(last.any(axis=-1)):
                options = tuple(first + int(i) for first, i in zip(others, cell, strict=True))
                yield Clause(options, tuple(start + int(i) for i in np.flatnonzero(~last[tuple(cell)])))

    def families(self) -> Iterator[Family]:
        """Yield the families of two or more queries that are plain cells with negative weight.

        A plain cell is a query whose columns must all agree. Families tighten the model.
        """
        attribute = np.repeat(np.arange(len(self.option)), np.diff(self.starts)).tolist()
        members: dict[tuple[int, tuple[int, ...]], dict[int, int]] = {}
        plain = (self.literals != NO_COLUMN).sum(axis=1) == self.queries.thresholds
        for query in np.flatnonzero(plain & (self.queries.weights < 0)).tolist():
            options = [option for option in self.literals[query].tolist() if option != NO_COLUMN]
            for i, option in enumerate(options):
                shared = tuple(sorted(options[:i] + options[i + 1 :]))
                members.setdefault((attribute[option], shared), {})[option] = query
        for (place, shared), queries in members.items():
            if len(queries) > 1:
                block = range(int(self.starts[place]), int(self.starts[place + 1]))
                yield Family(shared, tuple(option for option in block if option not in queries), tuple(queries.values()))

    def costs(self, linear: Linear) -> tuple[NDArray[np.float64], Codes]:
        """Return the costs of all options in one draw.

        Args:
            linear: Cost of each value of each attribute.

        Returns:
            For each option, the smallest cost of its values, and the code of a value that has
            this cost; both have the shape (options of all attributes,).
        """
        costs, values = np.empty(self.size), np.empty(self.size, dtype=np.int32)
        for options, cost in zip(self.option, linear, strict=True):
            order = np.argsort(-cost, kind="stable")  # of several entries for one option the last one, the cheapest, stays
            costs[options[order]], values[options[order]] = cost[order], order
        return costs, values


def reduce(queries: SignedQueries) -> Reduced:
    """Return the reduced form of a problem, in which queries whose weights cancel are left out.

    Values of an attribute that no query names become one option if the rules about impossible
    records treat them alike; every other value is an option by itself.

    Args:
        queries: The queries of a round, with their domain's rules.
    """
    net = queries.net
    option: list[Options] = []
    starts = [0]
    for attribute, alike in enumerate(queries.records.alike):
        mentioned = np.unique(net.values[net.columns == attribute])
        groups = alike.copy()
        groups[mentioned] = len(alike) + mentioned  # alone, beyond the numbers of `alike`
        numbered = np.unique(groups, return_inverse=True)[1].reshape(-1)
        option.append(numbered.astype(np.int64) + starts[-1])
        starts.append(starts[-1] + int(numbered.max()) + 1)
    literals = np.full(net.columns.shape, NO_COLUMN, dtype=np.int64)
    for attribute, options in enumerate(option):
        here = net.columns == attribute
        literals[here] = options[net.values[here]]
    representatives = [np.unique(options, return_index=True)[1] for options in option]
    zeros = tuple((columns, table[np.ix_(*(representatives[c] for c in columns))]) for columns, table in queries.records.zeros)
    return Reduced(tuple(option), np.array(starts), net, literals, zeros)
