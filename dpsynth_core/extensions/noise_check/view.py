"""The noise check on the page Budget, and the size of the noise on Results, which is for the curator alone.

To show the size reads the private table, and counts as a look at it.
"""

from __future__ import annotations

import streamlit as st

from dpsynth_core.extensions.noise_check import DELTA, SETTING
from dpsynth_core.extensions.noise_check.asking import check, compared
from dpsynth_core.extensions.noise_check.ratio import Ratio, ratio
from dpsynth_core.web.results.open_runs import OpenRun, shown_counts
from dpsynth_core.web.shell import additions, curator
from dpsynth_core.web.shell.session import Current

TITLE = "Noise"
SWITCH = "Compare with true counts (curator-only)"
HELP = "This reads the private table. Later releases of this project state that you saw exact values. The result is in no download."
ASKED = "Publish whether the noise was added as paid for"
PRICE = f"The kernel compares the noise with what was paid for, and releases one answer, yes or no. This costs {DELTA:g} of delta."


def budget(project: Current) -> None:
    """Draw the box that asks for the check, and why the plan cannot have it, if it cannot (`additions.box`).

    Args:
        project: The open project.
    """
    additions.box(project, SETTING, 1, ASKED, PRICE, check)


def results(opened: OpenRun) -> None:
    """Draw the switch and, where it is on, the ratio of the noise to what was charged; nothing for a release without noisy tables.

    Switching it on, and confirming the first time, records a look at the private table, which later releases
    state, and reads the table.
    """
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
