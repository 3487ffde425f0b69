"""The form of a sweep on the Trade-offs page: the table, the mechanisms and budgets to try, and the expected time.

The open project's choices are in the draft's notes under wizard.tradeoffs: table, rows, strength (a number, or `RANGE`), mechanisms,
epsilons, repeats, sizes (parts of the workload), setting ("MECHANISM.PARAMETER" to vary, or "") and "values_MECHANISM_PARAMETER"; each has
a default that depends on public facts only. A stand-in needs no private table, so neither the file nor a population has to be named for it.
Where values are to be learnt, trials take the values of the project's last release, else invented values.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.extensions.tradeoffs import sweeps, trial, values
from dpsynth_core.extensions.tradeoffs.sweep import (
    EPSILONS,
    MAX_REPEATS,
    MECHANISMS,
    PRIVATE,
    PUBLIC,
    ROWS,
    STRENGTHS,
    Sweep,
    Swept,
    sweepable,
    usual_values,
)
from dpsynth_core.extensions.tradeoffs.trial import Expected
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner, Mechanism, UsesPublic
from dpsynth_core.mechanisms.parameters import Parameter, read
from dpsynth_core.planning.spec import STANDIN, Spec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.sources import standins
from dpsynth_core.store import balance, ledger
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.results import open_runs
from dpsynth_core.web.shell import document, fields, frame, refusals, session
from dpsynth_core.web.shell.numbers import duration, positive, short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal

NOTES = "wizard.tradeoffs"
REPEATS = 3
RANGE = "range"
"""The choice of weakly to strongly related columns (`STRENGTHS`)."""
MOST_ROWS = 50_000
"""The most rows of a stand-in by default, so that a sweep does not take all day."""
MAX_EPSILONS = 12
MAX_VALUES = 8
_MOST_NAMED = 6
"""Names of columns in a sentence."""
ALL, PARTS = "all", "parts"
SHARES = {ALL: (1.0,), PARTS: (0.1, 0.25, 0.5, 1.0)}
"""The parts of the workload to try."""


def note(draft: Mapping[str, Any], name: str) -> Any:
    """Return the curator's choice `name` for a sweep, or its default; None stands for a text that is not valid.

    For "mechanisms" of two linked tables it is always the one mechanism that they have.

    Args:
        draft: The draft of the open project.
        name: table, rows, strength, mechanisms, epsilons, repeats, sizes or setting.

    Raises:
        KeyError: The name is unknown.
    """
    people, chosen = document.people(draft), document.wizard(draft).get("tradeoffs", {})
    if name == "mechanisms" and document.is_linked(draft):
        return [registry.LINKED.name]
    defaults = {
        "table": STANDIN,
        "rows": min(people or ROWS, MOST_ROWS),
        "strength": RANGE,
        "mechanisms": list(MECHANISMS),
        "epsilons": list(EPSILONS),
        "repeats": 1 if chosen.get("table", STANDIN) == STANDIN and chosen.get("strength", RANGE) == RANGE else REPEATS,
        "sizes": ALL,
        "setting": "",
    }
    return chosen.get(name, defaults[name])


def tables(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the kinds of tables on which a sweep of this project can run, in this order: stand-in, public, private.

    The stand-in is always among them. Simulated people count as a public table.
    """
    if project_table.is_simulated(draft):
        return (STANDIN, PUBLIC)
    return (STANDIN, *([PUBLIC] if draft.get("public") else []), *([PRIVATE] if draft.get("data") else []))


def chosen_table(draft: Mapping[str, Any]) -> str:
    """Return the kind of table on which the sweep runs: `STANDIN`, `PUBLIC` or `PRIVATE`.

    It is the kind that the curator chose. `STANDIN`, a table of invented rows, is returned if the
    curator chose none, or if the project has no table of the chosen kind.
    """
    return str(note(draft, "table")) if note(draft, "table") in tables(draft) else STANDIN


