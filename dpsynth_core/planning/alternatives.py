"""Alternatives to a plan that should not come out good enough.

They are: the usual mechanism, more budget, fewer or smaller tables, wider groups, fewer columns. They follow from
public facts only, with the expectations of `expected_verdict`. An alternative changes the spec's
document, and its expected result is computed for the changed plan. It is offered only if it
improves on a plan that needs improvement.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import partial
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning import precision, recommendation
from dpsynth_core.planning.expected_verdict import Facts, Light, Power, expected
from dpsynth_core.planning.plan import Plan, forecast
from dpsynth_core.planning.proposals import MANY_COLUMNS
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
COLUMNS = (100, 50, 30, 20, 15, 10, 8, 5, 3)
"""Numbers of columns that a plan with more than `MANY_COLUMNS` could keep, largest first."""
FEWEST = 3
"""Numbers of groups of a column of numbers or dates, largest first; below the last, the column says little."""
KEPT = (0.9, 0.8, 0.7, 0.6, 0.5)
"""Shares of the tables that are kept, the smallest tables first."""
SURELY = 0.9
"""Target of more budget: half of the plans that should barely come out good enough do not."""
LEAST_NOISE = 0.0021
"""Smallest noise at which two linked tables were tried (`Situation`). Errors are no larger below."""
NOTABLE = 0.05
"""Additional share of tables that must come out good enough for an alternative that does not suffice."""


class Kind(StrEnum):
    """The part of a plan that an alternative changes."""

    MECHANISM = "mechanism"
    EPSILON = "epsilon"
    TABLES = "tables"
    GROUPS = "groups"
    COLUMNS = "columns"
    TOGETHER = "together"


@dataclass(frozen=True)
class Way:
    """An alternative to a plan.

    Attributes:
        kind: The part of the plan that it changes.
        what: The change in our own words, without names of columns.
        power: The expected numbers of good tables of the changed plan.
        changes: Top-level entries of the spec's document, each in place of the entry with the same
            name.
        allowed: Whether the population's account has enough budget left; True if that is not known.
    """

    kind: Kind
    what: str
    power: Power
    changes: dict[str, Any] = field(hash=False)
    allowed: bool = True

    @property
    def sentence(self) -> str:
        """The expected result with its conditions, without names of columns."""
        hope = f"{self.what}: {self.power.hope} should come out good enough."
        hope += "" if self.power.enough else " That is better, but not enough."
        return hope + (" The limit of the population does not allow it." if not self.allowed else "")


@dataclass(frozen=True)
class _Offer:
    """A change of a plan that is not examined yet.

    Attributes:
        what: The change in our own words, without names of columns.
        changes: Returns the changed top-level entries of the spec's document.
        plan: The changed plan for a first estimate; None if only the changed spec gives it.
    """

    what: str
    changes: Callable[[], dict[str, Any]]
    plan: Plan | None = None


def linked_error(plan: Plan, people: int) -> Expected | None:
    """Return the expected mean error of two linked tables, as a share of households in a wrong cell.

    Args:
        plan: The plan.
        people: Declared or released number of households.

    Returns:
        The error; None for one table, or for a plan unlike all that were tried.
    """
    if plan.link is None:
        return None
    situation = Situation.of(plan.asked, plan.shares.mechanism, plan.counted, people)
    situation = replace(situation, noise=max(situation.noise, LEAST_NOISE))
    error = recommendation.expected(plan.mechanism.card.name, situation)
    return None if error is None or error.beyond else error


def ways(plan: Plan, facts: Facts) -> tuple[Way, ...]:
    """Return at most one alternative of each kind, in the order of `Kind`.

    Fewer columns are offered for a plan with many whose light is red, or if nothing else suffices. Two changes
    together are offered if no single one of the others suffices. Two linked tables are offered a larger
    epsilon alone. The result is () if the plan should come out good enough, if it publishes no tables, or if
    nothing that is tried improves it.

    Args:
        plan: The plan.
        facts: The public facts about the people.
    """
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
    suffices = any(way.power.enough for way in offered)
    fewer = () if suffices and now.light is not Light.RED else tuple(_fewer_columns(plan, facts, now))
    return (*offered, *fewer) if suffices else (*offered, *fewer, *_together(plan, facts))


def _together(plan: Plan, facts: Facts) -> Iterator[Way]:
    """Yield the plan for single columns only with a larger epsilon, if that suffices; nothing if it already has only single columns."""
    if max(map(len, plan.workload.cliques)) == 1:
        return
    *_, last = _smaller(plan)
    asked = last.changes()
    with suppress(InputError):
        if (way := _more_budget(changed(plan.spec, asked), facts)) is not None:
            what = f"{last.what}, and {way.what[0].lower()}{way.what[1:]}"
            yield replace(way, kind=Kind.TOGETHER, what=what, changes=asked | way.changes)


def _fewer_columns(plan: Plan, facts: Facts, now: Power) -> Iterator[Way]:
    """Yield the plan for the most columns of `COLUMNS` that suffice; nothing if it has few columns, or no number suffices.

    Columns of middle size stand for those that the curator will pick.
    """
    domain = Domain.from_json(plan.spec.domain)
    by_size = sorted(domain.names, key=lambda name: domain[name].size)
    if len(by_size) > MANY_COLUMNS:
        way = _best(Kind.COLUMNS, plan, facts, now, _kept(plan, domain, by_size))
        yield from [way] if way is not None and way.power.enough else []


def _kept(plan: Plan, domain: Domain, by_size: Sequence[str]) -> Iterator[_Offer]:
    """Yield the plan over fewer columns, with the tables that lie within them; a workload of all k-way tables stays one.

    Args:
        plan: The plan.
        domain: The domain of its spec.
        by_size: The columns, those with the fewest cells first.
    """
    form = plan.spec.workload
    for number in COLUMNS:
        if number >= len(by_size):
            continue
        first = (len(by_size) - number) // 2
        kept = domain.keep(by_size[first : first + number])
        workload = {**form, "k": min(form["k"], number)} if form["kind"] == "all" else _within(plan.workload, set(kept.names))
        if workload is not None:
            what = f"Keep {number} of the {len(by_size):,} columns, of your choice"
            yield _Offer(what, partial(dict[str, Any], domain=kept.to_json(), workload=workload))


def _within(workload: Workload, names: set[str]) -> dict[str, Any] | None:
    """Return the tables of a workload that have no other columns, as a workload's document; None without such a table."""
    inside = [{"attributes": list(clique), "weight": weight} for clique, weight in workload.weights.items() if names.issuperset(clique)]
    return {"kind": "marginals", "marginals": inside} if inside else None


