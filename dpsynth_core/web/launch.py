"""From the draft of the open project to a run."""

from __future__ import annotations

from dpsynth_core.store import ledger, runs
from dpsynth_core.web import document
from dpsynth_core.web.session import Current


def submit(here: Current) -> str:
    """Seal the draft and queue a run of it; the run's id. Opens the population with the cap chosen for it if the ledger does not know it.

    Raises InputError (also CapExceeded, CapacityError); then nothing is spent.
    """
    spec = document.spec(here.draft, here.name)
    spec.resolved()
    if spec.population not in ledger.populations(here.owner):
        ledger.open_population(here.owner, spec.population, document.cap(here.draft))
    return runs.submit(here.owner, here.project, spec)
