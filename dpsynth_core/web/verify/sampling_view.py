"""More rows of a bundle that was published, or rows of a group: its mechanism is run again in a process with limits, as for the check."""

from __future__ import annotations

import io

import streamlit as st

from dpsynth_core.bundle import confined
from dpsynth_core.bundle.confined import Wanted
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import WHOLE, literal

_MOST_ROWS = 100_000
"""That are held for a browser; the command line writes as many as there may be."""
_SAMPLE = "verify_sample"
"""In the session: of which bundle, what was asked for, and what came of it."""


def more_rows(bundle: bytes, sha256: str) -> None:
    """sha256: of the bundle, which tells it apart."""
    with st.expander("More rows, or rows of a group", icon=":material/playlist_add:", key="verify_more"):
        left, right = st.columns([1, 3])
        rows = int(left.number_input("Rows", 1, _MOST_ROWS, 1000, key="verify_rows"))
        help = "One condition a line. Of one column, any of its lines may hold; of several columns, all must."
        example = "region=north\nregion=south\nsex=female"
        text = right.text_area("Only people with", key="verify_where", placeholder=example, help=help, height=80)
        wanted = Wanted(rows, tuple(line.strip() for line in text.splitlines() if line.strip()))
        if st.button("Draw these rows", key="verify_draw", icon=":material/casino:"):
            try:
                with st.spinner("Fitting the model again …"):
                    stream = io.BytesIO()
                    errors = confined.sampled(bundle, stream, wanted, Limits())
            except InputError as error:
                frame.refused(error)
                return
            st.session_state[_SAMPLE] = (sha256, wanted), errors, stream.getvalue()
        asked, errors, content = st.session_state.get(_SAMPLE, (None, "", b""))
        if asked == (sha256, wanted):
            st.write(literal(errors, WHOLE))
            st.download_button(f"Download {rows:,} rows as CSV", content, "more.csv", "text/csv", icon=":material/download:")
