"""The ideas in plain words, each mechanism with its paper and why it is private, a glossary, what is not protected."""

from __future__ import annotations

from pathlib import Path

import streamlit as st

from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.protocol import Mechanism
from dpsynth_core.web import frame

_TEXTS = Path(__file__).resolve().parents[1] / "assets" / "guide"


def main() -> None:
    frame.require("guide")
    frame.header("guide", "What this program does, why it is private, and how to read what comes out.")
    ideas, mechanisms, reading, limits, glossary = st.tabs(["Ideas", "Mechanisms", "Reading results", "Not protected", "Glossary"])
    with ideas:
        _text("ideas")
    with mechanisms:
        for mechanism in registry.MECHANISMS.values():
            _mechanism(mechanism)
    with reading:
        _text("reading")
    with limits:
        _text("limits")
    with glossary:
        _text("glossary")


def _text(name: str) -> None:
    st.markdown((_TEXTS / f"{name}.md").read_text(encoding="utf-8"))


def _mechanism(mechanism: Mechanism) -> None:
    with st.container(border=True):
        st.markdown(f"#### {mechanism.title}")
        st.markdown(mechanism.summary)
        st.markdown(f"**Why it is private.** {mechanism.privacy}")
        st.caption(f"{mechanism.paper}. {'Writes rows.' if mechanism.makes_rows else 'Gives noisy tables, no rows.'}")
        if mechanism.parameters:
            with st.expander("Parameters", icon=":material/tune:"):
                for parameter in mechanism.parameters:
                    st.markdown(f"- `{parameter.name}` (default {parameter.default}): {parameter.help}")


main()
