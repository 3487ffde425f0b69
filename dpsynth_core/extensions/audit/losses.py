"""Guesses at the privacy loss of an answer: how much more likely the answer is with a person than without, for each operation.

The better the guess, the more an audit sees. A wrong guess makes an audit blind, never wrong (`evidence`). Noisy numbers are compared with
the answers of a kernel without noise on either table, choices with the promised exponential mechanism. Where no good guess is known, the
answer itself is the label of a draw.

Guesses of one run's answers add up: each is made for one question, and questions follow from earlier answers.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Mapping, Sequence
from fractions import Fraction
from functools import cache
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from dpsynth_core.extensions.audit.evidence import Draw
from dpsynth_core.extensions.audit.neighbours import InventedTable, Neighbours
from dpsynth_core.foundation import extension
from dpsynth_core.privacy.events import Event, Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.scores import COUNT_STEPS, WEIGHT_STEPS
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Integers
from dpsynth_core.vocabulary import keys
from dpsynth_core.vocabulary.measurement import Measurement, Residual

OPERATIONS = tuple(name for name, operation in everything().items() if operation.event is not None)
"""All operations that a kernel charges for."""

Arguments = Mapping[str, Any]
Guess = Callable[[Any], Draw]
"""Returns, for an answer, the draw that describes it: a guess at its privacy loss, or a label."""
View = Callable[[PrivacyKernel], PrivacyKernel]
"""Returns another kernel of the same table."""
Maker = Callable[["Losses", Arguments], Guess]
"""Returns the guess for one question, with the parts that all its answers share."""
Shifted = Callable[[Event, NDArray[np.float64], NDArray[np.float64]], Callable[[NDArray[np.float64]], float]]
"""Returns the loss of noisy numbers, from the charge and the exact answers on either table."""
Likelihood = Callable[[InventedTable, Unit, Arguments], Callable[[Any], float]]
"""Returns ln Pr[answer] of a choice on one table, as promised."""

NO_ANSWER = "no answer"
_AMPLE = 1e12


class Losses:
    """Guesses at the privacy losses of answers, for questions about two neighbouring tables.

    Args:
        neighbours: The two tables.
        view: Turns the kernel of all records into the kernel that is asked.
    """

    def __init__(self, neighbours: Neighbours, view: View = lambda kernel: kernel) -> None:
        self.neighbours = neighbours
        self._exact = [view(PrivacyKernel(table, neighbours.unit, _AMPLE, _Silent())) for table in neighbours.tables]

    def of(self, operation: str, arguments: Arguments) -> Guess:
        """Return a function that describes an answer of this operation by a `Draw`: a guess at its privacy loss, or a label.

        An operation without a guess of its own is taken to answer numbers with Gaussian noise.

        Args:
            operation: Name of the operation.
            arguments: Arguments of the call, by name.
        """
        maker = _makers().get(operation)
        return self.of_numbers(operation, arguments, _gaussian) if maker is None else maker(self, arguments)

    def of_values(self, arguments: Arguments) -> Guess:
        """Return the guess at answers of `discover_values`.

        The label is the released values that only one of the two tables has; None without such a value. The loss follows from
        the Gaussian noise of the other values' counts.

        Args:
            arguments: Arguments of the call, by name.
        """
        (name,) = arguments["clique"]
        without, with_person = (sum(map(Counter, table.values(name)), Counter[str]()) for table in self.neighbours.tables)
        lone = (without.keys() ^ with_person.keys()) - set(keys.PUBLIC)

        def guess(answer: dict[str, int]) -> Draw:
            common = [(rows, without[key], with_person[key]) for key, rows in answer.items() if key not in lone]
            shift = [(new - old) * (rows - (old + new) / 2) for rows, old, new in common]
            return Draw(sum(shift) / arguments["sigma"] ** 2, tuple(sorted(lone & answer.keys())) or None)

        return guess

    def of_numbers(self, operation: str, arguments: Arguments, shifted: Shifted) -> Guess:
        """Return the guess at answers that are noisy numbers.

        An answer of None, and an answer free of charge, get a label in place of a loss.

        Args:
            operation: Name of the operation.
            arguments: Arguments of the call, by name.
            shifted: Returns the function from noisy numbers to their loss, for the charge and the
                exact answers without and with the person.
        """
        exact = [getattr(kernel, operation)(**arguments) for kernel in self._exact]
        if any(answer is None for answer in exact):
            return lambda answer: Draw(0.0, answer is None)
        if not self._exact[0].events:
            return lambda answer: Draw(0.0, key(answer))  # free of charge, so public
        loss = shifted(self._exact[0].events[-1], *map(numbers, exact))
        return lambda answer: Draw(0.0, NO_ANSWER) if answer is None else Draw(loss(numbers(answer)))


def _gaussian(charge: Event, without: NDArray[np.float64], with_person: NDArray[np.float64]) -> Callable[[NDArray[np.float64]], float]:
    slope = (with_person - without) / cast(Gaussian, charge).sigma ** 2
    middle = (with_person + without) / 2
    return lambda noisy: float((noisy - middle) @ slope)


def chosen(likelihood: Likelihood) -> Maker:
    """Return a maker of guesses at a choice, whose loss follows from the promised probabilities.

    Args:
        likelihood: Returns, for one table, the function from an answer to ln Pr[answer].
    """

    def of_choice(losses: Losses, arguments: Arguments) -> Guess:
        pair = losses.neighbours
        without, with_person = (likelihood(table, pair.unit, arguments) for table in pair.tables)
        return lambda answer: Draw(with_person(answer) - without(answer))

    return of_choice


def key(answer: Any) -> Hashable:
    """Return an answer as a value that can be hashed.

    An array becomes a flat tuple of its numbers, and a tuple the tuple of its converted entries. Any other answer
    is returned unchanged, even if it cannot be hashed, such as a dict.
    """
    if isinstance(answer, np.ndarray):
        return tuple(answer.ravel().tolist())
    return tuple(map(key, answer)) if isinstance(answer, tuple) else cast(Hashable, answer)


def numbers(answer: Any) -> NDArray[np.float64]:
    """Return all numbers of a noisy answer as a flat array, in order.

    An answer is a number, an array, a measurement or residual, a non-empty list of these, or a dict of
    numbers.
    """
    if isinstance(answer, Measurement | Residual):
        return answer.values.ravel()
    if isinstance(answer, list):
        return np.concatenate([numbers(part) for part in answer])
    return np.array(list(answer.values()) if isinstance(answer, dict) else answer, dtype=np.float64).ravel()


class _Silent:
    """A source of noise of size zero, so that answers are exact. It serves tables of invented people only."""

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


def _offered_marginal(table: InventedTable, unit: Unit, arguments: Arguments) -> Callable[[Any], float]:
    offered, among = arguments["offered"], arguments["among"]
    parts = offered.tables, (offered.weights / WEIGHT_STEPS).tolist(), (offered.offsets / COUNT_STEPS).tolist()
    told = [one for one, some in zip(zip(offered.cliques, *parts, strict=True), among, strict=True) if some]
    scores = {r: weight * (float(np.abs(table.count(r) - answer).sum()) - offset) for r, answer, weight, offset in told}
    rate = arguments["eps"] / (2 * max(weight for _, _, weight, _ in told) * unit.marginal_l1)
    total = float(logsumexp([rate * score for score in scores.values()]))
    return lambda clique: rate * scores[clique] - total


_CORE: Mapping[str, Maker] = {
    "select_offered_marginal": chosen(_offered_marginal),
    "discover_values": Losses.of_values,
}


@cache
def _makers() -> Mapping[str, Maker]:
    """Return, by operation name, the makers of core and extensions for answers that are not Gaussian noisy numbers."""
    return dict(_CORE) | {name: maker for audits in extension.parts("audit") for name, maker in audits.GUESSES.items()}