def offered(draft: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the names of the mechanisms that a sweep can try, in the order of the registry.

    They must publish tables. One that needs a public table is offered only for trials on the
    private table of a project that has a public table, and one whose oracle needs to know all
    values only where none are to be learnt. Two linked tables have one mechanism. The draft must
    have a workload and a budget.

    Raises:
        InputError: Domain, workload or budget of the draft are missing or not valid.
    """
    if document.is_linked(draft):
        return (registry.LINKED.name,)
    workload, learns = document.workload(draft), bool(document.domain(draft).unknown)
    informed = chosen_table(draft) == PRIVATE and bool(draft.get("public"))

    def can(mechanism: Mechanism) -> bool:
        if not mechanism.card.publishes_tables or (learns and isinstance(mechanism, Learner)):
            return False
        if informed or not isinstance(mechanism, UsesPublic):
            return True
        return registry.forecast(mechanism, workload, document.shares(draft, mechanism).mechanism).fits

    return tuple(name for name, mechanism in registry.MECHANISMS.items() if can(mechanism))


def titles(draft: Mapping[str, Any]) -> dict[str, str]:
    """Return the titles of the `offered` mechanisms by name.

    The title of the plan's own mechanism reflects its settings.

    Raises:
        InputError: Domain, workload, mechanism or budget of the draft are missing or not valid.
    """
    own = document.mechanism(draft)
    return {name: own.card.title if name == own.card.name else registry.title(name) for name in offered(draft)}


def problem(draft: Mapping[str, Any]) -> tuple[str, InputError] | None:
    """Return the first step that must be finished before a sweep, with its error; None if a sweep can start.

    The step is "domain", "workload" or "budget".
    """
    for step, check in (("domain", document.domain), ("workload", document.workload), ("budget", document.shares)):
        try:
            check(draft)
        except InputError as error:
            return step, error
    return None


def settings(draft: Mapping[str, Any]) -> dict[str, Parameter]:
    """Return the parameters of the chosen mechanisms that can be varied, by "MECHANISM.PARAMETER"; {} for two linked tables.

    Raises:
        InputError: Domain, workload or budget of the draft are missing or not valid.
    """
    chosen = [name for name in offered(draft) if name in note(draft, "mechanisms") and not document.is_linked(draft)]
    return {f"{name}.{one.name}": one for name in chosen for one in sweepable(name)}


def _swept(draft: Mapping[str, Any]) -> Swept | None:
    """Return the setting to vary; None without one. Raises InputError if a value cannot be used."""
    chosen, found = note(draft, "setting"), settings(draft)
    if chosen not in found:
        return None
    mechanism, parameter = chosen.split(".", 1)
    values = document.wizard(draft).get("tradeoffs", {}).get(_values_note(chosen), usual_values(found[chosen]))
    if values is None:
        raise InputError("values of the setting", "what is typed there cannot be used", "correct it")
    return Swept(mechanism, parameter, tuple(values))


def _values_note(setting: str) -> str:
    return f"values_{setting.replace('.', '_')}"


def last_release(project: Current) -> Domain | None:
    """Return the domain of the project's last release, whose learnt values are public.

    None is returned if the project has no release, if its domain is not complete, or if no values of its
    columns are to be learnt.
    """
    if document.problem(project.draft, "domain") is not None or not document.domain(project.draft).unknown:
        return None
    finished = open_runs.finished(project.owner, project.id)
    return open_runs.open_run(finished[0]).release.plan.domain if finished else None


def sweep_of(draft: Mapping[str, Any], name: str, released: Domain | None = None) -> Sweep:
    """Return the sweep that the form describes.

    Args:
        draft: The draft.
        name: Name of the plan.
        released: The domain of a release (`last_release`), or None. A column to be learnt takes the
            values of the released column of the same name and kind, and invented values without
            one.

    Raises:
        InputError: A choice is missing or not valid, or a rule does not go with the values.
        CapacityError: The sweep has more than 1,000 trials.
    """
    for field in ("rows", "epsilons"):
        if note(draft, field) is None:
            raise InputError(field, "what is typed there cannot be used", "correct it")
    table = chosen_table(draft)
    every = len(document.workload(draft).cliques)
    sizes = sorted({max(1, math.ceil(share * every)) for share in SHARES[note(draft, "sizes")]})
    mechanisms = [mechanism for mechanism in offered(draft) if mechanism in note(draft, "mechanisms")]
    base, epsilons, repeats = _base(draft, name, table), tuple(sorted(note(draft, "epsilons"))), int(note(draft, "repeats"))
    strengths = STRENGTHS if table == STANDIN and note(draft, "strength") == RANGE else ()
    domain = Domain.from_json(base.domain)
    completed, invented = values.in_place(domain, released) if domain.unknown else (None, ())
    known = None if completed is None else completed.to_json()
    return Sweep(base, table, tuple(mechanisms), epsilons, tuple(sizes), repeats, strengths, _swept(draft), known, invented)


def _base(draft: Mapping[str, Any], name: str, table: str) -> Spec:
    if table == PRIVATE:
        return document.spec(draft, name)
    stated = document.decided(draft)
    fields = {key: value for key, value in stated.items() if key not in ("wizard", "public", "data", "domain_origin", "output")}
    fields["population"] = str(fields.get("population", "")).strip() or "stand-in"
    if table == STANDIN:
        strength = note(draft, "strength")
        one = STRENGTHS[len(STRENGTHS) // 2] if strength == RANGE else strength
        fields["data"] = {"kind": STANDIN, "standin": {"rows": note(draft, "rows"), "strength": one}}
        if document.is_linked(draft):
            of = draft["members"]
            fields["members"] = {"kind": STANDIN, "domain": of["domain"], "rules": of.get("rules", [])}
    elif project_table.is_simulated(draft):
        fields["data"] = draft["data"]
    else:
        fields["data"] = {key: value for key, value in draft["public"].items() if key != "sha256"}
    return Spec.from_json({"version": 1, "name": name} | fields)


def read_values(text: str, parameter: Parameter) -> list[float]:
    """Return several values of a parameter, separated by spaces, semicolons or commas, ascending and each once.

    A text such as 0,5 is one number with a decimal comma.

    Args:
        text: What was typed.
        parameter: The parameter.

    Raises:
        InputError: The text is wrong or ambiguous (1,5 may be one number or two), a value is out of range, or there are not 1 to 8 values.
    """
    words = [part for word in text.replace(";", " ").replace(", ", " ").split() for part in _parted(word, "values of the setting")]
    found = sorted({float(read(parameter, word)) for word in words})
    if not 1 <= len(found) <= MAX_VALUES:
        raise InputError("values of the setting", f"{len(found)} are given", f"give 1 to {MAX_VALUES}")
    return found


def read_epsilons(text: str) -> list[float]:
    """Return several values of epsilon, separated by spaces, semicolons or commas, ascending and each once.

    A text such as 0,5 is one number with a decimal comma.

    Raises:
        InputError: The text is wrong, or ambiguous such as 1,5, which may be one number or two, or there are not 1 to 12 values.
    """
    words = [part for word in text.replace(";", " ").replace(", ", " ").split() for part in _parted(word, "values of ε")]
    epsilons = sorted({positive(word, "values of ε", "0.1 1 10") for word in words})
    if not 1 <= len(epsilons) <= MAX_EPSILONS:
        raise InputError("values of ε", f"{len(epsilons)} are given", f"give 1 to {MAX_EPSILONS}, such as 0.1 1 10")
    return epsilons


def _parted(word: str, field: str) -> list[str]:
    """Split a word without spaces at its commas. "0,5" is one number with a decimal comma.

    Args:
        word: The word.
        field: Name of the field, for errors.

    Raises:
        InputError: The word may be one number or two, such as "1,5".
    """
    if word.startswith("0,") or "," not in word:
        return [word]
    if word.count(",") == 1 and "." not in word:
        raise InputError(field, f"“{word[:40]}” may be one number or two", "separate values by spaces, such as 0.5 1.5")
    return [part for part in word.split(",") if part]


def read_rows(text: str) -> int:
    """Return the number of rows of a stand-in from a text, which may have commas or spaces between digits.

    Raises:
        InputError: The text is not a whole number, or the number is out of bounds.
    """
    digits = text.replace(",", "").replace(" ", "")
    if not digits.isascii() or not digits.isdigit():
        raise InputError("rows", "it is not a whole number", "write one such as 10000")
    standins.check(int(digits), STRENGTHS[0])
    return int(digits)


def _shown_epsilons(values: Sequence[float]) -> str:
    return "  ".join(f"{value:g}" for value in values)


SHOWN = "tradeoffs_sweep"
"""Session key of the sweep on screen."""

_STRENGTHS = {RANGE: "weak to strong", 0.0: "none", 0.25: "weak", 0.5: "medium", 0.75: "strong", 0.95: "extreme"}
_SIZES = {ALL: "all", PARTS: "a tenth, a quarter, half and all"}
_ABOUT = {
    STANDIN: "The rows are invented, with your columns, values and impossible combinations. Nothing is spent: errors are exact and public.",
    PUBLIC: "Nothing is spent: errors on a public table are exact and public.",
    PRIVATE: "Every trial is charged, and its true errors are for your eyes only. No trial can ever be released.",
}
OF_HOUSEHOLDS = "Of two linked tables, errors are shares of households, and both tables are tried together."
_SWEEP, _CHECKED = "sweep", "_tradeoffs_checked"
_AT_ONCE = 10_000
"""Sweeps with at most this many tables over all settings are planned at once."""


def form(project: Current) -> None:
    """Draw the form of a sweep and its start button; the choices are stored as notes in the draft.

    A click on the button starts the sweep (`submit`). For the private table a dialog first asks for a
    confirmation, because that sweep is charged.
    """
    zone = Zone.CURATOR if note(project.draft, "table") == PRIVATE else Zone.PUBLIC
    with frame.card("Try it out", zone, "Your plan runs with several mechanisms and budgets in the background."):
        _table(project)
        names = {name: literal(title) for name, title in titles(project.draft).items()}
        shown, take = [name for name in names if name in note(project.draft, "mechanisms")], partial(fields.store, f"{NOTES}.mechanisms")
        look = {"selection_mode": "multi", "format_func": lambda name: names.get(name, name), "wrap": True}
        about = "The cards on the page Mechanism describe each mechanism."
        fields.linked(f"{NOTES}.mechanisms", shown, take, st.pills, "Mechanisms", list(names), help=about, **look)
        _grid(project)
        _vary(project)
        _start(project)


def _table(project: Current) -> None:
    offered = tables(project.draft)
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
            usual = note(project.draft, "rows")
            help = "Take the number of people, if it is public. Fewer rows are faster, but noise weighs more."
            look = {"placeholder": f"{usual or ROWS:,}", "help": help}
            fields.number("Rows", f"{NOTES}.rows", lambda text: read_rows(text) if text.strip() else usual, "{:,}".format, **look)
        with strength:
            help = "Your table is not read. With “weak to strong”, the band around a curve shows how much depends on this."
            title, options = "How strongly are its columns related?", list(_STRENGTHS)
            fields.choice(title, f"{NOTES}.strength", options, _STRENGTHS, default=RANGE, help=help)
    st.caption(_ABOUT[table] + (f" {OF_HOUSEHOLDS}" if document.is_linked(project.draft) else ""))
    if table == PRIVATE:
        st.warning("A choice by true errors leaks facts about the people in the table. No ledger counts that.", icon=":material/warning:")


def _grid(project: Current) -> None:
    values, repeats, sizes = st.columns([5, 3, 5], gap="small")
    with values:

        def read(text: str) -> list[float]:
            return read_epsilons(text) if text.strip() else list(EPSILONS)

        help = "Separate values by spaces. Charts have logarithmic axes, where 0.1, 0.3, 1, 3 and 10 are evenly spaced."
        usual = _shown_epsilons(EPSILONS)
        fields.number("Values of ε", f"{NOTES}.epsilons", read, _shown_epsilons, placeholder=usual, help=help)
    with repeats:
        numbers, usual = {n: str(n) for n in sorted({1, 2, 3, 5, 10, MAX_REPEATS})}, note(project.draft, "repeats")
        help = "Noise differs from run to run. Bands show how much."
        fields.choice("Repeats", f"{NOTES}.repeats", list(numbers), numbers, default=usual, help=help)
    with sizes:
        help = "Trials with random parts of the workload show what it costs to ask for more."
        fields.choice("Tables asked for", f"{NOTES}.sizes", list(_SIZES), _SIZES, help=help)


def _vary(project: Current) -> None:
    """Draw the choice of a setting to vary, and its values."""
    offered = settings(project.draft)
    mechanisms = {name: registry.get(name).card.title for name in {setting.split(".", 1)[0] for setting in offered}}
    names = {"": "none"} | {key: f"{mechanisms[key.split('.', 1)[0]]}: {one.name.replace('_', ' ')}" for key, one in offered.items()}
    where, beside = st.columns([5, 8], gap="small")
    with where:
        help = "Each value is tried, so that you see what a setting does to error, time and memory."
        chosen = fields.choice("Setting to vary", f"{NOTES}.setting", list(names), names, help=help)
    if not chosen:
        return
    with beside:
        parameter = offered[chosen]
        usual = usual_values(parameter)

        def read(text: str) -> list[float]:
            return read_values(text, parameter) if text.strip() else usual

        help = f"{parameter.help} From {parameter.low:g} to {parameter.high:g}. Separate values by spaces."
        look = {"placeholder": _shown_epsilons(usual), "help": help}
        fields.number("Its values", f"{NOTES}.{_values_note(chosen)}", read, _shown_epsilons, **look)


def say_values(sweep: Sweep) -> None:
    """Draw a sentence on what stands in place of the values that the plan is to learn; nothing for a plan that learns none.

    Of more than six columns, it names six and counts the others.
    """
    if sweep.values is None:
        return
    learnt = [attribute.name for attribute in Domain.from_json(sweep.base.domain).unknown if attribute.name not in sweep.invented]
    words = [f"The values of {_named(learnt)} are those that a release of this project has learnt."] if learnt else []
    if sweep.invented:
        words.append(
            f"The values of {_named(sweep.invented)} are **invented**, about {values.INVENTED} a column, because the plan is to learn "
            "them. If it learns more values, errors are larger."
        )
    st.caption(f":material/edit_note: {' '.join(words)}")


def _named(names: Sequence[str]) -> str:
    """Return the first few names of columns in Markdown, and the number of the others."""
    first, more = names[:_MOST_NAMED], len(names) - _MOST_NAMED
    return ", ".join(f"“{literal(name, 40)}”" for name in first) + (f" and {more} more" if more > 0 else "")


@refusals.explained()
def _start(project: Current) -> None:
    sweep = sweep_of(project.draft, project.name, last_release(project))
    say_values(sweep)
    tables = len(sweep.workload.cliques) * len(sweep.variants) * len(sweep.epsilons) * len(sweep.sizes)
    if tables > _AT_ONCE and not _asked_for(sweep):
        return
    with st.spinner("Working out what the trials need …"):
        expected = _expected(sweep)
    for title, error in expected.refusals.items():
        why = f"{literal(title)}: {literal(error.problem)}; {literal(error.remedy)}."
        st.caption(f":orange[:material/block: {why}]")
    if expected.refusals:
        raise InputError("mechanisms", "not all of them can be tried", "leave out the ones named above")
    _offer(project, sweep, expected)
    frame.refused_at(_SWEEP)


def _asked_for(sweep: Sweep) -> bool:
    """Draw a button that a large sweep needs before its forecast, and return whether it was pressed.

    It must be pressed again when the trials change.
    """
    if st.session_state.get(_CHECKED) == _text(sweep):
        return True
    with st.container(horizontal=True, vertical_alignment="center"):
        pressed = st.button("How long will it take?", type="primary", icon=":material/schedule:", key="sweep_check")
        tables = f"{len(sweep.workload.cliques):,} tables"
        st.caption(f"This takes some seconds for {len(sweep.points):,} trials of {tables}. Then you can start.", width="content")
    if pressed:
        st.session_state[_CHECKED] = _text(sweep)
    return pressed


def _offer(project: Current, sweep: Sweep, expected: Expected) -> None:
    workers = sweeps.workers_at_once(expected.memory_mb)
    seconds = sum(expected.seconds[p.setting] for p in sweep.points)
    with st.container(horizontal=True, vertical_alignment="center"):
        private = sweep.table == PRIVATE
        label = f"Start {len(sweep.points):,} trials" + ("…" if private else "")
        known = [stored.id for stored in sweeps.list(project.owner, project.id)]
        action = {} if private else {"on_click": submit, "args": (project, sweep, known)}
        if st.button(label, type="primary", icon=":material/play_arrow:", key="sweep_start", **action) and private:
            _confirm(project, sweep, known)
        spent = f"charges ε {sweeps.cost(sweep)[0]:.3g}" if private else "spends nothing"
        each = f" · {workers} at a time" if workers > 1 else ""
        st.caption(f"About {duration(seconds / workers)}{each} · {spent} · it continues when you close this page", width="content")


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
    """Start a sweep and show it; a sweep on the private table is charged.

    The population of a sweep on the private table is opened in the ledger, with the draft's cap, if it is
    new. An error, such as a form that changed meanwhile, is stored, and shown when the page is next drawn;
    nothing is raised.

    Args:
        project: The open project.
        sweep: The sweep, which must still be what the form describes.
        seen: Ids of the sweeps on the page when the curator decided.
    """
    with refusals.attempted(_SWEEP):
        now = session.current()
        if _text(sweep_of(now.draft, now.name, last_release(now))) != _text(sweep):  # a field that was left by the very click
            raise InputError("trials", "they were just changed", "see what they need now, and start them")
        if sweep.table == PRIVATE:
            ledger.open_population(project.owner, sweep.base.population, document.cap(project.draft))
        st.session_state[SHOWN] = sweeps.submit(project.owner, project.id, sweep, seen)


def _text(sweep: Sweep) -> str:
    return json.dumps(sweep.to_json(), sort_keys=True)


@st.cache_data(max_entries=64, show_spinner=False, hash_funcs={Sweep: _text})
def _expected(sweep: Sweep) -> Expected:
    return trial.expected(sweep)
