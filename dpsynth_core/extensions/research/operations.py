"""The extension's operations of the kernel: selections and measurements of single queries, the best mixture, and rules.

They are called with a kernel before their arguments. What each costs is zCDP's; the exponential mechanism and permute-and-flip are over
groups of queries with equal scores (`research.privacy.exponential`, `flipping`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.rules.rule_oracle import Oracle, Task
from dpsynth_core.extensions.research.oracles.rules.rules import Rule
from dpsynth_core.extensions.research.privacy import best_mixture, exponential, flipping, groups, rspm
from dpsynth_core.extensions.research.privacy.events import Approximate, Laplace, PermuteAndFlip, PerturbedMinimum, Retention
from dpsynth_core.extensions.research.privacy.groups import QueryCounts, ScoreGroups
from dpsynth_core.extensions.research.vocabulary.queries import Incidence, QueryClass, SparseAnswers, merged
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.operation import Asked, operation
from dpsynth_core.privacy.operations import Answer, Float, measure
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Integers, View


def _check(asked: Asked, queries: QueryClass, numbers: Integers) -> None:
    if queries.domain is not asked.domain and queries.domain != asked.domain:
        raise ValueError("these queries are about another domain")
    groups.check_numbers(queries, numbers)


def _counts(view: View, queries: QueryClass) -> QueryCounts:
    """Return the counts of a class of queries, which may have millions; the counts of the last class are cached."""
    key = queries.cliques, queries.threshold
    return view.remembered("queries", key, lambda: QueryCounts.of(queries, view.tables(queries.cliques)))


@operation(Selection, lambda _, eps, count=1: Selection(eps, count))
def select_signed_query(
    asked: Asked, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
) -> Answer[tuple[Integers, NDArray[np.int8]]]:
    """Draw a query (number) or its negation (sign -1) by the exponential mechanism, `count` times independently, with replacement.

    The score is sign * (q(D) - answer_q), in counts, over the class closed under negation. It moves by query_l1 at most (Proposition 9).
    """
    b = exponential.scale(eps, asked.unit.query_l1)
    _check(asked, queries, answers.numbers)
    groups.check_answers(queries, answers)
    return lambda view: exponential.signed(ScoreGroups(_counts(view, queries), answers), count, b, view.noise)


@operation(Selection, lambda _, eps, count: Selection(eps, count))
def select_worst_queries(
    asked: Asked, queries: QueryClass, answers: SparseAnswers, eps: float, count: int, excluded: Integers
) -> Answer[Integers]:
    """Draw `count` different queries, one after the other, by the exponential mechanism with score |q(D) - answer_q|, in counts.

    `excluded` are numbers that are not offered. A score moves by query_l1 at most (Proposition 9); each draw is over the remaining queries.
    """
    b = exponential.scale(eps, asked.unit.query_l1)
    left_out = merged(np.asarray(excluded, dtype=np.int64), np.zeros(0, dtype=np.int64))  # in order, each once
    _check(asked, queries, answers.numbers)
    _check(asked, queries, left_out)
    groups.check_answers(queries, answers)
    if not 0 < count <= queries.size - len(left_out):
        raise ValueError("there are fewer queries left than are to be selected")
    return lambda view: exponential.worst(ScoreGroups(_counts(view, queries), answers, left_out), count, b, view.noise)


@operation(PermuteAndFlip, lambda _, eps: PermuteAndFlip(eps))
def permute_and_flip(asked: Asked, queries: QueryClass, answers: SparseAnswers, eps: float) -> Answer[int]:
    """Select one query (number) by permute-and-flip with score |q(D) - answer_q|, which moves by query_l1 at most (Proposition 10)."""
    b = flipping.scale(eps, asked.unit.query_l1)
    _check(asked, queries, answers.numbers)
    groups.check_answers(queries, answers)
    return lambda view: flipping.worst(ScoreGroups(_counts(view, queries), answers), b, view.noise)


@operation(Gaussian, lambda asked, sigma: Gaussian(sigma, asked.unit.queries_l2(asked.count)), lambda question: len(question["numbers"]))
def measure_queries(asked: Asked, queries: QueryClass, numbers: Integers, sigma: float) -> Answer[Float]:
    """Measure q(D) for each of k queries, in counts. Each moves by query_l1 at most: l2 = sqrt(k) query_l1 (Proposition 3)."""
    _check(asked, queries, numbers)
    return measure(lambda view: _counts(view, queries).at(numbers), sigma)


def _bits(asked: Asked, eta: float, gamma: float, records: float) -> Retention | None:
    return Retention(eta, gamma, records, asked.unit.query_l1, asked.count) if asked.count else None


@operation(Retention, _bits, lambda question: len(question["numbers"]))
def keep_queries(
    asked: Asked, queries: QueryClass, numbers: Integers, signs: NDArray[np.int8], answers: Float, eta: float, gamma: float, records: float
) -> Answer[NDArray[np.bool_]]:
    """Keep each of k signed queries independently with probability exp(-eta - gamma - eta * A). Free for no queries.

    A = sign * (clip(q(D) / records, 0, 1) - answer). A count moves by query_l1 at most (Proposition 11). All numbers are fractions, so the
    draw needs no rounding.

    Args:
        queries: The class.
        numbers: Numbers of the queries.
        signs: 1 for a query, -1 for its negation.
        answers: Public answers as fractions, one per query.
        eta: Above 0.
        gamma: Above 0.
        records: Number of people, public or noisy, at least 1.

    Returns:
        True for each kept query.
    """
    _check(asked, queries, numbers)
    if not np.shape(numbers) == np.shape(signs) == np.shape(answers):
        raise ValueError("each query needs a sign and an answer")
    if not (np.abs(signs) == 1).all():
        raise ValueError("a sign is 1 or -1")
    if not ((answers >= 0) & (answers <= 1)).all():
        raise ValueError("an answer is not a fraction from 0 to 1")
    if not len(numbers):
        return lambda _: np.zeros(0, dtype=np.bool_)

    def kept(view: View) -> NDArray[np.bool_]:
        rate, least, people = Fraction(eta), Fraction(eta) + Fraction(gamma), Fraction(records)
        counted = zip(_counts(view, queries).at(numbers), signs, answers, strict=True)
        shares = ((int(sign), min(Fraction(1), int(count) / people), Fraction(float(answer))) for count, sign, answer in counted)
        return view.noise.bernoulli_exp([least + rate * sign * (share - answer) for sign, share, answer in shares])

    return kept


@operation()
def mixture_l1(asked: Asked, records: float) -> Answer[float]:
    """Return the sensitivity of `best_mixture_error`, including its solver's tolerance. Public and free."""
    l1 = _mixture_l1(asked, records)
    return lambda _: l1


