"""More rows of a bundle that was published, or rows of a group: its mechanism is run again in a process with limits, as for the check."""

from __future__ import annotations

import io

import streamlit as st

from dpsynth_core.bundle import confined
from dpsynth_core.bundle.confined import Wanted
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.web.shell.more_rows import more_rows as asked_for


def more_rows(bundle: bytes, sha256: str) -> None:
    """sha256: of the bundle, which tells it apart."""

    def draw(rows: int, where: tuple[str, ...]) -> tuple[str, bytes]:
        with st.spinner("Fitting the model again …"):
            stream = io.BytesIO()
            return confined.sampled(bundle, stream, Wanted(rows, where), Limits()), stream.getvalue()

    asked_for(sha256, "more.csv", _whom, draw)


def _whom() -> tuple[str, ...]:
    help = "One condition a line. Of one column, any of its lines may hold; of several columns, all must."
    example = "region=north\nregion=south\nsex=female"
    text = st.text_area("Only people with", key="sampled_where", placeholder=example, help=help, height=80)
    return tuple(line.strip() for line in text.splitlines() if line.strip())
