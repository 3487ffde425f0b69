"""The interface of criteria: conditions on a release, with a limit, the measurement that decides them, and the outcome.

Criteria know the plan, what is published and a kernel; never a table. A kind is one frozen dataclass, and one entry of `registry`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, auto
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from typing_extensions import override

from dpsynth_core.claims.criteria.outcomes import MUST, SHOULD, TOO_SMALL, Importance
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import percent, possible
from dpsynth_core.statistics.intervals import CONFIDENCE, LUCKY, Interval, Noisy
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.kind import is_number
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

UNKNOWN = Interval(math.nan, 0.0, math.inf)
MAX_NAME = 200
Entries = Mapping[str, Any]


class Entry(Enum):
    """The content of an entry of a criterion's JSON, which decides how the wizard draws it."""

    PERCENT = auto()
    """A share of people."""
    AMOUNT = auto()
    """A number above 0 in the unit of a column."""
    QUANTILE = auto()
    """A share of people below a number; the median by default."""
    NUMBER = auto()
    """A column of numbers."""
    NUMBERS = auto()
    """A few more columns of numbers."""
    PEOPLE = auto()
    """A condition on people (`conditions`)."""
    TABLES = auto()
    """Tables of the workload."""
    PREDICTED = auto()
    """A column that models can predict."""
    MODEL = auto()
    """A model of that column, by name."""
    NEAR = auto()
    """The allowed distance of a guessed number."""


@dataclass(frozen=True)
class Field:
    """An entry of a criterion's JSON, as forms show it.

    Attributes:
        name: Name of the entry.
        label: Label for people.
        holds: Kind of its content.
        usual: Default in a new criterion (shares as fractions), or None.
        least: Smallest share of people, as a fraction.
        most: Largest number of columns, where there may be several.
    """

    name: str
    label: str
    holds: Entry
    usual: float | None = None
    least: float = 0.0
    most: int = 1

    @classmethod
    def amount(cls, usual: float) -> Field:
        """Return the entry "tolerance", an amount in a column's unit, with the default `usual`."""
        return cls("tolerance", "Off by at most", Entry.AMOUNT, usual)


OFF_BY = "Off by at most, in % of people"
AMONG = Field("among", "Among (all people if empty)", Entry.PEOPLE)


@dataclass(frozen=True, eq=False)
class Published:
    """The published statements that criteria are about.

    Attributes:
        workload: The workload.
        tables: Returns the marginals of these cliques that are available, by clique, as fractions.
        people: Number of records with its noise.
    """

    workload: Workload
    tables: Callable[[Collection[Clique]], Mapping[Clique, NDArray[np.float64]]]
    people: Noisy

    def table(self, clique: Clique) -> NDArray[np.float64] | None:
        """Return a marginal as fractions, one axis per column; None if it is not available."""
        return self.tables([clique]).get(clique)


