"""The interface of claims: statements of a release about itself, measured after its mechanism on a share of the budget of their own.

A claim knows the plan, what is published and a kernel; never a table. It is one file, with its arithmetic beside it, and one entry of
`registry`: planning divides the budget among all claims, a run measures them in order, `release.json` contains them, a recipient checks
them, and report, card and command line state them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
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
from dpsynth_core.statistics.coins import Coins
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
    """A repeated run ended before the requested answer was given."""

    def __init__(self) -> None:
        super().__init__("transcript", "the run was interrupted here", "keep what was measured until then")


@dataclass(frozen=True)
class BudgetShare:
    """A share of a budget, as a fraction.

    Attributes:
        default: The share if a spec states none; 0 if it is set aside only on request.
        least: Smallest share.
        most: Largest share.
        otherwise: What to do instead of stating a share in this range.
    """

    default: float
    least: float
    most: float
    otherwise: str

    def checked(self, name: str, stated: float) -> float:
        """Return the stated share if it is in range, both ends included; 0 passes where it is the default.

        Args:
            name: Name of the claim in errors.
            stated: The share that a spec states, as a fraction.

        Raises:
            InputError: It is out of range.
        """
        if (stated == self.default == 0) or self.least <= stated <= self.most:
            return stated
        limits = f"use a share from {self.least:g} to {self.most:g}, or {self.otherwise}"
        raise InputError(f"budget.{name}", f"{stated:g} is out of range", limits)


class Shares(Protocol):
    """The division of a budget, as claims look at it (`planning.plan.Shares`)."""

    @property
    def rho(self) -> float:
        """The rho of the whole budget."""

    def of(self, name: str) -> float:
        """Return the rho set aside for the claim `name`; 0 if no part is."""


class Asked(Protocol):
    """The parts of a plan that claims look at (`planning.plan.Plan`)."""

    @property
    def domain(self) -> Domain:
        """The columns of the records."""

    @property
    def workload(self) -> Workload:
        """The tables that the release is to get right."""

    @property
    def unit(self) -> Unit:
        """The unit of privacy, with its sensitivities."""

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism that makes the release."""

    @property
    def shares(self) -> Shares:
        """The division of the budget."""

    @property
    def criteria(self) -> Sequence[Any]:
        """The criteria of the spec, in order (`criteria.registry.AnyCriterion`)."""

    @property
    def targets(self) -> Sequence[Any]:
        """The columns that models are to predict (`models.targets.Target`); () for no models."""

    @property
    def weight(self) -> Any:
        """The column of survey weights (`weights.WeightSpec`); None without weights."""

    @property
    def columns_sigma(self) -> float | None:
        """The standard deviation of a cell's noise, in records, in a run of Independent with this plan's budget.

        It is the same for every column. None if the plan's mechanism is Independent.
        """

    @property
    def records_each(self) -> int:
        """The number of records of the domain per row: 1, or for two linked tables the pairs of a household."""

    @property
    def link(self) -> Link | None:
        """The link of two tables; None for one table."""

    @property
    def coins(self) -> Coins | None:
        """The coins that leave people out before the mechanism; None if it counts everybody in the table."""

    @property
    def who(self) -> str:
        """The word for those who count once: people, or households of two linked tables."""


@dataclass(frozen=True, eq=False)
class Final:
    """The final parts of a release when a claim is measured.

    Attributes:
        plan: The plan.
        released: The released tables and rows.
        known: The number of records that the mechanism counted, as far as it was released before; None if it was not.
        stated: The claims before this one by name; for a finished release, all claims.
        inside: By column, how numbers lie in its cells.
    """

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
        """Return the final parts; their `known` is the number of records if it is public or follows from the noisy tables.

        Args:
            plan: The plan.
            codes: Codes of the rows, shape (rows, attributes of the domain); None for a release without rows.
            measured: The noisy tables, in records.
            total: Number of records, public or noisy.
            stated: Claims by name.
            inside: By column, how numbers lie in its cells.
        """
        known = known_total(measured, total if plan.unit.total_is_public else None)
        return cls(plan, Evidence(plan.domain, codes, measured, total), known, stated, inside)

    @cached_property
    def tables(self) -> dict[Clique, NDArray[np.float64]]:
        """The published marginals of the workload, as fractions of the rows.

        Without rows they are noisy tables over the released total: cells can be negative, and a
        clique that no measurement contains is left out. If the mechanism publishes a rule or a
        check instead of tables, the cliques of its measurements replace those in the workload.
        """
        if self.plan.mechanism.card.publishes_tables:
            return self.released.published(self.plan.workload.cliques)
        return self.released.published([m.clique for m in self.released.measurements if m.clique])

    @property
    def total(self) -> Total | None:
        """The number of records as it was released or as an earlier claim measured it; None if it is not known.

        It is everybody's, also where the mechanism counts some persons alone (`Asked.coins`).
        """
        certificate = self.stated.get("certificate")
        return self.of_everybody if certificate is None else certificate.total

    @property
    def of_everybody(self) -> Total | None:
        """The number of everybody's records, if the mechanism's answers give it.

        None if they do not, or if the mechanism counts some persons alone.
        """
        return self.known if self.plan.coins is None else None

    @property
    def counted(self) -> Total | None:
        """The number of records of those whom the mechanism counts; None if it is not known."""
        return self.total if self.plan.coins is None else self.known

    def people(self, kernel: SealedKernel) -> Total:
        """Return the number of everybody's records: as released, or measured now.

        Args:
            kernel: The kernel over everybody's records that measures it, for at most a tenth of its budget, if it is not known.
        """
        return self.total or measured_total(kernel)


