"""The check of a public table on the Mechanism page: a small run of its own, before more is spent on a mechanism that needs the table."""

from __future__ import annotations

from collections.abc import Collection
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import public_check
from dpsynth_core.store import runs
from dpsynth_core.web.run import launch
from dpsynth_core.web.shell import fields, frame, numbers, refusals
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal

EPSILON = "wizard.check_epsilon"
DEFAULT = 0.05
HELP = (
    "PMW^Pub can only give other weights to rows that the public table holds. This measures, with noise, how well the best weights could "
    "do. It is charged to the ledger as a run of its own: a check inside a run comes too late to save its budget."
)
_CHECK = "check"


def card(project: Current) -> None:
    """The result of the last check, and a form to make one. The draft's plan is complete and names a public table."""
    with frame.card("Can the public table stand in for yours?", Zone.RELEASED, HELP):
        if reading := _last(project):
            box = st.warning if reading["poor"] or reading["error"] is None else st.success
            box(literal(reading["sentence"]), icon=":material/balance:")
        if fields.value(EPSILON) is None and EPSILON not in project.draft["wizard"].get("typed", {}):
            fields.store(EPSILON, DEFAULT)
        left, right = st.columns([1, 2], vertical_alignment="bottom")
        with left:
            read = partial(numbers.positive, field="epsilon of the check", example="0.05")
            epsilon = fields.number("ε of the check", EPSILON, read, numbers.short)
        if right.button("Check it first…", icon=":material/balance:", disabled=epsilon is None):
            _confirm(project, epsilon, [run.id for run in runs.list(project.owner, project.id)])
        if (error := refusals.taken(_CHECK)) is not None:
            frame.refused(error)
            st.caption("The check was not started and nothing was spent.")


def _last(project: Current) -> dict[str, Any] | None:
    """The reading of the project's newest check with the present public table."""
    for run in runs.list(project.owner, project.id):
        same = run.spec.public is not None and run.spec.public.sha256 == project.draft["public"]["sha256"]
        if run.state == "done" and was_check(run) and same:
            return dict(runs.release(project.owner, run.id).details["best_mixture"])
    return None


def was_check(run: runs.Run) -> bool:
    """Whether a run only checked the public table, so that the plan is still to be decided on."""
    return run.spec.mechanism.name == public_check.MECHANISM


@refusals.dialog("Spend this on a check?", width="medium")
def _confirm(project: Current, epsilon: float, seen: Collection[str]) -> None:
    st.markdown(
        f"The check spends ε {numbers.short(epsilon)} of the population {code(project.draft['population'])}. From the moment it opens the "
        "records, the charge is final. It makes no rows; its result is shown here and may be published."
    )
    label = f"Spend ε {numbers.short(epsilon)} and check"
    submit = partial(refusals.attempt, _CHECK, partial(launch.submit_check, project, epsilon, seen))
    if st.button(label, type="primary", icon=":material/play_arrow:", width="stretch", on_click=submit):
        st.rerun()
