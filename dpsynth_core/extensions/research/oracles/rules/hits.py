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
    """The problem: minimise sum_r weights_r [v hits row_r] + linear . v over sets v in {0,1}^p.

    Attributes:
        how: Condition of a hit: ANY, ODD, MOST_OF_ROW or MOST_OF_SET.
        rows: Rows, shape (r, p).
        weights: Signed weights, shape (r,).
        linear: Cost of each member of the set, shape (p,).
    """

    how: str
    rows: Flags
    weights: Integers
    linear: Integers

    def value(self, v: Flags) -> int:
        """Return the cost of a set v: the weights of the rows that it hits, plus linear . v.

        Args:
            v: The set, shape (p,).
        """
        return int(self.weights @ hit(self.how, self.rows, v)) + int(self.linear @ v)


@dataclass(frozen=True, eq=False)
class ChosenSet:
    """A set with its cost.

    Attributes:
        v: The set as a mask of its members, shape (p,).
        value: Its cost, in the unit of the weights.
        bound: Lower bound on the cost of every set.
        certified: Whether the set is proved to be a minimum.
    """

    v: Flags
    value: int
    bound: float
    certified: bool

    @property
    def gap(self) -> float:
        """The cost of the set less the lower bound; 0 proves that the set is a minimum."""
        return self.value - self.bound


def hit(how: str, rows: Flags, v: Flags) -> Flags:
    """Return a mask of the rows that a set hits, shape (r,).

    Args:
        how: Condition of a hit: ANY, ODD, MOST_OF_ROW or MOST_OF_SET.
        rows: Rows, shape (r, p).
        v: The set, shape (p,).
    """
    meet = (rows & v).sum(axis=1)
    if how == ANY:
        return np.asarray(meet > 0)
    if how == ODD:
        return np.asarray(meet % 2 == 1)
    return np.asarray(2 * meet > (rows.sum(axis=1) if how == MOST_OF_ROW else v.sum()))


def gathered(problem: Hits) -> Hits:
    """Return the same problem with equal rows merged into one of their summed weight, and without rows of weight 0.

    Rows are in lexicographic order.
    """
    rows, place = np.unique(problem.rows, axis=0, return_inverse=True)
    weights = np.zeros(len(rows), dtype=np.int64)
    np.add.at(weights, place.ravel(), problem.weights)
    kept = weights != 0
    return Hits(problem.how, rows[kept], weights[kept], problem.linear)


def solve(problem: Hits, limit: Limit) -> ChosenSet | None:
    """Return the best set that CP-SAT finds, which may lack a proof (`ChosenSet.certified`).

    None is returned if the search found no set, or was not tried because the distinct rows have
    more than 2,097,152 (MAX_LITERALS) members together.

    Args:
        problem: The problem.
        limit: The limit of the search.
    """
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
    """Return a literal of the model that is true if the set hits one row.

    It is constrained from one side only if the objective pushes it to the other. A row that no set
    can hit gets the constant 0.

    Args:
        model: The model, to which constraints are added.
        how: Condition of a hit.
        meet: Variables of the row's members.
        v: Variables of all members.
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
    """Return the subsets with these numbers, shape (numbers, p): bit i of a number says whether member i is in.

    Args:
        p: Number of members to choose from.
        numbers: Numbers from 0 to 2^p - 1.
    """
    return np.asarray((numbers[:, None] >> np.arange(p)) & 1, dtype=bool)


def all_values(problem: Hits) -> Integers:
    """Return the cost of each of the 2^p subsets, shape (2^p,), in the order of their numbers (`subsets`).

    Raises:
        ValueError: p is above MAX_EXHAUSTIVE for the problem's condition of a hit.
    """
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
    """Return the table after a fast transform over subsets, which applies `step` to both halves along each bit.

    Args:
        table: A number per subset, shape (2^p,).
        p: Number of bits.
        step: Returns the new entries without and with the bit from the old ones.
    """
    table = table.copy()
    for bit in range(p):
        pairs = table.reshape(-1, 2, 1 << bit)
        low, high = pairs[:, 0].copy(), pairs[:, 1].copy()
        pairs[:, 0], pairs[:, 1] = step(low, high)
    return table


def linear_values(linear: Integers) -> Integers:
    """Return linear . v for every subset v, shape (2^p,), in the order of their numbers (`subsets`).

    Args:
        linear: Cost of each member, shape (p,).
    """
    values = np.zeros(1, dtype=np.int64)
    for coefficient in linear:
        values = np.concatenate([values, values + coefficient])
    return values
