"""More rows of a release, or rows of a group, from its model: the form that Results and Verify share."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import WHOLE, literal

Group = TypeVar("Group")
_MOST_ROWS = 100_000
"""The most rows for a browser; the command line writes more."""
_SAMPLE = "sampled"
"""Session key of the last request and its result."""


def more_rows(
    release: str, file: str, whom: Callable[[], Group | None], draw: Callable[[int, Group], tuple[str, bytes | Callable[[], bytes]]]
) -> None:
    """Draw the form for 1 to 100,000 further rows of a release, drawn from its released model, and their download.

    The rows of the last request are kept in the session, and offered while the form asks for the same.

    Args:
        release: The identifier of the release.
        file: The name of the downloaded file.
        whom: Draws the fields for a group of people, and returns the group; None if it is
            incomplete.
        draw: Draws this number of rows of a group. Returns a sentence on the rows' errors, and the
            rows as CSV or a function that returns it. Its InputError is drawn on the page.
    """
    with st.expander("More rows, or rows of a group", icon=":material/playlist_add:", key="more_rows"):
        st.caption("These rows come from the released model. Nothing is charged, and no record is read.")
        left, right = st.columns([1, 3])
        rows = int(left.number_input("Rows", 1, _MOST_ROWS, 1000, key="sampled_rows"))
        with right:
            group = whom()
        if st.button("Draw these rows", key="draw_rows", icon=":material/casino:", disabled=group is None) and group is not None:
            try:
                st.session_state[_SAMPLE] = (release, rows, group), *draw(rows, group)
            except InputError as error:
                frame.refused(error)
                return
        asked, errors, content = st.session_state.get(_SAMPLE, (None, "", b""))
        if asked == (release, rows, group):
            st.write(literal(errors, WHOLE))
            st.download_button(f"Download {rows:,} rows as CSV", content, file, "text/csv", icon=":material/download:")
