"""A sweep: the document that says which mechanisms and budgets are tried on which table.

Its points are the single trials, each an ordinary spec. This module uses public facts only and opens no table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cached_property
from hashlib import sha256
from typing import Any

import numpy as np

from dpsynth_core.claims.certificate import CERTIFICATE
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.documents import canonical_digest
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.parameters import Parameter, parameters, read
from dpsynth_core.planning import weakness
from dpsynth_core.planning.plan import Plan, Shares, budgeted, looked_into
from dpsynth_core.planning.spec import STANDIN, BudgetSpec, DataSpec, MechanismSpec, MembersSpec, OutputSpec, Spec, StandinSpec
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.budget import check_budget
from dpsynth_core.sources import standins
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

PUBLIC, PRIVATE = "public", "private"
TABLES = (STANDIN, PUBLIC, PRIVATE)
MAX_REPEATS = 20
MAX_POINTS = 1000
MECHANISMS, EPSILONS = ("aim", "mst", "independent"), (0.1, 0.3, 1.0, 3.0, 10.0)
"""What is tried unless somebody says otherwise."""
STRENGTHS = (0.25, 0.5, 0.75)
"""From weakly to strongly related columns of a stand-in: the private table's strength is not known."""
ROWS = 10_000
"""Rows of a stand-in where the number of people is not stated."""

_FIELD = "sweep"
_OPTIONAL = ("swept", "values", "invented")


@dataclass(frozen=True)
class Point:
    """One trial of a sweep.

    Attributes:
        number: Index in `Sweep.points`.
        mechanism: Name of the mechanism.
        epsilon: Epsilon of the trial.
        size: Number of tables of the workload that the trial asks for.
        repeat: Number of the repeat, from 0.
        strength: How strongly the columns of the stand-in depend on each other, 0 to 1; None on
            another table.
        value: Value of the swept setting; None for a mechanism without one.
    """

    number: int
    mechanism: str
    epsilon: float
    size: int
    repeat: int
    strength: float | None
    value: float | None = None

    @property
    def setting(self) -> tuple[str, float | None, float, int]:
        """The key that repeats of the trial share: (mechanism, value of the swept setting, epsilon, number of tables)."""
        return self.mechanism, self.value, self.epsilon, self.size


@dataclass(frozen=True)
class Swept:
    """A setting of one mechanism, and the values that are tried for it, such as AIM's capacity (AIM paper, Figure 4 a and b).

    Attributes:
        mechanism: Name of the mechanism.
        parameter: Name of one of its parameters that are numbers.
        values: The values.

    Raises:
        InputError: The mechanism has no such parameter, or a value is repeated or out of its range.
    """

    mechanism: str
    parameter: str
    values: tuple[float, ...]

    def __post_init__(self) -> None:
        offered = {one.name: one for one in sweepable(self.mechanism)}
        if self.parameter not in offered:
            remedy = f"use one of {', '.join(offered)}" if offered else "vary a setting of another mechanism"
            raise InputError(f"{_FIELD}.setting", f"{self.mechanism} has no such number among its parameters", remedy)
        values = tuple(float(read(offered[self.parameter], value)) for value in self.values)
        if not values or len(set(values)) < len(values):
            raise InputError(f"{_FIELD}.setting", "it has no values or one of them twice", "give each value once, and at least one")
        object.__setattr__(self, "values", values)


def sweepable(mechanism: str) -> tuple[Parameter, ...]:
    """Return the parameters of a mechanism that are numbers, in the order of its card.

    Args:
        mechanism: Name of the mechanism.

    Raises:
        InputError: The mechanism is unknown.
    """
    return tuple(one for one in parameters(registry.get(mechanism)) if one.kind in ("int", "float"))


def usual_values(parameter: Parameter) -> list[float]:
    """Return three or four values of a parameter, ascending and within its range, evenly spaced on a logarithmic scale around its default.

    There are fewer if some are equal. A default of 0 stands for a value that the mechanism chooses; it is followed by parts of the
    range.
    """
    default = float(parameter.default)
    around = [default * factor for factor in (1 / 16, 1 / 4, 1, 4)] if default else [0.0, parameter.high / 100, parameter.high / 10]
    within = (min(max(value, parameter.low), parameter.high) for value in around)
    return sorted({float(round(value)) if parameter.kind == "int" else float(f"{value:.2g}") for value in within})


