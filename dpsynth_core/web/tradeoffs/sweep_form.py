"""The part of the Trade-offs page where a sweep is put together: on which table, which mechanisms, which budgets, and what it will take."""

from __future__ import annotations

import json
from collections.abc import Collection
from functools import partial

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning.spec import STANDIN
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.store import balance, ledger, sweeps
from dpsynth_core.tradeoffs import trial
from dpsynth_core.tradeoffs.sweep import MAX_REPEATS, PRIVATE, PUBLIC, Sweep
from dpsynth_core.tradeoffs.trial import Expected
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import document, fields, frame, refusals, session
from dpsynth_core.web.shell.numbers import duration, short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal
from dpsynth_core.web.tradeoffs import sweep_draft
from dpsynth_core.web.tradeoffs.sweep_draft import NOTES

SHOWN = "tradeoffs_sweep"
"""Key under which the sweep on screen is kept."""

_STRENGTHS = {sweep_draft.RANGE: "weak to strong", 0.0: "none", 0.25: "weak", 0.5: "medium", 0.75: "strong", 0.95: "extreme"}
_SIZES = {sweep_draft.ALL: "all", sweep_draft.PARTS: "a tenth, a quarter, half and all"}
_ABOUT = {
    STANDIN: "Invented rows with your columns, values and impossible combinations. Nothing is spent: their errors are exact and public.",
    PUBLIC: "Nothing is spent: errors on a public table are exact and public.",
    PRIVATE: "Every trial is charged, and its true errors are for your eyes only. No trial can ever be released.",
}
_SWEEP, _CHECKED = "sweep", "_tradeoffs_checked"
_AT_ONCE = 10_000
"""Tables of all settings together up to which their trials are planned in a blink."""


def form(project: Current) -> None:
    """Choose, see what it will take, and start."""
    zone = Zone.CURATOR if sweep_draft.note(project.draft, "table") == PRIVATE else Zone.PUBLIC
    with frame.card("Try it out", zone, "The same plan with several mechanisms and budgets, side by side, in the background."):
        _table(project)
        names = {name: literal(title) for name, title in sweep_draft.titles(project.draft).items()}
        about = "The cards on the Mechanism page say what each does."
        fields.several("Mechanisms", f"{NOTES}.mechanisms", list(names), names, sweep_draft.MECHANISMS, help=about, wrap=True)
        _grid(project)
        _start(project)


def _table(project: Current) -> None:
    offered = sweep_draft.tables(project.draft)
    is_demo = project_table.is_simulated(project.draft)
    names = {
        STANDIN: ":material/casino: Simulated data like mine",
        PUBLIC: ":material/groups: The simulated people" if is_demo else ":material/public: The public table",
        PRIVATE: ":material/visibility_lock: The private table",
    }
    where, rows, strength = st.columns([9, 4, 6], gap="small", vertical_alignment="top")
    with where:
        table = fields.choice("Try it on", f"{NOTES}.table", offered, names, kind="segmented")
    if table == STANDIN:
        with rows:
            fields.number(
                "Rows",
                f"{NOTES}.rows",
                lambda text: sweep_draft.read_rows(text) if text.strip() else sweep_draft.note(project.draft, "rows"),
                lambda number: f"{number:,}",
                placeholder=f"{sweep_draft.note(project.draft, 'rows') or sweep_draft.ROWS:,}",
                help="As many as there are people, as far as that is public; fewer go faster, but noise weighs more.",
            )
        with strength:
            help = "Yours is not looked at. From weak to strong, the band around a curve shows how much depends on that."
            title, options = "How strongly are its columns related?", list(_STRENGTHS)
            fields.choice(title, f"{NOTES}.strength", options, _STRENGTHS, default=sweep_draft.RANGE, help=help)
    st.caption(_ABOUT[table])
    if table == PRIVATE:
        st.warning("Choosing by true errors leaks about the people in the table, and no ledger counts that.", icon=":material/warning:")


def _grid(project: Current) -> None:
    values, repeats, sizes = st.columns([5, 3, 5], gap="small")
    with values:
        fields.number(
            "Values of ε",
            f"{NOTES}.epsilons",
            lambda text: sweep_draft.read_epsilons(text) if text.strip() else list(sweep_draft.EPSILONS),
            sweep_draft.shown_epsilons,
            placeholder=sweep_draft.shown_epsilons(sweep_draft.EPSILONS),
            help="Separated by spaces. Charts have logarithmic axes: 0.1, 0.3, 1, 3, 10 are evenly apart.",
        )
    with repeats:
        numbers, usual = {n: str(n) for n in sorted({1, 2, 3, 5, 10, MAX_REPEATS})}, sweep_draft.note(project.draft, "repeats")
        help = "Noise differs from run to run: bands show how much."
        fields.choice("Repeats", f"{NOTES}.repeats", list(numbers), numbers, default=usual, help=help)
    with sizes:
        help = "Also with a random part of the workload: what does it cost to ask for more?"
        fields.choice("Tables asked for", f"{NOTES}.sizes", list(_SIZES), _SIZES, help=help)


