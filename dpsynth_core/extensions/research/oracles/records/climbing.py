"""A local search for good records, without a proof: coordinate ascent from many starts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.records.presolve import Options, Reduced, reduce
from dpsynth_core.extensions.research.oracles.records.problem import Codes, RecordProblem, contradicted

STARTS = 16
_SWEEPS = 30
_FORBIDDEN = 1e15
"""Cost of a contradicted rule: more than all queries together."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Moves:
    """The moves of one attribute.

    Attributes:
        queries: The queries that mention it.
        chosen: The option that each query mentions, counted from the attribute's first.
        weights: Weights, shape (queries, options).
        rules: For each rule that mentions it, the rule's other attributes, and its table with this attribute last.
    """

    queries: NDArray[np.int64]
    chosen: NDArray[np.int64]
    weights: Floats
    rules: tuple[tuple[tuple[int, ...], NDArray[np.bool_]], ...]


class Climber:
    """A heuristic that finds good records fast, without a proof: coordinate ascent from many starts at once.

    For one attribute at a time, every start moves to the best value given its other values. That attribute can tip a query only if the
    query lacks exactly one of its literals there, so one product of matrices values all moves of all starts. Prepared for the queries of a
    round; then one climb per draw, or one for all draws together, which takes a tenth of the time.

    Args:
        reduced: The reduced problem of the round's queries.
    """

    def __init__(self, reduced: Reduced) -> None:
        self._reduced = reduced
        self._moves = [_moves(reduced, attribute, block) for attribute, block in enumerate(reduced.blocks())]

    def climb(self, costs: Floats, rng: np.random.Generator) -> Options | None:
        """Return the best options found for one draw, by coordinate ascent from 16 random starts (`climb_all`).

        It is a heuristic: other options may be better.

        Args:
            costs: Cost of each option, in the unit of the queries' weights, shape (options of all
                attributes,).
            rng: Chooses the starts and the order of the attributes.

        Returns:
            One option per attribute, numbered through all attributes as in `Reduced`; None if every start
            ended at an impossible record.
        """
        return self.climb_all(costs[None, :], rng)[0]

    def climb_all(self, costs: Floats, rng: np.random.Generator, seeded: bool = False) -> list[Options | None]:
        """Return the best options found for each draw by coordinate ascent from 16 random starts.

        The best options have the largest sum of weights of the queries that they satisfy, minus the
        costs of the options. The search is a heuristic: other options may be better.

        Args:
            costs: Cost of each option in each draw, in the unit of the weights, shape (draws, options of all attributes).
            rng: Chooses the starts and the order of the attributes.
            seeded: Whether every second start satisfies a random query of positive weight. One
                attribute at a time, a climb meets a query of many columns by chance only.

        Returns:
            For each draw, one option per attribute, numbered through all attributes as in
            `Reduced`; None if every start of the draw ended at an impossible record.
        """
        blocks, draws = list(self._reduced.blocks()), len(costs)
        places = np.stack([rng.integers(len(block), size=STARTS * draws) for block in blocks], axis=1)
        if seeded:
            self._satisfy(places[::2], rng)
        agree = np.zeros((len(self._reduced.literals), STARTS * draws), dtype=np.int8)
        for moves, place in zip(self._moves, places.T, strict=True):
            agree[moves.queries] += moves.chosen[:, None] == place
        split = [np.repeat(costs[:, block.start : block.stop], STARTS, axis=0) for block in blocks]
        climbing = np.arange(STARTS * draws)  # a start that no attribute has moved is at its end
        for _ in range(_SWEEPS):
            here, met = places[climbing], agree[:, climbing]
            moved = np.zeros(len(climbing), dtype=bool)
            for attribute in rng.permutation(len(blocks)):
                moved |= self._ascend(attribute, here, met, split[attribute][climbing])
            places[climbing], agree[:, climbing] = here, met
            climbing = climbing[moved]
            if not len(climbing):
                break
        worth = (agree >= self._reduced.queries.thresholds[:, None]).T @ self._reduced.queries.weights
        worth = worth - sum(cost[np.arange(len(places)), place] for cost, place in zip(split, places.T, strict=True))
        worth[contradicted(self._reduced.zeros, places)] = -np.inf
        best = worth.reshape(draws, STARTS).argmax(axis=1) + STARTS * np.arange(draws)
        return [None if worth[i] == -np.inf else np.asarray(places[i] + self._reduced.starts[:-1]) for i in best]

    def _satisfy(self, places: NDArray[np.int64], rng: np.random.Generator) -> None:
        """Change each start so that it satisfies a random query, drawn by its weight if that is positive.

        Args:
            places: Option of each start and attribute, counted from the attribute's first; changed.
            rng: Chooses the queries.
        """
        weights = self._reduced.queries.weights.clip(min=0.0)
        if not weights.any():
            return
        wanted = self._reduced.literals[rng.choice(len(weights), size=len(places), p=weights / weights.sum())]
        for attribute, block in enumerate(self._reduced.blocks()):
            start, column = np.nonzero((wanted >= block.start) & (wanted < block.stop))
            places[start, attribute] = wanted[start, column] - block.start

    def _ascend(self, attribute: int, places: NDArray[np.int64], agree: NDArray[np.int8], costs: Floats) -> NDArray[np.bool_]:
        """Move every start to the best option of one attribute, given its other options.

        Args:
            attribute: The attribute.
            places: Option of each start and attribute, counted from the attribute's first; changed.
            agree: Number of satisfied literals of each query for each start, shape (queries,
                starts); changed.
            costs: Cost of each option of the attribute for each start.

        Returns:
            A mask of the starts that moved, shape (starts,).
        """
        moves, everyone = self._moves[attribute], np.arange(len(places))
        without = agree[moves.queries] - (moves.chosen[:, None] == places[:, attribute])
        gains = (without == self._reduced.queries.thresholds[moves.queries, None] - 1).T @ moves.weights - costs
        for others, table in moves.rules:
            gains = gains - _FORBIDDEN * table[tuple(places[:, other] for other in others)]
        best = gains.argmax(axis=1)
        better = gains[everyone, best] > gains[everyone, places[:, attribute]]
        places[better, attribute] = best[better]
        agree[moves.queries] = without + (moves.chosen[:, None] == places[:, attribute])
        return np.asarray(better)


