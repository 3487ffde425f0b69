"""One question for every operation that a kernel charges for, and the two tables on which its answer tells most about one person.

The tables are over three columns of two values. Questions take their noise from the kernel's own public numbers, so that each is charged
the same whatever the unit of privacy: `MU` for Gaussian noise, `EPS` for everything else.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.audit.branching import probabilities
from dpsynth_core.audit.claims import Claim, of_charges
from dpsynth_core.audit.evidence import Draw, Finding, from_draws, from_probabilities
from dpsynth_core.audit.losses import Guess, Losses, key
from dpsynth_core.audit.neighbours import InventedTable, Neighbours, Row
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import Noise, SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.research.oracles.rules.rule_oracle import CP_SAT, EXHAUSTIVE, Oracle
from dpsynth_core.research.oracles.rules.rules import CONJUNCTION, DECISION_LIST, DISJUNCTION, HALFSPACE, PARITY, RuleClass, features
from dpsynth_core.research.oracles.rules.task import Task
from dpsynth_core.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor

DOMAIN = Domain.from_json({"a": 2, "b": 2, "c": 2})
UNITS = tuple(Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2))
MU = 2.2
"""l2 / sigma of Gaussian noise: about where a given number of draws shows an error in sigma or l2 best."""
EPS = 1.5
"""eps of selections and of operations that are eps-differentially private."""
LONE_MU, LONE_DELTA = 0.25, 0.3
"""Where a value of one person shows as such, if it shows more often than it may: hardly anything else does."""
RECORDS = 20
"""People in the first cell; half as many are where `NEW` is, the cell to which the person comes."""

OLD, NEW = (0, 0, 0), (0, 1, 0)
_OTHERS: tuple[Row, ...] = (OLD,) * RECORDS + (NEW,) * (RECORDS // 2)
_FAR = 50.0
"""A count that no table of these has."""
_WORK = 60.0
"""Limit of work for CP-SAT, far more than it needs, so that it fails on neither table."""

Question = dict[str, Any]
"""The arguments of an operation, by name."""
Ask = Callable[[PrivacyKernel, Neighbours], Question]
Kernels = Callable[..., PrivacyKernel]
"""Builds a kernel from (source, unit, rho, noise, delta, accountant): the class itself, or a deliberately broken one in a test."""


@dataclass(frozen=True)
class Case:
    """A question and two tables. ask: the arguments by name, of a kernel's public numbers and the tables. variant: what kind, in words.

    finite: its answer is a choice among finitely many, so that every probability can be computed. share: of the draws of an audit; the
    slow ones get fewer. person: what they own in either table; otherwise rows of `OLD` (replace) and of `NEW`. look: at what of an
    answer, instead of `losses`. group: the cells of the records that are asked about, {} for all records.
    """

    operation: str
    ask: Ask
    variant: str = ""
    finite: bool = False
    share: float = 1.0
    others: Sequence[Row] = _OTHERS
    person: Callable[[Unit], tuple[Sequence[Row], Sequence[Row]]] | None = None
    units: tuple[Unit, ...] = UNITS
    look: Guess | None = None
    group: Mapping[str, tuple[int, ...]] = field(default_factory=dict)

    @property
    def title(self) -> str:
        return f"{self.operation} ({self.variant})" if self.variant else self.operation

    def question(self, neighbours: Neighbours, kernels: Kernels) -> Question:
        """The arguments, from public numbers alone: the same for both tables."""
        return self.ask(kernels(neighbours.tables[0], neighbours.unit, 1.0, SeededNoise(0), 0.0, ZCDP), neighbours)

    def neighbours(self, unit: Unit) -> Neighbours:
        """The two tables under one of its units."""
        before, after = (self.person or _moved)(unit)
        return Neighbours.of("the worst case for this question", DOMAIN, unit, self.others, before, after)


def compute(case: Case, unit: Unit, kernels: Kernels = PrivacyKernel) -> list[Finding]:
    """Every claim against every answer's exact probability; for finite cases."""
    neighbours, charges = case.neighbours(unit), set[tuple[Event, ...]]()
    question = case.question(neighbours, kernels)

    def of(table: InventedTable) -> dict[Hashable, float]:
        return probabilities(lambda noise: key(_answer(case, question, kernels, neighbours.unit, table, noise, charges)))

    without, with_person = map(of, neighbours.tables)
    return [from_probabilities(claim, without, with_person) for claim in _claims(charges)]


def sample(case: Case, unit: Unit, noise: Noise, draws: int, level: float, kernels: Kernels = PrivacyKernel) -> list[Finding]:
    """Every claim against so many draws from either table. level: of each claim, `evidence.from_draws`."""
    neighbours, charges = case.neighbours(unit), set[tuple[Event, ...]]()
    question = case.question(neighbours, kernels)
    guess = case.look or Losses(neighbours, case.group).of(case.operation, question)
    count = max(8, round(case.share * draws))
    without, with_person = (
        [guess(_answer(case, question, kernels, neighbours.unit, table, noise, charges)) for _ in range(count)]
        for table in neighbours.tables
    )
    return [from_draws(claim, (without, with_person), level) for claim in _claims(charges)]


