"""Charge the ledger for a release that is made in this process, without a project or a worker: what the command line does."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from dpsynth_core.foundation.errors import ChargedError, InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.store import balance, fingerprints, jobs, ledger
from dpsynth_core.store.database import transaction
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.home import LOCAL_OWNER

_FREE = "nothing was read and nothing charged"


def charge_of(plan: Plan, run: str, fingerprint: str) -> ledger.Charge:
    """What a run of `plan` costs its population."""
    spec, shares = plan.spec, plan.shares
    return ledger.Charge(
        population=spec.population,
        run=run,
        spec=spec.digest(),
        unit=spec.unit,
        rho=shares.rho,
        epsilon=spec.budget.epsilon,
        delta=spec.budget.delta,
        fingerprint=fingerprint,
        note=f"a release with {plan.mechanism.card.title}",
        own_delta=shares.delta,
        accountant=shares.accountant.name,
    )


def charged(
    plan: Plan, execute: Callable[[str, Callable[[], None]], None], warn: Callable[[str], None], warn_privately: Callable[[str], None]
) -> None:
    """Reserve the plan's budget and call `execute` with the run's name in the ledger and with what it has to call right before it reads
    the first record. It ends when the release is complete; if it raises after it has read something, the run can be recovered.

    It is a job like those of the app (`jobs`): if it ends before that, the reservation is given back, by the next one that looks if this
    process was killed. warn: is told that the clock is behind the ledger. warn_privately: that the same file was charged to
    another population, which depends on every record.
    Raises CapExceeded, UnitDiffers or StoreFault and reserves nothing if the books do not allow it, and ChargedError where the
    reservation could not be given back.
    """
    run, spec = new_id(), plan.spec
    job = jobs.Job(run, LOCAL_OWNER, None, jobs.COMMAND, spec.model_dump_json(), spec.digest(), spec.population, plan.shares.rho)
    try:
        charge = charge_of(plan, run, fingerprints.of_data(spec.data))
        for name in () if spec.data.simulated else balance.same_file_elsewhere(charge.fingerprint, spec.population):
            warn_privately(f"the same table was charged to the population {name!r}: these are the same people, and their losses add up")
        if problem := balance.clock_problem():
            warn(problem)
        with transaction() as db:
            jobs.reconcile(db)
            jobs.submit(db, job, charge)
            jobs.work_here(db, run)
    except StoreFault as error:
        raise StoreFault(error.field, error.problem, f"{error.remedy}; {_FREE}") from error
    touched = False

    def touch() -> None:
        nonlocal touched
        jobs.touch(run)
        touched = True

    with jobs.beating(run, on_loss=lambda: None):
        try:
            execute(run, touch)
        except BaseException as error:
            if not touched:
                _give_back(run, error)
            raise
    with suppress(StoreFault):  # the release is complete; the next one that looks finds a job without a process
        jobs.remove(run)


def _give_back(run: str, reason: BaseException) -> None:
    """End a run that had a reason to end before it read anything. Raises ChargedError where its reservation could not be given back."""
    try:
        with suppress(jobs.NotMine):
            jobs.give(run, 0, "failed")
        jobs.remove(run)
    except StoreFault as error:
        cause = reason if isinstance(reason, InputError) else error
        raise ChargedError(cause.field, f"{cause.problem}, and the reserved budget could not be given back", cause.remedy) from error