def _usual_mechanism(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """Return the plan with the usual mechanism, if it fits and improves on the mechanisms that may run; else None."""
    usual = registry.get(USUAL)
    if USUAL in (plan.mechanism.card.name, *facts.among) or not forecast(usual, plan.workload, plan.unit, plan.shares, facts.people).fits:
        return None
    changes = {"mechanism": {"name": USUAL, "settings": {}}}
    what = f"Use {usual.card.title} instead of {plan.mechanism.card.title}"
    return _best(Kind.MECHANISM, plan, replace(facts, among=(USUAL,), worse=1.0), now, iter([_Offer(what, lambda: changes)]))


def _more_budget(plan: Plan, facts: Facts) -> Way | None:
    """Return the plan with the smallest epsilon, of two digits, that makes it good enough with some room for chance.

    Epsilon is at most the largest that needs no written reason. If that leaves no room for chance,
    the smallest epsilon with the same result is returned; None if even the largest is not enough,
    or the plan has it already.
    """
    low, high = plan.spec.budget.epsilon, WEAK_EPSILON
    if low >= high or not (most := at_epsilon(plan, facts, high)[1]).enough:
        return None
    least = min(SURELY, _good(most))
    while high / low > 1.01:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if _good(at_epsilon(plan, facts, middle)[1]) >= least else (middle, high)
    epsilon = min(WEAK_EPSILON, precision.round_up(max(MIN_EPSILON, high), digits=2))
    changed, hope = at_epsilon(plan, facts, epsilon)
    what = f"Spend ε {epsilon:g} instead of {plan.spec.budget.epsilon:g}"
    budget = changed.spec.budget.model_dump(mode="json")
    return Way(Kind.EPSILON, what, hope, {"budget": budget}, changed.shares.rho <= facts.left)


def _good(hope: Power) -> float:
    """Return the expected share of good tables, or of good single columns if that is smaller."""
    return min(hope.share, hope.share_of_columns)


def at_epsilon(plan: Plan, facts: Facts, epsilon: float) -> tuple[Plan, Power]:
    """Return the plan with another epsilon, and its expected numbers of good tables.

    Args:
        plan: The plan.
        facts: The public facts.
        epsilon: The epsilon.

    Raises:
        InputError: Epsilon is out of range.
    """
    budget = plan.spec.budget.model_copy(update={"epsilon": epsilon})
    changed = replace(plan, spec=plan.spec.model_copy(update={"budget": budget}), shares=plan.divided(plan.mechanism, budget))
    return changed, expected(changed, facts)


def _fewer_tables(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """Return the plan with a smaller workload: the first sufficient one in the order of `_smaller`, else the one with most good tables."""
    return _best(Kind.TABLES, plan, facts, now, _smaller(plan))


def _smaller(plan: Plan) -> Iterator[_Offer]:
    """Yield smaller workloads, the ones with most tables first.

    One of these asks for single columns without a certificate: where people are few, their noise
    bounds errors more closely than a certificate measures them.
    """
    parted = [_of_workload(plan, what, workload) for what, workload in _parted(plan.workload)]
    budget, bare = plan.spec.budget.model_dump(mode="json"), list[_Offer]()
    if budget["certificate"]:
        alone = Workload(plan.domain, dict.fromkeys(_parts(plan.workload, 1, set()), 1.0))
        asked = {"workload": alone.to_json(), "budget": budget | {"certificate": 0.0}}
        bare = [_Offer("Ask for single columns without a certificate, because their noise is known", lambda: asked)]
    yield from [*bare, *parted] if max(map(len, plan.workload.cliques)) == 1 else [*parted, *bare]


def _of_workload(plan: Plan, what: str, workload: Workload) -> _Offer:
    """Return the offer of another workload.

    Without ranges the budget is divided as before, so the plan for the estimate needs no spec of
    its own, which would take a second for 40,000 tables.
    """
    simple = not (plan.workload.ranges or plan.criteria or plan.spec.published_tables)
    return _Offer(what, lambda: {"workload": workload.to_json()}, replace(plan, workload=workload) if simple else None)


def _parted(workload: Workload) -> Iterator[tuple[str, Workload]]:
    """Yield smaller workloads as pairs (change in words, workload).

    First come the smallest of the tables, in ever smaller number; then all parts of tables, with
    ever fewer columns.
    """
    domain, widest = workload.domain, max(map(len, workload.cliques))
    by_size = workload.smallest_first
    for count in sorted({round(share * len(by_size)) for share in KEPT} - {0, len(by_size)}, reverse=True):
        kept = set(by_size[:count])
        weights = {clique: weight for clique, weight in workload.weights.items() if clique in kept}
        yield f"Ask for the {count:,} smallest of the {len(by_size):,} tables", replace(workload, weights=weights, draw=None)
    shared = set(workload.cliques[0]).intersection(*workload.cliques)
    for size in range(widest - 1, 0, -1):
        cliques = _parts(workload, size, shared if len(shared) == 1 and size > 1 else set())
        threshold = workload.threshold if (workload.threshold or size + 1) <= size else None
        what = "Ask for single columns" if size == 1 else f"Ask for tables of {in_letters(size)} columns instead of {in_letters(widest)}"
        yield what, Workload(domain, dict.fromkeys(cliques, 1.0), threshold)


def _parts(workload: Workload, size: int, always: set[str]) -> list[Clique]:
    """Return all subsets of `size` columns of the workload's tables that contain the columns `always`, in the order of the domain.

    Smaller tables are left out.
    """
    if size == 1 and not always:
        return [(name,) for name in workload.domain.names if name in workload.columns]
    place = {name: i for i, name in enumerate(workload.domain.names)}
    parts = {part for clique in workload.cliques for part in subsets(clique, min(size, len(clique)), size) if always <= set(part)}
    return sorted(parts, key=lambda part: [place[name] for name in part])


def _wider_groups(plan: Plan, facts: Facts, now: Power) -> Way | None:
    """Return the plan with coarser groups of numbers or dates: the finest groups that suffice, else those with the best result."""
    domain = Domain.from_json(plan.spec.domain)
    return _best(Kind.GROUPS, plan, facts, now, _grouped(domain, json.loads(json.dumps(domain.to_json()))))


def _grouped(domain: Domain, document: dict[str, Any]) -> Iterator[_Offer]:
    """Yield coarser domains, the finest first.

    Columns whose groups a rule or a recoding names keep their groups.

    Args:
        domain: The domain.
        document: The domain's JSON document.
    """
    bound = {name for rule in domain.impossible for name in rule.attributes}
    free = [one for one in domain if one.is_number and not one.most and not (one.missing_as or one.other_as) and one.name not in bound]
    for most in GROUPS:
        wider = {one.name: made for one in free if one.values > most and (made := coarser(one, most)) != one}
        if not wider:
            continue
        entries = [Column.of(wider[e["name"]]).to_json() if e["name"] in wider else e for e in document["attributes"]]
        fewest = max(one.values for one in wider.values())
        what = f"Form at most {fewest:,} groups in {len(wider):,} column{'s' * (len(wider) > 1)} of numbers or dates"
        yield _Offer(what, partial(dict[str, Any], domain={**document, "attributes": entries}))


def coarser(one: Attribute, most: int) -> Attribute:
    """Return a column of numbers, dates or times in at most about `most` groups.

    The groups have a round width. The column is returned unchanged if fewer than 3 such groups (`FEWEST`)
    would remain, or not fewer than now. Where the column's own groups have no common width, neighbouring groups
    are joined instead, so that edges which were chosen stay edges; then fewer groups than 3 may remain.

    Args:
        one: The column.
        most: The number of groups to aim at.
    """
    if "edges" in one.stated_bins():
        step = -(-one.values // most)
        return replace(one, edges=(*one.edges[:-1:step], one.edges[-1]))
    wider = replace(one, edges=binning.round_edges(one.name, one.scale, one.lower, one.upper, most))
    return wider if FEWEST <= wider.values < one.values else one


def _best(kind: Kind, plan: Plan, facts: Facts, now: Power, offered: Iterator[_Offer]) -> Way | None:
    """Return the first alternative that suffices; else the one with the largest share of good tables, if it improves notably; else None.

    Args:
        kind: The kind of the alternatives.
        plan: The plan to change.
        facts: The public facts.
        now: The expected result of the unchanged plan.
        offered: The alternatives; invalid ones are skipped.
    """
    better: list[tuple[_Offer, Power]] = []
    for offer in offered:
        with suppress(InputError):  # a condition, or the mechanism, needs what would be changed
            power = expected(offer.plan or changed(plan.spec, offer.changes()), facts)
            if power.enough and (way := _way(kind, plan, facts, offer, power)).power.enough:
                return way
            if power.share > (better[-1][1].share if better else now.share) + NOTABLE and _keeps(power, now, facts):
                better.append((offer, power))
    for offer, power in reversed(better):
        with suppress(InputError):
            return _way(kind, plan, facts, offer, power)
    return None


def _way(kind: Kind, plan: Plan, facts: Facts, offer: _Offer, power: Power) -> Way:
    """Return an offer as an alternative, with the expected result of its spec.

    Args:
        kind: The kind of the alternative.
        plan: The plan to change.
        facts: The public facts.
        offer: The offer.
        power: The expected result of `offer.plan` or, if the offer has no plan, of its spec.

    Raises:
        InputError: The changed spec is invalid.
    """
    changes = offer.changes()
    power = power if offer.plan is None else expected(changed(plan.spec, changes), facts)
    return Way(kind, offer.what, power, changes, plan.shares.rho <= facts.left)


def _keeps(after: Power, now: Power, facts: Facts) -> bool:
    """Return whether a change keeps the single columns good.

    It does if the expected share of good single columns is not below the share without the change,
    nor below the share that an earlier release showed.
    """
    return after.share_of_columns >= max(now.share_of_columns, facts.shown)


def changed(spec: Spec, changes: dict[str, Any]) -> Plan:
    """Return the plan of a spec with an alternative's changed entries.

    Raises:
        InputError: The changed spec is invalid.
    """
    return Plan.of(Spec.from_json(spec.model_dump(mode="json") | changes))