def _answer(
    case: Case, question: Question, kernels: Kernels, unit: Unit, table: InventedTable, noise: Noise, charges: set[tuple[Event, ...]]
) -> Any:
    """One answer, by a kernel of its own with budget enough. What it was charged is added to `charges`."""
    kernel = kernels(table, unit, 1e6, noise, 0.99, ZCDP)
    answer = getattr(kernel.among(case.group) if case.group else kernel, case.operation)(**question)
    charges.add(kernel.events)
    return answer


def _claims(charges: Collection[tuple[Event, ...]]) -> tuple[Claim, ...]:
    """What the dearest of these charges promises. They are all the same, unless what is charged depends on the table."""
    return of_charges(max(charges, key=lambda events: sum(event.cost for event in events)))


def _moved(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    rows = unit.max_rows_per_person
    return ((OLD,) * rows if unit.relation == REPLACE else ()), (NEW,) * rows


# The questions, in the order of the kernel's operations


def _marginal(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"clique": ("a", "b"), "sigma": kernel.unit.marginal_l2 / MU}


def _cells(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The person has the largest number of all."""
    return {"clique": ("b",), "cells": Attribute.integer("b", 0, 1), "sigma": kernel.unit.marginal_l2 / MU}


def _values(mu: float, delta: float) -> Ask:
    def ask(kernel: PrivacyKernel, _: Neighbours) -> Question:
        return {"clique": ("b",), "sigma": kernel.unit.marginal_l2 / mu, "delta": delta}

    return ask


def _residual(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"clique": ("a", "b"), "sigma": kernel.residual_l2(("a", "b"), 1.0) / MU}


def _total(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"sigma": kernel.unit.query_l1 / MU}


def _fewer_rows(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    """Somebody who is replaced may own fewer rows than before."""
    return ((OLD,) if unit.relation == REPLACE else ()), (OLD,) * unit.max_rows_per_person


def _worst_marginal(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
    """Two marginals: one that the person brings further from its answer, and one that they bring closer; equally far half way."""
    answers = {("b",): np.array([_FAR, -_FAR]), ("a", "b"): np.array([[-_FAR, _FAR], [0.0, 0.0]])}
    halfway = {r: sum(float(np.abs(table.count(r) - answers[r]).sum()) for table in neighbours.tables) / 2 for r in answers}
    return {"answers": answers, "weights": dict.fromkeys(answers, 1.0), "offsets": halfway, "eps": EPS}


def _errors(kernel: PrivacyKernel, _: Neighbours) -> Question:
    answers: dict[Clique, Any] = {("b",): np.array([_FAR, -_FAR]), ("a", "b"): np.array([[_FAR, -_FAR], [0.0, 0.0]])}
    return {"answers": answers, "sigma": np.sqrt(len(answers)) * kernel.unit.marginal_l1 / MU}


def _signed(count: int) -> Ask:
    """One query that the person satisfies, and its negation."""

    def ask(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
        queries = QueryClass(DOMAIN, (("b",),))
        return {"queries": queries, "answers": SparseAnswers.all_of(_halfway(queries, neighbours)), "eps": EPS, "count": count}

    return ask


def _two_errors(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
    """Two queries that the person satisfies: one answered too low, so that its error grows, and one too high."""
    queries = QueryClass(DOMAIN, (("b",), ("a", "b")))
    answers = _halfway(queries, neighbours)
    answers[queries.block(("b",))] -= (0.0, _FAR)
    answers[queries.block(("a", "b"))] += (0.0, _FAR, 0.0, 0.0)
    return {"queries": queries, "answers": SparseAnswers.all_of(answers), "eps": EPS}


def _worst_queries(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:
    return _two_errors(kernel, neighbours) | {"count": 2, "excluded": np.zeros(0, dtype=np.int64)}


def _queries(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The cells that the person comes to, one of each marginal."""
    queries = QueryClass(DOMAIN, (("b",), ("a", "b"), ("b", "c")))
    numbers = np.array([1, 3, 8], dtype=np.int64)
    return {"queries": queries, "numbers": numbers, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}


def _bits(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
    """Three queries that the person satisfies, where keeping is as likely as it may be."""
    queries = QueryClass(DOMAIN, (("b",), ("a", "b"), ("b", "c")))
    numbers, ones = np.array([1, 3, 8], dtype=np.int64), np.ones(3)
    return {
        "queries": queries, "numbers": numbers, "signs": ones.astype(np.int8), "answers": ones, "eta": 5.0, "gamma": 0.3, "records": 20.0,
    }


def _largest_error(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"answers": {("b",): np.array([0.0, -_FAR])}, "sigma": kernel.unit.query_l1 / MU}


def _sum(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The person leaves the cell with the smallest weight, or comes to the one with the largest."""
    low, high = -0.5, 1.0
    return {"clique": ("b",), "weights": np.array([low, high]), "low": low, "high": high, "sigma": kernel.unit.sum_l2(low, high) / MU}


def _task(kind: str, names: Sequence[str] = ("b", "c"), closed: bool = False) -> Task:
    return Task.of(DOMAIN, RuleClass(kind, features(DOMAIN, names), closed))


def _rule(kind: str, names: Sequence[str] = ("b", "c"), oracle: str = EXHAUSTIVE, eps: float = EPS) -> Ask:
    task = _task(kind, names)

    def ask(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
        return {"task": task, "eps": eps, "oracle": Oracle(oracle, _WORK)}

    return ask


def _gaussian_rule(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:
    return _rule(CONJUNCTION)(kernel, neighbours) | {"delta": 1e-3}


def _robust_rule(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:
    """Fewer parts than these tables have people, and few enough runs to do them again and again."""
    return _rule(CONJUNCTION)(kernel, neighbours) | {"eps": 4.0, "delta": 0.05}


def _any_rule(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
    """A class with its negations: under replace one rule gains by the person what another loses."""
    return {"task": _task(CONJUNCTION, closed=True), "eps": EPS}


def _rule_costs(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The same rule three times: rules need not be different."""
    task = _task(CONJUNCTION)
    return {"task": task, "rules": [task.rules.rule([0])] * 3, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}


def _right(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The same predictor three times, which is right about the person's rows and about nobody else's in `OLD`."""
    guess = Predictor("b", Additive(np.array([0, 1], dtype=np.int64), {}), Largest(np.arange(2)))
    return {"predictors": [guess] * 3, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}


def _mixture(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """One public row, so that there is one mixture, and it is the person's cell that it answers worst."""
    question = {"queries": QueryClass(DOMAIN, (("b",),)), "support": np.array([OLD], dtype=np.int32), "start": np.ones(1)}
    return question | {"records": float(RECORDS), "floor": 0.5, "scale": kernel.mixture_l1(float(RECORDS)) / EPS}


def _halfway(queries: QueryClass, neighbours: Neighbours) -> Any:
    """What every query counts half way between the two tables: the person moves it equally far from there on either side."""
    without, with_person = (queries.counts(table.counts(queries.cliques)) for table in neighbours.tables)
    return (without + with_person) / 2


def _full_rows(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    """Somebody with every feature, in an otherwise empty table."""
    rows = unit.max_rows_per_person
    return ((OLD,) * rows if unit.relation == REPLACE else ()), ((1, 1, 1),) * rows


def _all_cases() -> Iterator[Case]:
    yield Case("measure_marginal", _marginal)
    yield Case("measure_residual", _residual, share=0.75)
    yield Case("measure_cells", _cells)
    yield Case("discover_values", _values(MU, 1e-9), "values that others share")
    yield Case("discover_values", _values(LONE_MU, LONE_DELTA), "a value of one person", others=(OLD,) * RECORDS)
    yield Case("measure_total", _total, person=_fewer_rows)
    yield Case("select_worst_marginal", _worst_marginal, finite=True)
    yield Case("measure_errors", _errors)
    yield Case("select_signed_query", _signed(2), finite=True)
    yield Case("select_worst_queries", _worst_queries, finite=True)
    yield Case("permute_and_flip", _two_errors, share=0.2)
    yield Case("measure_queries", _queries)
    yield Case("keep_queries", _bits, finite=True)
    yield Case("measure_largest_error", _largest_error)
    for kind, units in zip((CONJUNCTION, DISJUNCTION, PARITY, HALFSPACE), UNITS, strict=True):
        yield Case("learn_rule", _rule(kind), kind, share=0.5, others=(), units=(units,))
    yield Case("learn_rule", _rule(DECISION_LIST), "decision list", share=0.2, others=())
    yield Case("learn_rule_gaussian", _gaussian_rule, share=0.5, others=())
    yield Case("learn_rule_robustly", _robust_rule, share=0.03, units=(Unit(REPLACE, 1),))
    yield Case("select_rule", _any_rule, finite=True, others=())
    yield Case("measure_rules", _rule_costs)
    yield Case("measure_right", _right)
    yield Case("best_mixture_error", _mixture, share=0.5)
    yield Case("measure_sum", _sum)
    yield Case("measure_errors", _errors, "in a group of records", group={"a": (0,)})


CASES = tuple(_all_cases())
"""At least one for each of `losses.OPERATIONS`."""



def _orders(written: NDArray[np.int64]) -> Draw:
    """Of the features of a list that could change places: how many neighbours are in ascending order, and how many in descending."""
    entries = written[1:].reshape(-1, 2).tolist()
    swappable = [one < other for (one, answer), (other, next_answer) in pairwise(entries) if answer == next_answer]
    return Draw(0.0, (sum(swappable), len(swappable) - sum(swappable)))


BY_SEARCH = Case(
    "learn_rule", _rule(DECISION_LIST, DOMAIN.names, CP_SAT, 0.001), "decision list by CP-SAT", others=(), person=_full_rows, look=_orders
)
"""Not in CASES, as each draw starts a solver: whether the form of a rule depends on the records. At this epsilon nothing may show."""
