"""Plan first, data later: columns from a codebook or pasted names, and the differences of a table that is chosen afterwards.

Plain functions over the draft; nothing here opens a file. A table that comes later is the table of the plan's columns: further columns of
the table are left out of the release unless the curator uses them, and columns that the table lacks are reported.

`copied` makes a plan again for another table, in a new draft; `of_release` does so from the spec of a release. All that belongs to the
former table stays behind: the table itself, a public table, answers and justifications about its people, results and ledger. Values read
from its records stay marked. Where the new records are about the same people, the account in the ledger is the same too. The looks go along
with any table (`store.projects.create`): the plan was made after them, and only the curator's word says that these are other people.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.renewal import Changes, changes
from dpsynth_core.planning.spec import Spec
from dpsynth_core.planning.unit_spec import UNNAMED
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft

SOURCE = "plan"
LABEL = "Columns of the plan"
_NOTED = "planned"


def begin(draft: Draft, columns: Sequence[str]) -> None:
    """Make `columns` the columns of the draft, and remove its table and what was stated about the table.

    The draft is changed in place; it has a plan without a table afterwards.
    """
    wizard = draft.setdefault("wizard", {})
    draft.pop("data", None)
    for name in ("declared", "comparison", "doubts", "stated"):
        wizard.pop(name, None)
    wizard.update({"source": SOURCE, "label": LABEL, "columns": list(columns), _NOTED: list(columns)})


def is_planned(draft: Mapping[str, Any]) -> bool:
    """Return whether the draft has columns but no table yet."""
    return "data" not in draft and bool(draft.get("wizard", {}).get("columns"))


def planned(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the columns of the plan that was made before a table was chosen; () if the table came first."""
    return tuple(draft.get("wizard", {}).get(_NOTED, ()))


def forget(draft: Draft) -> None:
    """Delete the plan's columns from the draft: from now on the table determines the columns."""
    draft.get("wizard", {}).pop(_NOTED, None)


def differences(draft: Mapping[str, Any]) -> Changes | None:
    """Return how the table differs from the plan that was made before it was chosen.

    The differences are columns that the table lacks, columns that the plan lacks, and values that the
    table's file declares and the plan lacks, each in its own order. No record is read.

    Returns:
        The differences, each of which may be empty; None without a table or without a plan from before the
        table.

    Raises:
        InputError: The draft's domain is wrong.
    """
    names = planned(draft)
    if not names or "data" not in draft:
        return None
    said = {entry["name"]: entry["categories"] for entry in draft["wizard"].get("declared", ()) if entry.get("categories")}
    values = () if not draft.get("domain") else changes(document.domains(draft)[0], (), said).values
    there = tuple(draft["wizard"]["columns"])
    return Changes(tuple(n for n in names if n not in there), tuple(n for n in there if n not in names), values)


_PLAN = ("unit", "domain", "domain_origin", "workload", "criteria", "models", "mechanism")
_NOTES = ("rows", "impossible", "workloads", "several", "recommended")
_ABOUT_THE_PEOPLE = ("people", "cap")


class Whose(StrEnum):
    """The people in the new records: the same as before, or others."""

    SAME = "same"
    OTHERS = "others"


def of_release(spec: Spec) -> Draft:
    """Return the plan of a release as a new draft of a project about the same people, without a table.

    Raises:
        InputError: The release has two linked tables.
    """
    if spec.members is not None:
        remedy = "choose both tables, and load their domains"
        raise InputError("release", "this release has two linked tables, and a plan cannot start from one yet", remedy)
    stated, person = spec.model_dump(mode="json"), spec.unit.person_column
    new = document.new() | {name: stated[name] for name in _PLAN}
    new["budget"] = {name: part for name, part in stated["budget"].items() if name != "reason"}
    new["wizard"] |= {"several": person is not None, "recommended": None, "way": SOURCE}
    if spec.population != UNNAMED:
        new["population"] = spec.population
    domain = Domain.from_json(spec.domain)
    begin(new, (*domain.names, *(() if person is None or person in domain else (person,))))
    return new


def copied(draft: Mapping[str, Any], whose: Whose) -> Draft:
    """Return the plan of a draft as a new draft of another project, without a table; the draft itself is unchanged.

    Args:
        draft: The draft; for two linked tables, the plan of the first is copied.
        whose: Whether the new records are of the same people. Only then population, published
            tables, cap and number of people are copied.
    """
    before, new = copy.deepcopy(dict(draft)), document.new()
    new |= {name: before[name] for name in _PLAN if name in before and not (name == "unit" and document.is_linked(before))}
    new["budget"] = {name: part for name, part in before["budget"].items() if name != "reason"}
    notes, wizard = before.get("wizard", {}), new["wizard"]
    wizard |= {name: notes[name] for name in _NOTES if name in notes}
    if whose is Whose.SAME:
        new |= {name: before[name] for name in ("population", "published_tables") if name in before}
        wizard |= {name: notes[name] for name in _ABOUT_THE_PEOPLE if name in notes}
    if named := document.columns(before):
        begin(new, named)
    return new
