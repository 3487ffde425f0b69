"""The extension's operations of the kernel: selections and measurements of single queries, the best mixture, and rules.

Callers pass a kernel in place of `asked`, and get the value that the returned function of the view
gives. Stated costs are zCDP's. The exponential mechanism and permute-and-flip draw among groups of
queries with equal scores (`research.privacy.exponential`, `flipping`).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.oracles.rules.rule_oracle import Oracle, Task, enumerable
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
    """Return the private counts of every query of a class.

    A class may have millions of queries, so the counts of the class asked about last are cached.
    """
    key = queries.cliques, queries.threshold
    return view.remembered("queries", key, lambda: QueryCounts.of(queries, view.tables(queries.cliques)))


@operation(Selection, lambda _, eps, count=1: Selection(eps, count))
def select_signed_query(
    asked: Asked, queries: QueryClass, answers: SparseAnswers, eps: float, count: int = 1
) -> Answer[tuple[Integers, NDArray[np.int8]]]:
    """Draw a query or its negation by the exponential mechanism, `count` times with replacement.

    The draws are independent. The score is sign * (q(D) - answer_q), in counts, over the class
    closed under negation. It moves by query_l1 at most (Proposition 9). Callers pass a kernel in place of `asked`,
    which is charged rho = count * eps^2 / 8, and get the value itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class.
        answers: Public answers to all queries, in counts.
        eps: Privacy parameter of each draw.
        count: Number of draws, at least 1.

    Returns:
        A function of the view that returns the numbers of the queries, in order of drawing, and their signs, 1 or -1 for
        the negation, each of shape (count,).

    Raises:
        ValueError: The class is of another domain, an answer is for another class or too large, or eps or count is out of range.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
    """
    b = exponential.scale(eps, asked.unit.query_l1)
    _check(asked, queries, answers.numbers)
    groups.check_answers(queries, answers)
    return lambda view: exponential.signed(ScoreGroups(_counts(view, queries), answers), count, b, view.noise)


@operation(Selection, lambda _, eps, count: Selection(eps, count))
def select_worst_queries(
    asked: Asked, queries: QueryClass, answers: SparseAnswers, eps: float, count: int, excluded: Integers
) -> Answer[Integers]:
    """Draw `count` different queries by the exponential mechanism with score |q(D) - answer_q|.

    They are drawn one after the other, each from the remaining queries. The score, in counts, moves by query_l1
    at most (Proposition 9). Call it with a kernel in place of `asked`: the kernel is charged
    rho = count * eps^2 / 8, and the call returns the numbers of the queries themselves.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class.
        answers: Public answers to all queries, in counts.
        eps: Privacy parameter of each draw.
        count: Number of draws, at least 1.
        excluded: Numbers of queries that are not offered, in any order; may be empty.

    Returns:
        A function of the view that returns the numbers of the queries, in the order drawn, shape (count,).

    Raises:
        ValueError: Fewer than `count` queries are offered, the queries are of another domain, an answer or an
            excluded number is for another class, an answer is too large, or eps or count is out of range.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
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
    """Select one query by permute-and-flip with score |q(D) - answer_q| (Proposition 10).

    The score, in counts, moves by query_l1 at most. Callers pass a kernel in place of `asked`. It is charged
    rho = eps^2 / 2, and the call returns the value itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class.
        answers: Public answers to all queries, in counts.
        eps: Privacy parameter of permute-and-flip.

    Returns:
        A function of the view that returns the number of the query.

    Raises:
        ValueError: The class is of another domain, an answer is for another class or too large, or eps is out of range.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
    """
    b = flipping.scale(eps, asked.unit.query_l1)
    _check(asked, queries, answers.numbers)
    groups.check_answers(queries, answers)
    return lambda view: flipping.worst(ScoreGroups(_counts(view, queries), answers), b, view.noise)


@operation(Gaussian, lambda asked, sigma: Gaussian(sigma, asked.unit.queries_l2(asked.count)), lambda question: len(question["numbers"]))
def measure_queries(asked: Asked, queries: QueryClass, numbers: Integers, sigma: float) -> Answer[Float]:
    """Measure q(D) for each of k queries, in counts: l2 = sqrt(k) query_l1 (Proposition 3).

    Each count moves by query_l1 at most. Callers pass a kernel in place of `asked`. It is charged
    rho = k query_l1^2 / (2 sigma^2), and the call returns the value itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class.
        numbers: Numbers of the queries in the class, at least one.
        sigma: Standard deviation of the noise of each count, in counts, above 0.

    Returns:
        A function of the view that returns the noisy counts in the order of `numbers`, shape (k,); they may be negative.

    Raises:
        ValueError: The class is of another domain, a number is not of the class, there are no numbers, or sigma is not above 0.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
    """
    _check(asked, queries, numbers)
    return measure(lambda view: _counts(view, queries).at(numbers), sigma)


def _bits(asked: Asked, eta: float, gamma: float, records: float) -> Retention | None:
    return Retention(eta, gamma, records, asked.unit.query_l1, asked.count) if asked.count else None


