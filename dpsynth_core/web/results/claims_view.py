"""What the claims of a release say, on the Results page: the card of each. Released values only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import streamlit as st

from dpsynth_core.claims.criteria.deciding import CRITERIA
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release.release import Release
from dpsynth_core.report.sections import claimed
from dpsynth_core.web.results import criteria_view, models_view
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal

CARDS: Mapping[str, Callable[[Release], None]] = {CRITERIA.name: criteria_view.outcomes, MODELS.name: models_view.card}
"""By name of the claim, in the order of the page. A claim that has none gets a card with its sentences."""


def cards(release: Release) -> None:
    for card in CARDS.values():
        card(release)
    for section in claimed(release):
        if section.name not in CARDS:
            with frame.card(section.title, Zone.RELEASED, section.reading):
                for line in section.lines:
                    st.markdown(f"- {literal(line, 800)}")
