"""A plan: what a spec means, worked out once, and the only arithmetic of a budget.

Public facts alone: no table is opened here. `release.synthesis.plan` looks at the files that a plan names; pages use `budgeted` while a
draft is not complete yet.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

from dpsynth_core.claims.claim import BudgetShare
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.claims.weights import WeightSpec
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.graphical.independent import Independent
from dpsynth_core.mechanisms.mechanism import Conditional, Forecast, Learner, Mechanism, UsesPublic
from dpsynth_core.mechanisms.parameters import Setting, parameters
from dpsynth_core.planning import domain_origin, weakness
from dpsynth_core.planning.spec import (
    DEFAULT_DISCOVERY,
    MAX_ROWS,
    STANDIN,
    BudgetSpec,
    MembersSpec,
    PublishedSpec,
    Spec,
    most_unstated_rows,
)
from dpsynth_core.privacy.accountant import Accountant, in_force
from dpsynth_core.privacy.budget import check_budget
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.coins import Coins
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.inside import of_several_values
from dpsynth_core.vocabulary.kinds.registry import IDENTIFIER
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.names import column_field
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

if TYPE_CHECKING:
    from dpsynth_core.claims.criteria.models import ModelCriterion
    from dpsynth_core.claims.criteria.registry import AnyCriterion
    from dpsynth_core.claims.models.targets import Target
    from dpsynth_core.mechanisms.discovery.learning import Portion
    from dpsynth_core.vocabulary.filled import Calibrated, Filled

MIN_MECHANISM = 0.1
"""Smallest share of a budget for the mechanism; with less its tables are noise."""
DISCOVERY_DELTA = 0.1
"""Share of delta that hides texts of single people while values are learnt."""
LEARNING = "discovery"
"""Name of the share that learns values of columns; measured before the mechanism, and so not a claim."""
INSIDE = "inside"
"""Name of the share that measures numbers inside their cells; measured before the mechanism, and so not a claim."""
DISCOVERY = BudgetShare(DEFAULT_DISCOVERY, least=0.001, most=0.75, otherwise="list the values of all columns")
LOOKS_INSIDE = BudgetShare(0.0, least=0.001, most=0.4, otherwise="use 0 to spread rows evenly over the values of a cell")


@dataclass(frozen=True)
class Shares:
    """The division of a budget, in the rho of its accountant.

    Attributes:
        rho: The whole budget: what epsilon and the rest of delta allow.
        mechanism: The mechanism's part of rho.
        delta: Part of the spec's delta reserved for steps that keep their promise except with a
            small probability (`privacy.meter`): half for mechanisms that need it, a tenth for texts
            that are learnt; 0 for most.
        accountant: The accountant.
        aside: The other parts of rho as pairs (name, rho); the name is a claim's, `LEARNING`, or
            `INSIDE`.
    """

    rho: float
    mechanism: float
    delta: float
    accountant: Accountant
    aside: tuple[tuple[str, float], ...] = ()

    def of(self, name: str) -> float:
        """Return the rho reserved for a claim, for `LEARNING` or for `INSIDE`; 0 if no part has this name."""
        return dict(self.aside).get(name, 0.0)

    @property
    def slack(self) -> float:
        """The `slack` of this budget in `privacy.attacker`, a probability: twice `delta`.

        It is 0 for most plans.
        """
        return 2 * self.delta


def budgeted(
    mechanism: Mechanism,
    budget: BudgetSpec,
    unknown: Sequence[Attribute] = (),
    document: Mapping[str, Any] | None = None,
    looked_into: Sequence[Attribute] = (),
) -> Shares:
    """Divide (epsilon, delta) between a mechanism, learning, numbers inside cells, and the claims that a spec wants.

    Args:
        mechanism: The mechanism with its settings.
        budget: The spec's budget.
        unknown: Columns whose values are to be learnt.
        document: The spec's parts that claims are about, by name (`Spec.claims`).
        looked_into: Columns whose numbers inside their cells are measured (function `looked_into`).

    Raises:
        InputError: The budget cannot be used, a share is out of range, the mechanism keeps less than a tenth of
            the budget (`MIN_MECHANISM`), or extensions need more than half of delta.
    """
    check_budget(budget.epsilon, budget.delta)
    delta = extension.own_delta((document or {}).get("extensions") or {})
    if delta and delta > budget.delta / 2:
        problem = f"features that the spec asks for cost {delta:g}, more than half of it"
        raise InputError("budget.delta", problem, "leave them out, or choose a larger delta")
    delta += budget.delta / 2 if isinstance(mechanism, Learner) and mechanism.needs_delta() else 0.0
    aside = set_aside(mechanism, budget, document or {})
    if unknown:
        from dpsynth_core.mechanisms.discovery import learning  # loaded for values to be learnt alone

        if learning.texts(unknown):
            delta += DISCOVERY_DELTA * budget.delta
        aside[LEARNING] = DISCOVERY.checked(LEARNING, budget.discovery)
    if looked_into:
        aside[INSIDE] = LOOKS_INSIDE.checked(INSIDE, budget.inside)
    if (together := math.fsum(aside.values())) > 1 - MIN_MECHANISM:
        problem = f"the shares set aside are {100 * together:g}% of the budget together, and this is the largest of them"
        remedy = f"lower them, so that the mechanism keeps {100 * MIN_MECHANISM:g}% or more"
        raise InputError(f"budget.{max(aside, key=aside.__getitem__)}", problem, remedy)
    return divided(in_force(mechanism.card.accountant, budget.epsilon, budget.delta - delta), budget, aside, delta)


def set_aside(mechanism: Mechanism, budget: BudgetSpec, document: Mapping[str, Any]) -> dict[str, float]:
    """Return the share of rho, from 0 to 1, for each claim that a spec wants or that another wanted claim requires, by the claim's name.

    Args:
        mechanism: The mechanism with its settings.
        budget: The spec's budget.
        document: The spec's parts that claims are about, by name (`Spec.claims`).

    Raises:
        InputError: A share is out of range.
    """
    required = {name for claim in CLAIMS for name in claim.requires(document)}
    wanted = [claim for claim in CLAIMS if claim.name in required or claim.wanted(document, mechanism)]
    return {claim.name: claim.share.checked(claim.name, budget.share(claim.name)) for claim in wanted}


def divided(accountant: Accountant, budget: BudgetSpec, aside: Mapping[str, float], delta: float = 0.0) -> Shares:
    """Divide a budget by given shares, in the rho of `accountant`; what is left is the mechanism's. The shares are not checked.

    Args:
        accountant: The accountant that converts epsilon and delta to rho.
        budget: The spec's budget.
        aside: Shares of rho by name, from 0 to 1; parts with share 0 are left out.
        delta: Part of delta for steps that need their own.
    """
    rho = accountant.rho_from(budget.epsilon, budget.delta - delta)
    parts = {name: share * rho for name, share in aside.items() if share}
    return Shares(rho, rho - math.fsum(parts.values()), delta, accountant, tuple(parts.items()))


def looked_into(mechanism: Mechanism, domain: Domain, kind: str) -> tuple[Attribute, ...]:
    """Return the columns whose numbers inside their cells can be measured, if the budget has a share for that, in the domain's order.

    The result is empty for mechanisms without rows, stand-in tables and linked tables; the last two
    are counted by cells only.

    Args:
        mechanism: The mechanism.
        domain: The domain.
        kind: The kind of the private table (`DataSpec.kind`).
    """
    values = kind != STANDIN and mechanism.card.makes_rows and mechanism.card.name != registry.LINKED.name
    return of_several_values(domain.attributes) if values else ()


def portions(unknown: Sequence[Attribute], unit: Unit, shares: Shares, budget: BudgetSpec) -> tuple[Portion, ...]:
    """Return, for each column whose values are to be learnt, the noise (in records) and delta with which they are learnt, in order.

    Args:
        unknown: The columns; () gives ().
        unit: The unit of privacy.
        shares: The shares of a plan with columns to learn.
        budget: The spec's budget.
    """
    if not unknown:
        return ()
    from dpsynth_core.mechanisms.discovery import learning  # loaded for values to be learnt alone

    return learning.divided(unknown, unit, shares.of(LEARNING), DISCOVERY_DELTA * budget.delta)


@dataclass(frozen=True, eq=False)
class Plan:
    """A spec whose every field was checked, and what it means.

    Attributes:
        spec: The spec.
        domain: The domain; for two linked tables, the domain of the pairs of members.
        workload: The workload.
        unit: The unit of privacy.
        mechanism: The mechanism with its settings.
        shares: The division of the budget, in rho.
        public: The public table that the mechanism uses; None if it uses none.
        criteria: Criteria in the order of the spec; () without criteria.
        link: The link of two tables; None for one table.
    """

    spec: Spec
    domain: Domain
    workload: Workload
    unit: Unit
    mechanism: Mechanism
    shares: Shares
    public: PublicTable | None = None
    criteria: tuple[AnyCriterion, ...] = ()
    link: Link | None = None

    def __repr__(self) -> str:
        """Return a text without the spec, which names a path and people, because notebooks and tracebacks are read by others."""
        return f"Plan({self.mechanism.card.title}, epsilon {self.spec.budget.epsilon:g}, {len(self.domain)} columns)"

    @classmethod
    def of(cls, spec: Spec) -> Plan:
        """Check the meaning of every field of a spec and return its plan; opens no table.

        Use this for specs that were accepted before, and `stated` for new ones, which also refuses
        rules and criteria with ranges that cut groups.

        Raises:
            InputError: A field cannot be used; the error names the field.
            CapacityError: Criteria or weights need tables that are too large.
        """
        _check_data(spec)
        domain_origin.check(spec)
        if spec.protects:
            weakness.check(spec.budget)
        domain = Domain.from_json(spec.domain)
        link = None if spec.members is None else _linked(spec, domain, spec.members)
        if link is None:
            mechanism = registry.configured(registry.get(spec.mechanism.name), spec.mechanism.settings)
        else:
            mechanism, domain = registry.linked(link, extension.layout(spec.extensions)), link.domain
        domain = with_published(domain, spec.published_tables)
        check_person(domain, spec.unit.person_column)
        _check_unknown(spec, mechanism, domain)
        mechanism = extension.instructed(mechanism, spec.extensions, domain)
        into = looked_into(mechanism, domain, spec.data.kind)
        shares = budgeted(mechanism, spec.budget, domain.unknown, spec.claims, into)
        _check_output(spec, mechanism)
        asked = workloads.from_json(domain if link is None else askable(link), spec.workload)
        asked = measuring_first(asked, spec.extensions, domain)
        if link is not None and extension.layout(spec.extensions) is None:
            _check_held(link, asked.cliques)
        if spec.criteria and not mechanism.card.publishes_tables:
            problem = f"{mechanism.card.title} publishes no tables that they could be about"
            raise InputError("criteria", problem, "remove them, or choose another mechanism")
        criteria = _criteria(spec, asked, mechanism, link)
        about_models = _about_models(criteria)
        if spec.models or about_models:
            from dpsynth_core.claims.models import targets as models  # loaded where models are asked for

            models.check_rows(spec.models, about_models, mechanism)
            models.targets(domain, spec.models, about_models)
        unit = spec.privacy_unit() if link is None else replace(spec.privacy_unit(), max_rows_per_person=link.records_each)
        made = cls(spec, domain, replace(asked, domain=domain), unit, mechanism, shares, criteria=criteria, link=link)
        for claim in CLAIMS:
            claim.check(made)
        _ = made.row_domain  # whose columns have different names, or this raises
        return made

    @classmethod
    def stated(cls, spec: Spec) -> Plan:
        """Check the meaning of every field of a new spec and return its plan; opens no table.

        Ranges in rules and criteria must consist of whole groups of a column's values. `of` accepts
        other ranges, which earlier versions sealed, and takes the groups that lie in them.

        Raises:
            InputError: A field cannot be used; the error names the field.
            CapacityError: Criteria or weights need tables that are too large.
        """
        made = cls.of(spec)
        Domain.stated(spec.domain)
        if made.link is not None and spec.members is not None:
            made.link.check_rules(spec.members.rules)
        if spec.criteria:
            from dpsynth_core.claims.criteria.registry import check_stated  # loaded where a plan has criteria

            check_stated(spec.criteria, made.domain)
        return made

    def with_public(self, public: PublicTable) -> Plan:
        """Return the plan with its mechanism informed by this public table; unchanged if the mechanism uses none."""
        if not isinstance(self.mechanism, UsesPublic):
            return self
        return replace(self, mechanism=self.mechanism.informed_by(public), public=public)

    @cached_property
    def row_domain(self) -> Domain:
        """The domain of the written rows, with a calibrated weight as the last column if the plan has a weight.

        For two linked tables it is the first table's domain with a new key in front.
        """
        return self.weighed(self._calibrated)

    @cached_property
    def member_domain(self) -> Domain:
        """The domain of the rows of the second of two linked tables, with the first table's key in front; only for a plan with a link.

        A calibrated weight is the last column if the plan has a weight.
        """
        return self.weighed_members(self._calibrated)

    def weighed(self, calibrated: Calibrated | None) -> Domain:
        """Return `row_domain` with this calibrated weight as its last column; with no such column if `calibrated` is None.

        Raises:
            InputError: A column has the weight's name already.
        """
        return _behind(self.domain if self.link is None else replace(self.link.households, filled=(self._key,)), calibrated)

    def weighed_members(self, calibrated: Calibrated | None) -> Domain:
        """Return `member_domain` with this calibrated weight as its last column; with no such column if `calibrated` is None.

        Raises:
            InputError: A column has the weight's name already.
        """
        assert self.link is not None
        keys = (self._key, *(replace(self._key, name=name, place=place) for place, name in enumerate(self.link.further_keys, start=1)))
        return _behind(replace(self.link.members, filled=keys), calibrated)

    @property
    def _calibrated(self) -> Calibrated | None:
        """The column of calibrated weights, without any yet; None without a column of weights."""
        if self.weight is None:
            return None
        from dpsynth_core.vocabulary.filled import Calibrated  # loaded for weights alone

        return Calibrated.of_column(self.weight.column)

    @property
    def _key(self) -> Filled:
        """The new key of households, with which the rows of two linked tables refer to each other."""
        from dpsynth_core.vocabulary.filled import Filled  # loaded for two tables alone

        return Filled(str(self.spec.unit.person_column), IDENTIFIER.name, "1")

    @property
    def weight(self) -> WeightSpec | None:
        """The spec's section about survey weights, or None."""
        return self.spec.weight

    @property
    def records_each(self) -> int:
        """Number of records of the domain per written row: 1, or for two linked tables the records of pairs of one household."""
        return 1 if self.link is None else self.link.records_each

    @property
    def most_unstated_rows(self) -> int:
        """Largest number of rows that are written where the spec states none; of two linked tables, of the first."""
        return most_unstated_rows(0 if self.link is None else self.link.most)

    @cached_property
    def asked(self) -> Workload:
        """The workload; for two linked tables its domain is reduced to the columns that its tables contain."""
        workload = self.workload
        return workload if self.link is None else Workload(self.domain.keep(workload.columns), workload.weights)

    @property
    def counted(self) -> Unit:
        """The unit of privacy in which pages count people; for two linked tables households, which count once in each table."""
        return self.unit if self.link is None else replace(self.unit, max_rows_per_person=1)

    @cached_property
    def portions(self) -> tuple[Portion, ...]:
        """The noise (in records) and delta with which each column's values are to be learnt, or were learnt; () if all are declared."""
        return portions(Domain.from_json(self.spec.domain).unknown, self.unit, self.shares, self.spec.budget)

    @cached_property
    def targets(self) -> tuple[Target, ...]:
        """The columns that models are to predict, as the spec or a criterion names them; () for no models."""
        about_models = _about_models(self.criteria)
        if not (self.spec.models or about_models):
            return ()
        from dpsynth_core.claims.models import targets as models  # loaded where models are asked for

        return models.targets(self.domain, self.spec.models, about_models)

    def completed(self, learnt: Iterable[Attribute]) -> Plan:
        """Return the plan with the columns that were learnt in place of the open columns of the same names."""
        domain = self.domain.completed(learnt)
        return replace(self, domain=domain, workload=self.workload.over(domain))

    @cached_property
    def without_ranges(self) -> tuple[str, ...]:
        """The columns whose ranges the spec asks for, but for which too few values in an order were learnt; () for most plans."""
        if not self.portions or self.spec.workload.get("kind") != "ranges":
            return ()
        asked = workloads.from_json(Domain.from_json(self.spec.domain), self.spec.workload)
        return tuple(name for name in asked.ranges if name not in self.workload.ranges)

    @property
    def settings(self) -> dict[str, Setting]:
        """The value of every parameter of the mechanism by name, with the preset unless it is the default."""
        as_published = self.spec.mechanism.settings.get(registry.PRESET) == registry.PAPER
        preset: dict[str, Setting] = {registry.PRESET: registry.PAPER} if as_published else {}
        return preset | {one.name: getattr(self.mechanism, one.name) for one in parameters(self.mechanism)}

    def divided(self, mechanism: Mechanism, budget: BudgetSpec) -> Shares:
        """Return how the budget would be divided, in rho, if this plan had another mechanism or budget.

        Raises:
            InputError: The budget or a share cannot be used.
        """
        domain = Domain.from_json(self.spec.domain)
        into = looked_into(mechanism, domain, self.spec.data.kind)
        return budgeted(mechanism, budget, domain.unknown, self.spec.claims, into)

    @property
    def columns_sigma(self) -> float | None:
        """Standard deviation of a cell's noise, in records, if Independent measured every column with this plan's budget.

        All shares that are set aside are deducted first, such as the certificate's. It is None for Independent
        itself.
        """
        if isinstance(self.mechanism, Independent):
            return None
        rho = self.divided(Independent(), self.spec.budget).mechanism
        columns = self.domain.attributes if self.link is None else self.link.columns  # without what a record says of how members are alike
        return self.unit.marginal_l2 * math.sqrt(len(columns) / (2 * rho))

    @cached_property
    def coins(self) -> Coins | None:
        """The coins that leave people out before the mechanism; None if it counts everybody in the table."""
        chance = extension.left_out(self.spec.extensions)
        return Coins(chance, self.unit.max_rows_per_person) if chance else None

    @property
    def who(self) -> str:
        """The word for those who count once: people, or households of two linked tables."""
        return "people" if self.link is None else self.link.words.households

    @property
    def condition(self) -> str:
        """An assumption that the privacy guarantee needs besides the proofs, as full sentences.

        It is "" without one, or if the mechanism cannot run.
        """
        try:
            return self.mechanism.condition(self.domain) if isinstance(self.mechanism, Conditional) else ""
        except InputError:
            return ""

    @cached_property
    def forecast(self) -> Forecast:
        """The expected time (seconds) and memory (MB) of the run, and whether an obstacle prevents it.

        For a stand-in table it counts its number of rows; otherwise the number of people is taken as unknown.
        """
        simulated = self.spec.data.standin
        return self.forecast_for(simulated.rows if simulated else None)

    def forecast_for(self, people: int | None) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of the run, and whether an obstacle prevents it.

        Args:
            people: A public number of people; None if it is unknown.
        """
        return forecast(self.mechanism, self.workload, self.counted, self.shares, people)


def measuring_first(asked: Workload, stated: extension.Stated, domain: Domain) -> Workload:
    """Return a workload with the tables that extensions measure before any others.

    Args:
        asked: The workload.
        stated: The spec's section `extensions`.
        domain: The domain.

    Raises:
        InputError: A setting or a table does not fit the domain or the workload.
    """
    for tables in map(extension.load, extension.tables(stated)):
        asked = asked.measuring_first(tables(stated, domain))
    return asked


def _criteria(spec: Spec, workload: Workload, mechanism: Mechanism, link: Link | None) -> tuple[AnyCriterion, ...]:
    """Return the criteria of a spec, in order.

    Raises:
        InputError: An entry is not valid.
        CapacityError: The criteria need tables that are too large.
    """
    if not spec.criteria:
        return ()
    from dpsynth_core.claims.criteria.registry import read_criteria  # loaded where a plan has criteria

    return read_criteria(spec.criteria, workload, answered=not mechanism.card.makes_rows, link=link)


def _about_models(criteria: tuple[AnyCriterion, ...]) -> dict[str, ModelCriterion]:
    """Return the criteria about models, by their field of a spec."""
    if not criteria:
        return {}
    from dpsynth_core.claims.criteria.registry import of_models  # loaded where a plan has criteria

    return of_models(criteria)


def _behind(domain: Domain, calibrated: Calibrated | None) -> Domain:
    """Return the domain with the calibrated weight as its last column; unchanged if the weight is None."""
    return domain if calibrated is None else replace(domain, filled=(*domain.filled, replace(calibrated, place=len(domain.columns))))


def forecast(mechanism: Mechanism, workload: Workload, unit: Unit, shares: Shares, people: int | None = None) -> Forecast:
    """Return the expected time (seconds) and memory (MB) of a mechanism's run with its settings, and whether an obstacle prevents it.

    Args:
        mechanism: The mechanism.
        workload: The workload.
        unit: The unit of privacy.
        shares: The shares of the budget.
        people: An approximate public number of people; None if it is unknown.
    """
    needed = registry.forecast(mechanism, workload, shares.mechanism, people / unit.marginal_l2 if people else None)
    if not needed.fits or not isinstance(mechanism, Learner):
        return needed
    why = mechanism.obstacle(workload.domain, shares.mechanism, shares.delta, unit)
    return replace(needed, fits=not why, reason=why)


def _linked(spec: Spec, households: Domain, second: MembersSpec) -> Link:
    """Return the link of two tables.

    Args:
        spec: The spec.
        households: Domain of the first table.
        second: The spec's section about the second table.

    Raises:
        InputError: The spec has parts that linked tables do not support, or a rule is invalid.
    """
    key, members, what = spec.unit.person_column, Domain.from_json(second.domain), extension.what_is_linked(spec.extensions)
    if key is None:
        raise InputError("unit.person_column", f"{what} need a key", "name the column that says whose a row is")
    check_person(members, key)
    if not spec.can_be_linked or spec.data.engine is not None:
        raise InputError("data", f"{what} are read from files that this machine counts", "name a file, and no engine")
    if not spec.data.simulated and not second.path:
        raise InputError("members.path", "no file is named", "give the path of the second table")
    wrong = {name: getattr(spec, name) for name in ("public", "published_tables", "models")} | {"output.tables": spec.output.tables > 1}
    for field in (name for name, stated in wrong.items() if stated):
        raise InputError(field, f"{what} do not go with it yet", "leave it out")
    layout = extension.layout(spec.extensions)
    if spec.mechanism.name != (own := registry.of_linked(layout)) or spec.mechanism.settings:
        raise InputError("mechanism", f"{what} have a mechanism of their own", f"name {own!r}, without settings")
    link = ruled(link_of(households, members, spec.unit.max_rows_per_person, (), spec.extensions), second.rules)
    for number, one in enumerate(spec.criteria):
        if one.get("column") in members:
            problem = f"it is of {link.words.members}, of {link.words.which} no ranges, means or quantiles are measured"
            raise InputError(f"criteria.{number}.column", problem, "name a column of the first table, or state a share or tables")
    return link


def check_used(spec: Spec) -> None:
    """Check that the spec of a new release states no share of the budget that two linked tables cannot use.

    `Plan.of` does not call this, because it also reads the specs of earlier versions.

    Raises:
        InputError: Two linked tables have a share for ranges, inside, means or discovery that is neither 0 nor the default.
    """
    unused = {"ranges": 0.0, "inside": 0.0, "means": 0.0, "discovery": DEFAULT_DISCOVERY}
    stated = spec.budget.model_dump() if spec.members else {}
    for name in (name for name, usual in unused.items() if stated.get(name, 0.0) not in (0.0, usual)):
        raise InputError(f"budget.{name}", f"{extension.what_is_linked(spec.extensions)} do not go with it yet", "leave it out")


def _check_held(link: Link, cliques: Iterable[Clique]) -> None:
    """Check that one of the two household models contains each table of the workload.

    One model has the household's columns and one member, the other has two members.

    Raises:
        InputError: A table needs columns of the household and of two members.
    """
    from dpsynth_core.mechanisms.graphical.households import holds  # loaded for two tables alone

    for clique in cliques:
        if not holds(link, clique):
            problem = f"{' x '.join(clique)} is of the household and of another member"
            raise InputError("workload", problem, "ask for columns of the household with one member, or for two members")


def with_published(domain: Domain, sections: Sequence[PublishedSpec]) -> Domain:
    """Return the domain with tables that were published about the same people, which the rows will keep to.

    Args:
        domain: The domain.
        sections: The spec's sections about published tables; () returns the domain unchanged.

    Raises:
        InputError: There are too many tables (`published.MAX_TABLES`), or they do not fit the domain, or
            contradict each other.
    """
    if not sections:
        return domain
    from dpsynth_core.vocabulary import published  # loaded for published tables alone

    if len(sections) > published.MAX_TABLES:
        raise InputError(published.FIELD, f"{len(sections):,} are too many", f"give at most {published.MAX_TABLES:,}")
    stated = enumerate(sections)
    tables = [published.read(one.columns, one.cells, one.source, domain.attributes, f"{published.FIELD}.{i}") for i, one in stated]
    published.check(tables, domain.zeros)
    return replace(domain, published=tuple(tables))


def askable(link: Link) -> Domain:
    """Return the domain whose columns tables and conditions of linked tables may name.

    These are the columns of a household, its number of members, and the columns of a member and of
    another member. Columns on how alike members are, are left out: they only make better rows.
    """
    return link.domain.keep([one.name for one in link.columns])


def link_of(first: Domain, second: Domain, most: int, rules: Sequence[object], stated: extension.Stated) -> Link:
    """Return the link of two tables as a spec asks for it: pairs of members, or the layout of an extension.

    Args:
        first: The columns of the first table.
        second: The columns of the second table.
        most: The largest number of rows of the second table that count for a row of the first.
        rules: The rules across both tables, as JSON values.
        stated: The spec's section `extensions`.

    Raises:
        InputError: A rule is invalid, `most` is out of range, or the tables cannot be linked.
        CapacityError: The table of a rule has too many cells.
    """
    if (layout := extension.layout(stated)) is None:
        return Link.ruled(first, second, most, rules)
    new: Callable[..., Link] = extension.load(layout.link)
    return new(first, second, most, rules, stated)


def ruled(link: Link, rules: Sequence[object]) -> Link:
    """Return a link with these rules in place of its own, which somebody with rows of the second table can keep.

    Args:
        link: The link.
        rules: The rules, as JSON values.

    Raises:
        InputError: A rule is invalid, or no household with at least one member can satisfy all of
            them. A layout of an extension checks the latter with its settings.
    """
    made = link.with_rules(rules)
    if type(made) is Link:
        _check_rules(made)
    return made


def _check_rules(link: Link) -> None:
    """Check that some household with members can satisfy all rules of a link of pairs of members."""
    from dpsynth_core.inference.household_rules import Rules  # loaded for two tables alone

    if (link.rules or link.numbers) and not any(map(Rules(link).can_hold, range(1, link.most + 1))):
        raise InputError("members.rules", "no household with members can keep all of them", "leave one of them out")


def check_person(domain: Domain, person: str | None) -> None:
    """Check that the column that identifies persons is not released.

    A column of the same name that follows from public facts is allowed.

    Args:
        domain: The domain.
        person: Name of the column that identifies persons, or None.

    Raises:
        InputError: The column is part of the domain.
    """
    if person in domain:
        remedy = 'drop it from the domain, or give the rows new ones: "kind": "identifier"'
        raise InputError(column_field(str(person)), "it tells people apart, and its values cannot be released", remedy)


def _check_unknown(spec: Spec, mechanism: Mechanism, domain: Domain) -> None:
    """Raise InputError for parts of a spec that cannot be combined with columns to learn."""
    if not domain.unknown:
        return
    field = column_field(domain.unknown[0].name)
    if isinstance(mechanism, Learner):
        raise InputError(field, f"its values are to be learnt, and {mechanism.card.title} needs to know them", "list its values")
    if spec.public is not None:
        raise InputError(field, "its values are to be learnt, and a public table shows them", "list its values, or name no public table")
    if spec.data.kind == STANDIN:
        raise InputError(field, "its values are to be learnt, and a stand-in table has none", "list its values")
    if spec.data.engine is not None:
        problem = "its values are to be learnt, and texts of the table do not leave the workers of a cluster"
        raise InputError(field, problem, "list its values, or let this machine count")


def _check_data(spec: Spec) -> None:
    """Raise InputError for invalid names, and for options that the kind of table or engine does not have."""
    data = spec.data
    for field, text in (("name", spec.name), ("population", spec.population)):
        if not text.strip() or not text.isprintable():
            raise InputError(field, "it is empty or has control characters", "give a short name")
    if (data.kind == STANDIN) != (data.standin is not None):
        raise InputError("data.standin", "it goes with the kind standin, and only with it", "give both, or neither")
    if not data.simulated and not data.path:
        raise InputError("data.path", "no data file is named", "give the path of a CSV or Parquet file or folder")
    if data.engine is not None and not data.is_file:
        raise InputError("data.engine", "it counts files and folders only", "leave it out")
    for field, stated in (("data.scheduler", data.scheduler), ("data.workers", data.workers)):
        if stated is not None and data.engine is None:
            if not (known := " or ".join(extension.engines())):
                raise InputError(field, "it goes with an engine, and none is here", "leave it out")
            raise InputError(field, f"it goes with the engine {known}", f'state "engine": "{known}", or leave it out')
    if data.scheduler is not None and data.workers is not None:
        raise InputError("data.workers", "a cluster that runs already has its own", "state the scheduler or the workers, not both")
    if spec.unit.max_rows_per_person > 1 and spec.unit.person_column is None:
        raise InputError("unit.max_rows_per_person", "it needs a column that tells people apart", "name unit.person_column, or use 1")


def _check_output(spec: Spec, mechanism: Mechanism) -> None:
    """Raise InputError if requested rows, or several tables of rows, cannot be drawn."""
    tables, rows = spec.output.tables, spec.output.rows or 1
    if spec.output.rows is not None and not mechanism.card.makes_rows:
        problem = f"{mechanism.card.title} gives answers and no rows"
        raise InputError("output.rows", problem, "leave it out, or choose another mechanism")
    if tables > 1 and not mechanism.card.makes_rows:
        problem = f"{mechanism.card.title} has no model that tables of rows could be drawn from"
        raise InputError("output.tables", problem, "leave it out, or choose a mechanism that makes rows")
    if spec.weight is not None and (tables > 1 or spec.data.kind == STANDIN or spec.data.engine is not None):
        problem = "weights go with one table of rows, whose values this machine counts"
        raise InputError("weight", problem, "leave it out, or name a table and neither a stand-in, an engine nor several tables of rows")
    if spec.published_tables and (spec.weight is not None or spec.unit.max_rows_per_person > 1):
        field = "unit.max_rows_per_person" if spec.weight is None else "weight"
        raise InputError(field, "published tables count people, and rows are not one each", "use one row for each, or no published tables")
    if tables * rows > MAX_ROWS:
        problem = f"{tables:,} tables of {rows:,} rows are more than {MAX_ROWS:,} rows together"
        raise InputError("output.tables", problem, "ask for fewer tables, or for fewer rows")
