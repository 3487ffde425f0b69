"""The frame around every page: navigation with the state of each step, sidebar, header, zone badges, Back and Continue.

How a page is written. A page is a thin file `pages/<step>.py`, such as `pages/ledger.py`: it starts with `require`, which stops it if it
was not reached through the router or its step is still locked, shows `header`, then a `card` for each part, and ends with `nav`.

Everything that comes from a file or from the curator (column names, categories, project names, messages of InputError) goes through
`text.literal` or `text.code` before it enters Markdown: titles, captions, labels, alerts, metrics, tooltips, options of radio
buttons and pills. Not needed in `st.dataframe`, `st.data_editor`, select boxes, charts. `frame.refused(error)` shows an InputError.
Values that the curator enters are kept with `session.edit` (or a widget of `fields`, which does it) at the moment of the change.
Nothing curator-only may be cached, logged, or kept in session state.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import streamlit as st
from streamlit.delta_generator import DeltaGenerator

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.store import runs
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.web.shell import additions, brand, document, refusals, session, sidebar, steps
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.steps import ALWAYS, REFERENCE, STEPS, State, Step

_CURATOR_HELP = "Exact private values stay on this screen: never in a download, report or log. Do not photograph or share them."
_ZONE_LOOK = {
    Zone.PUBLIC: ("blue", ":material/public:", "Anyone may see this: it is known without the private table."),
    Zone.RELEASED: ("green", ":material/verified_user:", "You may publish this: it follows from public facts and noisy answers."),
    Zone.CURATOR: ("orange", ":material/visibility_lock:", _CURATOR_HELP),
}
_PAGES, _STATES, _ZONE = "_pages", "_states", "_page_zone"
_ROOT = "start"
"""Streamlit serves the first page at the root alone, under any path of its own, and lets no other page have that path."""


def run() -> None:
    """Set up the page and run the router; app.py calls this at every run of the script.

    An error of the store, and the refusal of a visitor whom the door does not know, are drawn on the page.
    """
    menu = {"Get help": None, "Report a bug": None, "About": f"{brand.NAME}. {brand.TAGLINE}."}
    st.set_page_config(page_title=brand.NAME, page_icon=brand.ICON, layout="wide", menu_items=menu)
    st.logo(brand.logo(), size="large", icon_image=brand.ICON)
    st.html(brand.STYLE)
    st.html(brand.script(), unsafe_allow_javascript=True)
    try:
        if session.admitted():
            session.ends()
            _route()
        else:
            st.error("Open the wizard with the address that the server printed when it started.", icon=":material/lock:")
    except StoreFault as error:
        _not_done(error)
        st.button("Try again", icon=":material/refresh:", key="try_again")


def _not_done(error: InputError) -> None:
    refused(error)
    st.caption("Your last step was not done, and nothing was charged for it.")


def _route() -> None:
    if (error := refusals.taken(refusals.STORE)) is not None:
        _not_done(error)
    own = session.own_projects()
    project = session.begin(own)
    owned_runs = runs.list(project.owner)
    own_runs = [run for run in owned_runs if run.project == project.id]
    state = steps.states(project.draft, [run.state for run in own_runs if not run.only_learns])
    offered = (*STEPS, *ALWAYS) if own else REFERENCE
    pages = {step.name: _page(step, state[step.name], offered[0]) for step in offered}
    sections: dict[str, list[st.Page]] = {}
    for step in offered:
        sections.setdefault(step.section, []).append(pages[step.name])
    first = offered[0]
    sections[first.section].append(st.Page(_to_the_first, url_path=first.name, title=first.title, visibility="hidden"))
    chosen = st.navigation(sections, position="sidebar", expanded=True)
    if own:
        st.query_params[session.PARAMETER] = project.id
    st.session_state[_PAGES], st.session_state[_STATES] = pages, state
    with st.sidebar:
        if any(run.active for run in owned_runs):
            sidebar.run_badge(project.owner, pages["mechanism"])
        if own:
            sidebar.show(project, own, pages[first.name])
        added = st.container()
        sidebar.visitor()
    with session.routing():
        chosen.run()
    with added:  # after the page, which may change the draft
        additions.draw("sidebar", (session.current(), next((name for name, page in pages.items() if page is chosen), "")))


def _to_the_first() -> None:
    """Open the first page. This serves its own name as an address; the page itself is at the root."""
    go(next(iter(st.session_state[_PAGES])))


def require(name: str) -> Current:
    """Return the open project if the page may be shown; otherwise draw the reason and stop the script.

    Args:
        name: The name of the page's step.
    """
    if not session.routed():
        st.error("This page can only be opened through the wizard.", icon=":material/lock:")
        st.stop()
    project = session.current()
    state = st.session_state[_STATES]
    if state[name] is State.LOCKED:
        header(name, _step(name).help)
        following = steps.first_open(state)
        st.info("This step opens when the steps before it are done. Nothing that you entered is lost.", icon=":material/lock:")
        if following in document.passed(project.draft) and (error := document.problem(project.draft, following)) is not None:
            refused(error)
        link(following, f"Go on with {_step(following).title}")
        st.stop()
    return project


def header(name: str, sentence: str, *zones: Zone) -> None:
    """Draw the title of a page, badges of the zones on it, and a sentence on the page's decision.

    Args:
        name: The name of the page's step.
        sentence: The sentence, as Markdown in the program's own words.
        *zones: The zones on the page. If there is exactly one, `card` draws a badge only for another zone.
    """
    step = _step(name)
    st.session_state[_ZONE] = zones[0] if len(zones) == 1 else None
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.title(step.title, anchor=False, width="content")
        for zone in zones:
            zone_badge(zone)
    st.caption(sentence)


@contextmanager
def card(title: str, zone: Zone | None = None, help: str | None = None) -> Iterator[None]:
    """Draw the widgets of the block in a bordered part of the page.

    Args:
        title: The title in Markdown, in the program's own words.
        zone: The zone of the content; its badge is drawn if it is not the page's only zone.
        help: The tooltip.
    """
    with st.container(border=True):
        with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
            st.subheader(title, anchor=False, help=help, width="content")
            if zone is not None and zone is not st.session_state.get(_ZONE):
                zone_badge(zone)
        yield


def zone_badge(zone: Zone) -> None:
    """Draw the coloured marker of a zone; hovering explains it."""
    color, icon, help = _ZONE_LOOK[zone]
    st.badge(zone.label, icon=icon, color=color, help=help)


def watermark(zone: Zone, part: str = "page") -> DeltaGenerator:
    """Return a container for content of a zone; if the zone is curator-only, the container has a watermark.

    Args:
        zone: The zone of the content.
        part: A unique name on the page.
    """
    return st.container(key=f"zone_{zone.name.lower()}_{part}")


refused, sentence = refusals.refused, refusals.sentence


def refused_at(place: str) -> None:
    """Draw the error that a callback stored for `place`, if any, and delete it."""
    if (error := refusals.taken(place)) is not None:
        refused(error)


def nav(name: str, *, ready: bool = True, why: str = "") -> None:
    """Draw the buttons Back and Continue at the bottom of the page; the first step has only Continue, the last only Back.

    A click opens the other page, and nothing after the call runs; Continue also saves that the step is passed.

    Args:
        name: The name of the step.
        ready: Whether Continue is enabled.
        why: The reason, in the program's own words, shown while Continue is disabled.
    """
    before, after = steps.before(name), steps.after(name)
    sides: Literal["right", "distribute"] = "right" if before is None else "distribute"
    with st.bottom.container(horizontal=True, horizontal_alignment=sides, vertical_alignment="center", key="wizard_nav"):
        if before is not None and st.button("Back", icon=":material/arrow_back:", key=f"back_{name}"):
            go(before)
        if not ready and why:
            st.caption(why, width="stretch", text_alignment="center")
        if after is None:
            return
        look: dict[str, Any] = {"type": "primary", "icon": ":material/arrow_forward:", "icon_position": "right", "disabled": not ready}
        if st.button("Continue", key=f"next_{name}", **look):
            forward(name, after)


def forward(name: str, after: str) -> None:
    """Save that the step `name` is passed, and open the step `after`; nothing after the call runs."""

    def change(draft: dict) -> None:
        passed = draft.setdefault("wizard", {}).setdefault("passed", [])
        if name not in passed:
            passed.append(name)

    session.edit(change)
    go(after)


def nav_checked(name: str, error: InputError | None, why: str = "") -> None:
    """Draw `nav` for a preparation step, with Continue enabled only if `error` is None.

    Args:
        name: The name of the step.
        error: The error of the step.
        why: A reason shown instead of the error's own sentence.
    """
    nav(name, ready=error is None, why=(why or sentence(error)) if error else "")


def go(name: str) -> None:
    """Open another page, with the current project (if any) in its address; nothing after the call runs.

    Args:
        name: The name of a page of the navigation.
    """
    project = session.current().id
    st.switch_page(st.session_state[_PAGES][name], query_params={session.PARAMETER: project} if project else None)


def link(name: str, label: str) -> None:
    """Draw a link to another page of the wizard.

    Args:
        name: The name of the page's step.
        label: The text of the link, in the program's own words.
    """
    st.page_link(st.session_state[_PAGES][name], label=label, icon=_step(name).icon)


def _page(step: Step, state: State, root: Step) -> st.Page:
    number = f"{STEPS.index(step) + 1}. " if step in STEPS else ""
    icons = {State.DONE: ":material/check_circle:", State.LOCKED: ":material/lock:", State.RUNNING: "spinner"}
    hint = {State.DONE: " Done.", State.LOCKED: " Locked until the steps before it are done.", State.RUNNING: " A run is under way."}
    look = {"title": number + step.title, "icon": icons.get(state, step.icon), "help": step.help + hint.get(state, "")}
    first = step is root
    return st.Page(f"pages/{step.name}.py", url_path=_ROOT if first else step.name, default=first, **look)


def _step(name: str) -> Step:
    return next(step for step in (*STEPS, *ALWAYS) if step.name == name)
