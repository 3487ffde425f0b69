"""From the draft of the open project to a run."""

from __future__ import annotations

from collections.abc import Collection

from dpsynth_core.mechanisms import public_check
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import BudgetSpec, MechanismSpec, OutputSpec, Spec
from dpsynth_core.store import ledger, looks, runs
from dpsynth_core.web.shell import document
from dpsynth_core.web.shell.session import Current


def submit(project: Current, seen: Collection[str]) -> str:
    """Seal the draft and queue a run of it; the run's id. Opens the population with the cap chosen for it if the ledger does not know it.

    seen: the project's runs that were on the page when it was decided. The same plan started meanwhile is not started again.
    Raises InputError (also CapExceeded, CapacityError); then nothing is spent.
    """
    return _sealed(project, document.spec(project.draft, project.name, looks.of(project.owner, project.id)), seen)


def submit_check(project: Current, epsilon: float, seen: Collection[str]) -> str:
    """The same for a check of the public table alone, with an epsilon of its own; all of it goes to the check."""
    spec = document.spec(project.draft, project.name, looks.of(project.owner, project.id))
    budget = BudgetSpec(epsilon=epsilon, delta=spec.budget.delta)
    changes = {"mechanism": MechanismSpec(name=public_check.MECHANISM), "budget": budget, "output": OutputSpec()}
    return _sealed(project, spec.model_copy(update={"name": f"{spec.name[:180]}: check", **changes}), seen)


def _sealed(project: Current, spec: Spec, seen: Collection[str]) -> str:
    Plan.of(spec)
    ledger.open_population(project.owner, spec.population, document.cap(project.draft))
    return runs.submit(project.owner, project.id, spec, seen)
