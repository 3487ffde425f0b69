"""Learning a rule from private records with an oracle: RSPM with Laplace and with Gaussian noise, and PRSMA (Neel, Roth, Wu 2019).

RSPM adds the m separators of the class to the table, each with a weight of random noise, and returns the rule that is cheapest on all of
it. What one person can change is `change` = `Unit.marginal_l1`: by so much the difference of two rules' costs moves at most. With noise on
the grid of step g, the scale (change + g) m / eps makes it eps-DP (Proposition 13; a test shows that `change` alone does not); Gaussian
noise: Proposition 14.

Every rule goes out through `written`, which uses its values on the separators alone: how an oracle writes a rule may depend on the
records. A rule that was not proved to be cheapest is never released; "no rule" is. So the promise has the condition that the oracle proves
its answer on every neighbour, which releases state (`mechanism.Conditional`). PRSMA has another one, that no call depends on another
(Proposition 15).
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.rules.rule_oracle import (
    STEPS,
    Ask,
    LearningProblem,
    Oracle,
    Task,
    all_values,
    batch_oracle,
    numbered,
)
from dpsynth_core.extensions.research.oracles.rules.rules import Rule, RuleClass
from dpsynth_core.extensions.research.privacy.events import PerturbedMinimum
from dpsynth_core.extensions.research.privacy.exponential import Draws
from dpsynth_core.foundation.errors import OracleError
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.occupied import Occupied

Integers = NDArray[np.int64]

_ASKED_AT_ONCE = 4096
_LARGEST_SCALE = 2.0**36
"""Largest scale of noise, in records: sums of all separators' noise then stay far below 2^63 steps, and costs exact."""


FAILURE_WITH_A_PERFECT_ORACLE = 0.01

_SHARES = (0.1, 0.1, 0.8)
_TEST_SHARE = 0.9
_SPREAD = 1.0
_MOST_INNER_EPS = 1 / 16
_KAPPA = math.exp(2 * _SPREAD + _MOST_INNER_EPS)
_UP = 1 + 1e-9
"""Factor that covers the rounding of a line of arithmetic before its result is rounded up to a whole number."""


@dataclass(frozen=True)
class Prsma:
    """The numbers of PRSMA, the Private Robust Subsampling Meta Algorithm (Proposition 15).

    The records are divided at random into K parts of s, with N - K s left out. On each part a
    learner is run R times; the part survives if no run failed. T survivors pass if T + z > tau, z
    being a whole number with Pr[z] proportional to exp(-eps1 |z|), and then one answer of a random
    survivor is released. The algorithm is the paper's; K, R, eps', eps1 and tau follow from the
    proposition, which needs 20,000 times fewer calls of the oracle than the paper's Theorem 8. Each
    of its three terms gets a part of delta (`_SHARES`).

    Attributes:
        eps: The epsilon of the whole algorithm, above 0.
        delta: The delta of the whole algorithm, from 0 to 1.

    Raises:
        ValueError: eps or delta is out of range.
    """

    eps: float
    delta: float

    def __post_init__(self) -> None:
        if not (self.eps > 0 and 0 < self.delta < 1):
            raise ValueError("the theorem needs an eps above 0 and a delta between 0 and 1")

    @property
    def test_eps(self) -> float:
        """The eps1 of the test that counts survivors: nine tenths of eps."""
        return _TEST_SHARE * self.eps

    @property
    def least(self) -> int:
        """The number of survivors from which on the test may pass; with fewer it passes with negligible probability."""
        rest = (1 - _TEST_SHARE) * self.eps
        first = (_KAPPA * math.exp(-rest) - 1) / -math.expm1(-rest)
        second = (1 + _KAPPA) * math.exp(-self.eps) / -math.expm1(-self.eps)
        return max(1, math.ceil(max(first, second) * _UP))

    @property
    def threshold(self) -> int:
        """The tau of the test: the noisy number of survivors must be larger."""
        return self.least - 1 + self._reached(_SHARES[0] * self.delta)

    @property
    def parts(self) -> int:
        """The K: number of parts of the table. If the oracle never fails, the test does not pass with probability 0.01 at most."""
        return self.threshold + self._reached(FAILURE_WITH_A_PERFECT_ORACLE)

    @property
    def runs(self) -> int:
        """The R: number of runs of the learner on each part."""
        others = _KAPPA * (self.parts - 1) / (self.least * (self.least + 1))
        return math.ceil(others / (math.e * _SHARES[2] * self.delta) * _UP)

    @property
    def calls(self) -> int:
        """The number of calls of the oracle on all parts together."""
        return self.parts * self.runs

    def size(self, records: int) -> int:
        """Return the number of records in each part, rounded down; 0 if the table has fewer records than parts."""
        return records // self.parts

    def inner_eps(self, records: int) -> float:
        """Return the eps' at which each run of the learner on a part is eps'-DP, at most 1/16.

        Args:
            records: Number of records of the table, at least the number of parts.
        """
        extreme = math.log(self.parts / ((self.least + 1) * _SHARES[1] * self.delta)) + _MOST_INNER_EPS
        sigma = _SPREAD / math.sqrt(2 * (extreme + _SPREAD)) / _UP
        return min(_MOST_INNER_EPS, 2 * sigma / math.sqrt(self.size(records)))

    def _reached(self, chance: float) -> int:
        """Return the smallest whole number that the test's noise z reaches with at most this probability, at least 1."""
        return max(1, math.ceil(-math.log(chance * (1 + math.exp(-self.test_eps))) / self.test_eps * _UP))


