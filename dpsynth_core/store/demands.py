"""Entries of the ledger by which an office demands something of later runs: house rules (`rules`) and approvals (`approvals`).

Where the ledger has none, nothing is demanded, and a run loads neither.
"""

from __future__ import annotations

from collections.abc import Sequence

from dpsynth_core.store.chain import Entry

RULES, APPROVALS = "rules", "demand"
"""Kinds of these entries."""


def newest_rules(books: Sequence[Entry]) -> str:
    """Return the SHA-256 of the rules' file that these ledger entries put in force last, or "" without rules."""
    return next((entry.spec for entry in reversed(books) if entry.kind == RULES), "")


def any_approval(books: Sequence[Entry]) -> bool:
    """Return whether an approval may be demanded: of a population, or of all by the rules."""
    return any(entry.kind in (RULES, APPROVALS) for entry in books)
