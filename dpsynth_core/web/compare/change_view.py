"""What changed about the people between two runs, with the noise of both: last year's release and this year's. Released values only."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.report import change
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import WHOLE, literal, one_line

_HELP = "From the noisy tables that both runs released. Not how good either is, but what is sure to be another number."


def changes(opened: Mapping[str, OpenRun]) -> None:
    """Between the earlier and the later of two runs; nothing to say of more."""
    if len(opened) != 2:
        return
    (first, before), (last, after) = sorted(opened.items(), key=lambda pair: (pair[1].run.finished or "", pair[0]))
    with frame.card("What changed about the people?", Zone.RELEASED, _HELP):
        try:
            found = change.changed(before.release, after.release)
        except InputError as error:
            frame.refused(error)
            return
        st.caption(f"From {first}, the earlier one, to {last}.")
        for sentence in change.summary(before.release, after.release, found):
            st.markdown(f"- {literal(sentence, WHOLE)}")
        if found.sure:
            lines = [change.texts(before.release.domain, shift) for shift in found.sure]
            cells = [[one_line(line[0], 120), *line[1:]] for line in lines]
            st.dataframe(pd.DataFrame(cells, columns=list(change.TITLES)), hide_index=True, height=min(320, 40 + 35 * len(lines)))
        with st.container(horizontal=True):
            for form, mime, write in (("html", "text/html", change.html), ("md", "text/markdown", change.markdown)):
                content = write(before.release, after.release, found)
                st.download_button(f"Download as {form.upper()}", content, f"what-changed.{form}", mime, icon=":material/download:")
