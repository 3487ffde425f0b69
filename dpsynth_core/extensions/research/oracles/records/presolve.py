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
    """A clause: at least one option of `premise` is absent, or one of the options `then` is present."""

    premise: tuple[int, ...]
    then: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Family:
    """A clause about queries that differ in one attribute only.

    An option of `shared` is absent, an option of `outside` is present, or one of the queries is satisfied.

    It holds for every record: a record with the shared options and without the options `outside` of that attribute satisfies one query.
    """

    shared: tuple[int, ...]
    outside: tuple[int, ...]
    queries: tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Reduced:
    """A reduced problem.

    Attributes:
        option: For each attribute, the option that each value belongs to.
        starts: First option of each attribute, followed by the number of options.
        queries: The m queries.
        literals: Options whose presence each query counts, shape (m, k); NO_COLUMN where a query has fewer than k.
        zeros: Tables of impossible combinations, with one entry per option of an attribute, in order.
    """

    option: tuple[Options, ...]
    starts: Options
    queries: NetQueries
    literals: Options
    zeros: Zeros

    @property
    def size(self) -> int:
        """The number of options of all attributes."""
        return int(self.starts[-1])

    def blocks(self) -> Iterator[range]:
        """Yield the options of each attribute, in order."""
        for first, end in zip(self.starts[:-1], self.starts[1:], strict=True):
            yield range(int(first), int(end))

    def ceiling(self, costs: NDArray[np.float64]) -> float:
        """Return a bound that needs no search: the sum of positive weights, and the cheapest option of each attribute."""
        cheapest = np.minimum.reduceat(costs, self.starts[:-1])
        return float(self.queries.weights.clip(min=0.0).sum() + self.queries.constant - cheapest.sum())

    def clauses(self) -> Iterator[Clause]:
        """Yield the impossible combinations.

        For each combination of a rule's other attributes, these are the remaining options of the attribute with the most.
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
        """Yield all families of two or more plain cells with negative weight."""
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
        """Return the perturbation of the cheapest value of each option, and that value."""
        costs, values = np.empty(self.size), np.empty(self.size, dtype=np.int32)
        for options, cost in zip(self.option, linear, strict=True):
            order = np.argsort(-cost, kind="stable")  # of several entries for one option the last one, the cheapest, stays
            costs[options[order]], values[options[order]] = cost[order], order
        return costs, values


def reduce(queries: SignedQueries) -> Reduced:
    """Reduce a problem: values that no query names become one option wherever the rules of the domain treat them alike."""
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
