"""Audits of the extension's operations: a question for each operation, and a guess from its answers (`audit`)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpsynth_core.extensions.audit.cases import DOMAIN, EPS, FAR, MU, OLD, RECORDS, UNITS, Ask, Case, Question
from dpsynth_core.extensions.audit.evidence import Draw
from dpsynth_core.extensions.audit.losses import Arguments, Guess, Losses, Maker, chosen, key
from dpsynth_core.extensions.audit.neighbours import InventedTable, Neighbours
from dpsynth_core.extensions.research import operations
from dpsynth_core.extensions.research.oracles.rules.rule_oracle import EXHAUSTIVE, STEPS, Oracle, Task, all_values
from dpsynth_core.extensions.research.oracles.rules.rules import (
    CONJUNCTION,
    DECISION_LIST,
    DISJUNCTION,
    HALFSPACE,
    PARITY,
    RuleClass,
    features,
)
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import REPLACE, Unit

Float = NDArray[np.float64]

_THREE, _NUMBERS = QueryClass(DOMAIN, (("b",), ("a", "b"), ("b", "c"))), np.array([1, 3, 8], dtype=np.int64)
"""Three queries, one cell of each marginal, that the added person satisfies."""


def _signed(_: PrivacyKernel, neighbours: Neighbours) -> Question:
    """Return a question for `select_signed_query` about two cells of one column, one of which the person is in.

    The answers are half way between the two tables.
    """
    queries = QueryClass(DOMAIN, (("b",),))
    return {"queries": queries, "answers": SparseAnswers.all_of(_halfway(queries, neighbours)), "eps": EPS, "count": 2}


def _two_errors(_: PrivacyKernel, neighbours: Neighbours) -> Question:
    """Return a question about two marginals, in each of which the person is in a cell with a large error.

    In the first marginal the answer is too low, so that the person makes the error larger; in the
    second it is too high.
    """
    queries = QueryClass(DOMAIN, (("b",), ("a", "b")))
    answers = _halfway(queries, neighbours)
    answers[queries.block(("b",))] -= (0.0, FAR)
    answers[queries.block(("a", "b"))] += (0.0, FAR, 0.0, 0.0)
    return {"queries": queries, "answers": SparseAnswers.all_of(answers), "eps": EPS}


def _bits(_kernel: PrivacyKernel, _: Neighbours) -> Question:
    """Return a question for `keep_queries` at which bits are True with the largest possible probability."""
    signs, rates = np.ones(3, dtype=np.int8), {"eta": 5.0, "gamma": 0.3, "records": 20.0}
    return {"queries": _THREE, "numbers": _NUMBERS, "signs": signs, "answers": np.ones(3), **rates}


def _task(kind: str, closed: bool = False) -> Task:
    return Task.of(DOMAIN, RuleClass(kind, features(DOMAIN, ("b", "c")), closed))


def _rule(kind: str, eps: float = EPS, **more: float) -> Ask:
    question = {"task": _task(kind), "eps": eps, "oracle": Oracle(EXHAUSTIVE, 1.0), **more}
    return lambda _kernel, _: question


def _rule_costs(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """Return a question for `measure_rules` that asks three times for the cost of the same rule.

    Repeated rules are allowed, and one person changes all three costs alike.
    """
    task = _task(CONJUNCTION)
    return {"task": task, "rules": [task.rules.rule([0])] * 3, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}


def _mixture(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """Return a question for `best_mixture_error` with a single public row.

    Only one mixture exists then, and its worst answer is to the cell of the person.
    """
    question = {"queries": QueryClass(DOMAIN, (("b",),)), "support": np.array([OLD], dtype=np.int32), "start": np.ones(1)}
    return question | {"records": float(RECORDS), "floor": 0.5, "scale": operations.mixture_l1(kernel, float(RECORDS)) / EPS}


def _halfway(queries: QueryClass, neighbours: Neighbours) -> Any:
    """Return the mean of the answers without and with the person, for every query of the class.

    The errors without and with the person then have the same size, with opposite signs.
    """
    without, with_person = (queries.counts(table.counts(queries.cliques)) for table in neighbours.tables)
    return (without + with_person) / 2


_AS_MANY = {"count": 2, "excluded": np.zeros(0, dtype=np.int64)}
_EITHER_WAY = {"task": _task(CONJUNCTION, closed=True), "eps": EPS}
"""A class closed under negation: under replace, the person's gain for one rule is the loss of another."""

