"""Criteria on the Results page: what became of them, and the reason that a release needs which fails one of them."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.claims.criteria.criterion import MET, NOT_MET, UNDECIDED, UNMEASURED
from dpsynth_core.claims.criteria.deciding import CRITERIA, line
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import MAX_REASON
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.store import runs
from dpsynth_core.web.results.open_runs import OpenRun, forget
from dpsynth_core.web.shell import fields, frame
from dpsynth_core.web.shell.text import literal

_ICONS = {MET: ":material/check_circle:", NOT_MET: ":material/cancel:", UNDECIDED: ":material/help:", UNMEASURED: ":material/pending:"}


def outcomes(release: Release) -> None:
    """Each criterion with what was measured; nothing where none were fixed."""
    if not release.criteria:
        return
    with frame.card(CRITERIA.heading(release.criteria), Zone.RELEASED, CRITERIA.reading):
        for one in release.criteria:
            st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")


def withheld(opened: OpenRun) -> bool:
    """Whether a reason is needed before anything may be taken away; if so, it is asked for."""
    release = opened.release
    if not release.withheld:
        return False
    key = f"despite_{opened.run.id}"
    with frame.card("A condition that must be met is not, or was not measured"):
        for one in release.criteria:
            if one.needs_reason:
                st.markdown(f"{_ICONS[one.outcome]} {literal(line(one, release.domain), 800)}")
        st.markdown("By its own plan this release is not to be published. If there is a good reason to do it all the same, write it down.")
        reason = st.text_area("Why is it published all the same?", key=key, max_chars=MAX_REASON, help=_HELP)
        if st.button("Publish with this reason", key=f"{key}_button", icon=":material/edit_note:"):
            _explain(opened, reason)
    return True


_HELP = "A sentence. It becomes part of the release and stands in its report, beside the verdict."


def _explain(opened: OpenRun, reason: str) -> None:
    try:
        runs.explain(opened.run.owner, opened.run.id, reason)
    except InputError as error:
        fields.problem(error)
        return
    forget()
    st.rerun()
