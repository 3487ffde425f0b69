"""A local search for good records, without a proof: coordinate ascent from many starts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.records.presolve import Options, Reduced
from dpsynth_core.extensions.research.oracles.records.problem import contradicted

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
    """A heuristic that finds a good record fast, without a proof: coordinate ascent from many starts at once.

    For one attribute at a time, every start moves to the best value given its other values. That attribute can tip a query only if the
    query lacks exactly one of its literals there, so one product of matrices values all moves of all starts. Prepared for the queries of a
    round; then one climb per draw.
    """

    def __init__(self, reduced: Reduced) -> None:
        self._reduced = reduced
        self._moves = [_moves(reduced, attribute, block) for attribute, block in enumerate(reduced.blocks())]

    def climb(self, costs: Floats, rng: np.random.Generator) -> Options | None:
        """Return the best options found by coordinate ascent from `STARTS` random starts.

        The best options have the largest sum of weights of the queries that they satisfy, minus the
        costs of the options. The search is a heuristic: other options may be better.

        Args:
            costs: Cost of each option, shape (options of all attributes,).
            rng: Chooses the starts and the order of the attributes.

        Returns:
            One option per attribute, numbered through all attributes as in `Reduced`; None if every
            start ended at an impossible record.
        """
        blocks = list(self._reduced.blocks())
        places = np.stack([rng.integers(len(block), size=STARTS) for block in blocks], axis=1)
        agree = np.zeros((STARTS, len(self._reduced.literals)), dtype=np.int8)
        for moves, place in zip(self._moves, places.T, strict=True):
            agree[:, moves.queries] += place[:, None] == moves.chosen
        split = [costs[block.start : block.stop] for block in blocks]
        for _ in range(_SWEEPS):
            moved = [self._ascend(a, places, agree, split[a]) for a in rng.permutation(len(blocks))]
            if not any(moved):
                break
        worth = (agree >= self._reduced.queries.thresholds) @ self._reduced.queries.weights
        worth = worth - sum(cost[place] for cost, place in zip(split, places.T, strict=True))
        worth[contradicted(self._reduced.zeros, places)] = -np.inf
        best = int(worth.argmax())
        return None if worth[best] == -np.inf else np.asarray(places[best] + self._reduced.starts[:-1])

    def _ascend(self, attribute: int, places: NDArray[np.int64], agree: NDArray[np.int8], costs: Floats) -> bool:
        """Move every start to the best option of one attribute, given its other options.

        Args:
            attribute: The attribute.
            places: Option of each start and attribute, counted from the attribute's first; changed.
            agree: Number of satisfied literals of each query for each start; changed.
            costs: Cost of each option of the attribute.

        Returns:
            Whether any start moved.
        """
        moves, everyone = self._moves[attribute], np.arange(STARTS)
        without = agree[:, moves.queries] - (places[:, attribute, None] == moves.chosen)
        gains = (without == self._reduced.queries.thresholds[moves.queries] - 1) @ moves.weights - costs
        for others, table in moves.rules:
            gains = gains - _FORBIDDEN * table[tuple(places[:, other] for other in others)]
        best = gains.argmax(axis=1)
        better = gains[everyone, best] > gains[everyone, places[:, attribute]]
        places[better, attribute] = best[better]
        agree[:, moves.queries] = without + (places[:, attribute, None] == moves.chosen)
        return bool(better.any())


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
