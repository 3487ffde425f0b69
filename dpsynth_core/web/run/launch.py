"""Starting a run from the draft of the open project, and the changes of the plan since a run. Public facts only."""

from __future__ import annotations

from collections.abc import Collection, Sequence

import streamlit as st

from dpsynth_core.evaluation import side_by_side
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import public_check
from dpsynth_core.planning import learning_plan
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import BudgetSpec, MechanismSpec, OutputSpec, Spec
from dpsynth_core.store import ledger, recorded_views, runs
from dpsynth_core.store.runs import Run
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.web.shell import document, plan_words
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal


def submit(project: Current, seen: Collection[str]) -> str:
    """Seal the draft of a project, queue its run, and return the run's id.

    If the ledger has no account of the population, one is opened with the draft's cap. The budget is
    reserved in the ledger.

    Args:
        project: The open project.
        seen: Ids of the runs on the page when the curator decided. If a run of the same plan was
            started since, its id is returned, and no second run is queued.

    Raises:
        InputError: The run is refused (also CapExceeded and CapacityError); then nothing is spent.
    """
    return _sealed(project, document.spec(project.draft, project.name, recorded_views.of(project.owner, project.id)), seen)


def submit_check(project: Current, epsilon: float, seen: Collection[str]) -> str:
    """Queue a run that only measures how well the public table, reweighted, fits the private one; return its id.

    If the ledger has no account of the population, one is opened with the draft's cap. The epsilon is reserved.

    Args:
        project: The open project, whose plan is complete.
        epsilon: Epsilon of this run, charged on top of the plan's; its delta is the plan's.
        seen: Ids of the runs on the page when the curator decided. If a run of the same plan was
            started since, its id is returned, and no second run is queued.

    Raises:
        InputError: The run is refused; then nothing is spent.
    """
    spec = document.spec(project.draft, project.name, recorded_views.of(project.owner, project.id))
    budget = BudgetSpec(epsilon=epsilon, delta=spec.budget.delta)
    changes = {"mechanism": MechanismSpec(name=public_check.MECHANISM), "budget": budget, "output": OutputSpec()}
    return _sealed(project, spec.model_copy(update={"name": f"{spec.name[:180]}: check", **changes}), seen)


def submit_learning(project: Current, columns: Sequence[Attribute], epsilon: float, seen: Collection[str]) -> str:
    """Queue a run that only learns the values of columns, charged by itself, and return its id.

    If the ledger has no account of the population, one is opened with the draft's cap. The epsilon is reserved.

    Args:
        project: The open project, whose plan is complete up to the table and its people.
        columns: The columns to learn.
        epsilon: Epsilon of this run, charged on top of the plan's.
        seen: Ids of the runs on the page when the curator decided. If a run of the same plan was
            started since, its id is returned, and no second run is queued.

    Raises:
        InputError: The run is refused; then nothing is spent.
    """
    return _sealed(project, learning_spec(project, columns, epsilon), seen)


def learning_spec(project: Current, columns: Sequence[Attribute], epsilon: float) -> Spec:
    """Return the spec of the run that `submit_learning` queues; nothing is stored or charged.

    Args:
        project: The open project, whose plan is complete up to the table and its people.
        columns: The columns to learn.
        epsilon: Epsilon of the run.

    Raises:
        InputError: The step Data is not complete, or the columns or epsilon cannot be used.
    """
    if (error := document.problem(project.draft, "data")) is not None:
        raise error
    looks = recorded_views.of(project.owner, project.id)
    stated = {key: part for key, part in project.draft.items() if key != "wizard"} | {"looks": looks}
    return learning_plan.learning_spec(stated, project.name, columns, epsilon)


def _sealed(project: Current, spec: Spec, seen: Collection[str]) -> str:
    Plan.stated(spec)
    ledger.open_population(project.owner, spec.population, document.cap(project.draft))
    return runs.submit(project.owner, project.id, spec, seen)


def since(run: Run, draft: Draft) -> tuple[str, ...]:
    """Return the differences between a run's plan and the draft, each as "name: run's value → draft's value".

    Domain and workload are only named. Names of the plans and recorded looks are not compared. The result is () if
    all else is the same.

    Raises:
        InputError: The draft's plan is not complete.
    """
    plans = {"before": run.spec.published(), "now": document.spec(draft, run.spec.name).published()}
    chosen = {name: {part: one for part, one in plan.items() if part not in ("looks", "name")} for name, plan in plans.items()}
    told, table = [], side_by_side.differences(chosen)
    for setting, before, now in zip(table["setting"], table["before"], table["now"], strict=True):
        name = plan_words.named(setting)
        values = f"{plan_words.valued(setting, before)} → {plan_words.valued(setting, now)}"
        told.append(name if setting.endswith("domain") or setting == "workload" else f"{name}: {values}")
    return tuple(told)


def banner(project: Current, run: Run) -> bool:
    """Draw how the draft's plan differs from a run's plan, and return whether it does.

    Each difference is shortened to 150 characters. A draft that is not complete counts as different.
    """
    try:
        differences = since(run, project.draft)
    except InputError as error:
        words = f"Your plan has changed since this run, and is not complete yet: {literal(error.problem)}; {literal(error.remedy)}."
        st.warning(words, icon=":material/edit_note:")
        return True
    if differences:
        words = "; ".join(literal(difference, 150) for difference in differences)
        st.warning(f"**Your plan has changed since this run.** These differ now: {words}.", icon=":material/edit_note:")
    return bool(differences)
