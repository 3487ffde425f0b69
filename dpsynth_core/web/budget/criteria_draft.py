"""The criteria of a draft while they are edited: entries of the spec's list, complete or not. Plain functions, no widgets."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from dpsynth_core.claims.criteria.criterion import MUST
from dpsynth_core.claims.criteria.criterion import Entry as Holds
from dpsynth_core.claims.criteria.models import ModelCriterion
from dpsynth_core.claims.criteria.registry import KINDS, AnyCriterion, need_models
from dpsynth_core.planning.plan import Shares
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.shell.document import Draft

Entry = dict[str, Any]

_SMALL = 10
"""The forecast is told for a group of one in so many, too."""
EXAMPLE_PEOPLE = 1000
"""People that precision is told for where nobody has said how many there are."""


def new(kind: str, entry: Mapping[str, Any] | None = None) -> Entry:
    """A criterion of a kind, with what another one says of importance and name."""
    kept = {name: entry[name] for name in ("importance", "name") if name in entry} if entry else {"importance": MUST}
    return {"kind": kind, **kept} | {field.name: field.usual for field in KINDS[kind].form if field.usual is not None}


def listed(draft: Mapping[str, Any]) -> list[Entry]:
    return [dict(entry) for entry in draft.get("criteria", ())]


def change(draft: Draft, number: int, changes: Mapping[str, Any]) -> None:
    """Set entries of one criterion; those that are None, empty lists or empty objects are left out. Nothing where it is gone meanwhile."""
    entries = listed(draft)
    if number < len(entries):
        merged = entries[number] | dict(changes)
        entries[number] = {name: value for name, value in merged.items() if value not in (None, [], {})}
        draft["criteria"] = entries


def restate(draft: Draft, number: int, name: str, changed: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    """Change what one criterion says now of people, as columns with their values. name: of the entry, such as "among"."""
    for entry in listed(draft)[number : number + 1]:
        change(draft, number, {name: changed(entry.get(name, {}))})


def turn(draft: Draft, number: int, kind: str) -> None:
    """Make one criterion another kind."""
    for entry in listed(draft)[number : number + 1]:
        replace(draft, number, new(kind, entry))


def replace(draft: Draft, number: int, entry: Entry) -> None:
    """Put another criterion in the place of one, or behind the last one."""
    entries = listed(draft)
    entries[number : number + 1] = [entry]
    draft["criteria"] = entries


def remove(draft: Draft, number: int, entry: Entry) -> None:
    """Take one away, if it is still the one that was seen there: a second click must not take the one that took its place."""
    entries = listed(draft)
    if entries[number : number + 1] == [entry]:
        draft["criteria"] = entries[:number] + entries[number + 1 :]


def title(number: int, entry: Mapping[str, Any]) -> str:
    """What the list calls a criterion; its author's words in it are hostile text."""
    kind = KINDS.get(str(entry.get("kind")))
    return f"{number + 1}. {entry.get('name') or ('Unknown' if kind is None else kind.title)} ({entry.get('importance', MUST)})"


def part(shares: Shares, draft: Mapping[str, Any], criterion: AnyCriterion) -> float:
    """The rho that measures what decides a criterion of the draft: an equal part of what decides criteria, or what measures the models of
    one column."""
    entries = listed(draft)
    by_models = need_models(entries)
    if not isinstance(criterion, ModelCriterion):
        return shares.of("criteria") / max(1, by_models.count(False))
    asked = [*draft.get("models", ()), *(entry for entry, by_model in zip(entries, by_models, strict=True) if by_model)]
    return shares.of("models") / len({one.get("column") for one in asked})


def is_partial(entry: Mapping[str, Any]) -> bool:
    """Whether a criterion is about a group, of which a smaller one is known less well."""
    kind = KINDS[str(entry.get("kind"))]
    groups = (field.name for field in kind.form if field.holds is Holds.PEOPLE and field.name != "of")
    return kind.by_size and any(entry.get(name) for name in groups)


def precision(criterion: AnyCriterion, unit: Unit, rho: float, workload: Workload, people: int | None, partial: bool) -> str:
    """How precisely it can be decided, for its part rho of the budget, in the unit of its limit. partial: see `is_partial`."""
    count = people or EXAMPLE_PEOPLE
    margin = criterion.margin(unit, rho, workload, count)
    hopeless = not math.isfinite(margin) or criterion.hopeless(margin)
    if partial:
        few = _told(criterion, criterion.margin(unit, rho, workload, count / _SMALL))
        group = f"How many of {count:,} people are in the group, nobody has looked. If nearly all: the measurement is uncertain by about "
        return f"{group}{_told(criterion, margin)}; if one in {_SMALL}: {few}." + (f" {_ADVICE}" if hopeless else "")
    known = f"With {count:,} people: the measurement is uncertain by"
    if hopeless:
        return f"{known} {_told(criterion, margin)}, however good the rows are. {_ADVICE}"
    return f"{known} about {_told(criterion, margin)}. {criterion.rule(margin)}"


def _told(criterion: AnyCriterion, margin: float) -> str:
    hopeless = not math.isfinite(margin) or criterion.hopeless(margin)
    return f"± {criterion.uncertainty(margin)}" + (", so much that it can hardly come out as met" if hopeless else "")


_ADVICE = "Give it a larger share of the budget, state fewer conditions, or ask for less."
