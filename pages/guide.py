"""Guide: the ideas, each mechanism with its paper and privacy argument, a glossary, and the limits of the protection."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import streamlit as st

from dpsynth_core.web.shell import frame, guide


def main() -> None:
    """Draw the page; only the open tab has its content."""
    frame.require("guide")
    frame.header("guide", "What this program does, why it is private, and how to read what comes out.")
    tabs = st.tabs([title for title, _ in _TABS], key="guide_tab", on_change="rerun")
    for tab, (_, draw) in zip(tabs, _TABS, strict=True):
        if tab.open:
            with tab:
                draw()


def _text(name: str) -> None:
    st.markdown(guide.text(name))


_TABS: tuple[tuple[str, Callable[[], None]], ...] = (
    ("Ideas", partial(_text, "ideas")),
    ("Mechanisms", guide.mechanism_cards),
    ("Reading results", partial(_text, "reading")),
    ("Not protected", partial(_text, "limits")),
    ("Glossary", partial(_text, "glossary")),
)
"""The title and content of each tab; the content is drawn when the tab is open."""

main()
