"""What would do, where a plan should not come out good enough: the usual mechanism, more budget, fewer or smaller tables, wider groups
of values.

From public facts alone, as `power` expects them. A way is a change of the spec's document, and what is said of it holds for the plan that
the changed document means. None is offered that helps less than what is there, and none where nothing is amiss.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import power as powers
from dpsynth_core.planning import precision, recommendation
from dpsynth_core.planning.plan import Plan, forecast
from dpsynth_core.planning.power import Power
from dpsynth_core.planning.recommendation import USUAL, Expected, Situation
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.budget import MIN_EPSILON, WEAK_EPSILON
from dpsynth_core.vocabulary import bins as binning
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, subsets
from dpsynth_core.vocabulary.names import in_letters
from dpsynth_core.vocabulary.workload import Workload

GROUPS = (20, 16, 12, 10, 8, 6, 5, 4)
FEWEST = 3
"""So many groups a column of numbers or dates has at most, the most first; and at least, for with fewer it says little."""
KEPT = (0.9, 0.8, 0.7, 0.6, 0.5)
"""Shares of the tables that are kept, the smallest ones."""
SURELY = 0.9
"""What more budget is to come to: half of the plans that should just come out good enough do not."""
LEAST_NOISE = 0.0021
"""That two linked tables were tried with (`Situation`). With less, errors are no larger."""
NOTABLE = 0.05
"""What does not do has to name so many more of the tables good enough."""


class Kind(StrEnum):
    MECHANISM = "mechanism"
    EPSILON = "epsilon"
    TABLES = "tables"
    GROUPS = "groups"
    TOGETHER = "together"


@dataclass(frozen=True)
class Way:
    """changes: entries of the spec's document in place of its own. what: the change in our own words, with no name of a column in it.
    power: what it should come to. allowed: whether the account of the population holds it, as far as is known."""

    kind: Kind
    what: str
    power: Power
    changes: dict[str, Any] = field(hash=False)
    allowed: bool = True

    @property
    def sentence(self) -> str:
        """What it is expected to come to, with what has to be known of it; no name of a column is in it."""
        hope = f"{self.what}: {self.power.hope} should come out good enough."
        hope += "" if self.power.enough else " Better, and not enough by itself."
        return hope + (" The limit of the population does not allow it." if not self.allowed else "")


@dataclass(frozen=True)
class Facts:
    """What is known beside the plan. people: declared or released. among: the mechanisms that may run, the plan's if none is named.
    worse: as in `power.power`. left: rho that the account has, in the plan's accountant; infinite where that is not known.
    shown: the share of single columns that a release showed to be good enough; 0 before there is one."""

    people: int
    among: tuple[str, ...] = ()
    worse: float = 1.0
    left: float = math.inf
    shown: float = 0.0


def expected(plan: Plan, facts: Facts) -> Power:
    """What the plan should come to as it is."""
    among = facts.among or (plan.mechanism.card.name,)
    return powers.power(plan.asked, plan.shares, plan.counted, facts.people, among, facts.worse)


def linked_error(plan: Plan, people: int) -> Expected | None:
    """The error to expect of two linked tables, as a share of households, mean over the tables; None where our trials say nothing of it."""
    if plan.link is None:
        return None
    situation = Situation.of(plan.asked, plan.shares.mechanism, plan.counted, people)
    situation = replace(situation, noise=max(situation.noise, LEAST_NOISE))
    expected = recommendation.expected(plan.mechanism.card.name, situation)
    return None if expected is None or expected.beyond else expected


def ways(plan: Plan, facts: Facts) -> tuple[Way, ...]:
    """One of each kind at most, in the order of `Kind`, and two changes together where no single one does; none where the plan should come
    out good enough, or publishes no tables."""
    now = expected(plan, facts)
    if now.enough or not plan.mechanism.card.publishes_tables:
        return ()
    if plan.link is not None:  # whose mechanism and tables are no choice
        return tuple(filter(None, [_more_budget(plan, facts)]))
    found = (
        _usual_mechanism(plan, facts, now),
        _more_budget(plan, facts),
        _fewer_tables(plan, facts, now),
        _wider_groups(plan, facts, now),
    )
    offered = tuple(way for way in found if way is not None)
    return offered if any(way.power.enough for way in offered) else (*offered, *_together(plan, facts))


def _together(plan: Plan, facts: Facts) -> Iterator[Way]:
    """Single columns alone, with the budget that they need."""
    if max(map(len, plan.workload.cliques)) == 1:
        return
    *_, (what, asked) = _smaller(plan)
    with suppress(InputError):
        if (way := _more_budget(changed(plan.spec, asked), facts)) is not None:
            yield replace(way, kind=Kind.TOGETHER, what=f"{what}, with {way.what}", changes=asked | way.changes)


def _usual_mechanism(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """Where somebody chose another, and it does less."""
    usual = registry.get(USUAL)
    if USUAL in (plan.mechanism.card.name, *facts.among) or not forecast(usual, plan.workload, plan.unit, plan.shares, facts.people).fits:
        return None
    changes = {"mechanism": {"name": USUAL, "settings": {}}}
    what = f"{usual.card.title} instead of {plan.mechanism.card.title}"
    return _best(Kind.MECHANISM, plan, replace(facts, among=(USUAL,), worse=1.0), now, iter([(what, changes)]))


def _more_budget(plan: Plan, facts: Facts) -> Way | None:
    """The least epsilon of two digits that does with room for chance, up to where a reason is asked for; where none does so surely, the
    least that does as well as the largest."""
    low, high = plan.spec.budget.epsilon, WEAK_EPSILON
    if low >= high or not (most := _at(plan, facts, high)[1]).enough:
        return None
    least = min(SURELY, _good(most))
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _good(_at(plan, facts, middle)[1]) >= least else (middle, high)
    epsilon = min(WEAK_EPSILON, precision.round_up(max(MIN_EPSILON, high), digits=2))
    changed, hope = _at(plan, facts, epsilon)
    what = f"ε {epsilon:g} instead of {plan.spec.budget.epsilon:g}"
    budget = changed.spec.budget.model_dump(mode="json")
    return Way(Kind.EPSILON, what, hope, {"budget": budget}, changed.shares.rho <= facts.left)


def _good(hope: Power) -> float:
    """The share of tables that should come out good enough, or of single columns where that is less."""
    return min(hope.share, hope.share_of_columns)


def _at(plan: Plan, facts: Facts, epsilon: float) -> tuple[Plan, Power]:
    budget = plan.spec.budget.model_copy(update={"epsilon": epsilon})
    changed = replace(plan, spec=plan.spec.model_copy(update={"budget": budget}), shares=plan.divided(plan.mechanism, budget))
    return changed, expected(changed, facts)


def _fewer_tables(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """The first that does, those that keep most first; else the one of which the largest share does."""
    return _best(Kind.TABLES, plan, facts, now, _smaller(plan))


def _smaller(plan: Plan) -> Iterator[tuple[str, dict[str, Any]]]:
    """Fewer of the tables or parts of them, those that keep most first. Of single columns, noise bounds the errors without a
    certificate, too: closer than one measures them where people are few."""
    parted = [(what, {"workload": workload.to_json()}) for what, workload in _parted(plan.workload)]
    budget, bare = plan.spec.budget.model_dump(mode="json"), list[tuple[str, dict[str, Any]]]()
    if budget["certificate"]:
        alone = Workload(plan.domain, dict.fromkeys(_parts(plan.workload, 1, set()), 1.0))
        asked = {"workload": alone.to_json(), "budget": budget | {"certificate": 0.0}}
        bare = [("Only single columns and no certificate, because their noise is known", asked)]
    yield from [*bare, *parted] if max(map(len, plan.workload.cliques)) == 1 else [*parted, *bare]


def _parted(workload: Workload) -> Iterator[tuple[str, Workload]]:
    """The smallest of the tables; then all their parts of ever fewer columns, as far as what each asks can be asked of them."""
    domain, widest = workload.domain, max(map(len, workload.cliques))
    by_size = sorted(workload.cliques, key=domain.cells)
    for count in sorted({round(share * len(by_size)) for share in KEPT} - {0, len(by_size)}, reverse=True):
        kept = set(by_size[:count])
        weights = {clique: weight for clique, weight in workload.weights.items() if clique in kept}
        yield f"Only the {count:,} smallest of the {len(by_size):,} tables", replace(workload, weights=weights, draw=None)
    shared = set(workload.cliques[0]).intersection(*workload.cliques)
    for size in range(widest - 1, 0, -1):
        cliques = _parts(workload, size, shared if len(shared) == 1 and size > 1 else set())
        threshold = workload.threshold if (workload.threshold or size + 1) <= size else None
        what = "Only single columns" if size == 1 else f"Tables of {in_letters(size)} columns instead of {in_letters(widest)}"
        yield what, Workload(domain, dict.fromkeys(cliques, 1.0), threshold)


def _parts(workload: Workload, size: int, always: set[str]) -> list[Clique]:
    """Tables of so many columns that some table contains, those with the column that is `always` there, in the order of the domain."""
    place = {name: i for i, name in enumerate(workload.domain.names)}
    parts = {part for clique in workload.cliques for part in subsets(clique, min(size, len(clique)), size) if always <= set(part)}
    return sorted(parts, key=lambda part: [place[name] for name in part])


def _wider_groups(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """The finest groups that do; else those with which most does."""
    domain = Domain.from_json(plan.spec.domain)
    return _best(Kind.GROUPS, plan, facts, now, _grouped(domain, json.loads(json.dumps(domain.to_json()))))


def _grouped(domain: Domain, document: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    """Rules and reasons speak of groups by their names, so that columns with such keep theirs."""
    bound = {name for rule in domain.impossible for name in rule.attributes}
    free = [one for one in domain if one.is_number and not one.most and not (one.missing_as or one.other_as) and one.name not in bound]
    for most in GROUPS:
        wider = {one.name: made for one in free if one.values > most and (made := coarser(one, most)) != one}
        if not wider:
            continue
        entries = [Column.of(wider[e["name"]]).to_json() if e["name"] in wider else e for e in document["attributes"]]
        fewest = max(one.values for one in wider.values())
        what = f"At most {fewest:,} groups in {len(wider):,} column{'s' * (len(wider) > 1)} of numbers or dates"
        yield what, {"domain": {**document, "attributes": entries}}


def coarser(one: Attribute, most: int) -> Attribute:
    """A column of numbers, dates or times in about so many groups: of a round width, or neighbours together where its groups are of no one
    width, so that cuts that somebody chose stay cuts."""
    if "edges" in one.stated_bins():
        step = -(-one.values // most)
        return replace(one, edges=(*one.edges[:-1:step], one.edges[-1]))
    wider = replace(one, edges=binning.round_edges(one.name, one.scale, one.lower, one.upper, most))
    return wider if FEWEST <= wider.values < one.values else one


def _best(kind: Kind, plan: Plan, facts: Facts, now: Power, offered: Iterator[tuple[str, dict[str, Any]]]) -> Way | None:
    best: Way | None = None
    for what, changes in offered:
        with suppress(InputError):  # a condition, or the mechanism, needs what would be changed
            way = Way(kind, what, expected(changed(plan.spec, changes), facts), changes, plan.shares.rho <= facts.left)
            if way.power.enough:
                return way
            if way.power.share > (now.share if best is None else best.power.share) + NOTABLE and _keeps(way.power, now, facts):
                best = way
    return best


def _keeps(after: Power, now: Power, facts: Facts) -> bool:
    """Whether no fewer single columns come out good enough than without a change."""
    return after.share_of_columns >= max(now.share_of_columns, facts.shown)


def changed(spec: Spec, changes: dict[str, Any]) -> Plan:
    """The plan of a spec with a way's changes. Raises InputError where it means none."""
    return Plan.of(Spec.from_json(spec.model_dump(mode="json") | changes))
