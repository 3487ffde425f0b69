"""Audits of single operations: a question, and the two tables on which its answer reveals most about one person.

The tables are over three columns of two values. Questions take their noise from the kernel's own public numbers, so that each has the same
charge under each unit of privacy: `MU` for Gaussian noise, `EPS` for everything else.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.audit.evidence import Claim, Finding, from_draws, from_probabilities, of_charges
from dpsynth_core.extensions.audit.losses import Guess, Losses, View, key
from dpsynth_core.extensions.audit.neighbours import InventedTable, Neighbours, Row
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.privacy.view import Integers, Noise
from dpsynth_core.vocabulary.domain import Domain

DOMAIN = Domain.from_json({"a": 2, "b": 2, "c": 2})
UNITS = tuple(Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2))
MU = 2.2
"""l2 / sigma of Gaussian noise: about where a given number of draws shows an error in sigma or l2 best."""
EPS = 1.5
"""eps of selections and of operations that are eps-differentially private."""
RECORDS = 20
"""Number of people in the first cell; half as many are in `NEW`, the cell to which the person comes."""

OLD, NEW = (0, 0, 0), (0, 1, 0)
_OTHERS: tuple[Row, ...] = (OLD,) * RECORDS + (NEW,) * (RECORDS // 2)
FAR = 50.0
"""A count that occurs in none of these tables."""

Question = dict[str, Any]
"""The arguments of an operation, by name."""
Ask = Callable[[PrivacyKernel, Neighbours], Question]
Kernels = Callable[..., PrivacyKernel]
"""Builds a kernel from (source, unit, rho, noise, delta, accountant): the class itself, or a deliberately broken one in a test."""


def _moved(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    rows = unit.max_rows_per_person
    return ((OLD,) * rows if unit.relation == REPLACE else ()), (NEW,) * rows


@dataclass(frozen=True)
class Case:
    """An audited question about one kernel operation, and two neighbouring tables to ask it on.

    Attributes:
        operation: Name of the operation.
        ask: Returns the operation's arguments by name, from a kernel's public numbers and the
            tables.
        variant: Kind of the question, in words.
        finite: Whether the answer is a choice among finitely many, so that every probability can be
            computed.
        share: Share of an audit's draws; slow operations get fewer.
        others: Rows of the other people.
        person: Returns the person's rows in the first and in the second table; by default rows of
            `OLD` (none under add-remove) and of `NEW`.
        units: Units of privacy to audit.
        look: A guess at the privacy loss of an answer, in place of the guess from `losses`.
        view: Turns the kernel of all records into the kernel that is asked, such as one of weighted records.
    """

    operation: str
    ask: Ask
    variant: str = ""
    finite: bool = False
    share: float = 1.0
    others: Sequence[Row] = _OTHERS
    person: Callable[[Unit], tuple[Sequence[Row], Sequence[Row]]] = _moved
    units: tuple[Unit, ...] = UNITS
    look: Guess | None = None
    view: View = lambda kernel: kernel

    @property
    def title(self) -> str:
        """The operation, with the kind of question in parentheses if it has one."""
        return f"{self.operation} ({self.variant})" if self.variant else self.operation

    def question(self, neighbours: Neighbours, kernels: Kernels) -> Question:
        """Return the operation's arguments by name. They are the same for both tables.

        Args:
            neighbours: The two tables.
            kernels: Builds the kernel whose public numbers (unit, sensitivities) determine the noise.
        """
        return self.ask(self.view(kernels(neighbours.tables[0], neighbours.unit, 1.0, SeededNoise(0), 0.0, ZCDP)), neighbours)

    def neighbours(self, unit: Unit) -> Neighbours:
        """Return the two tables of the case under a unit of privacy.

        Raises:
            ValueError: The person's rows do not go with the unit.
        """
        before, after = self.person(unit)
        return Neighbours.of("the worst case for this question", DOMAIN, unit, self.others, before, after)


def compute(case: Case, unit: Unit, kernels: Kernels = PrivacyKernel) -> list[Finding]:
    """Test every claim about a finite case against the exact probability of each answer, without draws.

    Args:
        case: The case, which must be finite.
        unit: The unit of privacy.
        kernels: Builds the kernels; a test gives a broken one.

    Returns:
        One finding per claim: the smallest rho or epsilon that the probabilities allow.

    Raises:
        RuntimeError: More than 100,000 sequences of choices lead to an answer.
        NotImplementedError: The operation takes noise with too many values.
    """
    neighbours, charges = case.neighbours(unit), set[tuple[Event, ...]]()
    question = case.question(neighbours, kernels)

    def of(table: InventedTable) -> dict[Hashable, float]:
        return probabilities(lambda noise: key(_answer(case, question, kernels, neighbours.unit, table, noise, charges)))

    without, with_person = map(of, neighbours.tables)
    return [from_probabilities(claim, without, with_person) for claim in _claims(charges)]


def sample(case: Case, unit: Unit, noise: Noise, draws: int, level: float, kernels: Kernels = PrivacyKernel) -> list[Finding]:
    """Test every claim about a case against answers drawn on either table.

    Args:
        case: The case.
        unit: The unit of privacy.
        noise: The source of noise.
        draws: Number of draws per table before `case.share` reduces it; at least 8 are drawn.
        level: Error probability of each claim (`evidence.from_draws`).
        kernels: Builds the kernels; a test gives a broken one.

    Returns:
        One finding per claim: a lower confidence bound for its rho or epsilon.
    """
    neighbours, charges = case.neighbours(unit), set[tuple[Event, ...]]()
    question = case.question(neighbours, kernels)
    guess = case.look or Losses(neighbours, case.view).of(case.operation, question)
    count = max(8, round(case.share * draws))
    without, with_person = (
        [guess(_answer(case, question, kernels, neighbours.unit, table, noise, charges)) for _ in range(count)]
        for table in neighbours.tables
    )
    return [from_draws(claim, (without, with_person), level) for claim in _claims(charges)]


def _answer(
    case: Case, question: Question, kernels: Kernels, unit: Unit, table: InventedTable, noise: Noise, charges: set[tuple[Event, ...]]
) -> Any:
    """Return one answer to a question, and add the kernel's charges for it to `charges`.

    The kernel is new and has budget for any question.
    """
    kernel = kernels(table, unit, 1e6, noise, 0.99, ZCDP)
    answer = getattr(case.view(kernel), case.operation)(**question)
    charges.add(kernel.events)
    return answer


def _claims(charges: Collection[tuple[Event, ...]]) -> Iterator[Claim]:
    """Yield the privacy claims of the most costly of these charges.

    They are all equal, unless the charge depends on the table.
    """
    return of_charges(max(charges, key=lambda events: sum(event.cost for event in events)))


MOST_PATHS = 100_000


def probabilities(answer: Callable[[Branch], Hashable]) -> dict[Hashable, float]:
    """Return the probability of each answer of a randomised choice among finitely many.

    It is computed exactly, without draws, so that the smallest error in a scale or a sensitivity
    shows.

    Args:
        answer: Returns the answer for a source of noise; its only randomness must come from there.

    Raises:
        RuntimeError: More than 100,000 sequences of choices lead to an answer.
        NotImplementedError: The answer takes normal or Laplace noise or tosses coins (`halved`), which have
            too many values.
    """
    total: defaultdict[Hashable, float] = defaultdict(float)
    waiting: list[tuple[int, ...]] = [()]
    for _ in range(MOST_PATHS):
        branch = Branch(waiting.pop())
        total[answer(branch)] += branch.probability
        waiting += branch.others
        if not waiting:
            return dict(total)
    raise RuntimeError("an operation makes too many choices to go through")


class Branch:
    """A source of noise that follows one path through the tree of possible choices.

    It takes the choices `first`, then always choice 0. Normal and Laplace noise have too many values and raise NotImplementedError.

    Args:
        first: Indices of the first choices, from 0.

    Attributes:
        probability: Probability of the path so far, from 0 to 1.
        others: The paths that branch off after `first`, to be followed later.
    """

    private = False

    def __init__(self, first: tuple[int, ...]) -> None:
        self._choices, self._depth = first, 0
        self.probability, self.others = 1.0, list[tuple[int, ...]]()

    def noisy_max(self, scores: Integers, scale: float) -> int:
        """Return the next choice of the path, an index from 0, whose probability is in proportion to exp(score / scale).

        Args:
            scores: Score of each choice.
            scale: The scale, in the unit of the scores.
        """
        weights = np.exp((scores - scores.max()) / scale)
        return self._choose((weights / weights.sum()).tolist())

    def uniform(self, size: int) -> int:
        """Return the next choice of the path, an index from 0 to size - 1, each equally likely."""
        return self._choose([1 / size] * size)

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        """Return one choice of the path per exponent x, True with probability exp(-x), shape (exponents,)."""
        heads = [float(np.exp(-float(x))) for x in exponents]
        return np.array([self._choose([1 - p, p]) for p in heads], dtype=np.bool_)

    def _choose(self, chances: Sequence[float]) -> int:
        if self._depth < len(self._choices):
            chosen = self._choices[self._depth]
        else:
            chosen = 0
            self.others += [(*self._choices, other) for other in range(1, len(chances)) if chances[other] > 0]
            self._choices = (*self._choices, chosen)
        self._depth += 1
        self.probability *= chances[chosen]
        return chosen

    def _refuse(self, *_: Any, **__: Any) -> NoReturn:
        raise NotImplementedError("this noise has more values than can be gone through")

    gaussian = discrete_laplace = halved = _refuse
