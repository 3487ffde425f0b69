"""What a claim is: something that a release states of itself, measured after its mechanism on a share of the budget of its own.

A claim knows the plan, what is published and a kernel; never a table. It is one file, with its arithmetic beside it, and one entry of
`registry`: planning divides the budget among all of them, a run measures them in order, `release.json` has them, a recipient checks them,
report, card and command line say them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray
from pydantic import TypeAdapter

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.totals import Total, known_total, measured_total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import Repeated
from dpsynth_core.vocabulary.workload import Workload

Stated = TypeVar("Stated")


class AnswersEnd(InputError):
    """A run ended before the answer that is asked for was given: of a kernel that repeats answers."""

    def __init__(self) -> None:
        super().__init__("transcript", "the run was interrupted here", "keep what was measured until then")


@dataclass(frozen=True)
class BudgetShare:
    """A share of a budget. default: where a spec says nothing; 0 for one that is not set aside unless a spec says so. otherwise: what to
    do instead of stating one from least to most."""

    default: float
    least: float
    most: float
    otherwise: str

    def checked(self, name: str, stated: float) -> float:
        """Raises InputError where it is out of range."""
        if (stated == self.default == 0) or self.least <= stated <= self.most:
            return stated
        limits = f"use a share from {self.least:g} to {self.most:g}, or {self.otherwise}"
        raise InputError(f"budget.{name}", f"{stated:g} is out of range", limits)


class Shares(Protocol):
    @property
    def rho(self) -> float: ...

    def of(self, name: str) -> float:
        """The rho that is set aside for a claim; 0 where nothing is."""


class Asked(Protocol):
    """The parts of a plan that claims look at (`planning.plan.Plan`)."""

    @property
    def domain(self) -> Domain: ...
    @property
    def workload(self) -> Workload: ...
    @property
    def unit(self) -> Unit: ...
    @property
    def mechanism(self) -> Mechanism: ...
    @property
    def shares(self) -> Shares: ...
    @property
    def criteria(self) -> Sequence[Any]: ...
    @property
    def targets(self) -> Sequence[Any]: ...
    @property
    def weight(self) -> Any: ...
    @property
    def columns_sigma(self) -> float | None: ...
    @property
    def records_each(self) -> int: ...
    @property
    def link(self) -> Link | None: ...


@dataclass(frozen=True, eq=False)
class Final:
    """What of a release is final when a claim is measured. known: the number of records as far as it was released before. stated: by name,
    the claims before this one; of a finished release all. inside: by column, how numbers lie in its cells."""

    plan: Asked
    released: Evidence
    known: Total | None
    stated: Mapping[str, Any]
    inside: Mapping[str, Inside] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        plan: Asked,
        codes: NDArray[np.integer] | Repeated | None,
        measured: Sequence[Measurement],
        total: float,
        stated: Mapping[str, Any],
        inside: Mapping[str, Inside],
    ) -> Final:
        """measured: the noisy tables of columns. total: the number of records, public or noisy."""
        known = known_total(measured, total if plan.unit.total_is_public else None)
        return cls(plan, Evidence(plan.domain, codes, measured, total), known, stated, inside)

    @cached_property
    def tables(self) -> dict[Clique, NDArray[np.float64]]:
        """What is published of each marginal of the workload, as fractions: made from rows and noisy tables alone, as whoever has the
        release can. Where a rule or a check is published and the workload is not, of what was measured beside it."""
        if self.plan.mechanism.card.publishes_tables:
            return self.released.published(self.plan.workload.cliques)
        return self.released.published([m.clique for m in self.released.measurements if m.clique])

    @property
    def total(self) -> Total | None:
        """The number of records as it was released, or as a claim before this one measured it."""
        totals = (getattr(stated, "total", None) for stated in self.stated.values())
        return next((total for total in totals if isinstance(total, Total)), self.known)

    def people(self, kernel: SealedKernel) -> Total:
        """The same, measured now with a part of what the kernel has left where nobody knows it."""
        return self.total or measured_total(kernel)


class Received(Protocol):
    """What a recipient has of a release (`bundle.checks.opened.Opened`). answers: of the kernel, each with operation, arguments, value and
    the number of its charges. interrupted: whether the run ended within its mechanism."""

    @property
    def plan(self) -> Asked: ...
    @property
    def final(self) -> Final: ...
    @property
    def answers(self) -> Sequence[Any]: ...
    @property
    def charges(self) -> Sequence[Event]: ...
    @property
    def interrupted(self) -> bool: ...
    @property
    def other_program(self) -> bool: ...
    @property
    def other_versions(self) -> Sequence[str]: ...

    def branded(self, code: str) -> bool: ...

    def written(self, part: str) -> Any:
        """A part of release.json as it stands there."""

    def behind(self, name: str) -> int:
        """How many answers claims took that were measured after this one."""

    def replaying(self, answers: slice) -> SealedKernel:
        """A kernel that repeats these of its answers."""


class Claim(Generic[Stated]):
    """name: of its share in a spec's budget. part: of release.json. purpose: what the share is for; announced: what a run does with it,
    where that is put otherwise. question: that `verify` answers. title, reading: the heading and the explanation of its sentences in report
    and card. noun: before a sentence of it on the command line. libraries: that its numbers depend on."""

    name: ClassVar[str]
    part: ClassVar[str]
    share: ClassVar[BudgetShare]
    purpose: ClassVar[str]
    announced: ClassVar[str] = ""
    unmeasured: ClassVar[str]
    question: ClassVar[str]
    title: ClassVar[str] = ""
    noun: ClassVar[str]
    reading: ClassVar[str] = ""
    libraries: ClassVar[tuple[str, ...]] = ()
    form: TypeAdapter[Any]

    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:  # noqa: ARG002
        """Whether a share is set aside. document: a spec's parts by name, such as "criteria" or "domain"."""
        return True

    def requires(self, document: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG002
        """The other claims that a spec needs for this one, by name."""
        return ()

    def asked(self, plan: Asked) -> bool:
        """Whether the release is to state it."""
        return plan.shares.of(self.name) > 0

    def check(self, plan: Asked) -> None:
        """Raises InputError where a plan sets budget aside for what it cannot state."""

    def needs(self, plan: Asked) -> Sequence[Clique]:  # noqa: ARG002
        """The tables that the kernel has to count for it, beside the workload's."""
        return ()

    def stage(self, plan: Asked, kernel: SealedKernel) -> SealedKernel:
        """The part of a kernel that measures it."""
        rho = plan.shares.of(self.name)
        return kernel.part(rho) if rho else kernel

    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Stated:
        """Spend all that the kernel has left. Raises AnswersEnd where a run that is repeated was interrupted."""
        raise NotImplementedError

    def absent(self, plan: Asked) -> Any:  # noqa: ARG002
        """What is stated where it was not measured, or not asked for."""
        return None

    def answers(self, plan: Asked, stated: Any) -> int:
        """How many answers of the kernel it took: asked of claims behind the criteria, whose check has to know which answers are theirs."""
        return 0 if stated == self.absent(plan) else 1

    def lacks(self, plan: Asked, stated: Any) -> str:
        """What of it was never measured although a share was kept, as a sentence; "" where nothing is missing. It becomes a warning."""
        return self.unmeasured if self.asked(plan) and stated == self.absent(plan) else ""

    @property
    def brand(self) -> str:
        """The code of that warning."""
        return f"{self.name}-interrupted"

    def to_json(self, plan: Asked, stated: Any) -> Any:  # noqa: ARG002
        return self.form.dump_python(stated, mode="json")

    def from_json(self, plan: Asked, written: Any) -> Any:  # noqa: ARG002
        """Raises ValueError for what is none."""
        return self.form.validate_python(written)

    def follows(self, received: Received, stated: Any) -> str:
        """Whether it follows from what was measured, as a sentence. Raises as `outcome` says."""
        raise NotImplementedError

    def again(self, received: Received, answers: slice) -> Stated | None:
        """Measured once more, by these answers of the kernel; None where they were given to other questions."""
        try:
            return self.measure(received.plan, self.stage(received.plan, received.replaying(answers)), received.final)
        except InputError:
            return None

    def took(self, received: Received, stated: Any) -> slice:
        """Where its answers are among the kernel's."""
        end = len(received.answers) - received.behind(self.name)
        return slice(max(0, end - self.answers(received.plan, stated)), end)

    def heading(self, stated: Any) -> str:  # noqa: ARG002
        return self.title

    def sentences(self, plan: Asked, stated: Any, final: Final) -> list[str]:
        """What it says, in plain text with hostile names; nothing where nothing is stated."""
        raise NotImplementedError