def on_stand_in(plan: Spec, rows: int = ROWS, strength: float = STRENGTHS[1]) -> Spec:
    """Return a plan with invented people in place of its table, without all that is about the table.

    Of two linked tables, both are invented.

    Args:
        plan: The plan.
        rows: Number of rows, or of households.
        strength: How strongly their columns depend on each other, 0 to 1.

    Raises:
        InputError: A number is out of range.
    """
    standins.check(rows, strength)
    data = DataSpec(kind=STANDIN, standin=StandinSpec(rows=rows, strength=strength))
    of = plan.members
    members = None if of is None else MembersSpec(kind=STANDIN, domain=of.domain, rules=of.rules)
    return plan.model_copy(update={"data": data, "members": members, "public": None, "looks": None, "output": OutputSpec()})


@dataclass(frozen=True)
class Sweep:
    """A plan with the mechanisms, budgets and numbers of tables to try; every combination is tried.

    Attributes:
        base: The plan. Its data is the table to try on; the settings of its mechanism apply where
            that mechanism is tried.
        table: Kind of `base.data`: one of `TABLES`.
        mechanisms: Names of the mechanisms.
        epsilons: Values of epsilon.
        sizes: Numbers of tables of the workload; the tables of a smaller number are among the
            tables of a larger one.
        repeats: Number of repeats of each combination.
        strengths: How strongly the columns of a stand-in depend on each other (0 to 1), one
            stand-in for each value. Empty for the plan's stand-in only.
        swept: A setting of one of the mechanisms, each of whose values is tried.
        values: The plan's domain (JSON) with values in place of those to be learnt; None for a plan
            that learns none.
        invented: Names of the columns whose values in `values` are invented; a release learnt the
            values of the other columns.

    Raises:
        InputError: The grid is empty, repeats a value, or has a value out of range; or values to be
            learnt have nothing in their place.
        CapacityError: The grid has more than `MAX_POINTS` trials.
    """

    base: Spec
    table: str
    mechanisms: tuple[str, ...]
    epsilons: tuple[float, ...]
    sizes: tuple[int, ...]
    repeats: int
    strengths: tuple[float, ...] = ()
    swept: Swept | None = None
    values: Mapping[str, Any] | None = None
    invented: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.table not in TABLES:
            raise InputError(f"{_FIELD}.table", f"{self.table!r} is unknown", f"use one of {', '.join(TABLES)}")
        if (self.table == STANDIN) != (self.base.data.kind == STANDIN):
            raise InputError(f"{_FIELD}.table", "the plan names another table", "name the table that is tried on as the plan's data")
        for name, values in (("mechanisms", self.mechanisms), ("epsilons", self.epsilons), ("sizes", self.sizes)):
            if not values or len(set(values)) < len(values):
                raise InputError(f"{_FIELD}.{name}", "it is empty or names one twice", "give each once, and at least one")
        self._check_strengths()
        self._check_values()
        self._check_linked()
        for name in self.mechanisms if self.base.members is None else ():
            registry.get(name)
        if self.swept is not None and self.swept.mechanism not in self.mechanisms:
            raise InputError(f"{_FIELD}.setting", f"{self.swept.mechanism} is not tried", "try it, or vary a setting of another mechanism")
        for epsilon in self.epsilons:
            check_budget(epsilon, self.base.budget.delta)
            if self.table == PRIVATE and self.base.protects:
                weakness.check(self.base.budget.model_copy(update={"epsilon": epsilon}))
        if not 1 <= self.repeats <= MAX_REPEATS:
            raise InputError(f"{_FIELD}.repeats", f"{self.repeats} is out of range", f"use 1 to {MAX_REPEATS}")
        stand_ins = max(1, len(self.strengths))
        if len(self.variants) * len(self.epsilons) * len(self.sizes) * self.repeats * stand_ins > MAX_POINTS:
            raise CapacityError(_FIELD, f"it has more than {MAX_POINTS:,} trials", "use fewer mechanisms, values of epsilon or repeats")

    def _check_linked(self) -> None:
        if extension.layout(self.base.extensions) is not None:
            problem = f"trials do not go with {extension.what_is_linked(self.base.extensions)} yet"
            raise InputError("extensions", problem, "try a plan without them")
        if self.base.members is not None and self.mechanisms != (registry.LINKED.name,):
            problem, remedy = "two linked tables have a mechanism of their own", f"name {registry.LINKED.name!r} alone"
            raise InputError(f"{_FIELD}.mechanisms", problem, remedy)

    def _check_strengths(self) -> None:
        """Check that strengths are stated only for a stand-in, each once and from 0 to 1.

        Raises:
            InputError: They are not.
        """
        if self.strengths and self.base.data.standin is None:
            raise InputError(f"{_FIELD}.strengths", "only a stand-in has them", "leave them out")
        if len(set(self.strengths)) < len(self.strengths) or not all(0 <= strength <= 1 for strength in self.strengths):
            raise InputError(f"{_FIELD}.strengths", "one is named twice or is not from 0 to 1", "give each once")

    def _check_values(self) -> None:
        """Check that values stand in place of all that are to be learnt, and are invented for a stand-in alone.

        Raises:
            InputError: They do not.
        """
        if self.base.learns != (self.values is not None):
            raise InputError("domain", "values of a column are to be learnt, which trials cannot do", "put values in their place")
        if self.values is None:
            return
        if self._planned.names != self.domain.names or self.domain.unknown:
            raise InputError(f"{_FIELD}.values", "they are of other columns, or some are still to be learnt", "give those of the plan")
        if self.invented and self.table != STANDIN:
            problem = "values of a column are to be learnt, and invented ones would be found in no other table than simulated data"
            raise InputError("domain", problem, "try it on simulated data, or learn the values with a release first")

    @cached_property
    def _planned(self) -> Domain:
        """The domain of the plan, in which values may be left to be learnt."""
        return Domain.from_json(self.base.domain)

    @cached_property
    def domain(self) -> Domain:
        """The domain of the trials, in which all values are known."""
        return self._planned if self.values is None else Domain.from_json(self.values)

    @property
    def zone(self) -> Zone:
        """The zone of the errors: curator-only for trials on the private table, else public."""
        return Zone.CURATOR if self.table == PRIVATE else Zone.PUBLIC

    @cached_property
    def workload(self) -> Workload:
        """The workload of the whole plan, over `domain`. A trial of a smaller size (`sizes`) asks for a part of its tables.

        Raises:
            InputError: The plan is invalid.
        """
        return self._whole.workload

    @cached_property
    def _whole(self) -> Plan:
        """The plan, with values in place of those to be learnt. Raises InputError if it is invalid."""
        return Plan.of(self._known)

    @cached_property
    def _known(self) -> Spec:
        """The plan with values in place of those to be learnt."""
        if self.values is None:
            return self.base
        asked = workloads.from_json(self._planned, self.base.workload).over(self.domain)
        return self.base.model_copy(update={"domain": dict(self.values), "workload": asked.to_json()})

    @cached_property
    def titles(self) -> dict[str, str]:
        """The title of each mechanism, by its name.

        It is the title of the mechanism as the plan's settings configure it (one for the paper's version, say); it
        lists no settings, and `title` adds a value of the swept setting.

        Raises:
            InputError: The settings cannot be used.
        """
        return {name: self._mechanism(name).card.title for name in self.mechanisms}

    @cached_property
    def variants(self) -> tuple[tuple[str, float | None], ...]:
        """Each mechanism (its name) with each value of the swept setting; with None if it has no such setting."""
        values = {} if self.swept is None else {self.swept.mechanism: self.swept.values}
        return tuple((name, value) for name in self.mechanisms for value in values.get(name, (None,)))

    def title(self, mechanism: str, value: float | None) -> str:
        """Return the title of a mechanism with the value of the swept setting, if it has one.

        Args:
            mechanism: Name of a mechanism of the sweep.
            value: Value of the swept setting; None for a mechanism without one.
        """
        title = self.titles[mechanism]
        return title if value is None or self.swept is None else f"{title}, {self.swept.parameter} {value:g}"

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """Every trial, in the order of execution; the number of a point is its index.

        All first repeats come before any second one, and the middle strength before others, so that
        whole curves appear early.
        """
        by_turn = [(r, t) for r in range(self.repeats) for t in self._stand_ins]
        grid = [(m, e, s, r, t, v) for r, t in by_turn for s in self.sizes for e in self.epsilons for m, v in self.variants]
        return tuple(Point(number, *place) for number, place in enumerate(grid))

    @property
    def middle(self) -> float | None:
        """The middle strength, whose stand-in curves are drawn for; None on another table."""
        return self._stand_ins[0]

    @property
    def _stand_ins(self) -> tuple[float | None, ...]:
        """The strengths, the middle one first; (None,) on a table that is not a stand-in."""
        if self.base.data.standin is None:
            return (None,)
        ordered = sorted(self.strengths or (self.base.data.standin.strength,))
        middle = ordered.pop(len(ordered) // 2)
        return (middle, *ordered)

    @property
    def rho(self) -> float:
        """The sum of the rho of all trials as if on the private table.

        Trials are charged in zCDP, where the rho of every accountant may be counted.
        """
        return sum(shares.rho for shares in self._shares) * len(self.sizes) * self.repeats

    @property
    def own_delta(self) -> float:
        """The sum over all trials of the delta that single steps need besides rho (`planning.plan.Shares.delta`)."""
        return sum(shares.delta for shares in self._shares) * len(self.sizes) * self.repeats

    @cached_property
    def _shares(self) -> list[Shares]:
        """The division of a trial's budget, for each variant and epsilon; it is the same for all sizes and repeats."""
        return [self._budgeted(chosen, epsilon) for epsilon in self.epsilons for chosen in self._tried]

    def guess(self, epsilon: float) -> float:
        """Return the largest probability with which a person undecided about one record guesses right after one trial, from 0.5 to 1.

        It is the largest over the mechanisms.

        Args:
            epsilon: Epsilon of the trial.
        """
        budgets = [self._budgeted(chosen, epsilon) for chosen in self._tried]
        return max(meaning.reading(shares.accountant, shares.rho, shares.slack).guess for shares in budgets)

    @property
    def _tried(self) -> list[Mechanism]:
        """The mechanism of each variant."""
        return [self._mechanism(*variant) for variant in self.variants]

    def _budgeted(self, chosen: Mechanism, epsilon: float) -> Shares:
        """Return the division of the budget of a trial.

        Args:
            chosen: The mechanism.
            epsilon: Epsilon of the trial.
        """
        return budgeted(chosen, self._budget(chosen, epsilon))

    def _budget(self, chosen: Mechanism, epsilon: float) -> BudgetSpec:
        """Return the budget of a trial: what the plan would spend on tables and certificate at another epsilon.

        Trials evaluate only tables, so the plan's other shares are not spent, such as the one that
        learns values.

        Args:
            chosen: The mechanism.
            epsilon: Epsilon of the whole plan.
        """
        whole = self.base.budget.model_copy(update={"epsilon": epsilon})
        asked = self._planned if self.base.members is None else self._whole.domain
        into = looked_into(chosen, asked, PRIVATE)  # as the plan will, whichever table is tried on
        shares = budgeted(chosen, whole, asked.unknown, self.base.claims, into)
        rest = {name: rho for name, rho in shares.aside if name != CERTIFICATE.name}
        if not rest:
            return whole
        kept = 1 - math.fsum(rest.values()) / shares.rho
        certificate = min(CERTIFICATE.share.most, shares.of(CERTIFICATE.name) / shares.rho / kept)
        spent = {**dict.fromkeys(rest, 0.0), CERTIFICATE.name: certificate}
        delta = whole.delta - budgeted(chosen, whole).delta
        return whole.model_copy(update={**spent, "epsilon": shares.accountant.epsilon_from(kept * shares.rho, delta)})

    def _mechanism(self, name: str, value: float | None = None) -> Mechanism:
        """Return the mechanism with its settings for trials, without or with a value of the swept one."""
        if self._whole.link is not None:
            return registry.linked(self._whole.link)
        return registry.configured(registry.get(name), self.settings(name, value))

    def settings(self, name: str, value: float | None = None) -> dict[str, Any]:
        """Return the settings for trials of a mechanism, by parameter: the swept setting has `value`, the others are the plan's.

        The plan's settings are used for its own mechanism only. A parameter without an entry has its default.

        Args:
            name: Name of the mechanism.
            value: Value of the swept setting; None for a mechanism without one.
        """
        given = dict(self.base.mechanism.settings) if name == self.base.mechanism.name else {}
        return given if value is None or self.swept is None else given | {self.swept.parameter: value}

    def cliques(self, size: int) -> tuple[Clique, ...]:
        """Return the `size` tables that trials of this size ask for, in the order of the workload.

        They are the first ones in a fixed random order, so that a smaller choice is part of a
        larger one.

        Raises:
            InputError: `size` is not from 1 to the number of tables of the workload.
        """
        every = self.workload.cliques
        if not 1 <= size <= len(every):
            raise InputError(f"{_FIELD}.sizes", f"{size} is not a number of tables of the workload", f"use 1 to {len(every)}")
        kept = set(np.random.default_rng(0).permutation(len(every))[:size].tolist())
        return tuple(clique for i, clique in enumerate(every) if i in kept)

    def spec(self, point: Point) -> Spec:
        """Return the spec of a trial.

        Its budget is what the plan would spend on tables and certificate at the trial's epsilon. On a table that is
        not private the noise comes from a seed and repeats; on the private table it comes from the system. The plan's
        public table is left out where the table is not private, because it describes another table. Criteria and
        models are left out.

        Args:
            point: The trial, one of `points`.

        Raises:
            InputError: The plan is invalid, or the settings of its mechanism cannot be used.
        """
        text = f"{point.mechanism} {point.epsilon!r} {point.size} {point.repeat}"  # a seed of its own, the same whenever it is repeated
        text += "" if point.value is None else f" {point.value!r}"
        seed = None if self.table == PRIVATE else int.from_bytes(sha256(text.encode()).digest()[:7], "big")
        weights = {clique: self.workload.weights[clique] for clique in self.cliques(point.size)}
        changes: dict[str, Any] = {
            "mechanism": MechanismSpec(name=point.mechanism, settings=self.settings(point.mechanism, point.value)),
            "budget": self._budget(self._mechanism(point.mechanism, point.value), point.epsilon),
            "output": OutputSpec(seed=seed),
            "models": (),  # trials look at tables
        }
        if point.size < len(self.workload.cliques):
            changes["workload"] = Workload(self.workload.domain, weights, self.workload.threshold).to_json()
        if self.table != PRIVATE:
            changes["public"] = None
        if self.base.data.standin is not None:
            stand_in = self.base.data.standin.model_copy(update={"strength": point.strength})
            changes["data"] = self.base.data.model_copy(update={"standin": stand_in})
        return self._known.model_copy(update=changes | {"criteria": ()})

    def to_json(self) -> dict[str, Any]:
        """Return the sweep as a JSON-serialisable document, which `from_json` reads; it has the plan in full, with locations of files."""
        stated = {field.name: getattr(self, field.name) for field in fields(self)}
        stated = {name: value for name, value in stated.items() if name not in _OPTIONAL or value}  # others keep the digest that they had
        if self.swept is not None:
            stated["swept"] = asdict(self.swept)
        return {"version": 1, **stated, "base": json.loads(self.base.model_dump_json())}

    @classmethod
    def from_json(cls, obj: Mapping[str, Any]) -> Sweep:
        """Return the sweep of a document that `to_json` wrote.

        Raises:
            InputError: Its plan or its grid is not valid.
            KeyError: An entry is missing.
        """
        lists: dict[str, Any] = {name: tuple(obj[name]) for name in ("mechanisms", "epsilons", "sizes", "strengths")}
        swept = None if "swept" not in obj else Swept(**{**obj["swept"], "values": tuple(obj["swept"]["values"])})
        more: dict[str, Any] = {"swept": swept, "values": obj.get("values"), "invented": tuple(obj.get("invented", ()))}
        return cls(Spec.from_json(obj["base"]), obj["table"], repeats=obj["repeats"], **lists, **more)

    def digest(self) -> str:
        """Return the SHA-256 (hexadecimal) of the document, in which the plan has its published form (`Spec.published`)."""
        obj = self.to_json() | {"base": self.base.published()}
        return canonical_digest(obj)
