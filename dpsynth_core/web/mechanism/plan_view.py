"""Parts of the Mechanism page that show a plan: noise, leaks, mechanism cards and parameters. Public facts only."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, cast

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone, Zoned
from dpsynth_core.mechanisms import parameters as knobs
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Forecast, Mechanism
from dpsynth_core.mechanisms.parameters import Parameter, Setting
from dpsynth_core.planning.feasibility import READABLE_GROUP, Feasibility
from dpsynth_core.planning.leaks import Leak, Severity
from dpsynth_core.planning.spec import MAX_ROWS, MAX_TABLES, most_unstated_rows
from dpsynth_core.web.shell import document, fields, frame, guide, numbers, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.numbers import duration
from dpsynth_core.web.shell.text import literal, one_line

_MARK = {Severity.HIGH: ("red", ":material/warning:", "weakens it"), Severity.MEDIUM: ("orange", ":material/flag:", "think twice")}
_NOTE = ("gray", ":material/info:", "good to know")
_CARDS_IN_A_ROW = 3
_RESEARCH = "research"
"""Stands for all purposes that few people need."""
_WANTED, _CHOSEN = "mechanism_wanted", "_mechanism_chosen"


def noise(zoned: Zoned[Feasibility], who: str) -> None:
    """Draw the noise of the plan's tables and the groups that it hides, in a closed expander.

    Args:
        zoned: The noise of the plan, and the errors that the noise by itself causes.
        who: The counted units: "people" or "households".
    """
    result = zoned.value
    with st.expander(f"Noise: ± {numbers.people(result.noise)} {who} a cell", icon=":material/grain:"):
        st.caption("This follows from the domain, the workload and the budget. The private table is not read.")
        for kind in (result.columns, result.tables):
            which = f"In the median of {kind.tables:,} {kind.kind} ({kind.cells:,} cells)"
            wrong, enough = f"of {who} in the wrong group", f"if there are {numbers.count(kind.people_needed)} {who} or more"
            puts = f"less than 10% {wrong} {enough}" if kind.share is None else f"**{kind.share:.1%}** {wrong}, and less than 10% {enough}"
            st.markdown(f"{which}, noise alone puts {puts}.")
        st.caption(
            f":material/groups_2: Noise is the same for every cell, so it hides small groups first. A group of fewer than about "
            f"**{numbers.count(result.smallest_group)} {who}** in a cell can easily be off by more than {READABLE_GROUP:.0%} of its size: "
            "merge such groups in the domain, or tell readers not to conclude anything about them."
        )


def leaks(found: Sequence[Leak]) -> None:
    """Draw disclosures that the privacy charge does not cover: serious ones openly, notes folded.

    If there are no disclosures, a sentence says so.
    """
    help = "The mechanism's charge does not cover these. You may go on; the release will name them."
    serious = [leak for leak in found if leak.severity in _MARK]
    if serious:
        with frame.card("Gaps in the protection", Zone.PUBLIC, help):
            for leak in serious:
                _leak(leak)
    if not found:
        st.caption(":material/verified_user: This program sees no gaps in the protection.")
    elif notes := [leak for leak in found if leak.severity not in _MARK]:
        title = f"{len(notes)} protection note{'s' * (len(notes) > 1)}"
        with st.expander(title, icon=":material/info:", key="notes_on_protection"):
            for leak in notes:
                _leak(leak)


def _leak(leak: Leak) -> None:
    color, icon, words = _MARK.get(leak.severity, _NOTE)
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", key=f"leak_{leak.code}"):
        st.markdown(f":{color}-badge[{icon} {words}] **{leak.title}.** {literal(leak.why, 1000)} *{leak.fix}*", width="stretch")
        if leak.step != "mechanism":
            frame.link(leak.step, "Go there")


def cards(forecasts: Mapping[str, Forecast | InputError], chosen: str) -> None:
    """Draw all mechanisms of one purpose as cards, with the choice of the purpose.

    Each card has a button that makes its mechanism the plan's, in the draft, if it can run the plan.

    Args:
        forecasts: Time and memory of each mechanism, or why it cannot run, by name.
        chosen: The name of the chosen mechanism, whose purpose is shown at first.
    """
    own = registry.purpose(chosen)
    around = _RESEARCH if own.research else own.name
    if st.session_state.get(_CHOSEN) != chosen:
        st.session_state[_CHOSEN], st.session_state[_WANTED] = chosen, around
    offered = registry.PURPOSES if own in registry.PURPOSES else (*registry.PURPOSES, own)  # one of another package, in a spec
    titles = {one.name: one.title for one in offered if not one.research}
    if any(one.research for one in offered):
        titles[_RESEARCH] = "Research methods"
    st.session_state.setdefault(_WANTED, around)
    wanted = str(st.pills("Show all mechanisms for", list(titles), format_func=titles.get, key=_WANTED, required=True))
    purposes = [one for one in offered if one.name == wanted or (one.research and wanted == _RESEARCH)]
    for purpose in purposes:
        if len(purposes) > 1:
            st.markdown(f"#### {purpose.title}")
        names = purpose.mechanisms
        fitting = sum(isinstance(forecast := forecasts[name], Forecast) and forecast.fits for name in names)
        st.caption(purpose.sentence + ("" if fitting else " None of these fits this plan; each card says why."))
        explained(names[0])
        for first in range(0, len(names), _CARDS_IN_A_ROW):
            row = names[first : first + _CARDS_IN_A_ROW]
            for place, name in zip(st.columns(_CARDS_IN_A_ROW)[: len(row)], row, strict=True):
                with place.container(border=True, height="stretch", key=f"card_{name}"):
                    _card(registry.get(name), forecasts[name], name == chosen)


def explained(name: str) -> None:
    """Draw an explanation of learning rules, in a closed expander.

    Args:
        name: The name of a mechanism; nothing is drawn if it does not learn with a solver.
    """
    if registry.purpose(name).name == guide.LEARNING:
        with st.expander("What is learnt, and what if the solver fails?", icon=":material/verified:"):
            st.markdown(guide.text(guide.LEARNING))


def _card(mechanism: Mechanism, forecast: Forecast | InputError, chosen: bool) -> None:
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(f"#### {mechanism.card.title}", width="content")
        if not mechanism.card.makes_rows:
            st.badge("No rows", icon=":material/table_rows:", color="gray")
    st.markdown(mechanism.card.summary, help="\n\n".join(mechanism.card.differences) or None)
    fitting(forecast)
    name = mechanism.card.name
    if chosen:
        st.button("Chosen", icon=":material/check:", disabled=True, key=f"chosen_{name}", width="stretch")
    else:
        fits = isinstance(forecast, Forecast) and forecast.fits
        st.button("Choose", key=f"choose_{name}", disabled=not fits, on_click=choose, args=(name,), width="stretch")


def fitting(forecast: Forecast | InputError) -> None:
    """Draw the time and memory of a run, or the reason why the mechanism cannot run the plan.

    Args:
        forecast: The forecast of time and memory, or the error that prevents the run.
    """
    if isinstance(forecast, Forecast) and forecast.fits:
        seconds, memory = duration(forecast.seconds), f"{forecast.memory_mb:,.0f} MB"
        st.markdown(f":green[:material/check:] Fits this plan: about {seconds}, {memory}.")
    else:
        reason = forecast.reason if isinstance(forecast, Forecast) else f"{forecast.problem}; {forecast.remedy}"
        st.markdown(f":red[:material/block:] Does not fit: {literal(reason)}.")


@session.edits
def choose(draft: Draft, name: str, settings: Mapping[str, Setting] | None = None, recommended: str | None = None) -> None:
    """Make a mechanism the plan's, and save it in the open project's draft.

    It is called without `draft`, and returns whether the change was not refused (`session.edits`).

    Args:
        draft: The draft, passed by the decorator.
        name: The name of the mechanism.
        settings: Its parameters by name; the defaults if None.
        recommended: The name again if the mechanism is taken because it is recommended, so that a
            later recommendation may replace it; None if the curator chose it.
    """
    draft["mechanism"] = {"name": name, "settings": dict(settings or {})}
    draft["wizard"]["recommended"] = recommended


def parameters(default: Mechanism, columns: Sequence[str] = ()) -> None:
    """Draw the mechanism's parameters and the number of rows and tables, in a closed expander.

    All are stored in the draft. The number of rows is left out for a mechanism that makes none,
    unless the draft states one.

    Args:
        default: The mechanism with its default parameters.
        columns: The columns of the domain.
    """
    with st.expander("Parameters", icon=":material/tune:"):
        mechanism = _preset(default)
        st.caption(
            "We found the defaults on public and simulated tables. Do not tune them by looking at true errors: that leaks, uncharged."
        )
        places, offered = st.columns(3), [replace(one, default=getattr(mechanism, one.name)) for one in knobs.parameters(mechanism)]
        for index, parameter in enumerate(offered):
            with places[index % 3]:
                _parameter(mechanism, parameter, columns)
        # a draft that asks for rows which its mechanism does not make: so that this can be taken back
        asks_for_rows = fields.value("output.rows") is not None or fields.value("output.tables", 1) > 1
        if mechanism.card.makes_rows or asks_for_rows:
            several = fields.value("output.tables", 1) > 1 or not document.is_linked(session.current().draft)
            for index, ask in enumerate((_rows, *([_tables] if several else [])), start=len(offered)):
                with places[index % 3]:
                    ask()


def _rows() -> None:
    parse = partial(numbers.optional, field="output.rows", high=MAX_ROWS)
    draft = session.current().draft
    most = most_unstated_rows(draft["unit"]["max_rows_per_person"] or 0 if document.is_linked(draft) else 0)
    usual = f"as many as the noisy total says, {most:,} at most"
    help = "Any number costs the same. Leave it empty to follow the noisy (or public) number of people."
    fields.number("Rows to write", "output.rows", parse, lambda n: f"{n}", placeholder=usual, help=help)


def _tables() -> None:
    help = (
        "You can draw several tables of rows from the one measurement, at no cost to privacy: they show how much the drawing adds. They "
        "share the noise, so that rules for combining variances do not hold for them."
    )
    look: dict[str, Any] = {"placeholder": "1", "help": help}
    fields.number("Tables of rows", "output.tables", lambda text: numbers.whole(text or "1", "output.tables", 1, MAX_TABLES), **look)


def _preset(mechanism: Mechanism) -> Mechanism:
    """Draw the switch from our defaults to the algorithm and constants of the mechanism's paper.

    Nothing is drawn for a mechanism without a published variant.

    Returns:
        The variant that is switched on.
    """
    name = mechanism.card.name
    if name not in registry.PUBLISHED:
        return mechanism
    published, now = registry.PUBLISHED[name], fields.value(f"mechanism.settings.{registry.PRESET}")

    def switch(on: bool) -> None:
        choose(name, {registry.PRESET: registry.PAPER} if on else {})

    help = "\n".join(["Use the algorithm and the constants of its paper instead of our defaults. The paper leaves open, or we keep:", ""])
    help += "\n".join(f"- {chosen}" for chosen in published.card.differences)
    on = fields.linked("as_published", now == registry.PAPER, switch, st.toggle, "As published", help=help)
    if mechanism.card.differences:
        st.caption(f"Our defaults differ from the paper in {len(mechanism.card.differences)} ways; the Guide lists them.")
    return published if on else mechanism


def _parameter(mechanism: Mechanism, parameter: Parameter, columns: Sequence[str]) -> None:
    path, name = f"mechanism.settings.{parameter.name}", parameter.name.replace("_", " ").capitalize()
    if parameter.kind == "bool":
        either = [parameter.default, not parameter.default]
        fields.choice(name, path, either, {True: "yes", False: "no"}, kind="segmented", help=parameter.help)
        return
    if parameter.kind in ("choice", "column"):
        options = parameter.options if parameter.kind == "choice" else ("", *columns)
        names = {option: one_line(option) or "none" for option in options}
        fields.choice(name, path, options, names, default=parameter.default, help=parameter.help)
        return

    def read(text: str) -> Setting:
        given = {parameter.name: text if text.strip() else parameter.default}
        return registry.settings(mechanism, given)[parameter.name]

    fields.number(name, path, read, numbers.short, placeholder=numbers.short(cast(float, parameter.default)), help=parameter.help)
