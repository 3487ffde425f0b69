"""The dual of learning: a record at which many of the given rules hold, less a perturbation of its columns. Rules are public or released.

Conjunctions, disjunctions, parities and halfspaces trade places with records, so that this is the problem of `hits` again. Decision lists
do not, and no small separator set of their dual is known to us: they are refused. The perturbation is Laplace noise on single columns,
which tell records apart: the columns are a separator set of the dual class.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.pool import Pool
from dpsynth_core.extensions.research.oracles.rules import hits
from dpsynth_core.extensions.research.oracles.rules.hits import Hits
from dpsynth_core.extensions.research.oracles.rules.rules import CONJUNCTION, DISJUNCTION, HALFSPACE, PARITY, Rule, RuleClass
from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.foundation.errors import InputError

STEPS = 64
"""Perturbations are rounded to 1/STEPS of a rule, because CP-SAT and the transforms work in whole numbers."""

_HOW = {CONJUNCTION: hits.ANY, DISJUNCTION: hits.ANY, PARITY: hits.ODD, HALFSPACE: hits.MOST_OF_SET}
DUALLY_SEPARABLE = tuple(_HOW)


@dataclass(frozen=True)
class RecordFinder:
    """A search for records at which many rules of one class hold.

    Attributes:
        rules: The class of rules, of a kind in DUALLY_SEPARABLE (no decision lists).
        limit: The limit of a search by CP-SAT.
        pool: Solver processes; None if all records are enumerated (`exhausts`).
    """

    rules: RuleClass
    limit: Limit
    pool: Pool | None = None

    def best(self, rules: Sequence[Rule], costs: NDArray[np.float64]) -> list[Solution]:
        """Find, for each perturbation, a record x with a large value sum_t q_t(x) - costs . x.

        Args:
            rules: The rules q_t.
            costs: One perturbation per row: the cost of having each feature, in rules, shape (perturbations,
                features). Costs are rounded to 1/64.

        Returns:
            One solution per perturbation, in order, with its value and an upper bound of all values, in rules. Its
            codes are 1 for each feature that the record has, otherwise 0. A failed solution if the search found no record.

        Raises:
            OracleError: A solver process failed.
            ValueError: There are too many records to enumerate, and no pool.
        """
        linear = np.rint(costs * STEPS).astype(np.int64)
        # without a perturbation, what a record costs is minus STEPS times the rules that hold, up to a constant
        rows = np.zeros((len(rules), len(self.rules.features)), dtype=bool)
        for row, rule in zip(rows, rules, strict=True):
            row[list(rule.chosen)] = True
        wanted = np.array([STEPS if rule.negated else -STEPS for rule in rules], dtype=np.int64)
        weights = -wanted if self.rules.kind == CONJUNCTION else wanted
        problem = hits.gathered(Hits(_HOW[self.rules.kind], rows, weights, np.zeros(rows.shape[1], dtype=np.int64)))
        if exhausts(self.rules):  # the rules that hold at each record are counted once, for all perturbations
            base = hits.all_values(problem)
            best = [int((base + hits.linear_values(_sign(self.rules.kind) * row)).argmin()) for row in linear]
            sets = hits.subsets(problem.rows.shape[1], np.array(best, dtype=np.int64))
            results: list[hits.ChosenSet | None] = [hits.ChosenSet(v, 0, 0.0, certified=True) for v in sets]
        elif self.pool is not None:
            found = self.pool.map(_searcher, (problem, self.rules.kind, self.limit), list(linear), self.limit.seconds)
            results = [None if one is None else hits.ChosenSet(**one | {"v": np.array(one["v"], dtype=bool)}) for one in found]
        else:
            raise ValueError("so many records need a pool of solvers")
        return [self._answer(rules, one, row) for one, row in zip(results, linear, strict=True)]

    def _answer(self, rules: Sequence[Rule], result: hits.ChosenSet | None, row: NDArray[np.int64]) -> Solution:
        if result is None:
            return Solution.failed(np.inf)
        codes = (~result.v if self.rules.kind == CONJUNCTION else result.v).astype(np.int32)
        seen = (codes == 1)[None]
        worth = sum(int(rule.holds(seen)[0]) for rule in rules) - float(row @ codes) / STEPS
        return Solution(codes, worth, worth + result.gap / STEPS, "optimal" if result.certified else "feasible")


def exhausts(rules: RuleClass) -> bool:
    """Return whether all records are enumerated, which takes few features: at most 20, or 14 for halfspaces.

    Raises:
        InputError: The class has no known separator set of its dual.
    """
    if rules.kind not in _HOW:
        allowed = ", ".join(DUALLY_SEPARABLE)
        raise InputError("class of rules", f"{rules.kind!r} has no known separator set of its dual class", f"use one of {allowed}")
    return len(rules.features) <= hits.MAX_EXHAUSTIVE[_HOW[rules.kind]]


def _sign(kind: str) -> int:
    """Return the sign of a perturbation in the problem of `hits`.

    It is -1 for conjunctions, for which the searched set is the complement of the record, otherwise
    1.
    """
    return -1 if kind == CONJUNCTION else 1


def _searcher(shared: tuple[Hits, str, Limit]) -> Callable[[NDArray[np.int64]], dict[str, Any] | None]:
    problem, kind, limit = shared

    def search(row: NDArray[np.int64]) -> dict[str, Any] | None:
        found = hits.solve(Hits(problem.how, problem.rows, problem.weights, _sign(kind) * row), limit)
        return None if found is None else vars(found) | {"v": found.v.tolist()}

    return search
