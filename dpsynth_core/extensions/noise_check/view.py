"""The size of the noise on the page Results, for the curator alone: it reads the private table, and counts as a look at it."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.noise_check.asking import compared
from dpsynth_core.extensions.noise_check.ratio import Ratio, ratio
from dpsynth_core.web.results.open_runs import OpenRun, shown_counts
from dpsynth_core.web.shell import curator

TITLE = "Noise"
SWITCH = "Compare with true counts (curator-only)"
HELP = "This reads the private table. Later releases of this project state that you saw exact values. The result is in no download."


def results(opened: OpenRun) -> None:
    """Draw the switch and, where it is on, the ratio of the noise to what was charged; nothing for a release without noisy tables."""
    if not (measured := compared(opened.release.transcript)):
        return
    with st.expander(TITLE, icon=":material/graphic_eq:", key="noise"):
        if st.toggle(SWITCH, key="noise_curator", help=HELP):
            cliques = list(dict.fromkeys(one.clique for one in measured))
            counts = shown_counts(opened, lambda: curator.kernel_counts(opened.run.spec, opened.release.domain, cliques), "noise")
            if counts is not None:
                st.markdown(sentence(ratio(measured, counts).value))


def sentence(found: Ratio) -> str:
    """Return the ratio and its usual range in words; a ratio outside is called a defect."""
    of = f"The noise is {found.estimate:.2f} times what was paid for, in {found.cells:,} noisy counts."
    usual = f"From {found.low:.2f} to {found.high:.2f} is usual: 19 of 20 releases are in this range."
    if found.usual:
        return f"{of} {usual}"
    return f"{of} {usual} A value far outside is a defect of the program: do not use the release, and report it."