@operation(Retention, _bits, lambda question: len(question["numbers"]))
def keep_queries(
    asked: Asked, queries: QueryClass, numbers: Integers, signs: NDArray[np.int8], answers: Float, eta: float, gamma: float, records: float
) -> Answer[NDArray[np.bool_]]:
    """Draw for each of k signed queries whether it is kept, with probability exp(-eta - gamma - eta * A).

    A = sign * (min(q(D) / records, 1) - answer). One unit of privacy changes a count by at most
    query_l1 (Proposition 11). All numbers are fractions, so the draw needs no rounding. Without
    queries, nothing is charged. Callers pass a kernel in place of `asked`. It is charged the cost of a
    `Retention`, and the call returns the value itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class of queries.
        numbers: Numbers of the k queries.
        signs: 1 for a query, -1 for its negation, shape (k,).
        answers: Public answers as fractions from 0 to 1, shape (k,).
        eta: Weight of A, above 0.
        gamma: Constant above 0; no query is kept with more than probability exp(-gamma).
        records: Number of people, public or noisy, at least 1.

    Returns:
        A function of the view that returns a mask of shape (k,): True for each kept query.

    Raises:
        ValueError: The class is of another domain, or a number, sign, answer or parameter is out of range.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
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
    """Return the sensitivity of `best_mixture_error` to one unit of privacy, in people.

    It is the largest number of rows per person plus the tolerance of the solver: half a person, or 1e-5 of `records` if that is more. It
    is public, and nothing is charged. Callers pass a kernel in place of `asked`, and get the number itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        records: Number of people, public or noisy.
    """
    l1 = _mixture_l1(asked, records)
    return lambda _: l1


def _mixture_l1(asked: Asked, records: float) -> float:
    return asked.unit.max_rows_per_person + best_mixture.gap(records)


@operation(Laplace, lambda asked, records, _floor, scale: Laplace(scale, _mixture_l1(asked, records)))
def best_mixture_error(
    asked: Asked, queries: QueryClass, support: NDArray[np.int32], start: Float, records: float, floor: float, scale: float
) -> Answer[float | None]:
    """Measure the best-mixture error, or `floor` if that is larger, with discrete Laplace noise.

    The best-mixture error is the smallest value, over all weights on the rows of `support`, of the
    largest error |q(D) - answer_q|, in counts. Its l1 sensitivity is `mixture_l1` (Proposition 12). Callers pass a
    kernel in place of `asked`. It is charged rho = (mixture_l1 / scale)^2 / 2, and the call returns the value itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        queries: The class of queries.
        support: Codes of the public rows, shape (rows, attributes of the domain).
        start: Public weights above zero with which the solver starts, shape (rows,).
        records: Number of people, public or noisy, at least 1.
        floor: Smallest error of interest, in counts, above 0.
        scale: Scale of the noise, in counts.

    Returns:
        A function of the view that returns the noisy error in counts, or None if the solver's lower
        and upper bounds did not meet. The guarantee holds on condition that they meet on every
        neighbouring table.

    Raises:
        ValueError: The class is of another domain, or a public number is out of range.
        BudgetExceeded: The cost exceeds the kernel's budget; no count was read.
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
    """Return the event that RSPM's Laplace noise on all separators of the class is charged as.

    A transcript does not name the number of separators; therefore its check compares eps = l1 /
    scale alone (`PerturbedMinimum.pays`).
    """
    return rspm.perturbation(max(1, asked.count), asked.unit.marginal_l1, eps)


@operation(PerturbedMinimum, _perturbation, lambda question: len(question["task"].rules.separators))
def learn_rule(asked: Asked, task: Task, eps: float, oracle: Oracle) -> Answer[Integers]:
    """Learn a rule by RSPM: the rule of least cost after Laplace noise on the separators; eps-DP.

    Callers pass a kernel in place of `asked`. It is charged rho = eps^2 / 2, and the call returns the array
    itself.

    The guarantee holds only if the oracle proves its answer on every neighbouring table. One unit of privacy
    changes the difference of two rules' costs by at most marginal_l1 (Proposition 13).

    Args:
        asked: The public facts of the call, which the kernel gives.
        task: The class of rules, and the cost of a rule at a record.
        eps: Parameter of the call, above 0.
        oracle: The oracle that finds the rule of least cost.

    Returns:
        A function of the view that returns the rule in the form of `Rule.written`. If the oracle did not prove
        its answer, the array is empty ("no rule"), and the call costs as much.

    Raises:
        ValueError: The source cannot answer about records, eps is not above 0, or so small that the noise is too
            large for exact costs, or the oracle is set to be exhaustive, but the class is not `exhaustible`.
        BudgetExceeded: The cost exceeds the kernel's budget; no record was read.
    """
    asked.require("occupied")
    oracle.check(task.rules)
    scale = rspm.perturbation(len(task.rules.separators), asked.unit.marginal_l1, eps).scale
    return lambda view: rspm.minimum(task, view.occupied(task.columns), rspm.laplace_noise(task.rules, scale, view.noise), oracle)


