"""The best-mixture error of a public table: how well the best weights on its rows answer the private table's queries (Proposition 12).

Liu, Vietri, Steinke, Ullman, Wu 2021, Definition 4.1, in counts and with `records` for the number of people: f(D) = min over weights w >=
0 that add up to 1 of max over queries q of |q(D) - records * sum_x w_x q(x)|. What is released is max(f, floor) for a public floor,
because to tell good from very good costs hours and no one needs it. `bracket` returns bounds that enclose it, recomputed from the weights
and the dual values alone: low by weak duality, high by what one w achieves. A tenth of the gap is left for floating point. Where the
bounds do not meet, "no answer" is released; the promise has the condition that they meet on every neighbour, which releases state
(`mechanism.Conditional`). No clock has a say in it.
"""

from __future__ import annotations

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.extensions.research.privacy.groups import QueryCounts
from dpsynth_core.extensions.research.vocabulary.queries import Incidence

Float = NDArray[np.float64]

SHARPNESS, STEP, DESCENTS = 20.0, 4.0, 400
"""Settings of the descent: weight on the largest errors, length of a step, number of steps. They affect its duration alone."""
PATIENCE, PROGRESS = 50, 0.99
"""The descent ends when PATIENCE steps have not lowered the largest error by the factor PROGRESS."""
CUTS, ROUNDS = 300, 400


def gap(records: float) -> float:
    """Return the largest distance of the two bounds on the best-mixture error, in counts.

    It is half a person or, on a table of more than 50,000 people, 1e-5 of their number, the solver's precision. It is public.

    Args:
        records: Number of people.
    """
    return max(0.5, 1e-5 * records)


def bracket(tally: QueryCounts, incidence: Incidence, start: Float, records: float, floor: float) -> tuple[float, float] | None:
    """Return a lower and an upper bound of max(f, floor), f being the best-mixture error, in counts.

    The best-mixture error is the smallest value, over all weights on the public rows, of the largest error of a query. The
    bounds are at most 0.9 * gap(records) apart, and they are private. None is returned if the search could not bring
    them so close.

    Args:
        tally: Private counts of the queries.
        incidence: The public rows with the queries that they satisfy.
        start: Initial weights above zero, one per row, of any sum.
        records: Number of people, public or noisy.
        floor: Smallest error of interest, in counts.
    """
    search = _Search(tally, incidence, start, records, floor)
    search.descend()
    search.cut()
    return (search.low * records, search.high * records) if search.met else None


