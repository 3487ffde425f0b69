"""Where a draft keeps rules about what cannot occur, in their JSON form: those of one table with its domain, and in a note that outlives a
domain which is not complete; those of two linked tables with the second. What was said of the first alone holds in both, and comes back
when it is alone again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft

Rule = dict[str, Any]
_KEY = "impossible"


def of(draft: Mapping[str, Any]) -> list[Rule]:
    return list(draft["members"].get("rules", ())) if document.is_linked(draft) else _of_first(draft)


def _of_first(draft: Mapping[str, Any]) -> list[Rule]:
    noted = draft.get("wizard", {}).get(_KEY)
    return list((draft.get("domain") or {}).get(_KEY, []) if noted is None else noted)


def keep(draft: Draft, rules: Sequence[Rule]) -> None:
    """Put the rules into a draft, and those of one table into its domain if that is complete."""
    own = list(rules)
    if document.is_linked(draft):
        draft["members"]["rules"], own = own, []
    else:
        draft.setdefault("wizard", {})[_KEY] = own
    if draft.get("domain"):
        plain = {key: value for key, value in draft["domain"].items() if key != _KEY}
        draft["domain"] = plain | ({_KEY: own} if own else {})


def take_over(draft: Draft) -> None:
    """When a second table has come, or has gone: those of the first hold."""
    own = _of_first(draft)
    draft["wizard"][_KEY] = own
    keep(draft, own)
