"""Ledger: every charge against every population, the remaining budgets, and the state of the chain."""

from __future__ import annotations

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.ledger import ledger_view
from dpsynth_core.web.shell import frame


def main() -> None:
    """Draw the page: the accounts and entries of the ledger."""
    project = frame.require("ledger")
    sentence = "See what every release has cost the people in it. Entries are added and never changed."
    frame.header("ledger", sentence, Zone.RELEASED)
    ledger_view.charges(project.owner)


main()
