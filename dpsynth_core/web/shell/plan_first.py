"""Plan first, data later: columns from a codebook or pasted names, and how a table that is chosen afterwards differs from them.

Plain functions over the draft; nothing here opens a file. A table that comes later is the table of the plan's columns: what only the table
has is left out of the release unless the curator says otherwise, what only the plan has is said.

`copied` makes a plan again for another table, in a new draft. What belongs to the former table stays behind: the table itself, a public
table, what was answered or justified about its people, results and ledger. What was read from its records stays marked as that. Where the
new records are about the same people, the account in the ledger is the same too. The looks go along with any table
(`store.projects.create`): the plan was made after them, and only the curator's word says that these are other people.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft

SOURCE = "plan"
LABEL = "Columns of the plan"
_NOTED = "planned"


@dataclass(frozen=True)
class Differences:
    """missing: columns that the plan uses and the table lacks. extra: columns that only the table has."""

    missing: tuple[str, ...]
    extra: tuple[str, ...]


def begin(draft: Draft, columns: Sequence[str]) -> None:
    """Make these the columns of the draft, without a table."""
    wizard = draft.setdefault("wizard", {})
    draft.pop("data", None)
    for name in ("declared", "comparison", "doubts"):
        wizard.pop(name, None)
    wizard.update({"source": SOURCE, "label": LABEL, "columns": list(columns), _NOTED: list(columns)})


def is_planned(draft: Mapping[str, Any]) -> bool:
    """Whether the draft's columns are known and its table is not chosen yet."""
    return "data" not in draft and bool(draft.get("wizard", {}).get("columns"))


def planned(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of the plan that was made before a table was chosen; none where the table came first."""
    return tuple(draft.get("wizard", {}).get(_NOTED, ()))


def forget(draft: Draft) -> None:
    """From now on the table says which columns there are."""
    draft.get("wizard", {}).pop(_NOTED, None)


def differences(draft: Mapping[str, Any]) -> Differences | None:
    """How the table differs from the plan that was made before it; None where there is no table or was no plan."""
    names = planned(draft)
    if not names or "data" not in draft:
        return None
    there = tuple(draft["wizard"]["columns"])
    return Differences(tuple(n for n in names if n not in there), tuple(n for n in there if n not in names))


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
        begin(new, named)
    return new
