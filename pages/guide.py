"""The ideas in plain words, each mechanism with its paper and why it is private, a glossary, what is not protected."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.parameters import parameters
from dpsynth_core.mechanisms.registry import PUBLISHED
from dpsynth_core.web.shell import frame, guide


def main() -> None:
    frame.require("guide")
    frame.header("guide", "What this program does, why it is private, and how to read what comes out.")
    tabs = st.tabs([title for title, _ in _TABS], key="guide_tab", on_change="rerun")
    for tab, (_, draw) in zip(tabs, _TABS, strict=True):
        if tab.open:
            with tab:
                draw()


def _text(name: str) -> None:
    st.markdown(guide.text(name))


def _mechanisms() -> None:
    for purpose in registry.PURPOSES:
        st.markdown(f"### {purpose.title}")
        st.caption(purpose.sentence)
        if purpose.name == guide.LEARNING:
            _text(guide.LEARNING)
        for mechanism in purpose.mechanisms:
            _mechanism(mechanism)


def _mechanism(mechanism: Mechanism) -> None:
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


_TABS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("Ideas", partial(_text, "ideas")),
    ("Mechanisms", _mechanisms),
    ("Reading results", partial(_text, "reading")),
    ("Not protected", partial(_text, "limits")),
    ("Glossary", partial(_text, "glossary")),
)
"""What is behind each tab; drawn when it is open."""

main()