def perturbation(separators: int, change: int, eps: float) -> PerturbedMinimum:
    """Return RSPM's Laplace noise as the event that it is charged as.

    Its scale is (change + g) m / eps in records, g = 1/16 being the step of the grid. It is never rounded
    down.

    Args:
        separators: Number m of separators.
        change: Largest change of the difference of two rules' costs by one unit of privacy, in
            records.
        eps: The epsilon that RSPM is to have, above 0.

    Raises:
        ValueError: eps is not above 0 and finite, or too small for exact costs.
    """
    _check_above_zero(eps)
    norm = _shift(change) * separators
    least = norm / Fraction(eps)
    scale = float(least) if Fraction(float(least)) >= least else math.nextafter(float(least), math.inf)
    return PerturbedMinimum(_exact(scale), float(norm))


def _check_above_zero(eps: float) -> None:
    if not 0 < eps < math.inf:
        raise ValueError(f"eps is {eps}, and must be above 0 and finite")


def gaussian_sigma(rules: RuleClass, change: int, eps: float, delta: float) -> float:
    """Return the standard deviation, in records, of Gaussian RSPM's noise for (eps, delta)-DP (Proposition 14).

    Args:
        rules: The class of rules.
        change: Largest change of the difference of two rules' costs by one unit of privacy, in
            records.
        eps: The epsilon that RSPM is to have, above 0.
        delta: The delta that RSPM is to have, above 0.

    Raises:
        ValueError: eps is not above 0 and finite, or too small for exact costs.
    """
    _check_above_zero(eps)
    u = math.sqrt(2 * (rules.log2_size * math.log(2) + math.log(1 / delta)))
    norm = float(_shift(change)) * math.sqrt(len(rules.separators))
    # t = u sigma: eps sigma^2 - u D sigma - D^2 / 2 = 0; the factor covers the rounding of this line
    return _exact(norm * (u + math.sqrt(u * u + 2 * eps)) / (2 * eps) * (1 + 1e-12))


def written(rules: RuleClass, rule: Rule | None) -> Integers:
    """Return the released form of a rule: its canonical form as `Rule.written`.

    It depends on the rule's values on the separators alone, because the way in which an oracle
    writes a rule may depend on the records.

    Args:
        rules: The class of rules.
        rule: The rule, or None for "no rule", whose released form is an empty array.
    """
    if rule is None:
        return np.zeros(0, dtype=np.int64)
    return rules.identified(rule.holds(rules.separators)).written()


def minimum(task: Task, table: Occupied, noise: Integers, oracle: Oracle) -> Integers:
    """Run RSPM once and return the released form of the rule of least cost (`written`).

    If the oracle did not prove its answer, or an oracle process died, the released form of "no
    rule" is returned, an empty array.

    Args:
        task: The class of rules, and the cost of a rule at a record.
        table: The private table over the task's columns.
        noise: Noise of each separator, in steps of 1/STEPS (1/16) of a record, shape (separators,) or (1, separators).
        oracle: The oracle.

    Raises:
        ValueError: The oracle is set to be exhaustive, and the class is not `exhaustible`.
    """
    rule, problem = None, task.problem(table)
    with suppress(OracleError), batch_oracle(oracle, task.rules, 1) as ask:
        (rule,) = ask(problem, noise.reshape(1, -1))
    return written(task.rules, rule)


def laplace_noise(rules: RuleClass, scale: float, noise: Noise, draws: int = 1) -> Integers:
    """Draw discrete Laplace noise for the separators of a class, in steps of 1/STEPS (1/16) of a record.

    Args:
        rules: The class of rules.
        scale: Scale of the noise, in records.
        noise: The source of randomness.
        draws: Number of independent draws.

    Returns:
        The noise, shape (draws, separators).
    """
    return noise.discrete_laplace(np.zeros((draws, len(rules.separators)), dtype=np.int64), scale * STEPS)


