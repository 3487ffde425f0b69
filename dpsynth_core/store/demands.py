"""Entries of the ledger by which an office demands something of later runs: house rules (`rules`) and approvals (`approvals`).

Where the ledger has none, nothing is demanded, and a run loads neither.
"""

from __future__ import annotations

from dpsynth_core.store.ledger_books import Books

RULES, APPROVALS = "rules", "demand"
"""Kinds of these entries."""


def newest_rules(books: Books) -> str:
    """Return the SHA-256 of the rules' file that the ledger put in force last, or "" without rules."""
    return books.rules[-1][1] if books.rules else ""


def any_approval(books: Books) -> bool:
    """Return whether an approval may be demanded: of a population, or of all populations by house rules that are in force."""
    return bool(books.rules) or any(account.demand for account in books.accounts.values())
