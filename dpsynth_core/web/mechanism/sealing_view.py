"""The Mechanism page while nothing runs: what the plan can do and what it leaks, the choice of the mechanism, and the seal.

Before more is spent on a mechanism that needs a public table, a small run of its own can check this table.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import partial
from typing import Literal

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import public_check, registry
from dpsynth_core.mechanisms.mechanism import Forecast
from dpsynth_core.planning import expected_verdict, feasibility, leaks
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import DataSpec
from dpsynth_core.sources.locations import located
from dpsynth_core.store import balance, fingerprints, recorded_views, runs
from dpsynth_core.store.balance import Spent
from dpsynth_core.store.fingerprints import PrivateTable
from dpsynth_core.web.mechanism import choice_view, outlook_view, plan_view
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell import additions, document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.numbers import short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal

EPSILON = "wizard.check_epsilon"
DEFAULT = 0.05
HELP = (
    "PMW^Pub only gives other weights to rows of the public table. The check measures, with noise, how well the best weights do. The "
    "ledger charges it as a run of its own: a check inside a run comes too late to save its budget."
)
_CHECK, _RUN = "check", "run"


def _check_card(project: Current) -> None:
    """Draw the result of the last check of the public table, and a form to run another check.

    The draft's plan must be complete and name a public table.
    """
    with frame.card("Can the public table stand in for yours?", Zone.RELEASED, HELP):
        digest = project.draft["public"]["sha256"]
        done = (run for run in runs.list(project.owner, project.id) if run.state == "done" and was_check(run))
        newest = next((run for run in done if run.spec.public is not None and run.spec.public.sha256 == digest), None)
        if newest is not None:
            reading = runs.release(project.owner, newest.id).details["best_mixture"]
            box = st.warning if reading["poor"] or reading["error"] is None else st.success
            box(literal(reading["sentence"]), icon=":material/balance:")
        if fields.value(EPSILON) is None and EPSILON not in project.draft["wizard"].get("typed", {}):
            fields.store(EPSILON, DEFAULT)
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        with left:
            read = partial(numbers.positive, field="epsilon of the check", example="0.05")
            epsilon = fields.number("ε of the check", EPSILON, read, numbers.short)
        if right.button("Check it first…", icon=":material/balance:", disabled=epsilon is None):
            _confirm_check(project, epsilon, [run.id for run in runs.list(project.owner, project.id)])
        say_if_refused(_CHECK)


def was_check(run: runs.Run) -> bool:
    """Return whether a run only checked the public table; then the plan itself has not run."""
    return run.spec.mechanism.name == public_check.MECHANISM


@refusals.dialog("Spend this on a check?", width="medium")
def _confirm_check(project: Current, epsilon: float, seen: Collection[str]) -> None:
    st.markdown(
        f"The check spends ε {numbers.short(epsilon)} of the population {code(project.draft['population'])}. From the moment it opens the "
        "records, the charge is final. It makes no rows; its result is shown here and may be published."
    )
    label = f"Spend ε {numbers.short(epsilon)} and check"
    submit = partial(refusals.attempt, _CHECK, partial(launch.submit_check, project, epsilon, seen))
    if st.button(label, type="primary", icon=":material/play_arrow:", width="stretch", on_click=submit):
        st.rerun()


def planning(project: Current) -> None:
    """Draw the draft's plan: outlook, mechanism, disclosures, noise, parameters and the run button.

    The run button opens a dialog, which seals the plan and starts its run. A chosen table is read (a file once,
    then cached) to find out whether a release of the same table was charged to another population. If the plan is not
    complete, its error and the parameters are drawn instead. If the draft follows the recommendation and the
    recommendation has changed, the mechanism in the draft is replaced first.

    Raises:
        BooksLost: The ledger is not whole.
    """
    mechanism = registry.get(project.draft["mechanism"]["name"])
    try:
        unseen = () if "data" in project.draft else None  # of no table there is nothing to look at yet
        seen = recorded_views.of(project.owner, project.id) or unseen
        plan = document.plan(project.draft, project.name, seen)
    except InputError as error:
        frame.refused(error)
        if error.field == "models":  # another mechanism would mend it
            choice_view.card(project, choice_view.forecasts(project.draft))
        plan_view.parameters(mechanism)
        return
    forecasts: Mapping[str, Forecast | InputError]
    if plan.link is not None:
        mechanism, forecasts = plan.mechanism, {plan.mechanism.card.name: plan.forecast}
    elif choice_view.follow(project, forecasts := choice_view.forecasts(project.draft)):
        planning(session.current())
        return
    outlook_view.light(project)
    outlook_view.before(project, plan)
    spec, shares = plan.spec, plan.shares
    account = balance.spent(spec.population, shares.accountant, document.cap(project.draft))
    if plan.link is None:
        choice_view.card(project, forecasts)
    else:
        choice_view.only(plan, document.people(project.draft))
    private = fingerprints.private_tables(spec)
    elsewhere = sorted({name for table in private for name in _charged_before(table.data, table.columns, spec.population)})
    was_private = _charged_before(DataSpec(path=spec.public.path)) if spec.public else ()
    plan_view.leaks(leaks.find(spec, account.releases, elsewhere, was_private, plan.condition))
    once = expected_verdict.once(plan.workload, (mechanism.card.name,))
    people = document.people(project.draft)
    assessed = feasibility.assess(plan.asked, shares.mechanism, plan.counted, people, once=once)
    plan_view.noise(assessed, plan.who)
    plan_view.parameters(mechanism, plan.domain.names)
    if spec.public is not None and public_check.MECHANISM in registry.MECHANISMS:
        _check_card(project)
    additions.draw("plan", (project, plan))
    _seal(project, plan, account, fits=isinstance(forecast := forecasts[mechanism.card.name], Forecast) and forecast.fits)


def _charged_before(data: DataSpec, columns: tuple[str, ...] | None = None, but: str = "") -> tuple[str, ...]:
    """Return the populations, except `but`, to which a release of the same table was charged.

    Another account for the same people would hide how their losses add up. Simulated people give
    (), because any population may use them.

    Args:
        data: The table.
        columns: The columns of a private table that the plan names; the table is recognised with
            its records in any order. None for a public table, which is recognised by its file.
        but: The population to leave out.
    """
    if data.simulated:
        return ()
    try:
        stat = located(data.path).stat() if data.is_file else None
        mark = _kept_fingerprint(data.model_dump_json(), columns, (stat.st_size, stat.st_mtime)) if stat else _fingerprint(data, columns)
    except (OSError, InputError):
        return ()  # the file is gone: submitting will say so
    return balance.same_file_elsewhere(mark, but)


@st.cache_data(max_entries=32, show_spinner=False)
def _kept_fingerprint(data_text: str, columns: tuple[str, ...] | None, version: tuple[int, float]) -> str:
    """Return the fingerprint of a file, cached.

    `version`, its size and modification time, is part of the cache key, so that a changed file is
    read again.
    """
    del version
    return _fingerprint(DataSpec.model_validate_json(data_text), columns)


def _fingerprint(data: DataSpec, columns: tuple[str, ...] | None) -> str:
    return fingerprints.of_data(data) if columns is None else fingerprints.of_table(PrivateTable(data, columns))


def _seal(project: Current, plan: Plan, account: Spent, *, fits: bool) -> None:
    if "data" not in project.draft:
        with frame.card("Lock and run", Zone.RELEASED):
            st.info("The plan is complete. Choose the table: everything that you decided stays as it is.", icon=":material/upload_file:")
            frame.link("data", "Choose the table")
        return
    spec = plan.spec
    typed = document.wizard(project.draft).get("typed", {})
    unclear = next((path for path in typed if path.startswith(("output", "mechanism"))), None)
    affordable = plan.shares.rho <= account.remaining_rho
    with frame.card("Lock and run", Zone.RELEASED):
        st.markdown(
            f"The run spends **ε {short(spec.budget.epsilon)}** (δ {short(spec.budget.delta)}) of {code(spec.population)};"
            f" **ε {account.remaining_epsilon:.3g}** of ε {short(account.cap_epsilon)} are left."
        )
        if not affordable:
            why = "The limit does not allow this run. Lower ε, or raise the limit on the Ledger page and give a reason there."
            st.error(why, icon=":material/block:")
        although = _foreseen(project, plan)
        kind: Literal["primary", "secondary"] = "secondary" if although else "primary"
        blocked = not (fits and affordable) or unclear is not None
        if st.button(f"Lock the plan and run it{although}…", type=kind, icon=":material/lock:", disabled=blocked):
            _confirm(project, plan, account, [run.id for run in runs.list(project.owner, project.id)])


def _foreseen(project: Current, plan: Plan) -> str:
    """Return a clause for the run button: "although …" if the result is not expected to be good enough.

    It is "" for other plans.
    """
    hope = outlook_view.outlook(project, plan)
    return f" although {hope.hope} should come out good enough" if hope is not None and hope.warning else ""


@refusals.dialog("Spend this budget?", width="medium")
def _confirm(project: Current, plan: Plan, account: Spent, seen: Collection[str]) -> None:
    spec, left = plan.spec, max(0.0, account.remaining_rho - plan.shares.rho)
    after = plan.shares.accountant.epsilon_from(left, account.cap_delta) if left > 0 else 0.0
    now, cost, rest = st.columns(3)
    now.metric("You have", f"ε {account.remaining_epsilon:.3g}")
    cost.metric("This run spends", f"ε {short(spec.budget.epsilon)}")
    rest.metric("You will have", f"ε {after:.3g}")
    st.caption(f"{numbers.more(balance.times_more(left, plan.shares.rho))} {numbers.SLOWLY}")
    st.markdown(
        f"Population {code(spec.population)} · {literal(plan.mechanism.card.title)} · δ {short(spec.budget.delta)}\n\n"
        f"The plan is locked: its seal `{spec.digest()[:16]}` shows that nobody changed it afterwards. Once the run"
        " opens the records, the charge is final, even if the run is cancelled or fails, or the machine goes down."
    )
    outlook_view.shown(project, plan)
    label = f"Spend ε {short(spec.budget.epsilon)}{_foreseen(project, plan) or ' and run'}"
    submit = partial(refusals.attempt, _RUN, partial(launch.submit, project, seen))
    if st.button(label, type="primary", icon=":material/play_arrow:", width="stretch", on_click=submit):
        st.rerun()


def say_if_refused(what: str = _RUN) -> None:
    """Draw the error of the last attempt to start a run, if it was refused, and forget it; otherwise draw nothing.

    Args:
        what: "run" for an attempt to run the plan, or "check" for one to check the public table.
    """
    if (error := refusals.taken(what)) is not None:
        frame.refused(error)
        st.caption(f"The {what} was not started and nothing was spent.")