class _Search:
    """A search for the best weights: bounds of the error as fractions of `records`, and the best weights so far."""

    def __init__(self, tally: QueryCounts, incidence: Incidence, start: Float, records: float, floor: float) -> None:
        self._incidence = incidence
        self._wanted = tally.at(incidence.numbers) / records
        unreached = tally.counts[~np.isin(tally.numbers, incidence.numbers, assume_unique=True)].max(initial=0)
        self._least = max(floor, float(unreached)) / records
        self._close = 0.9 * gap(records) / records
        self._best = start / start.sum()
        self.low, self.high = self._least, np.inf
        self._errors(self._best)

    @property
    def met(self) -> bool:
        return self.high - self.low <= self._close

    def _errors(self, weights: Float) -> Float:
        """Return wanted - answered, as fractions, for each query that any row satisfies.

        If the largest absolute error is the smallest so far, it becomes the upper bound, and the
        weights are stored.
        """
        errors = self._wanted - self._incidence.answers(weights)
        high = max(self._least, float(np.abs(errors).max()))
        if high < self.high:
            self.high, self._best = high, weights
        return errors

    def _bound(self, mixture: Float, satisfied: Float) -> None:
        """Raise the lower bound to the one that a signed mixture of queries proves for all weights.

        This is weak duality of the linear program in `_program`.

        Args:
            mixture: Signed weight of each query.
            satisfied: Sum of the mixture over the queries that each row satisfies.
        """
        size = max(1.0, float(np.abs(mixture).sum()))
        self.low = max(self.low, float(mixture @ self._wanted - satisfied.max()) / size)

    def descend(self) -> None:
        """Tighten the bounds by multiplicative weights against the queries that are answered worst.

        This uses no noise. It ends when the bounds meet, the upper bound no longer falls, or after
        `DESCENTS` steps.
        """
        logs = np.log(np.maximum(self._best, 1e-300))
        weights, mark, since = self._best, np.inf, 0
        for _ in range(DESCENTS):
            errors = self._errors(weights)
            worst = max(self._least, float(np.abs(errors).max()))
            mixture = np.exp((SHARPNESS / worst) * (np.abs(errors) - worst))
            mixture *= np.sign(errors) / mixture.sum() if mixture.sum() > 0 else 0.0
            slope = self._incidence.satisfied(mixture)
            self._bound(mixture, slope)
            since = 0 if self.high < PROGRESS * mark else since + 1
            mark = self.high if since == 0 else mark
            if self.met or since > PATIENCE:
                return
            logs += STEP * worst * slope
            logs -= logs.max()
            weights = np.exp(logs)
            weights /= weights.sum()

    def cut(self) -> None:
        """Tighten the bounds by cutting planes, until they meet or the linear program is not solved.

        Each of up to `ROUNDS` rounds solves the linear program over the queries chosen so far. Then
        it chooses more: the queries that are answered worst by the program's weights, and by
        weights half way between these and the best ones.
        """
        added_before = np.zeros(len(self._wanted), dtype=bool)
        points = [self._best]
        for _ in range(ROUNDS):
            if self.met:
                return
            for point in points:
                errors = np.abs(self._errors(point))
                errors[added_before] = 0.0
                added = np.argsort(-errors, kind="stable")[:CUTS]
                added_before[added[errors[added] > self.low]] = True
            solved = _program(self._incidence, np.flatnonzero(added_before), self._wanted, self._least)
            if solved is None:
                return
            weights, mixture = solved
            self._bound(mixture, self._incidence.satisfied(mixture))
            points = [weights, (weights + self._best) / 2]


def _program(incidence: Incidence, chosen: NDArray[np.int64], wanted: Float, least: float) -> tuple[Float, Float] | None:
    """Solve a linear program (HiGHS): the least z >= `least` with |wanted_q - answer_q(w)| <= z for chosen q.

    Args:
        incidence: The public rows with the queries that they satisfy.
        chosen: Places of the chosen queries among `incidence.numbers`.
        wanted: Wanted answer of each query of `incidence.numbers`, as a fraction.
        least: Lower limit of z, as a fraction.

    Returns:
        Weights w on the rows that add up to 1, and the dual values of the queries as a signed
        mixture with zero for all others. None if neither the interior point nor the simplex method
        solved it.
    """
    rows, numbers = incidence.rows, incidence.numbers
    columns = [incidence.queries.query(int(numbers[q])).of(incidence.codes) for q in chosen]
    satisfied = scipy.sparse.csr_matrix(np.array(columns, dtype=np.float64))
    slack = np.ones((len(chosen), 1))
    above, below = scipy.sparse.hstack([-satisfied, -slack]), scipy.sparse.hstack([satisfied, -slack])
    program = {
        "c": np.append(np.zeros(rows), 1.0),
        "A_ub": scipy.sparse.vstack([above, below]).tocsc(),
        "b_ub": np.concatenate([-wanted[chosen], wanted[chosen]]),
        "A_eq": scipy.sparse.csc_matrix(np.append(np.ones(rows), 0.0)[None]),
        "b_eq": [1.0],
        "bounds": [(0.0, None)] * rows + [(least, None)],
    }
    tried = (scipy.optimize.linprog(**program, method=method) for method in ("highs-ipm", "highs-ds"))
    done = next((one for one in tried if one.success), None)
    if done is None:
        return None
    weights = np.maximum(done.x[:rows], 0.0)
    too_low, too_high = np.split(-done.ineqlin.marginals, 2)
    mixture = np.zeros(len(wanted))
    mixture[chosen] = too_low - too_high
    return weights / weights.sum(), mixture