@operation(Approximate, lambda _, eps, delta: Approximate(eps, delta))
def learn_rule_gaussian(asked: Asked, task: Task, eps: float, delta: float, oracle: Oracle) -> Answer[Integers]:
    """Learn the rule of least noisy cost by RSPM, with Gaussian noise on the separators.

    It is (eps, delta)-DP (Proposition 14, by a union bound over all rules), if the oracle proves its
    answer on every neighbouring table. It is charged as rho = eps^2 / 2, and delta in addition, also if
    no rule is returned. Callers pass a kernel in place of `asked`, and get the array itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        task: The class of rules, and the cost of a rule at a record.
        eps: The epsilon of the call, above 0.
        delta: The delta of the call, above 0.
        oracle: The oracle that finds the rule of least cost.

    Returns:
        A function of the view that returns the rule as `Rule.written`, or an empty array if the oracle
        did not prove its answer.

    Raises:
        ValueError: The source cannot answer about records, eps is not above 0, or so small that the noise is too
            large for exact costs, or the oracle is set to be exhaustive, but the class is not `exhaustible`.
        BudgetExceeded: The cost exceeds the kernel's budget; no record was read.
    """
    asked.require("occupied")
    oracle.check(task.rules)
    sigma = rspm.gaussian_sigma(task.rules, asked.unit.marginal_l1, eps, delta)
    return lambda view: rspm.minimum(task, view.occupied(task.columns), rspm.gaussian_noise(task.rules, sigma, view.noise), oracle)


@operation(Approximate, lambda _, eps, delta: Approximate(eps, delta))
def learn_rule_robustly(asked: Asked, task: Task, eps: float, delta: float, oracle: Oracle) -> Answer[Integers]:
    """Learn a rule by PRSMA over RSPM: (eps, delta)-DP, even if calls of the oracle fail (Proposition 15).

    Callers pass a kernel in place of `asked`. It is charged, and the call returns the array itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        task: The class of rules, and the cost of a rule at a record.
        eps: Parameter of the call, above 0, which costs rho = eps^2 / 2.
        delta: Probability of failure, above 0 and below 1, which is charged in addition.
        oracle: The oracle that finds the rule of least cost.

    Returns:
        A function of the view that returns the rule as `Rule.written`, or an empty array for
        PRSMA's answer "fail".

    Raises:
        ValueError: The source cannot answer about records, the number of records is secret, eps or delta is out
            of range, or the oracle is set to be exhaustive, but the class is not `exhaustible`.
        CapacityError: The table has fewer records than PRSMA's parts; nothing is charged.
        BudgetExceeded: The cost exceeds the kernel's budget; no record was read.
    """
    asked.require("occupied")
    oracle.check(task.rules)
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
    """Select a rule by the exponential mechanism over all rules of a class, with a rule's cost as penalty.

    One unit of privacy changes a cost by at most query_l1 (Proposition 9). Callers pass a kernel in place of `asked`,
    which is charged, and get the array itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        task: The class of rules, which must be `enumerable`, and the cost of a rule at a record.
        eps: Parameter of the selection, which costs rho = eps^2 / 8.

    Returns:
        A function of the view that returns the rule as `Rule.written`.

    Raises:
        ValueError: The source cannot answer about records, the class is not `enumerable`, or eps is
            not positive or too small.
        BudgetExceeded: The cost exceeds the kernel's budget; no record was read.
    """
    asked.require("occupied")
    if not enumerable(task.rules):  # before the charge
        raise ValueError("the class has too many rules to be drawn from")
    b = exponential.scale(eps, asked.unit.query_l1)
    return lambda view: rspm.written(task.rules, rspm.exponential(task.problem(view.occupied(task.columns)), b, view.noise))


@operation(Gaussian, lambda asked, sigma: Gaussian(sigma, asked.unit.queries_l2(asked.count)), lambda question: len(question["rules"]))
def measure_rules(asked: Asked, task: Task, rules: Sequence[Rule], sigma: float) -> Answer[Float]:
    """Measure the cost of each of k rules, without rivals, with rounded Gaussian noise.

    One unit of privacy changes each cost by at most query_l1, so that l2 = sqrt(k) query_l1
    (Proposition 3). Callers pass a kernel in place of `asked`. It is charged rho = k query_l1^2 / (2 sigma^2), and the
    call returns
    the array itself.

    Args:
        asked: The public facts of the call, which the kernel gives.
        task: The class of rules, and the cost of a rule at a record.
        rules: The k rules, at least one.
        sigma: Standard deviation of the noise of each cost, in records, above 0.

    Returns:
        A function of the view that returns the noisy costs in records, in the order of `rules`, shape (k,).

    Raises:
        ValueError: The source cannot answer about records, there are no rules, or sigma is not above 0.
        BudgetExceeded: The cost exceeds the kernel's budget; no record was read.
    """
    asked.require("occupied")
    return measure(lambda view: task.costs(rules, view.occupied(task.columns)), sigma)
