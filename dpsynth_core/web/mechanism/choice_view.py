"""The choice of the mechanism: the chosen one, the candidates for the draft's plan and their advantages. Public facts only."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import partial

import streamlit as st

from dpsynth_core.evaluation import measures
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Forecast, Mechanism, UsesPublic
from dpsynth_core.planning import alternatives, recommendation
from dpsynth_core.planning.plan import Plan, forecast
from dpsynth_core.planning.recommendation import LARGEST, MEAN, Expected, Recommendation, Situation
from dpsynth_core.planning.spec import PublicSpec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.release import synthesis
from dpsynth_core.report import percent
from dpsynth_core.web.mechanism import plan_view
from dpsynth_core.web.shell import additions, document, frame
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital

_OPEN = "mechanism_change"
CANDIDATES = (recommendation.USUAL, recommendation.BASELINE)
"""The mechanisms that are recommended most often."""
Forecasts = Mapping[str, Forecast | InputError]


def follow(project: Current, forecasts: Forecasts) -> bool:
    """Make the recommended mechanism the plan's in the stored draft, unless the curator chose one.

    Args:
        project: The open project; its domain, workload and budget must be complete.
        forecasts: Time and memory of each mechanism, from `forecasts`.

    Returns:
        Whether the plan's mechanism changed; False also without a recommendation.
    """
    recommended = ranked(project, forecasts)
    if not recommended or not _follows(project.draft) or recommended[0].name == project.draft["mechanism"]["name"]:
        return False
    plan_view.choose(recommended[0].name, recommended=recommended[0].name)
    return True


def _follows(draft: document.Draft) -> bool:
    return bool(draft["mechanism"] == {"name": draft["wizard"].get("recommended", document.new()["mechanism"]["name"]), "settings": {}})


def among(draft: document.Draft) -> tuple[str, ...]:
    """Return the names of the mechanisms that suggested changes of the plan may use.

    They are the chosen one and, until the curator chooses, those recommended most often; () for two
    linked tables, which have one mechanism.
    """
    if document.is_linked(draft):
        return ()  # the plan's own
    chosen = draft["mechanism"]["name"]
    return (chosen, *CANDIDATES) if _follows(draft) else (chosen,)


def card(project: Current, forecasts: Forecasts) -> None:
    """Draw the chosen mechanism with its expected error, the recommended one, and the choice of another.

    A mechanism that is chosen is stored in the draft. The draft's domain, workload and budget must be complete.

    Args:
        project: The open project.
        forecasts: Time and memory of each mechanism, from `forecasts`.
    """
    mechanism = registry.get(project.draft["mechanism"]["name"])
    recommended = ranked(project, forecasts)
    based = recommendation.basis()
    fitted = f"{based.trials:,} of our own trials on {based.scenarios} simulated tables ({based.made})"
    help = (
        f"Expected errors come from a small model fitted on {fitted}. It knows the shape of your plan and nothing of your table. "
        "Mechanisms that learn rules (OracleQuery, certified learning) answer another question, and are not judged here."
    )
    with frame.card("How are the rows made?", Zone.PUBLIC, help), st.container(key="mechanisms"):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.markdown(f"#### {mechanism.card.title}", width="content", help=mechanism.card.summary)
            if recommended and recommended[0].name == mechanism.card.name:
                st.badge("Our recommendation", icon=":material/star:", color="blue")
            toggle = partial(st.session_state.__setitem__, _OPEN, not st.session_state.get(_OPEN))
            st.button("Change", icon=":material/swap_horiz:", key="change_mechanism", on_click=toggle)
        plan_view.fitting(forecasts[mechanism.card.name])
        _expected(mechanism.card.name, recommended)
        if st.session_state.get(_OPEN):
            additions.draw("mechanisms", project)
            shortlist(project, forecasts)
            plan_view.cards(forecasts, mechanism.card.name)
        else:
            plan_view.explained(mechanism.card.name)


def only(plan: Plan, people: int | None) -> None:
    """Draw the only mechanism for two linked tables, with time, memory and its expected error.

    Args:
        plan: The plan of two linked tables.
        people: A public or declared number of households; None if it is not known. Then no error is drawn, nor
            for tables unlike all that we simulated.
    """
    with frame.card("How are the rows made?", Zone.PUBLIC, plan.mechanism.card.privacy), st.container(key="mechanisms"):
        st.markdown(f"#### {plan.mechanism.card.title}", width="content")
        st.markdown(plan.mechanism.card.summary)
        plan_view.fitting(plan.forecast_for(people))
        if people and (expected := alternatives.linked_error(plan, people)) is not None:
            tried = recommendation.trials(plan.mechanism.card.name)
            help = f"This is a rough guide from {tried:,} trials on invented households: four in five of them were in the range."
            st.markdown(f"Expect about **{percent(expected.error)}** of the {plan.who} in the wrong group ({_span(expected)}).", help=help)
        st.caption(f"This is the only mechanism for {extension.what_is_linked(plan.spec.extensions)}.")


def _expected(chosen: str, recommended: tuple[Recommendation, ...]) -> None:
    if not recommended:
        return
    first, own = recommended[0], next((one for one in recommended if one.name == chosen), None)
    if own is not None:
        st.markdown(f"Expect about **{percent(own.expected.error)}** of the people in the wrong group ({_span(own.expected)}).")
    if first.name != chosen:
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            why = f"about {percent(first.expected.error)} ({_span(first.expected)}), {first.reasons[0]}"
            st.markdown(f":material/star: We would choose **{first.title}**: {why}.", width="stretch")
            st.button(f"Choose {first.title}", key="choose_recommended", on_click=plan_view.choose, args=(first.name,))


def _span(one: Expected) -> str:
    return f"{percent(one.low)} to {percent(one.high)}"


_ORDER = ("First choice", "Second", "Third")
_BY = "recommended_by"
_MEASURES = {MEAN: measures.MEAN, LARGEST: measures.LARGEST}


def ranked(project: Current, forecasts: Forecasts, by: str = MEAN) -> tuple[Recommendation, ...]:
    """Return the mechanisms recommended for the draft's plan, the one with the least expected error first.

    They were tried in our experiments and can run this plan. The tuple is empty if the number of
    people is not stated, or if no such mechanism can run. Expected errors are shares of people.

    Args:
        project: The open project; its domain, workload and budget must be complete.
        forecasts: Time and memory of each mechanism, or why it cannot run, from `forecasts`.
        by: The error to compare: `MEAN` or `LARGEST`.

    Raises:
        InputError: The draft's workload or budget is not complete.
    """
    people, budget = document.people(project.draft), document.budget(project.draft)
    if not people:
        return ()
    workload, unit = document.workload(project.draft), document.unit(project.draft)
    shares = document.shares(project.draft, registry.get("aim"))
    rho = ZCDP.rho_from(budget.epsilon, budget.delta) * shares.mechanism / shares.rho  # trials were counted in zCDP, whichever it is
    fitting = {name: f for name, f in forecasts.items() if isinstance(f, Forecast)}
    return recommendation.recommend(Situation.of(workload, rho, unit, people), fitting, measure=by).value


def shortlist(project: Current, forecasts: Forecasts) -> None:
    """Draw at most three recommended mechanisms with their expected errors, each with a button to choose it.

    The choice is stored in the draft. While the number of people is not stated, only a request to
    state it is drawn.

    Args:
        project: The open project.
        forecasts: Time and memory of each mechanism, or why it cannot run, by name.
    """
    if not document.people(project.draft):
        st.info("State about how many people the table holds, if that is public, to get a recommendation.", icon=":material/help:")
        frame.link("data", "State how many")
        return
    measure_help = " ".join(f"**{measure.title}**: {measure.help}" for measure in _MEASURES.values())
    names = {name: measure.title for name, measure in _MEASURES.items()}
    look = {"format_func": names.get, "key": _BY, "default": MEAN, "required": True, "help": measure_help}
    by = st.segmented_control("Judge our recommendation by", list(names), **look)
    recommendations = ranked(project, forecasts, by)[: recommendation.LISTED]
    if not recommendations:
        st.info("No mechanism that we tried fits this plan.", icon=":material/block:")
    for place, (rank, one) in zip(st.columns(max(1, len(recommendations))), zip(_ORDER, recommendations, strict=False), strict=False):
        with place.container(border=True, height="stretch", key=f"recommended_{one.name}"):
            chosen = project.draft["mechanism"]["name"] == one.name
            expected, forecast = one.expected, one.forecast
            what = "of people in the wrong group" if by == MEAN else "of all people is the error of the worst count"
            st.markdown(f"{rank}: **{one.title}**" + (" :green-badge[:material/check: chosen]" if chosen else ""))
            needed = f"{duration(forecast.seconds)} · {forecast.memory_mb:,.0f} MB"
            st.markdown(f"About **{percent(expected.error)}** {what} ({_span(one.expected)}) · {needed}")
            st.caption(f"{capital('; '.join(one.reasons))}.")
            if not chosen:
                st.button("Choose", key=f"take_{one.name}", on_click=plan_view.choose, args=(one.name,), width="stretch")
    trials = recommendation.basis().trials
    st.caption(" ".join((f"This is a rough guide from {trials:,} trials on simulated tables.", *extension.sentences("recommendations"))))


def forecasts(draft: document.Draft) -> Forecasts:
    """Return the time (seconds) and memory (MB) that each mechanism needs for the draft's plan, by name, cached.

    A mechanism that cannot run has the InputError with the reason, or a forecast that does not fit. The
    chosen mechanism has the draft's settings, all others their defaults.

    Raises:
        InputError: The draft's workload or unit is not valid, or its mechanism is unknown.
    """
    about = ("domain", "workload", "unit", "budget", "mechanism", "public", "published_tables", "criteria", "models")
    parts = {part: draft.get(part) for part in about}
    parts["data"] = {part: (draft.get("data") or {}).get(part, default) for part, default in (("kind", "csv"), ("engine", None))}
    return _forecasts(json.dumps(parts, sort_keys=True), document.people(draft))


@st.cache_data(max_entries=32, show_spinner=False)
def _forecasts(text: str, people: int | None) -> dict[str, Forecast | InputError]:
    draft = json.loads(text)
    workload, unit, chosen = document.workload(draft), document.unit(draft), draft["mechanism"]
    public = None if draft["public"] is None else PublicSpec.model_validate_json(json.dumps(draft["public"]))

    def expected(mechanism: Mechanism) -> Forecast | InputError:
        try:
            configured = registry.configured(mechanism, chosen["settings"] if mechanism.card.name == chosen["name"] else {})
            if public is not None and isinstance(configured, UsesPublic):
                configured = configured.informed_by(synthesis.public_table(public, workload.domain))
            return forecast(configured, workload, unit, document.shares(draft, configured), people)
        except InputError as error:
            return error

    return {name: expected(mechanism) for name, mechanism in (*registry.MECHANISMS.items(), (chosen["name"], registry.get(chosen["name"])))}
