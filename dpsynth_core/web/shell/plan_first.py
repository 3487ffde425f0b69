"""Plan first, data later: columns from a codebook or pasted names, and how a table that is chosen afterwards differs from them.

Plain functions over the draft; nothing here opens a file. A table that comes later is the table of the plan's columns: what only the table
has is left out of the release unless the curator says otherwise, what only the plan has is said.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

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