@dataclass(frozen=True)
class Criterion:
    """One condition, and the words for a condition that an error stays within a limit.

    Attributes:
        kind: Its kind in JSON.
        title: Its title.
        form: The entries of its JSON; the limit is the first one with a `usual` value.
        is_share: Whether errors and limit are shares of people, shown in per cent.
        by_size: Whether smaller groups are known less well.
        of_members: Whether it may be about members of two linked tables.
        importance: `MUST` or `SHOULD`.
        name: The author's name for it, or ""; hostile text.
    """

    kind: ClassVar[str]
    title: ClassVar[str]
    form: ClassVar[tuple[Field, ...]]
    is_share: ClassVar[bool] = True
    by_size: ClassVar[bool] = True
    of_members: ClassVar[bool] = False

    importance: Importance
    name: str

    if TYPE_CHECKING:  # of some kinds fields, of others the same for all

        @property
        def limit(self) -> float:
            """The largest error that is allowed."""

        @property
        def unit_of_error(self) -> str:
            """The words that follow an error or a limit, such as "of the people in a wrong cell"."""

    @classmethod
    def read(cls, entries: Entries, workload: Workload, field: str) -> Self:
        """Return the criterion that JSON states.

        Args:
            entries: The JSON object.
            workload: The workload, with the domain.
            field: Name of the object, with which the fields of errors begin.

        Raises:
            InputError: An entry is missing or invalid.
        """
        raise NotImplementedError

    @classmethod
    def common(cls, entries: Entries, field: str) -> tuple[Importance, str]:
        """Return the importance and the name that a criterion's JSON states, after a check of the entries' names.

        Without them they are `MUST` and "".

        Args:
            entries: The JSON object.
            field: Place of the criterion in the spec, with which the fields of errors begin.

        Raises:
            InputError: The importance is neither "must" nor "should", the name is longer than 200 characters or has
                invisible ones, or the kind does not have an entry that is stated.
        """
        everything = ("kind", "importance", "name", *(one.name for one in cls.form))
        unknown = next((name for name in entries if name not in everything), None)
        if unknown is not None:
            raise InputError(f"{field}.{shown(unknown)[1:-1]}", "this entry is unknown", f"use {', '.join(everything)}")
        importance, name = entries.get("importance", MUST), entries.get("name", "")
        if importance not in (MUST, SHOULD):
            raise InputError(f"{field}.importance", f"{shown(importance)} is unknown", f'use "{MUST}" or "{SHOULD}"')
        if not isinstance(name, str) or len(name) > MAX_NAME or not (name == "" or name.isprintable()):
            raise InputError(f"{field}.name", "it is not a short text", f"write at most {MAX_NAME} characters on one line, or leave it out")
        return importance, name

    def linked(self, link: Link, domain: Domain, field: str) -> Self:  # noqa: ARG002
        """Return the criterion for two linked tables; by default itself.

        Args:
            link: The link of the tables.
            domain: The domain of the pairs.
            field: Place of the criterion in the spec, for errors.

        Raises:
            InputError: For two linked tables the criterion would decide nothing.
        """
        return self

    def sentence(self, domain: Domain) -> str:
        """Return what the criterion limits as a noun phrase or a clause, without its limit; names and values are unescaped.

        Args:
            domain: The domain, which has the labels of values.
        """
        raise NotImplementedError

    def needs(self, workload: Workload) -> Sequence[Clique]:  # noqa: ARG002
        """Return the cliques that the kernel must count to measure the criterion; () by default."""
        return ()

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """Return by how much the upper bound is expected to exceed the measured error, before the run.

        Args:
            unit: The unit of privacy.
            rho: The criterion's part of the budget, in rho.
            workload: The workload.
            people: A public or declared number of people.

        Returns:
            The margin in the unit of the limit (shares as fractions); infinite if such a measurement could tell
            nothing.
        """
        raise NotImplementedError

    def amount(self, error: float) -> str:
        """Return an error or a limit in words, with its unit: shares in per cent, from 0 to 100.

        Args:
            error: The error or limit; a share as a fraction.
        """
        return f"{percent(possible(error)) if self.is_share else f'{error:.3g}'} {self.unit_of_error}"

    def requirement(self) -> str:
        """Return the requirement in words, such as "within 5% of the people", to follow `sentence`."""
        return f"within {self.amount(self.limit)}"

    def finding(self, interval: Interval) -> str:
        """Return a sentence with the measured error and its bounds of 95 % confidence each.

        If the bounds leave every share possible, the sentence says that the group is too small.
        """
        if self.is_share and interval.at_most >= 1 and interval.at_least <= 0:
            return TOO_SMALL

        def written(error: float) -> str:
            return percent(possible(error)) if self.is_share else f"{max(0.0, error):.3g}"

        low = f"at least {written(interval.at_least)} and " if interval.at_least > 0 else ""
        return f"Measured: {written(interval.error)}; {low}at most {written(interval.at_most)}, with 95% confidence each."

    def uncertainty(self, margin: float) -> str:
        """Return the result of `margin` in words, with its unit."""
        return self.amount(margin)

    def rule(self, margin: float) -> str:
        """Return a sentence: which measured errors are met, not met or undecided, given the noise.

        Args:
            margin: The result of `margin`.
        """
        low, high = (self.amount(self.limit + sign * margin) for sign in (-1, 1))
        return f"Measured below {low}, it is met; above {high}, not met; in between it stays undecided."

    def hopeless(self, margin: float) -> bool:
        """Return whether the criterion will hardly be met, however good the rows are.

        That is so because the noise alone may reach the limit.

        Args:
            margin: The result of `margin`.
        """
        return margin >= self.limit


@dataclass(frozen=True)
class MeasuredCriterion(Criterion):
    """A criterion that the kernel measures. Others follow from other measurements (`models`)."""

    def clique(self, domain: Domain) -> Clique:
        """Return the marginal that decides the criterion, for kinds that a single marginal decides."""
        raise NotImplementedError

    @override
    def needs(self, workload: Workload) -> Sequence[Clique]:
        """Return the one marginal that decides the criterion."""
        return (self.clique(workload.domain),)

    def hopeless(self, margin: float) -> bool:
        """Return whether no measurement can confirm the limit, because noise is too large for it.

        That is so if the limit is at most 2.45 standard deviations of the noise (`LUCKY`).

        Args:
            margin: The result of the method `margin`.
        """
        return margin * LUCKY >= self.limit * normal(CONFIDENCE)

    def answers(self, workload: Workload) -> int:  # noqa: ARG002
        """Return the number of kernel answers that `measure` takes, the same for every outcome; 1 by default."""
        return 1

    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Measure the error of what is published with the kernel's whole remaining budget.

        Args:
            kernel: The kernel, which is charged.
            published: The published tables and the number of records.

        Returns:
            The error with its bounds of 95 % confidence each, in the unit of the limit; `UNKNOWN` if the release
            does not determine what the criterion is about. The budget is spent even then.
        """
        raise NotImplementedError


def positive(entries: Entries, name: str, field: str, below: float = math.inf) -> float:
    """Return a limit that a criterion's JSON states.

    Args:
        entries: The entries of the JSON object.
        name: Name of the entry.
        field: Place of the criterion in the spec, for errors.
        below: The limit must be below this number.

    Raises:
        InputError: The entry is missing, or not a number above 0 and below `below`.
    """
    value = entries.get(name)
    if value is None:
        raise InputError(f"{field}.{name}", "it is missing", "add it")
    if not is_number(value) or not 0 < value < below:
        allowed = "a number above 0" if math.isinf(below) else f"a number above 0 and below {below:g}"
        raise InputError(f"{field}.{name}", f"{shown(value)} cannot be used", f"give {allowed}")
    return float(value)
