"""The result of a run: synthetic rows with their statements, as values.

All fields are public or released by construction: they come from the plan and from the kernel's answers. No path of this machine is
kept, only the data file's base name. `release.document` turns a release into files.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, cast

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import CERTIFICATE, Certificate
from dpsynth_core.claims.claim import Final
from dpsynth_core.claims.criteria.criteria import CRITERIA
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.models.stated import Usefulness
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.claims.weighted import WEIGHTED
from dpsynth_core.evaluation.bounds import Bound
from dpsynth_core.evaluation.quality import Statements
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.events import Event
from dpsynth_core.release.about import About
from dpsynth_core.release.rows import Rows, as_table
from dpsynth_core.release.transcript import RecordedAnswer
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import Inside
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import of_columns
from dpsynth_core.vocabulary.rows import Repeated
from dpsynth_core.vocabulary.workload import Workload


@dataclass(frozen=True)
class Progress:
    """One line of a run's history, of public and released values only. Its time is stored elsewhere (`times`).

    Attributes:
        kind: "phase" (`message` names it), "measured" (`attributes`, `cells`, `sigma` and `spread`
            describe the measurement), "fitted" or "finished".
        round: Round of the mechanism; 0 before its first round, and without rounds.
        attributes: Clique of the measurement.
        sigma: Parameter of the measurement's noise, in records; 0 for other lines.
        rho_spent: Budget spent so far, in rho.
        done: Fraction of the mechanism's work that is done, from 0 to 1.
        message: Words for people, or "".
        spread: Largest standard deviation of the noise in any direction, in records, if it is
            correlated; otherwise None.
        cells: Number of cells of the measurement; 0 for other lines.
    """

    kind: str
    round: int = 0
    attributes: Clique = ()
    sigma: float = 0.0
    rho_spent: float = 0.0
    done: float = 0.0
    message: str = ""
    spread: float | None = None
    cells: int = 0

    @classmethod
    def measured(cls, measurement: Measurement, rho_spent: float, round: int = 0, done: float = 0.0) -> Progress:
        """Return the line for a measurement, which leaves out the measured values.

        Args:
            measurement: The measurement.
            rho_spent: Budget spent so far, in rho.
            round: Round of the mechanism.
            done: Fraction of the mechanism's work that is done, from 0 to 1.
        """
        cells = measurement.values.size
        return cls("measured", round, measurement.clique, measurement.sigma, rho_spent, done, spread=measurement.spread, cells=cells)

    def to_json(self) -> dict[str, Any]:
        """Return the fields as in the history of release.json."""
        return dict(vars(self))

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Progress:
        """Return the line of a history that `to_json` wrote."""
        return cls(**{**obj, "attributes": tuple(obj["attributes"])})


@dataclass(frozen=True)
class Brand:
    """A warning that a reader of the release must know before trusting it.

    Attributes:
        code: Its name for programs.
        sentence: A complete sentence for people.
    """

    code: str
    sentence: str


INTERRUPTED = "interrupted"
"""The brand of a release without rows that holds what was measured before its run ended."""


@dataclass(frozen=True, eq=False)
class Release:
    """The result of a run.

    Attributes:
        plan: The sealed plan; the data path in its spec may be reduced to the base name.
        codes: Codes of the rows, shape (rows, columns of the domain); None for mechanisms that only answer.
        values: The rows as real values; None for mechanisms that only answer.
        total: Estimated number of records, exact only where it is public.
        measurements: The noisy tables that were measured, in order.
        history: The lines of the run's history, in order.
        charges: The kernel's charges, in order.
        rho, rho_spent: The sealed budget and the sum of the charges, in the rho of the plan's accountant.
        private: Whether the noise is private, which repeatable noise is not.
        statement: The guarantee in words.
        brands: Warnings that a reader must know, in order.
        row_policy: A phrase on how the number of rows was chosen.
        details: Facts on the run for programs, as JSON values by name: settings of the mechanism, and what it reports.
        versions: The versions on which numbers depend, by name (`synthesis.versions`).
        created: The day on which the run began, ISO 8601.
        ledger: The reservation that the run was charged to.
        claims: By name, the statement of each claim in `claims.registry`.
        despite: The curator's reason to publish although a required criterion is not met or was not measured.
        bounds: A-priori error bounds of the workload's marginals, as shares of people in a wrong cell.
        row_seed: Seed of the rows, which follows from the answers before them; None without rows.
        transcript: The kernel's answers in order, from which the rest follows.
        further: Further tables of rows (`release.tables`); all statements are about the first.
        members: The rows of the second of two linked tables; codes are then the codes of their pairs, and values the rows of the first.
        inside: By column, the distribution of its numbers within their cells, from which rows were drawn.
        sealed: The digest of the plan in the document, which differs for programs with fewer fields; "" for a release made here.
    """

    plan: Plan
    codes: NDArray[np.integer] | Repeated | None
    values: Rows | None
    total: float
    measurements: tuple[Measurement, ...]
    history: tuple[Progress, ...]
    charges: tuple[Event, ...]
    rho: float
    rho_spent: float
    private: bool
    statement: str
    brands: tuple[Brand, ...]
    row_policy: str
    details: Mapping[str, Any]
    versions: Mapping[str, str]
    created: str
    bounds: Mapping[Clique, Bound]
    claims: Mapping[str, Any]
    row_seed: int | None
    transcript: tuple[RecordedAnswer, ...] = ()
    ledger: Mapping[str, Any] = field(default_factory=dict)
    despite: str = ""
    further: tuple[Rows, ...] = ()
    members: Rows | None = None
    inside: Mapping[str, Inside] = field(default_factory=dict)
    sealed: str = ""

    def __repr__(self) -> str:
        """Without what its plan names, and without its tables."""
        return f"Release({self.plan!r}, {self.rows} rows)"

    @property
    def spec(self) -> Spec:
        """The spec of the plan."""
        return self.plan.spec

    @property
    def seal(self) -> str:
        """The SHA-256 of the sealed plan, by which a ledger identifies the release."""
        return self.sealed or self.spec.digest()

    @property
    def about(self) -> About:
        """The description of the release that its files of rows contain."""
        return About.of(self.spec, self.sealed, str(self.versions.get("dpsynth_core", "")))

    @property
    def domain(self) -> Domain:
        """The domain of the codes."""
        return self.plan.domain

    @property
    def described(self) -> Domain:
        """The domain of the columns that the documents describe: the columns of the rows.

        For two linked tables it has the columns of both, without the key.
        """
        link = self.plan.link
        if link is None:
            return self.plan.row_domain
        both = self.domain.keep({*link.households.names, *link.members.names})
        return replace(both, filled=tuple(replace(one, place=len(both)) for one in self.plan.row_domain.filled[1:]))

    @property
    def certificate(self) -> Certificate | None:
        """The certificate: measured errors of the workload's tables; None if no errors were measured."""
        return cast(Certificate | None, self.claims[CERTIFICATE.name])

    @property
    def usefulness(self) -> tuple[Usefulness, ...]:
        """The measured accuracy of models: two entries, for boosting and the linear model, for each predicted column in order.

        It is empty if no models were measured.
        """
        return cast(tuple[Usefulness, ...], self.claims[MODELS.name])

    @property
    def criteria(self) -> tuple[Decided, ...]:
        """The criteria of the plan, in order, each with whether it is met; empty for a plan without criteria."""
        return cast(tuple[Decided, ...], self.claims[CRITERIA.name])

    @cached_property
    def weights(self) -> NDArray[np.float64] | None:
        """The calibrated survey weight of each row, shape (rows,); None without rows or if the plan has no weight column.

        For two linked tables, households are in the order of `Link.split`. The array is computed once and must
        not be changed.
        """
        codes = None if self.plan.weight is None else self.codes
        if codes is None:
            return None
        from dpsynth_core.claims.weighing import calibrated  # loaded where a column is the weight

        return calibrated(self.plan, codes, self.inside, self.claims[WEIGHTED.name])

    def branded(self, code: str) -> bool:
        """Return whether the release has the brand (warning) with this code."""
        return any(brand.code == code for brand in self.brands)

    @cached_property
    def tables_of_columns(self) -> tuple[Measurement, ...]:
        """The measurements as tables of columns alone; tables over groups of values are summed down to columns."""
        return of_columns(self.measurements)

    @property
    def table(self) -> pa.Table | None:
        """All rows in memory as one table, for a small number of rows; None for a release without rows."""
        return None if self.values is None else as_table(self.values)

    @property
    def needs_reason(self) -> bool:
        """True if a required criterion is not met or was never measured, so that publication needs a written reason."""
        return any(one.needs_reason for one in self.criteria)

    @property
    def withheld(self) -> bool:
        """True if publication needs a written reason (`needs_reason`) and the curator has given none."""
        return self.needs_reason and not self.despite

    @cached_property
    def final(self) -> Final:
        """The release as claims see it (`claims.claim.Final`), computed once."""
        return Final.of(self.plan, self.codes, self.tables_of_columns, self.total, self.claims, self.inside)

    @cached_property
    def statements(self) -> Statements:
        """The release's statements about itself in the form by which its quality is judged (`evaluation.quality`)."""
        link = self.plan.link
        own = set() if link is None else {*link.households.names, NUMBER, *link.members.names}
        spread = {name for name, one in self.inside.items() if one.is_spread and self.domain[name].other_as is None}
        return Statements(
            evidence=self.final.released,
            workload=self._answered,
            bounds=self.bounds,
            certificate=self.certificate,
            mechanism=self.spec.mechanism.name,
            rho=self.plan.shares.mechanism,
            unit=self.plan.unit,
            swapped=link.swapped if link else {},
            again=link.again if link else {},
            unasked=frozenset(self.domain.names) - self._answered.columns - own - set(link.swapped) if link else frozenset(),
            declared={} if link is None else {one.name: one for one in link.members},
            made=frozenset() if link is None else frozenset(self.domain.names) - link.read_names,
            understood=frozenset(spread),
        )

    @property
    def _answered(self) -> Workload:
        """The workload of tables that the release answers.

        It is the plan's workload; for a rule or an interrupted run, the tables that were measured.
        """
        if "rule" not in self.details and not self.branded(INTERRUPTED):
            return self.plan.workload
        measured = [measurement.clique for measurement in self.tables_of_columns if measurement.clique]
        return Workload(self.domain, dict.fromkeys(measured or [(self.domain.names[-1],)], 1.0))

    def knowing(self, final: Final) -> Release:
        """Store an already computed `final` in this release, which is changed, and return the release itself."""
        vars(self)["final"] = final
        return self

    def charged(self, ledger: Mapping[str, Any]) -> Release:
        """Return a copy of the release that states the ledger's reservation that the run was charged to; the ledger is not changed."""
        return replace(self, ledger=ledger).knowing(self.final)

    @property
    def rows(self) -> int:
        """The number of synthetic rows, 0 without rows; for two linked tables, the number of households."""
        return 0 if self.codes is None else len(self.codes) // self.plan.records_each