def _start(project: Current) -> None:
    try:
        sweep = sweep_draft.sweep(project.draft, project.name)
        tables = len(sweep.workload.cliques) * len(sweep.mechanisms) * len(sweep.epsilons) * len(sweep.sizes)
        if tables > _AT_ONCE and not _asked_for(sweep):
            return
        with st.spinner("Working out what the trials need …"):
            expected = _expected(_text(sweep))
        for name, error in expected.refusals.items():
            why = f"{literal(sweep.titles[name])}: {literal(error.problem)}; {literal(error.remedy)}."
            st.caption(f":orange[:material/block: {why}]")
        if expected.refusals:
            raise InputError("mechanisms", "not all of them can be tried", "leave out the ones named above")
    except InputError as error:
        frame.refused(error)
        return
    _offer(project, sweep, expected)
    frame.refused_at(_SWEEP)


def _asked_for(sweep: Sweep) -> bool:
    """The button in front of Start, where there are many tables; whether it was pressed for these trials."""
    if st.session_state.get(_CHECKED) == _text(sweep):
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("How long will it take?", type="primary", icon=":material/schedule:", key="sweep_check")
        tables = f"{len(sweep.workload.cliques):,} tables"
        st.caption(f"To work it out for {len(sweep.points):,} trials of {tables} takes some seconds. Then you can start.", width="content")
    if pressed:
        st.session_state[_CHECKED] = _text(sweep)
    return pressed


def _offer(project: Current, sweep: Sweep, expected: Expected) -> None:
    workers = sweeps.workers_at_once(expected.memory_mb)
    seconds = sum(expected.seconds[p.mechanism, p.epsilon, p.size] for p in sweep.points)
    with st.container(horizontal=True, vertical_alignment="center"):
        private = sweep.table == PRIVATE
        label = f"Start {len(sweep.points):,} trials" + ("…" if private else "")
        known = [stored.id for stored in sweeps.list(project.owner, project.id)]
        action = {} if private else {"on_click": submit, "args": (project, sweep, known)}
        if st.button(label, type="primary", icon=":material/play_arrow:", key="sweep_start", **action) and private:
            _confirm(project, sweep, known)
        spent = f"charges ε {sweeps.cost(sweep)[0]:.3g}" if private else "spends nothing"
        each = f" · {workers} at a time" if workers > 1 else ""
        st.caption(f"About {duration(seconds / workers)}{each} · {spent} · goes on when you close this page", width="content")


@refusals.dialog("Charge the private table?", width="medium")
def _confirm(project: Current, sweep: Sweep, seen: Collection[str]) -> None:
    account = balance.spent(sweep.base.population, ZCDP, document.cap(project.draft))
    left = ZCDP.epsilon_from(account.remaining_rho, account.cap_delta) if account.remaining_rho > 0 else 0.0
    (epsilon, delta), (first, second) = sweeps.cost(sweep), st.columns(2)
    first.metric("Left now", f"ε {left:.3g}")
    second.metric("These trials", f"ε {epsilon:.3g}", help=f"{len(sweep.points):,} trials add up, in ρ.")
    st.markdown(
        f"Population {code(sweep.base.population)} · δ {short(delta)}\n\nThe charge is final from the first trial on,"
        " also if you stop the rest. **No trial is ever released**: what they cost is gone from what a release could have had."
    )
    start = partial(submit, project, sweep, seen)
    if st.button("Charge it and start", type="primary", icon=":material/play_arrow:", width="stretch", on_click=start):
        st.rerun()


def submit(project: Current, sweep: Sweep, seen: Collection[str]) -> None:
    """Start it and show it; what was wrong is said when the page is drawn next. seen: the sweeps on the page when it was decided."""

    def start() -> None:
        if _text(sweep_draft.sweep(session.current().draft, project.name)) != _text(sweep):  # a field that was left by the very click
            raise InputError("trials", "they have just been changed", "see what they need now, and start them")
        if sweep.table == PRIVATE:
            ledger.open_population(project.owner, sweep.base.population, document.cap(project.draft))
        st.session_state[SHOWN] = sweeps.submit(project.owner, project.id, sweep, seen)

    refusals.attempt(_SWEEP, start)


def _text(sweep: Sweep) -> str:
    return json.dumps(sweep.to_json(), sort_keys=True)


@st.cache_data(max_entries=64, show_spinner=False)
def _expected(text: str) -> Expected:
    return trial.expected(Sweep.from_json(json.loads(text)))