def _mixture_l1(asked: Asked, records: float) -> float:
    return asked.unit.max_rows_per_person + best_mixture.gap(records)


@operation(Laplace, lambda asked, records, _floor, scale: Laplace(scale, _mixture_l1(asked, records)))
def best_mixture_error(
    asked: Asked, queries: QueryClass, support: NDArray[np.int32], start: Float, records: float, floor: float, scale: float
) -> Answer[float | None]:
    """Measure the best-mixture error, or `floor` if it is smaller, with Laplace noise, in counts: l1 = mixture_l1 (Proposition 12).

    The best-mixture error is the least largest error |q(D) - answer_q| that weights on the rows of `support` can have.

    Args:
        queries: The class.
        support: Codes of the public rows.
        start: Public weights above zero, one per row.
        records: Number of people, public or noisy.
        floor: Smallest error of interest.
        scale: Scale of the noise.

    Returns: The noisy error, or None where the solver's bounds did not meet. The promise holds on condition that this happens on no
        neighbouring table.
    """
    _check(asked, queries, np.zeros(0, dtype=np.int64))
    if not (records >= 1 and floor > 0 and len(support) and start.shape == (len(support),) and (start > 0).all()):
        raise ValueError("the best mixture needs people, a floor above zero, and rows with weights above zero")

    def error(view: View) -> float | None:
        bounds = best_mixture.bracket(_counts(view, queries), Incidence(queries, support), start, records, floor)
        if bounds is None:
            return None
        middle = np.rint(np.array([sum(bounds) / 2]) * COUNT_STEPS).astype(np.int64)
        return float(view.noise.discrete_laplace(middle, scale * COUNT_STEPS)[0]) / COUNT_STEPS

    return error