class Received(Protocol):
    """The parts of a release that a recipient has (`bundle.checks.opened.Opened`)."""

    @property
    def plan(self) -> Asked:
        """The plan of the release."""

    @property
    def final(self) -> Final:
        """The final parts of the release, with the rows that were received."""

    @property
    def answers(self) -> Sequence[Any]:
        """The stored noisy answers in order: operation, arguments, value and number of charges."""

    @property
    def charges(self) -> Sequence[Event]:
        """The privacy events of all answers, in order; answers that cost no budget have no event."""

    @property
    def interrupted(self) -> bool:
        """True if the run ended within its mechanism."""

    @property
    def other_program(self) -> bool:
        """True if another version of this program made the release."""

    @property
    def other_versions(self) -> Sequence[str]:
        """The names of programs, libraries and processor that differ here from those that made the release."""

    def branded(self, code: str) -> bool:
        """Return whether the release has the warning with this code (such as `Claim.brand`)."""

    def written(self, part: str) -> Any:
        """Return the parsed JSON of one top-level key of release.json, before it becomes a claim.

        Args:
            part: The key, such as "verdict".

        Raises:
            KeyError: The document lacks the key.
        """

    def behind(self, name: str) -> int:
        """Return the number of kernel answers that claims measured after the claim `name` took; 0 for the last claim."""

    @property
    def of_extensions(self) -> int:
        """The number of kernel answers that claims of extensions took, which are the last ones."""

    def replaying(self, answers: slice) -> SealedKernel:
        """Return a kernel that gives the stored answers of a slice again, with their charges.

        It reads no record. A question other than the recorded one is refused with an InputError,
        and one after the last answer with `AnswersEnd`.
        """


