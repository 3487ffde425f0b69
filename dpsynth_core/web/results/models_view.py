"""What models are worth that are trained on the rows, on the Results page. Released values only."""

from __future__ import annotations

from itertools import groupby

import streamlit as st

from dpsynth_core.claims.models.usefulness import MODELS, Usefulness, verdict
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal


def card(release: Release) -> None:
    """How often each model is right about the people, beside the guess that looks at nothing; nothing where none was asked for."""
    usefulness = release.usefulness
    if not usefulness:
        return
    with frame.card(MODELS.title, Zone.RELEASED, MODELS.reading):
        for column, models in groupby(usefulness, key=lambda one: one.column):
            _column(column, list(models))


def _column(column: str, models: list[Usefulness]) -> None:
    near = "" if models[0].tolerance is None else f", to within {models[0].tolerance:g}"
    st.markdown(f"How often is **{literal(column, 60)}** guessed right{near}?")
    shares = [(one.model, one.of_model) for one in models] + [(f"always “{models[0].majority_guess}”", models[0].of_guess)]
    for place, (name, share) in zip(st.columns(len(shares)), shares, strict=True):
        with place:
            st.metric(literal(name, 60), f"{share.value:.1%}")
            st.caption(f"of the people; {share.low95:.1%} to {share.high95:.1%} with 95% confidence")
    st.caption(verdict(models))
