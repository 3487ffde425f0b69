"""What models are worth that are trained on the rows, on the Results page. Released values only."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from dpsynth_core.claims.models.usefulness import Usefulness
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.report.models import READING, verdict
from dpsynth_core.web.results.open_runs import OpenRun
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal


def card(opened: OpenRun) -> None:
    """How often each model is right about the people, beside the guess that looks at nothing; nothing where none was asked for."""
    usefulness = opened.release.usefulness
    if not usefulness:
        return
    with frame.card("What is a model worth that is trained on these rows?", Zone.RELEASED, READING):
        for column, models in groupby(usefulness, key=lambda one: one.column):
            _column(column, list(models))


def _column(column: str, models: list[Usefulness]) -> None:
    near = "" if models[0].tolerance is None else f", to within {models[0].tolerance:g}"
    st.markdown(f"How often is **{literal(column, 60)}** guessed right{near}?")
    shares = [(one.model, one.accuracy) for one in models] + [(f"always “{models[0].guess}”", models[0].majority)]
    for place, (name, share) in zip(st.columns(len(shares)), shares, strict=True):
        with place:
            st.metric(literal(name, 60), f"{share.value:.1%}")
            st.caption(f"of the people; {share.low95:.1%} to {share.high95:.1%} with 95% confidence")
    st.caption(verdict(models))
