"""A plan: what a spec means, worked out once, and the only arithmetic of a budget.

Public facts alone: no table is opened here. `release.synthesis.plan` looks at the files that a plan names; pages use `budgeted` while a
draft is not complete yet.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Conditional, Forecast, Learner, Mechanism, UsesPublic
from dpsynth_core.planning.spec import STANDIN, BudgetSpec, MechanismSpec, Spec
from dpsynth_core.privacy.accountant import Accountant, in_force
from dpsynth_core.privacy.conversions import check_budget
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

MIN_CERTIFICATE, MAX_CERTIFICATE = 0.001, 0.5


@dataclass(frozen=True)
class Shares:
    """How a budget is divided, in the rho of its accountant: `rho` is all of it, `mechanism` and `certificate` are its two parts.

    delta: half of the spec's, set aside for steps of the mechanism that keep their promise except with a small probability
    (`privacy.meter`); 0 for most. rho is what epsilon and the rest of delta allow.
    """

    rho: float
    mechanism: float
    certificate: float
    delta: float
    accountant: Accountant

    @property
    def slack(self) -> float:
        """What an attacker's odds are worked out with besides rho: the whole delta where steps need one of their own, which is more than
        was set aside for them; else 0."""
        return 2 * self.delta


def budgeted(mechanism: Mechanism, budget: BudgetSpec) -> Shares:
    """What (epsilon, delta) gives to a mechanism with its settings, and to the certificate.

    A mechanism that publishes no tables has the certificate's part as well. Raises InputError for a budget that cannot be used, and for a
    certificate's share out of range.
    """
    check_budget(budget.epsilon, budget.delta)
    delta = budget.delta / 2 if isinstance(mechanism, Learner) and mechanism.needs_delta() else 0.0
    certificate = certified_share(budget)
    if not mechanism.card.publishes_tables:
        certificate = 0.0
    return divided(in_force(mechanism.card.accountant, budget.epsilon, budget.delta), budget, certificate, delta)


def divided(accountant: Accountant, budget: BudgetSpec, certificate: float, delta: float = 0.0) -> Shares:
    """The budget in the rho of `accountant`, in two parts. certificate: its share. delta: set aside for steps that need their own."""
    rho = accountant.rho_from(budget.epsilon, budget.delta - delta)
    return Shares(rho, rho - certificate * rho, certificate * rho, delta, accountant)


def certified_share(budget: BudgetSpec) -> float:
    """The certificate's share of a budget, 0 for none. Raises InputError where it is out of range."""
    share = budget.certificate
    if share != 0 and not MIN_CERTIFICATE <= share <= MAX_CERTIFICATE:
        limits = f"use 0 for no certificate, or a share from {MIN_CERTIFICATE:g} to {MAX_CERTIFICATE:g}"
        raise InputError("budget.certificate", f"{share:g} is out of range", limits)
    return share


@dataclass(frozen=True, eq=False)
class Plan:
    """A spec whose every field was checked, and what it means.

    mechanism: with its settings, which `settings` has in full. public: the table that the mechanism uses, if any.
    """

    spec: Spec
    domain: Domain
    workload: Workload
    unit: Unit
    mechanism: Mechanism
    settings: Mapping[str, Any]
    shares: Shares
    public: PublicTable | None = None

    @classmethod
    def of(cls, spec: Spec) -> Plan:
        """Check the meaning of every field and build what they describe. Raises InputError naming the field; opens no table."""
        _check_names(spec)
        rows = spec.unit.max_rows_per_person
        if rows > 1 and spec.unit.person_column is None:
            raise InputError("unit.max_rows_per_person", "it needs a column that tells people apart", "name unit.person_column, or use 1")
        if spec.domain_origin == "data" and not spec.domain_justification.strip():
            raise InputError("domain_justification", "it is empty, but the domain was read from the data", "write why that is harmless")
        mechanism, settings = _configured(spec.mechanism)
        shares = budgeted(mechanism, spec.budget)
        if spec.output.rows is not None and not mechanism.card.makes_rows:
            problem = f"{mechanism.card.title} gives answers and no rows"
            raise InputError("output.rows", problem, "leave it out, or choose another mechanism")
        domain = Domain.from_json(spec.domain)
        workload = workloads.from_json(domain, spec.workload)
        return cls(spec, domain, workload, spec.unit.unit(), mechanism, settings, shares)

    def with_public(self, public: PublicTable) -> Plan:
        """The same plan with a mechanism that knows this public table, if it can use one."""
        if not isinstance(self.mechanism, UsesPublic):
            return self
        return replace(self, mechanism=self.mechanism.informed_by(public), public=public)

    def using(self, chosen: MechanismSpec) -> Plan:
        """The same plan with another mechanism. Raises InputError for one that is unknown, or settings it does not have."""
        spec = self.spec.model_copy(update={"mechanism": chosen})
        mechanism, settings = _configured(chosen)
        return Plan(spec, self.domain, self.workload, self.unit, mechanism, settings, budgeted(mechanism, spec.budget))

    @property
    def condition(self) -> str:
        """What the guarantee hangs on besides the proofs, as full sentences; "" where it hangs on nothing, or the mechanism cannot run."""
        try:
            return self.mechanism.condition(self.domain) if isinstance(self.mechanism, Conditional) else ""
        except InputError:
            return ""

    @cached_property
    def forecast(self) -> Forecast:
        """What the run is expected to need, and what stands in its way."""
        return forecast(self.mechanism, self.workload, self.unit, self.shares)


def forecast(mechanism: Mechanism, workload: Workload, unit: Unit, shares: Shares) -> Forecast:
    """What a run of a mechanism with its settings is expected to need, and what stands in its way."""
    needed = registry.forecast(mechanism, workload, shares.mechanism)
    if not needed.fits or not isinstance(mechanism, Learner):
        return needed
    why = mechanism.obstacle(workload.domain, shares.mechanism, shares.delta, unit)
    return replace(needed, fits=not why, reason=why)


def _configured(chosen: MechanismSpec) -> tuple[Mechanism, Mapping[str, Any]]:
    """The mechanism with its settings, and these in full."""
    mechanism = registry.get(chosen.name)
    return registry.configured(mechanism, chosen.settings), registry.settings(mechanism, chosen.settings)


def _check_names(spec: Spec) -> None:
    for field, text in (("name", spec.name), ("population", spec.population)):
        if not text.strip() or not text.isprintable():
            raise InputError(field, "it is empty or has control characters", "give a short name")
    if (spec.data.kind == STANDIN) != (spec.data.standin is not None):
        raise InputError("data.standin", "it goes with the kind standin, and only with it", "give both, or neither")
    if not spec.data.simulated and not spec.data.path:
        raise InputError("data.path", "no data file is named", "give the path of a CSV or Parquet file or folder")