AT_ONCE = 256
"""Draws that climb together: 16 starts and 1,000 queries then take 4 MB."""


def climb(problems: Sequence[RecordProblem], seed: int = 0) -> list[Codes | None]:
    """Return a good record for each problem, in order, found by climbing; [] without problems.

    A record is its codes, shape (attributes,), or None where every start ended at an impossible record. It is a heuristic:
    other records may be better.

    Args:
        problems: Draws of one round, with the same queries.
        seed: Seed of the starts and of the order of the attributes.
    """
    if not problems:
        return []
    reduced = reduce(problems[0].queries)
    climber, rng, found = Climber(reduced), np.random.default_rng(seed), list[Codes | None]()
    for start in range(0, len(problems), AT_ONCE):
        drawn = [reduced.costs(problem.linear) for problem in problems[start : start + AT_ONCE]]
        options = climber.climb_all(np.stack([costs for costs, _ in drawn]), rng, seeded=True)
        found += [None if one is None else values[one] for one, (_, values) in zip(options, drawn, strict=True)]
    return found


def _moves(reduced: Reduced, attribute: int, block: range) -> _Moves:
    queries, column = np.nonzero((reduced.literals >= block.start) & (reduced.literals < block.stop))
    chosen = reduced.literals[queries, column] - block.start
    weights = np.zeros((len(queries), len(block)))
    weights[np.arange(len(queries)), chosen] = reduced.queries.weights[queries]
    rules = tuple(
        (tuple(c for c in columns if c != attribute), np.moveaxis(table, columns.index(attribute), -1))
        for columns, table in reduced.zeros
        if attribute in columns
    )
    return _Moves(queries, chosen, weights, rules)
