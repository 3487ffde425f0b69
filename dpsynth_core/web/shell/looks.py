"""The question before exact values of a private table are shown: a warning, and a button to confirm the first look."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.web.shell import curator, frame, refusals


def allowed(project: str, simulated: bool, key: str) -> bool:
    """Return whether exact values of a project's table may be shown now, and record that the curator sees them.

    A badge of the zone and a warning are drawn in any case. Before the first look at a project's own table, a button
    is drawn that confirms it, and False is returned. It is False too if the look is refused, for example by the
    rules of the house; the error is drawn. Looks at simulated people are not recorded.

    Args:
        project: The id of the project.
        simulated: Whether the people of the table are simulated.
        key: Key of that button, which is different in each part of a page.
    """
    frame.zone_badge(Zone.CURATOR)
    if not simulated and not curator.was_seen("truth", project):
        st.warning(curator.FIRST_LOOK, icon=":material/visibility_lock:")
        take = refusals.stored(partial(curator.note, "truth", project))
        st.button("Show them", key=key, icon=":material/visibility:", on_click=take)
        return False
    st.warning(curator.WARNING, icon=":material/visibility_lock:")
    try:
        if not simulated:
            curator.note("truth", project)
    except InputError as error:
        frame.refused(error)
        return False
    return True
