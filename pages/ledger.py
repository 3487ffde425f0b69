"""Every charge against every population: what is spent, what is left, whether the chain is whole."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import ledger
from dpsynth_core.web.ledger import ledger_view
from dpsynth_core.web.shell import frame


def main() -> None:
    here = frame.require("ledger")
    sentence = "Privacy spent so far: what every release has cost the people in it. Entries are only ever added."
    frame.header("ledger", sentence, Zone.RELEASED)
    names = ledger.populations()
    if not names:
        st.info("Nothing is charged yet. The first run, or the Data page, opens a population.", icon=":material/receipt_long:")
        return
    if ledger_view.whole():
        for number, spent in enumerate(ledger.spent_by_all()):
            with st.container(border=True, key=f"population_{number}"):
                ledger_view.account_of(here.owner, spent)
    ledger_view.entries(here.owner, names)
    ledger_view.key()


main()
