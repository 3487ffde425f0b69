"""A plan again, for another table: last year's columns, tables, budget, conditions and mechanism in a new draft. Plain functions.

What belongs to the former table stays behind: the table itself, a public table, what was answered or justified about its people, results
and ledger. What was read from its records stays marked as that. Where the new records are about the same people, the account in the ledger
is the same too. The looks go along with any table (`store.projects.create`): the plan was made after them, and nothing but the
curator's word says that these are other people.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping
from enum import StrEnum
from typing import Any

from dpsynth_core.web.shell import document, plan_first
from dpsynth_core.web.shell.document import Draft

_PLAN = ("unit", "domain", "domain_origin", "workload", "criteria", "models", "mechanism")
_NOTES = ("rows", "impossible", "workloads", "several", "recommended")
_ABOUT_THE_PEOPLE = ("people", "cap")


class Whose(StrEnum):
    """Whom the new records are about."""

    SAME = "same"
    OTHERS = "others"


def copied(draft: Mapping[str, Any], whose: Whose) -> Draft:
    """The plan of a draft as the draft of another project, which has no table yet."""
    before, new = copy.deepcopy(dict(draft)), document.new()
    new |= {name: before[name] for name in _PLAN if name in before}
    new["budget"] = {name: part for name, part in before["budget"].items() if name != "reason"}
    notes, wizard = before.get("wizard", {}), new["wizard"]
    wizard |= {name: notes[name] for name in _NOTES if name in notes}
    if whose is Whose.SAME:
        new |= {name: before[name] for name in ("population",) if name in before}
        wizard |= {name: notes[name] for name in _ABOUT_THE_PEOPLE if name in notes}
    if named := document.columns(before):
        plan_first.begin(new, named)
    return new