def _perturbation(asked: Asked, eps: float) -> PerturbedMinimum:
    """Return the event of RSPM's noise on the separators of the class.

    A transcript does not name their number; its check compares eps = l1 / scale.
    """
    return rspm.perturbation(max(1, asked.count), asked.unit.marginal_l1, eps)


@operation(PerturbedMinimum, _perturbation, lambda question: len(question["task"].rules.separators))
def learn_rule(asked: Asked, task: Task, eps: float, oracle: Oracle) -> Answer[Integers]:
    """Learn a rule by RSPM: the cheapest rule of `task` after Laplace noise on the separators, as `Rule.written` (Proposition 13).

    A person moves the difference of two rules' costs by marginal_l1 at most. The answer is an empty array where the oracle did not prove
    its answer, which is charged like any other. The promise holds on condition that this happens on no neighbouring table.
    """
    asked.require("occupied")
    scale = rspm.perturbation(len(task.rules.separators), asked.unit.marginal_l1, eps).scale
    return lambda view: rspm.minimum(task, view.occupied(task.columns), rspm.laplace_noise(task.rules, scale, view.noise), oracle)


@operation(Approximate, lambda _, eps, delta: Approximate(eps, delta))
def learn_rule_gaussian(asked: Asked, task: Task, eps: float, delta: float, oracle: Oracle) -> Answer[Integers]:
    """Learn a rule by RSPM with Gaussian noise: (eps, delta)-DP by a union bound over all rules, under RSPM's condition (Proposition 14).
    """
    asked.require("occupied")
    sigma = rspm.gaussian_sigma(task.rules, asked.unit.marginal_l1, eps, delta)
    return lambda view: rspm.minimum(task, view.occupied(task.columns), rspm.gaussian_noise(task.rules, sigma, view.noise), oracle)


@operation(Approximate, lambda _, eps, delta: Approximate(eps, delta))
def learn_rule_robustly(asked: Asked, task: Task, eps: float, delta: float, oracle: Oracle) -> Answer[Integers]:
    """Learn a rule by PRSMA over RSPM: (eps, delta)-DP, also where calls of the oracle fail (Proposition 15).

    Returns:
        The rule as `Rule.written`, or an empty array for PRSMA's answer "fail".

    Raises:
        ValueError: The number of records is secret.
        CapacityError: The table has fewer records than parts; nothing is spent.
    """
    asked.require("occupied")
    plan = rspm.Prsma(eps, delta)
    if not asked.unit.total_is_public:
        raise ValueError("PRSMA is for tables that differ in one replaced record")
    if plan.size(asked.rows()) < 1:
        problem = f"PRSMA divides the records into {plan.parts:,} parts, and there are fewer"
        raise CapacityError("mechanism", problem, "raise epsilon or delta, or use RSPM")
    change = asked.unit.marginal_l1
    return lambda view: rspm.written(
        task.rules, rspm.robust_minimum(task, view.occupied(task.columns), plan, change, oracle, view.noise)
    )


@operation(Selection, lambda _, eps: Selection(eps))
def select_rule(asked: Asked, task: Task, eps: float) -> Answer[Integers]:
    """Select a rule of an enumerable class by the exponential mechanism over the rules' costs: query_l1 at most (Proposition 9)."""
    asked.require("occupied")
    b = exponential.scale(eps, asked.unit.query_l1)
    return lambda view: rspm.written(task.rules, rspm.exponential(task.problem(view.occupied(task.columns)), b, view.noise))


@operation(Gaussian, lambda asked, sigma: Gaussian(sigma, asked.unit.queries_l2(asked.count)), lambda question: len(question["rules"]))
def measure_rules(asked: Asked, task: Task, rules: Sequence[Rule], sigma: float) -> Answer[Float]:
    """Measure the cost of each of k rules, in records and without rivals: l2 = sqrt(k) query_l1 (Proposition 3)."""
    asked.require("occupied")
    return measure(lambda view: task.costs(rules, view.occupied(task.columns)), sigma)
