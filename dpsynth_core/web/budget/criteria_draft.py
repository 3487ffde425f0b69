"""The criteria of a draft while they are edited: entries of the spec's list, complete or not. Plain functions, no widgets."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from dpsynth_core.criteria.criterion import MUST, Criterion
from dpsynth_core.criteria.statistics import Mean, Share
from dpsynth_core.criteria.subgroup import SubgroupWithin
from dpsynth_core.criteria.tables import TablesWithin
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.report import criteria as words
from dpsynth_core.vocabulary.workload import Workload
from dpsynth_core.web.shell.document import Draft

Entry = dict[str, Any]

KINDS = {
    TablesWithin.kind: "Tables of the workload",
    SubgroupWithin.kind: "A subgroup, in every table",
    Share.kind: "A share of people",
    Mean.kind: "The mean of a column of numbers",
}
LIMITS = {TablesWithin.kind: "limit", SubgroupWithin.kind: "limit", Share.kind: "tolerance", Mean.kind: "tolerance"}
"""What the limit of each kind is called in a spec."""
CONDITIONS = {
    SubgroupWithin.kind: {"where": "Who is in it"},
    Share.kind: {"of": "People with", "among": "Among (all people if empty)", "against": "Compared with (nobody if empty)"},
    Mean.kind: {"among": "Among (all people if empty)", "against": "Compared with (nobody if empty)"},
}
"""The conditions on people that each kind has, and what to call them."""
_USUAL = {TablesWithin.kind: 0.1, SubgroupWithin.kind: 0.2, Share.kind: 0.02, Mean.kind: 1.0}
EXAMPLE_PEOPLE = 1000
"""People that precision is told for where nobody has said how many there are."""


def new(kind: str, entry: Mapping[str, Any] | None = None) -> Entry:
    """A criterion of a kind, with what another one says of importance and name."""
    kept = {name: entry[name] for name in ("importance", "name") if name in entry} if entry else {"importance": MUST}
    return {"kind": kind, **kept, LIMITS[kind]: _USUAL[kind]}


def listed(draft: Mapping[str, Any]) -> list[Entry]:
    return [dict(entry) for entry in draft.get("criteria", ())]


def change(draft: Draft, number: int, changes: Mapping[str, Any]) -> None:
    """Set entries of one criterion; those that are None, empty lists or empty objects are left out. Nothing where it is gone meanwhile."""
    entries = listed(draft)
    if number < len(entries):
        merged = entries[number] | dict(changes)
        entries[number] = {name: value for name, value in merged.items() if value not in (None, [], {})}
        draft["criteria"] = entries


def replace(draft: Draft, number: int, entry: Entry | None) -> None:
    """Put another criterion in the place of one, behind the last one, or, None, nothing."""
    entries = listed(draft)
    entries[number : number + 1] = [] if entry is None else [entry]
    draft["criteria"] = entries


def title(number: int, entry: Mapping[str, Any]) -> str:
    """What the list calls a criterion; its author's words in it are hostile text."""
    return f"{number + 1}. {entry.get('name') or KINDS.get(str(entry.get('kind')), 'Unknown')} ({entry.get('importance', MUST)})"


def precision(criterion: Criterion, unit: Unit, rho: float, workload: Workload, people: int | None) -> str:
    """How precisely it can be decided, for its part rho of the budget, in the unit of its limit."""
    count = people or EXAMPLE_PEOPLE
    margin, limit = criterion.margin(unit, rho, workload, count), criterion.limit
    group = "" if criterion.kind == TablesWithin.kind else " of which it is about all; a group of half of them is known half as well"
    known = f"With {count:,} people{group}: "
    if not math.isfinite(margin) or margin >= limit:
        return (
            f"{known}the measurement is uncertain by ± {words.amount(criterion, margin)}. That is no less than the limit: it can "
            "hardly come out as met, however good the rows are. Give criteria a larger share, state fewer, or raise the limit."
        )
    low, high = (words.amount(criterion, limit + sign * margin) for sign in (-1, 1))
    return (
        f"{known}the measurement is uncertain by about ± {words.amount(criterion, margin)}. Measured below {low}, it is met; above {high}, "
        "not met; in between it stays undecided."
    )