def gaussian_noise(rules: RuleClass, sigma: float, noise: Noise) -> Integers:
    """Draw rounded Gaussian noise for the separators of a class, in steps of 1/STEPS (1/16) of a record, shape (separators,).

    Args:
        rules: The class of rules.
        sigma: Standard deviation of the noise, in records.
        noise: The source of randomness.
    """
    return noise.gaussian(np.zeros(len(rules.separators), dtype=np.int64), sigma * STEPS)


def exponential(problem: LearningProblem, b: float, noise: Noise) -> Rule:
    """Select a rule at random by the exponential mechanism over all rules of a class, with a rule's cost as penalty.

    Args:
        problem: The class of rules with the records.
        b: Scale of the draw (`research.privacy.exponential.scale`), in steps of 1/COUNT_STEPS of a record.
        noise: The source of randomness.

    Raises:
        ValueError: The class is not `enumerable`.
    """
    costs = all_values(problem) * (COUNT_STEPS // STEPS)
    drawn, _ = Draws(-costs, np.ones(len(costs), dtype=np.int64), b, noise).draw()
    return numbered(problem.rules, drawn)


def robust_minimum(task: Task, table: Occupied, plan: Prsma, change: int, oracle: Oracle, noise: Noise) -> Rule | None:
    """Learn a rule from a private table by PRSMA, with RSPM as the learner on each part.

    If the oracle fails on a part, that part does not survive, and the other parts are still asked.
    Each part has oracle processes of its own, so that no call can depend on the calls of another
    part, as the theorem requires.

    Args:
        task: The class of rules, and the cost of a rule at a record.
        table: The private table over the task's columns, with at least `plan.parts` records.
        plan: The numbers of PRSMA.
        change: Largest change of the difference of two rules' costs by one unit of privacy, in
            records.
        oracle: The oracle.
        noise: The source of randomness.

    Returns:
        The rule, or None if too few parts survive ("fail"); None may be released like a rule.

    Raises:
        ValueError: The oracle is set to be exhaustive, and the class is not `exhaustible`.
    """
    records, survivors = int(table.records.sum()), list[Rule]()
    b = perturbation(len(task.rules.separators), change, plan.inner_eps(records)).scale
    smaller = task
    if task.rivals is not None:  # the same rows for a part of the people
        smaller = replace(task, rivals=replace(task.rivals, records=task.rivals.records * (plan.size(records) / records)))
    for part in _partition(table, plan.parts, noise):
        # a process that dies spoils the part it was asked about
        with suppress(OracleError), batch_oracle(oracle, task.rules, plan.runs) as ask:
            if (answer := _spokesman(smaller.problem(part), plan.runs, b, ask, noise)) is not None:
                survivors.append(answer)
    passed = noise.discrete_laplace(np.array([len(survivors)]), 1 / plan.test_eps)[0] > plan.threshold
    if not passed or not survivors:
        return None
    return survivors[noise.uniform(len(survivors))]


def _spokesman(part: LearningProblem, runs: int, b: float, ask: Ask, noise: Noise) -> Rule | None:
    """Return a random one of a part's answers, or None if any run on the part failed.

    Each answer is equally likely. All runs take place in any case. Every part has the same number
    of answers, so the answer of a random surviving part is a random answer of all surviving parts.

    Args:
        part: The learning problem of the part's records.
        runs: Number of runs.
        b: Scale of the Laplace noise of each separator, in records.
        ask: The oracle, opened for the part.
        noise: The source of randomness.
    """
    chosen, drawn, proved = noise.uniform(runs), None, True
    for start in range(0, runs, _ASKED_AT_ONCE):
        answers = ask(part, laplace_noise(part.rules, b, noise, min(_ASKED_AT_ONCE, runs - start)))
        proved &= all(answer is not None for answer in answers)
        if start <= chosen < start + len(answers):
            drawn = answers[chosen - start]
    return drawn if proved else None


def _shift(change: int) -> Fraction:
    return change + Fraction(1, STEPS)


def _exact(scale: float) -> float:
    if scale > _LARGEST_SCALE:
        raise ValueError("eps is too small for exact costs")
    return scale


def _partition(table: Occupied, parts: int, noise: Noise) -> list[Occupied]:
    """Return disjoint random parts of a table, each with the same number of records.

    The remainder, fewer records than there are parts, is left out at random.
    """
    cells = np.repeat(table.cells, table.records)
    for last in range(len(cells) - 1, 0, -1):  # Fisher and Yates
        other = noise.uniform(last + 1)
        cells[last], cells[other] = cells[other], cells[last]
    size = len(cells) // parts
    return [Occupied(table.sizes, *np.unique(cells[i * size : (i + 1) * size], return_counts=True)) for i in range(parts)]
