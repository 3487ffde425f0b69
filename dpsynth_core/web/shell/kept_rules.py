"""Rules about impossible combinations in a draft, in their JSON form.

Rules of one table are stored with its domain, and in a note that outlives an incomplete domain. Rules of two linked tables are stored with
the second table. Rules of the first table alone hold in both cases, and come back when the second table is removed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft

Rule = dict[str, Any]
_KEY = "impossible"


def of(draft: Mapping[str, Any]) -> list[Rule]:
    """Return a new list of the draft's rules about impossible combinations; [] if it has none.

    For two linked tables these are the rules stored with the second table, which may concern both.
    """
    return list(draft["members"].get("rules", ())) if document.is_linked(draft) else _of_first(draft)


def _of_first(draft: Mapping[str, Any]) -> list[Rule]:
    noted = draft.get("wizard", {}).get(_KEY)
    return list((draft.get("domain") or {}).get(_KEY, []) if noted is None else noted)


def keep(draft: Draft, rules: Sequence[Rule]) -> None:
    """Store rules in a draft in place of its earlier rules.

    For one table they go into the wizard's notes and, if the draft has a domain, also into that.
    For two linked tables they go into the second table's section, and the domain of the first table
    loses the rules it had.

    Args:
        draft: The draft, which is changed.
        rules: All rules; an empty sequence removes the rules.
    """
    own = list(rules)
    if document.is_linked(draft):
        draft["members"]["rules"], own = own, []
    else:
        draft.setdefault("wizard", {})[_KEY] = own
    if draft.get("domain"):
        plain = {key: value for key, value in draft["domain"].items() if key != _KEY}
        draft["domain"] = plain | ({_KEY: own} if own else {})


def take_over(draft: Draft) -> None:
    """Make the rules of the first table the draft's rules, after a second table was added or removed."""
    own = _of_first(draft)
    draft["wizard"][_KEY] = own
    keep(draft, own)
