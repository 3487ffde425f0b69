"""Minimise a weighted number of hits: which subset of p things hits the fewest of the given rows, where a row is a subset as well.

Learning a conjunction, disjunction, parity or halfspace from records, and finding a record for given rules of those classes, are both this
problem: the four are the same when rules and records trade places (they are nearly self-dual). CP-SAT solves it, one indicator for each
distinct row; going through all 2^p subsets with fast transforms gives the exact minimum for small p and cannot fail.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.search import MAX_LITERALS, Limit, search

if TYPE_CHECKING:
    from ortools.sat.python import cp_model

ANY, ODD, MOST_OF_ROW, MOST_OF_SET = "any", "odd", "most of the row", "most of the set"
"""Conditions under which a set hits a row: they meet; they meet in an odd number; most of the row is in the set; most of the set is in the
row.
"""

_PARAMETERS = {"linearization_level": 0}
"""Parameters of CP-SAT: the linear relaxation proves nothing about weights of both signs, and takes longer than everything else."""

Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]

MAX_EXHAUSTIVE = {ANY: 20, ODD: 20, MOST_OF_ROW: 14, MOST_OF_SET: 14}
"""Largest p for which all 2^p subsets are enumerated. The last two kinds have no fast transform: each row is compared with each subset."""


@dataclass(frozen=True, eq=False)
class Hits:
    """The problem: minimise sum_r weights_r [v hits row_r] + linear . v over v in {0,1}^p.

    Attributes:
        how: Condition of a hit: ANY, ODD, MOST_OF_ROW or MOST_OF_SET.
        rows: Rows, shape (r, p).
        weights: Signed weights, shape (r,).
        linear: Linear costs, shape (p,).
    """

    how: str
    rows: Flags
    weights: Integers
    linear: Integers

    def value(self, v: Flags) -> int:
        """Return the cost of a set, shape (p,)."""
        return int(self.weights @ hit(self.how, self.rows, v)) + int(self.linear @ v)


@dataclass(frozen=True, eq=False)
class ChosenSet:
    """A set with its cost.

    Attributes:
        v: The set, shape (p,).
        value: Its cost.
        bound: Lower bound on the cost of every set.
        certified: Whether the set is proved to be a minimum.
    """

    v: Flags
    value: int
    bound: float
    certified: bool

    @property
    def gap(self) -> float:
        """The cost beyond the lower bound; 0 is a proof."""
        return self.value - self.bound


def hit(how: str, rows: Flags, v: Flags) -> Flags:
    """Return which rows the set v hits, shape (r,), in the sense of `how`."""
    meet = (rows & v).sum(axis=1)
    if how == ANY:
        return np.asarray(meet > 0)
    if how == ODD:
        return np.asarray(meet % 2 == 1)
    return np.asarray(2 * meet > (rows.sum(axis=1) if how == MOST_OF_ROW else v.sum()))


def gathered(problem: Hits) -> Hits:
    """Return the same problem with equal rows merged, and without rows of weight 0."""
    rows, place = np.unique(problem.rows, axis=0, return_inverse=True)
    weights = np.zeros(len(rows), dtype=np.int64)
    np.add.at(weights, place.ravel(), problem.weights)
    kept = weights != 0
    return Hits(problem.how, rows[kept], weights[kept], problem.linear)


def solve(problem: Hits, limit: Limit) -> ChosenSet | None:
    """Return the best set by CP-SAT, or None if the search failed, as it does for rows of more than MAX_LITERALS things together."""
    from ortools.sat.python import cp_model  # takes a while to load, and is needed by some mechanisms only

    problem = gathered(problem)
    if problem.rows.sum() > MAX_LITERALS:
        return None
    model = cp_model.CpModel()
    v = [model.new_bool_var(f"v{i}") for i in range(problem.rows.shape[1])]
    indicators = [
        _indicator(model, problem.how, [v[i] for i in np.flatnonzero(row)], v, cheap=weight < 0)
        for row, weight in zip(problem.rows, problem.weights.tolist(), strict=True)
    ]
    costs = [weight * indicator for weight, indicator in zip(problem.weights.tolist(), indicators, strict=True)]
    model.minimize(sum(costs) + sum(c * x for c, x in zip(problem.linear.tolist(), v, strict=True)))
    result = search(model, limit, **_PARAMETERS)
    if result.status == "failed":
        return None
    best = np.array(result.solution[: len(v)], dtype=bool)
    return ChosenSet(best, problem.value(best), result.bound, result.status == "optimal")


def _indicator(model: cp_model.CpModel, how: str, meet: list[Any], v: list[Any], *, cheap: bool) -> Any:
    """Return a literal that is true if the row is hit. It is bound from one side where the objective pushes it to the other.

    Args:
        meet: Variables of the row.
        cheap: Whether the objective favours a hit.
    """
    if not meet:
        return 0
    if how == ANY and len(meet) == 1:
        return meet[0]
    is_hit = model.new_bool_var("")
    if how == ANY:
        if cheap:
            model.add_bool_or([is_hit.negated(), *meet])
        else:
            for variable in meet:
                model.add_implication(variable, is_hit)
    elif how == ODD:
        model.add_bool_xor([*meet, is_hit, True])
    else:
        lead = 2 * sum(meet) - (len(meet) if how == MOST_OF_ROW else sum(v))
        if cheap:
            model.add(lead >= 1).only_enforce_if(is_hit)
        else:
            model.add(lead <= 0).only_enforce_if(is_hit.negated())
    return is_hit


def subsets(p: int, numbers: Integers) -> Flags:
    """Subsets by number: bit i of the number says whether thing i is in."""
    return np.asarray((numbers[:, None] >> np.arange(p)) & 1, dtype=bool)


def all_values(problem: Hits) -> Integers:
    """Return the cost of each of the 2^p subsets, by number. ValueError for p above MAX_EXHAUSTIVE."""
    p = problem.rows.shape[1]
    if p > MAX_EXHAUSTIVE[problem.how]:
        raise ValueError("too many subsets to go through")
    table = np.zeros(1 << p, dtype=np.int64)
    np.add.at(table, problem.rows @ (1 << np.arange(p, dtype=np.int64)), problem.weights)
    whole, costs = int(table.sum()), linear_values(problem.linear)
    if problem.how == ANY:  # all but the rows inside the complement
        return whole - _butterfly(table, p, lambda low, high: (low, low + high))[::-1] + costs
    if problem.how == ODD:  # Walsh-Hadamard: sum of w_x (-1)^|a and x|
        return (whole - _butterfly(table, p, lambda low, high: (low + high, low - high))) // 2 + costs
    sets = np.arange(1 << p)
    size = np.bitwise_count(sets)
    for row in np.flatnonzero(table):
        base = size[row] if problem.how == MOST_OF_ROW else size
        costs += np.where(2 * np.bitwise_count(sets & row).astype(np.int64) > base, table[row], 0)
    return costs


def _butterfly(table: Integers, p: int, step: Callable[[Integers, Integers], tuple[Integers, Integers]]) -> Integers:
    """Apply `step` to the two halves along each bit in turn."""
    table = table.copy()
    for bit in range(p):
        pairs = table.reshape(-1, 2, 1 << bit)
        low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
        pairs[:, 0], pairs[:, 1] = step(low, high)
    return table


def linear_values(linear: Integers) -> Integers:
    """Linear . v for every subset, by number."""
    values = np.zeros(1, dtype=np.int64)
    for coefficient in linear:
        values = np.concatenate([values, values + coefficient])
    return values