class Claim(Generic[Stated]):
    """A kind of claim: a statement of a release about itself, measured after its mechanism.

    Attributes:
        name: Name of its share in a spec's budget.
        part: Its key in release.json.
        setting: Name of the setting of an extension that asks for it. Specs and documents without the setting say nothing of the claim.
            It is "" for a claim of the core, which they all mention.
        of_everybody: Whether it is measured over everybody in the table, also where the mechanism counts some persons alone. Errors and
            criteria are; estimates that are used beside the mechanism's tables are not.
        share: The range and default of its share.
        purpose: What the share is for.
        announced: What a run does with it, if phrased differently; "" for `purpose`.
        unmeasured: Statement where it was not measured.
        question: The question that `verify` answers.
        title: Heading of its sentences in report and card.
        noun: Beginning of a sentence about it on the command line.
        reading: Explanation of its sentences.
        libraries: Libraries that its numbers depend on.
        form: Its JSON form, as a pydantic adapter.
    """

    name: ClassVar[str]
    part: ClassVar[str]
    setting: ClassVar[str] = ""
    of_everybody: ClassVar[bool] = False
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

    @classmethod
    def is_mentioned(cls, stated: Collection[str]) -> bool:
        """Return whether specs and documents with these settings of extensions mention the claim."""
        return not cls.setting or cls.setting in stated

    def wanted(self, document: Mapping[str, Any], mechanism: Mechanism) -> bool:  # noqa: ARG002
        """Return whether a spec can have this claim, so that its share of the budget is set aside; True by default.

        The share is what the spec states, else `share.default`, which may be 0. A claim that
        another one `requires` gets its share too.

        Args:
            document: The parts of the spec, such as "criteria".
            mechanism: The mechanism of the spec.
        """
        return True

    def requires(self, document: Mapping[str, Any]) -> Sequence[str]:  # noqa: ARG002
        """Return the names of other claims that this claim depends on; () by default.

        Args:
            document: The parts of a spec.
        """
        return ()

    def asked(self, plan: Asked) -> bool:
        """Return whether the plan gives this claim a share of the budget."""
        return plan.shares.of(self.name) > 0

    def check(self, plan: Asked) -> None:
        """Check that a plan sets no budget aside for a claim that the run could not measure. By default all plans pass.

        Raises:
            InputError: The plan sets budget aside for it; the error names the share or the part of the spec.
        """

    def needs(self, plan: Asked) -> Sequence[Clique]:  # noqa: ARG002
        """Return the cliques that the kernel must count for this claim, in addition to the workload; () by default."""
        return ()

    def stage(self, plan: Asked, kernel: SealedKernel) -> SealedKernel:
        """Return a kernel with this claim's share of the budget; `kernel` itself if that is 0."""
        rho = plan.shares.of(self.name)
        return kernel.part(rho) if rho else kernel

    def measure(self, plan: Asked, kernel: SealedKernel, final: Final) -> Stated:
        """Measure the claim with the kernel's whole remaining budget, and return it.

        Args:
            plan: The plan.
            kernel: The kernel of `stage`.
            final: The released tables and rows, and the claims before this one.

        Raises:
            AnswersEnd: The kernel repeats an interrupted run, which ended before an answer.
        """
        raise NotImplementedError

    def absent(self, plan: Asked) -> Any:  # noqa: ARG002
        """Return what a release holds in place of this claim if it was not measured.

        The default is None. Claims that are sequences return (); criteria return each criterion of
        the plan as not measured.

        Args:
            plan: The plan of the release.
        """
        return None

    def answers(self, plan: Asked, stated: Any) -> int:
        """Return the number of kernel answers that measuring `stated` took; 0 if it was not measured, otherwise 1 by default.

        The checks of a release find the answers of each claim by these numbers, so they must be
        exact.

        Args:
            plan: The plan of the release.
            stated: The claim, or `absent`.
        """
        return 0 if stated == self.absent(plan) else 1

    def lacks(self, plan: Asked, stated: Any) -> str:
        """Return the warning `unmeasured` if the claim was not measured despite its share; else "".

        The warning is plain text. It is "" also if the plan has no share for the claim.

        Args:
            plan: The plan of the release.
            stated: The claim, or `absent`.
        """
        return self.unmeasured if self.asked(plan) and stated == self.absent(plan) else ""

    @property
    def brand(self) -> str:
        """The code of the warning that the claim was not measured."""
        return f"{self.name}-interrupted"

    def to_json(self, plan: Asked, stated: Any) -> Any:
        """Return the claim's part of release.json.

        Raises:
            ValueError: the part could not be read back. JSON has no NaN and no infinity: they become null, and no reader takes null for
                a number.
        """
        written = self.form.dump_python(stated, mode="json")
        try:
            self.from_json(plan, written)
        except (TypeError, ValueError):
            raise ValueError(f"the {self.name} of this release cannot be read back: a number of it is not finite") from None
        return written

    def from_json(self, plan: Asked, written: Any) -> Any:  # noqa: ARG002
        """Return the claim that `to_json` wrote.

        Raises:
            ValueError: `written` is not a claim of this kind.
        """
        return self.form.validate_python(written)

    def follows(self, received: Received, stated: Any) -> str:
        """Return a clause if the claim follows from the release's stored noisy answers; else raise.

        The clause says what was checked, without a full stop, and is shown to the recipient.

        Args:
            received: The release.
            stated: The claim as release.json states it; `absent` if the release has none.

        Raises:
            Wrong: The claim does not follow, or is missing though the plan asks for it.
            Open: This cannot be decided here, for example because another version made the release.
            Nothing: The release has no such claim and need not have one.
        """
        raise NotImplementedError

    def again(
        self, received: Received, answers: slice, measure: Callable[[Asked, SealedKernel, Final], Stated | None] | None = None
    ) -> Stated | None:
        """Return the claim measured again from stored kernel answers; None if that is impossible.

        It is impossible if the measurement asks other questions than those that were answered, or further ones.
        A claim whose measurement may give None returns None here, too. No record is read, and nothing is charged.

        Args:
            received: The release.
            answers: The place of the claim's answers in `received.answers`.
            measure: The method of an earlier version; None for `measure` of this version.
        """
        try:
            return (measure or self.measure)(received.plan, self.stage(received.plan, received.replaying(answers)), received.final)
        except InputError:
            return None

    def took(self, received: Received, stated: Any) -> slice:
        """Return the slice of `received.answers` that measuring this claim took.

        It ends before the answers of later claims, and has the length `answers`.
        """
        end = len(received.answers) - received.behind(self.name)
        return slice(max(0, end - self.answers(received.plan, stated)), end)

    def heading(self, stated: Any) -> str:  # noqa: ARG002
        """Return the heading of the claim's sentences, as plain text; it may add the outcome."""
        return self.title

    def sentences(self, plan: Asked, stated: Any, final: Final) -> list[str]:
        """Return the sentences that state the claim; [] if there is nothing to state.

        They are plain text with unescaped names of columns and cells.

        Args:
            plan: The plan of the release.
            stated: The claim, or `absent`.
            final: The released tables and rows.
        """
        raise NotImplementedError
