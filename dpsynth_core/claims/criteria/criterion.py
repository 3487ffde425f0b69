"""What a criterion is: a condition on a release, with its limit, what it takes to decide it, and what comes out.

Criteria know the plan, what is published and a kernel; never a table. A kind is one frozen dataclass, and one entry of `registry`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.claims.criteria.form import Field
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import Interval, Noisy
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.kind import is_number
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

MUST, SHOULD = "must", "should"
MET, NOT_MET, UNDECIDED, UNMEASURED = "met", "not met", "undecided", "not measured"
Importance = Literal["must", "should"]
Entries = Mapping[str, Any]
MAX_NAME = 200


@dataclass(frozen=True, eq=False)
class Published:
    """What a release says. tables: marginals by clique as fractions, those that it can give. people: their number, as far as known."""

    workload: Workload
    tables: Callable[[Collection[Clique]], Mapping[Clique, NDArray[np.float64]]]
    people: Noisy

    def table(self, clique: Clique) -> NDArray[np.float64] | None:
        return self.tables([clique]).get(clique)


class Criterion(Protocol):
    """One condition. importance: `MUST` or `SHOULD`. name: what its author calls it, "" for nothing; hostile text.
    limit: the largest error that is allowed, in the words of `unit_of_error`."""

    kind: ClassVar[str]
    title: ClassVar[str]
    form: ClassVar[tuple[Field, ...]]
    by_size: ClassVar[bool]
    """Whether a smaller group is known less well."""

    @property
    def importance(self) -> Importance: ...

    @property
    def name(self) -> str: ...

    @property
    def limit(self) -> float: ...

    @property
    def unit_of_error(self) -> str:
        """What errors and limit are, after a number: "of the people in a wrong cell"."""

    @property
    def is_share(self) -> bool:
        """Whether errors and limit are shares of people, to be shown in per cent."""

    def sentence(self, domain: Domain) -> str:
        """The condition in words, without its limit; names and values in it are hostile text."""

    def needs(self, workload: Workload) -> Sequence[Clique]:
        """The tables that the kernel has to count for it."""

    def margin(self, unit: Unit, rho: float, workload: Workload, people: float) -> float:
        """How far above what is measured the upper bound is expected to be, with so many people. rho: what is spent on it."""

    def amount(self, error: float) -> str:
        """An error or a limit in words; see `words.Within`, also for those that follow."""

    def requirement(self) -> str: ...

    def finding(self, interval: Interval) -> str: ...

    def uncertainty(self, margin: float) -> str: ...

    def rule(self, margin: float) -> str: ...

    def hopeless(self, margin: float) -> bool: ...


class MeasuredCriterion(Criterion, Protocol):
    """One that the kernel is asked about. Others follow from what is measured anyway (`models`)."""

    def answers(self, workload: Workload) -> int:
        """How many answers of the kernel decide it."""

    def measure(self, kernel: SealedKernel, published: Published) -> Interval:
        """Spend all that `kernel` has left on the error of what is published."""


@dataclass(frozen=True)
class Decided:
    """A criterion and how far off the release was. interval: `UNKNOWN` where what is published says nothing of it; None where the run
    ended before it was measured."""

    criterion: Criterion
    interval: Interval | None = None

    @property
    def outcome(self) -> str:
        """`MET` only if the error is within the limit with all its noise, `NOT_MET` only if it is above it with all its noise;
        `UNMEASURED` where nobody looked."""
        if self.interval is None:
            return UNMEASURED
        if self.interval.at_most <= self.criterion.limit:
            return MET
        return NOT_MET if self.interval.at_least > self.criterion.limit else UNDECIDED

    @property
    def failed(self) -> bool:
        """Whether the release is not what its plan says it must be."""
        return self.criterion.importance == MUST and self.outcome == NOT_MET

    @property
    def unmeasured(self) -> bool:
        """Whether it must be met, and nobody looked."""
        return self.criterion.importance == MUST and self.outcome == UNMEASURED

    @property
    def needs_reason(self) -> bool:
        """Whether the release is not to be published unless somebody says why."""
        return self.failed or self.unmeasured

    @property
    def shown(self) -> bool:
        """Whether it is met, if it must be."""
        return self.criterion.importance != MUST or self.outcome == MET

    @property
    def doubtful(self) -> bool:
        """Whether it must be met, and the noise leaves open whether it is."""
        return self.criterion.importance == MUST and self.outcome == UNDECIDED


UNKNOWN = Interval(math.nan, 0.0, math.inf)


def common(entries: Entries, field: str, form: Sequence[Field]) -> tuple[Importance, str]:
    """Importance and name of any criterion. Raises InputError for those, and for entries that its kind does not have."""
    everything = ("kind", "importance", "name", *(one.name for one in form))
    unknown = next((name for name in entries if name not in everything), None)
    if unknown is not None:
        raise InputError(f"{field}.{shown(unknown)[1:-1]}", "this entry is unknown", f"use {', '.join(everything)}")
    importance, name = entries.get("importance", MUST), entries.get("name", "")
    if importance not in (MUST, SHOULD):
        raise InputError(f"{field}.importance", f"{shown(importance)} is unknown", f'use "{MUST}" or "{SHOULD}"')
    if not isinstance(name, str) or len(name) > MAX_NAME or not (name == "" or name.isprintable()):
        raise InputError(f"{field}.name", "it is no short text", f"write at most {MAX_NAME} characters on one line, or leave it out")
    return importance, name


def positive(entries: Entries, name: str, field: str, below: float = math.inf) -> float:
    """A limit. Raises InputError for what is not a number above 0, and below `below` where there is such."""
    value = entries.get(name)
    if value is None:
        raise InputError(f"{field}.{name}", "it is missing", "add it")
    if not is_number(value) or not 0 < value < below:
        allowed = "a number above 0" if math.isinf(below) else f"a number above 0 and below {below:g}"
        raise InputError(f"{field}.{name}", f"{shown(value)} cannot be used", f"give {allowed}")
    return float(value)
