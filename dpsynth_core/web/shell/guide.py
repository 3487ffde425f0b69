"""The Guide: its texts, and each mechanism with its paper, its privacy argument and its parameters."""

from __future__ import annotations

import re

import streamlit as st

from dpsynth_core.foundation.places import ASSETS
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.mechanisms.registry import PUBLISHED

_TEXTS = ASSETS / "guide"

LEARNING = "learning"
"""The text on mechanisms whose privacy needs a solver's proof; also the name of their purpose in the registry."""


def text(name: str) -> str:
    """Return a text of the Guide, assets/guide/NAME.md, as Markdown for a part of a page.

    The title is left out, and headings are one level smaller. An unknown name raises FileNotFoundError.
    """
    _, _, below = (_TEXTS / f"{name}.md").read_text(encoding="utf-8").partition("\n\n")
    return re.sub("^##", "###", below, flags=re.MULTILINE)


def mechanism_cards() -> None:
    """Draw a card for each mechanism, grouped by purpose in the registry's order.

    A card shows paper, summary, privacy argument, differences from the paper, and parameters.
    """
    for purpose in registry.PURPOSES:
        st.markdown(f"### {purpose.title}")
        st.caption(purpose.sentence)
        if purpose.name == LEARNING:
            st.markdown(text(LEARNING))
        for mechanism in map(registry.get, purpose.mechanisms):
            with st.container(border=True):
                st.markdown(f"#### {mechanism.card.title}")
                st.markdown(mechanism.card.summary)
                st.markdown(f"**Why it is private.** {mechanism.card.privacy}")
                st.caption(f"{mechanism.card.paper}. {'Writes rows.' if mechanism.card.makes_rows else 'Gives noisy tables, no rows.'}")
                if mechanism.card.differences:
                    with st.expander("Where it differs from its paper", icon=":material/difference:"):
                        st.markdown("\n".join(f"- {difference}" for difference in mechanism.card.differences))
                if mechanism.card.name in PUBLISHED:
                    with st.expander("As published", icon=":material/article:"):
                        st.markdown("`preset=paper` undoes these differences. Left open by the paper, or kept:")
                        st.markdown("\n".join(f"- {chosen}" for chosen in PUBLISHED[mechanism.card.name].card.differences) or "Nothing.")
                if offered := parameters(mechanism):
                    with st.expander("Parameters", icon=":material/tune:"):
                        for parameter in offered:
                            st.markdown(f"- `{parameter.name}` (default {parameter.default}): {parameter.help}")
