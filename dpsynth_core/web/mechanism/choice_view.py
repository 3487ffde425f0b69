"""How the rows are made: the chosen mechanism with one recommendation, and behind "Change" all others. Public facts only."""

from __future__ import annotations

from collections.abc import Mapping

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.planning.recommendation import Recommendation
from dpsynth_core.report import percent
from dpsynth_core.web.mechanism import plan_view, recommendation_view
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.shell.session import Current

_OPEN = "mechanism_change"


def follow(project: Current, forecasts: Mapping[str, Forecast | InputError]) -> bool:
    """Whether another mechanism is in the plan now: until somebody chooses one, it is the recommended one."""
    chosen, recommended = project.draft["mechanism"], recommendation_view.ranked(project, forecasts)
    followed = project.draft["wizard"].get("recommended", document.new()["mechanism"]["name"])
    if not recommended or chosen != {"name": followed, "settings": {}} or recommended[0].name == followed:
        return False
    plan_view.recommend(recommended[0].name)
    return True


def card(project: Current, forecasts: Mapping[str, Forecast | InputError]) -> None:
    """What is chosen, what we would choose, and the way to another one. The draft's domain, workload and budget are complete."""
    mechanism = registry.get(project.draft["mechanism"]["name"])
    recommended = recommendation_view.ranked(project, forecasts)
    with frame.card("How are the rows made?", Zone.PUBLIC, recommendation_view.basis_help()), st.container(key="mechanisms"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"#### {mechanism.card.title}", width="content")
            if recommended and recommended[0].name == mechanism.card.name:
                st.badge("Our recommendation", icon=":material/star:", color="blue")
            st.button("Change", icon=":material/swap_horiz:", key="change_mechanism", on_click=_toggle)
        st.markdown(mechanism.card.summary)
        plan_view.fitting(forecasts[mechanism.card.name])
        _expected(mechanism.card.name, recommended)
        if st.session_state.get(_OPEN):
            recommendation_view.shortlist(project, forecasts)
            plan_view.cards(forecasts, mechanism.card.name)
        else:
            plan_view.explained(mechanism.card.name)


def _expected(chosen: str, recommended: tuple[Recommendation, ...]) -> None:
    """What errors to expect of the chosen one, and of the recommended one if that is another."""
    if not recommended:
        return
    first, own = recommended[0], next((one for one in recommended if one.name == chosen), None)
    if own is not None:
        st.markdown(f"Expect about **{percent(own.expected.error)}** of the people in the wrong group ({_span(own)}). A rough guide.")
    if first.name != chosen:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            why = f"about {percent(first.expected.error)} ({_span(first)}), {first.reasons[0]}"
            st.markdown(f":material/star: We would choose **{first.title}**: {why}.", width="stretch")
            take = plan_view.choose
            st.button(f"Choose {first.title}", key="choose_recommended", on_click=take, args=(first.name,))


def _span(one: Recommendation) -> str:
    return f"{percent(one.expected.low)} to {percent(one.expected.high)}"


def _toggle() -> None:
    st.session_state[_OPEN] = not st.session_state.get(_OPEN)
