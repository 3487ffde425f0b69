"""Rules about impossible combinations in a draft, in JSON.

For one table, the domain and the wizard's notes hold its rules; the notes keep them while the domain is not complete. Where an extension
counts the table as two (`extension.Layout`), the notes alone hold them, because rules may then name more columns. For two linked tables,
the section of the second table holds all rules. Rules about the first table stay in the notes, and are used again when the second table
is removed.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.document import Draft

Rule = dict[str, Any]

of = document.kept_rules


def keep(draft: Draft, rules: Sequence[Rule]) -> None:
    """Store rules in a draft in place of its earlier rules.

    For one table they go into the wizard's notes and, if the draft has a domain, also into that, but not if it is to be counted as
    two linked tables, whose rules may name more than its columns. For two linked tables they go into the second table's section,
    and the domain of the first table loses the rules it had.

    Args:
        draft: The draft, which is changed.
        rules: All rules; an empty sequence removes the rules.
    """
    own = list(rules)
    if document.has_second(draft):
        draft["members"]["rules"], own = own, []
    else:
        draft.setdefault("wizard", {})[document.IMPOSSIBLE] = own
    if draft.get("domain"):
        plain = {key: value for key, value in draft["domain"].items() if key != document.IMPOSSIBLE}
        draft["domain"] = plain | ({document.IMPOSSIBLE: own} if own and not document.is_linked(draft) else {})


def take_over(draft: Draft) -> None:
    """Make the rules of the first table the draft's rules, after a second table or a layout was added or removed."""
    own = document.first_rules(draft)
    draft["wizard"][document.IMPOSSIBLE] = own
    keep(draft, own)
