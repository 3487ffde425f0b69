"""How much more likely an answer of the kernel is with a person than without: a guess at its privacy loss, for each operation.

The better the guess, the more an audit sees. Nothing else depends on it: a wrong guess makes an audit blind, never wrong (`evidence`).
Noisy numbers are compared with what a kernel without noise answers on either table, choices with the exponential mechanism that is
promised. Where there is no good guess, the answer itself is the label of a draw.

Guesses of one run's answers add up: each is made for one question, and questions follow from earlier answers.
"""

from __future__ import annotations

import inspect
from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from types import MappingProxyType
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpsynth_core.audit.evidence import Draw
from dpsynth_core.audit.neighbours import InventedTable, Neighbours
from dpsynth_core.privacy.events import Event, Gaussian, Laplace
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import Integers
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.research.oracles.rules.rule_oracle import all_values
from dpsynth_core.research.oracles.rules.task import STEPS
from dpsynth_core.vocabulary import keys
from dpsynth_core.vocabulary.measurement import Measurement, Residual

FREE = frozenset({"part", "over", "among", "grouped", "prepare", "prepare_cells", "residual_l2", "mixture_l1", "seed"})
"""What a kernel offers without looking at the table, and so without a charge."""
OPERATIONS = tuple(
    name for name, value in vars(PrivacyKernel).items() if inspect.isfunction(value) and not name.startswith("_") and name not in FREE
)
"""All other operations of a kernel, read from the class itself, so that a new operation is included."""

Arguments = Mapping[str, Any]
Guess = Callable[[Any], Draw]
"""From an answer to the draw that describes it: a guess at its privacy loss, or a label."""

NO_ANSWER = "no answer"
_AMPLE = 1e12


class Losses:
    """Guesses for questions about these two tables. group: the cells of the records that are asked about, {} for all records."""

    def __init__(self, neighbours: Neighbours, group: Mapping[str, tuple[int, ...]] = MappingProxyType({})) -> None:
        self._neighbours = neighbours
        whole = [PrivacyKernel(table, neighbours.unit, _AMPLE, _Silent()) for table in neighbours.tables]
        self._exact = [kernel.among(group) for kernel in whole] if group else whole

    def of(self, operation: str, arguments: Arguments) -> Guess:
        """The guess at an operation's answers. arguments: those of the call, by name."""
        if operation in _CHOICES:
            return self._of_choice(_CHOICES[operation], arguments)
        if operation == "discover_values":
            return self._of_values(arguments)
        if operation.startswith("learn_"):
            return lambda answer: Draw(0.0, key(answer))
        return self._of_numbers(operation, arguments)

    def _of_choice(self, likelihood: _Likelihood, arguments: Arguments) -> Guess:
        without, with_person = (likelihood(table, self._neighbours.unit, arguments) for table in self._neighbours.tables)
        return lambda answer: Draw(with_person(answer) - without(answer))

    def _of_values(self, arguments: Arguments) -> Guess:
        """Which keys that only one of the tables has were released, and what their noise says of the others."""
        (name,) = arguments["clique"]
        without, with_person = (sum(map(Counter, table.values(name)), Counter[str]()) for table in self._neighbours.tables)
        lone = (without.keys() ^ with_person.keys()) - set(keys.PUBLIC)

        def guess(answer: dict[str, int]) -> Draw:
            common = [(rows, without[key], with_person[key]) for key, rows in answer.items() if key not in lone]
            shift = [(new - old) * (rows - (old + new) / 2) for rows, old, new in common]
            return Draw(sum(shift) / arguments["sigma"] ** 2, tuple(sorted(lone & answer.keys())) or None)

        return guess

    def _of_numbers(self, operation: str, arguments: Arguments) -> Guess:
        exact = [getattr(kernel, operation)(**arguments) for kernel in self._exact]
        if any(answer is None for answer in exact):
            return lambda answer: Draw(0.0, answer is None)
        if not self._exact[0].events:
            return lambda answer: Draw(0.0, key(answer))  # free of charge, so public
        loss = _shifted(self._exact[0].events[-1], *map(numbers, exact))
        return lambda answer: Draw(0.0, NO_ANSWER) if answer is None else Draw(loss(numbers(answer)))


def _shifted(charge: Event, without: NDArray[np.float64], with_person: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], float]:
    """The loss of numbers with Laplace or Gaussian noise around these."""
    if isinstance(charge, Laplace):
        scale = charge.scale
        return lambda noisy: float((np.abs(noisy - without) - np.abs(noisy - with_person)).sum() / scale)
    slope = (with_person - without) / cast(Gaussian, charge).sigma ** 2
    middle = (with_person + without) / 2
    return lambda noisy: float((noisy - middle) @ slope)


@cache
def signature(operation: str) -> inspect.Signature:
    """Of an operation of the kernel."""
    return inspect.signature(getattr(PrivacyKernel, operation))


def key(answer: Any) -> Hashable:
    """An answer as something that can be counted."""
    if isinstance(answer, np.ndarray):
        return tuple(answer.ravel().tolist())
    return tuple(map(key, answer)) if isinstance(answer, tuple) else cast(Hashable, answer)


def numbers(answer: Any) -> NDArray[np.float64]:
    """All numbers of a noisy answer, flat."""
    if isinstance(answer, Measurement | Residual):
        return answer.values.ravel()
    return np.array(list(answer.values()) if isinstance(answer, dict) else answer, dtype=np.float64).ravel()


class _Silent:
    """No noise at all: answers are the exact values. For tables of invented people only."""

    private = False

    def gaussian(self, values: Integers, sigma: float) -> Integers:  # noqa: ARG002
        return values

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:  # noqa: ARG002
        return values

    def noisy_max(self, scores: Integers, scale: float) -> int:  # noqa: ARG002
        return int(np.argmax(scores))

    def uniform(self, size: int) -> int:  # noqa: ARG002
        return 0

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        return np.array([x < 1 for x in exponents], dtype=np.bool_)

    def halved(self, counts: Integers) -> Integers:
        return counts // 2


# Choices: ln Pr[answer] on one table, as promised. Each function prepares what all answers to one question share.

_Likelihood = Callable[[InventedTable, Unit, Arguments], Callable[[Any], float]]


def _worst_marginal(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    answers, weights, offsets = arguments["answers"], arguments["weights"], arguments["offsets"]
    scores = {r: weights[r] * (float(np.abs(table.count(r) - answer).sum()) - offsets[r]) for r, answer in answers.items()}
    rate = arguments["eps"] / (2 * max(weights[r] for r in answers) * unit.marginal_l1)
    total = float(logsumexp([rate * score for score in scores.values()]))
    return lambda clique: rate * scores[clique] - total


def _signed_queries(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    rated = _errors(table, arguments) * arguments["eps"] / (2 * unit.query_l1)
    total = float(logsumexp(np.concatenate([rated, -rated])))
    return lambda drawn: float((drawn[1] * rated[drawn[0]] - total).sum())


def _worst_queries(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
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
    """q(D) - answer_q for every query of the class, in counts."""
    queries = arguments["queries"]
    counts = queries.counts(table.counts(queries.cliques))
    return np.asarray(counts - arguments["answers"].at(np.arange(queries.size)), dtype=np.float64)


_CHOICES: Mapping[str, _Likelihood] = {
    "select_worst_marginal": _worst_marginal,
    "select_signed_query": _signed_queries,
    "select_worst_queries": _worst_queries,
    "permute_and_flip": _worst_queries,
    "keep_queries": _kept,
    "select_rule": _chosen_rule,
}