CASES = (
    Case("select_signed_query", _signed, finite=True),
    Case("select_worst_queries", lambda kernel, neighbours: _two_errors(kernel, neighbours) | _AS_MANY, finite=True),
    Case("permute_and_flip", _two_errors, share=0.2),
    Case("measure_queries", lambda kernel, _: {"queries": _THREE, "numbers": _NUMBERS, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}),
    Case("keep_queries", _bits, finite=True),
    *(
        Case("learn_rule", _rule(kind), kind, share=0.5, others=(), units=(unit,))
        for kind, unit in zip((CONJUNCTION, DISJUNCTION, PARITY, HALFSPACE), UNITS, strict=True)
    ),
    Case("learn_rule", _rule(DECISION_LIST), "decision list", share=0.2, others=()),
    Case("learn_rule_gaussian", _rule(CONJUNCTION, delta=1e-3), share=0.5, others=()),
    # fewer parts than these tables have people, and few enough runs to do them again and again
    Case("learn_rule_robustly", _rule(CONJUNCTION, eps=4.0, delta=0.05), share=0.03, units=(Unit(REPLACE, 1),)),
    Case("select_rule", lambda _kernel, _: _EITHER_WAY, finite=True, others=()),
    Case("measure_rules", _rule_costs),
    Case("best_mixture_error", _mixture, share=0.5),
)


def _signed_queries(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    rated = _errors(table, arguments) * arguments["eps"] / (2 * unit.query_l1)
    total = float(logsumexp(np.concatenate([rated, -rated])))
    return lambda drawn: float((drawn[1] * rated[drawn[0]] - total).sum())


def _worst_rated(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    rated = np.abs(_errors(table, arguments)) * arguments["eps"] / (2 * unit.query_l1)
    offered = np.ones(len(rated), dtype=np.bool_)
    offered[arguments.get("excluded", [])] = False

    def likelihood(drawn: Any) -> float:
        left, total = offered.copy(), 0.0
        for number in np.atleast_1d(drawn).tolist():
            total += float(rated[number] - logsumexp(rated[left]))
            left[number] = False
        return total

    return likelihood


def _kept(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:  # noqa: ARG001
    counts = arguments["queries"].counts(table.counts(arguments["queries"].cliques))[arguments["numbers"]]
    payoff = arguments["signs"] * (np.minimum(1.0, counts / arguments["records"]) - arguments["answers"])
    logs = -arguments["eta"] * (1 + payoff) - arguments["gamma"]
    return lambda bits: float(np.where(bits, logs, np.log(-np.expm1(logs))).sum())


def _chosen_rule(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    task = arguments["task"]
    problem = task.problem(table.occupied(task.columns))
    rate = -arguments["eps"] / (2 * unit.query_l1 * STEPS)
    total = float(logsumexp(rate * all_values(problem)))
    return lambda written: rate * problem.value(task.rules.read(written)) - total


def _errors(table: InventedTable, arguments: Arguments) -> NDArray[np.float64]:
    """Return q(D) - answer_q for every query q of the class, in counts.

    Args:
        table: The table D.
        arguments: The arguments of the operation, with the class as "queries" and "answers".
    """
    queries = arguments["queries"]
    counts = queries.counts(table.counts(queries.cliques))
    return np.asarray(counts - arguments["answers"].at(np.arange(queries.size)), dtype=np.float64)


def _labelled(_losses: Losses, _arguments: Arguments) -> Guess:
    """Return the guess that assumes no privacy loss and keeps the answer as the label of a draw.

    No better guess is known for learnt rules.
    """
    return lambda answer: Draw(0.0, key(answer))


def _mixtures(losses: Losses, arguments: Arguments) -> Guess:
    """Return the guess for `best_mixture_error`.

    It assumes Laplace noise around the answer of a kernel without noise.
    """

    def shifted(_: Event, without: Float, with_person: Float) -> Callable[[Float], float]:
        return lambda noisy: float((np.abs(noisy - without) - np.abs(noisy - with_person)).sum() / arguments["scale"])

    return losses.of_numbers("best_mixture_error", arguments, shifted)


GUESSES: Mapping[str, Maker] = {
    "select_signed_query": chosen(_signed_queries),
    "select_worst_queries": chosen(_worst_rated),
    "permute_and_flip": chosen(_worst_rated),
    "keep_queries": chosen(_kept),
    "select_rule": chosen(_chosen_rule),
    "learn_rule": _labelled,
    "learn_rule_gaussian": _labelled,
    "learn_rule_robustly": _labelled,
    "best_mixture_error": _mixtures,
}
