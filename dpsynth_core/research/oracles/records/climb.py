"""A good record fast, without a proof: coordinate ascent from many starts at once. The solver starts from it or falls back on it.

For one attribute at a time, every start moves to the best value given its other values: a query can be tipped by that attribute only if
it lacks exactly one of its literals there, so one product of matrices values all moves of all starts. Impossible records move to
possible ones, and are never returned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.oracles.records.presolve import Options, Reduced

STARTS = 16
_SWEEPS = 30
_FORBIDDEN = 1e15
"""What a contradicted rule costs: more than all queries together."""

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class _Moves:
    """One attribute. queries: those that mention it; chosen: the option they mention, counted from its first; weights: (queries, options).
    rules: the other attributes of each rule that mentions it, and the rule's table with this attribute last."""

    queries: NDArray[np.int64]
    chosen: NDArray[np.int64]
    weights: Floats
    rules: tuple[tuple[tuple[int, ...], NDArray[np.bool_]], ...]


class Climber:
    """Prepared for the queries of a round; then one climb for each draw."""

    def __init__(self, reduced: Reduced) -> None:
        self._reduced = reduced
        self._moves = [_moves(reduced, attribute, block) for attribute, block in enumerate(reduced.blocks())]

    def climb(self, costs: Floats, rng: np.random.Generator) -> Options | None:
        """The best options found, one for each attribute; None if no start led to a possible record."""
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
        worth[self._contradicted(places)] = -np.inf
        best = int(worth.argmax())
        return None if worth[best] == -np.inf else np.asarray(places[best] + self._reduced.starts[:-1])

    def _ascend(self, attribute: int, places: NDArray[np.int64], agree: NDArray[np.int8], costs: Floats) -> bool:
        """Move all starts along one attribute. Returns whether any moved; changes `places` and `agree`."""
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

    def _contradicted(self, places: NDArray[np.int64]) -> NDArray[np.bool_]:
        wrong = np.zeros(len(places), dtype=bool)
        for columns, table in self._reduced.zeros:
            wrong |= table[tuple(places[:, column] for column in columns)]
        return wrong


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
