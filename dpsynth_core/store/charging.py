"""Charges for releases made in this process without a project or a worker, as the command line makes them, here or in an office's ledger.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from dpsynth_core.foundation.errors import ChargedError, InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.accountant import Accountant
from dpsynth_core.store import balance, chain, demands, fingerprints, jobs, ledger, sealed_fingerprints, verified_books
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import OFFICE, InDoubt, StoreFault
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.population_names import mixed_scripts

if TYPE_CHECKING:
    from dpsynth_core.planning.spec import Spec
    from dpsynth_core.store.remote_ledger import Office


def office() -> Office | None:
    """Return the office whose ledger is charged (`DPSYNTH_LEDGER`), or None for the ledger here.

    Raises:
        InputError: The address is not encrypted, or the token is missing.
    """
    if not os.environ.get(OFFICE):
        return None
    from dpsynth_core.store import remote_ledger  # loaded where an office is named alone

    return remote_ledger.configured()


def check_rules(spec: Spec) -> None:
    """Check that a plan breaks no rule of the house; without rules in the ledger every plan is allowed.

    Raises:
        InputError: It breaks a rule; the first one is named.
        StoreFault: The rules' file is missing, or not the one that the ledger names.
    """
    with reading() as db:
        ruled = demands.newest_rules(verified_books.unverified(db))
    if ruled:
        from dpsynth_core.store import rules  # loaded where there are rules alone

        rules.check(spec)


def charge_of(plan: Plan, run: str, fingerprint: str) -> ledger.Charge:
    """Return the charge of a run of `plan`; nothing is written.

    Args:
        plan: The plan.
        run: Id of the run.
        fingerprint: Fingerprint of its tables (`fingerprints.of_spec`).
    """
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


@contextmanager
def _costing_nothing() -> Iterator[None]:
    """Add to each StoreFault of the body that nothing was read or charged; InDoubt passes unchanged."""
    try:
        yield
    except InDoubt:
        raise
    except StoreFault as error:
        raise StoreFault(error.field, error.problem, f"{error.remedy}; nothing was read and nothing charged") from error


@_costing_nothing()
def charged_before(plan: Plan) -> list[str]:
    """Return the ids of the runs that were charged for this plan and these tables and began to read them, latest first.

    Raises:
        StoreFault: The ledger cannot be used.
        InputError: A table cannot be read.
    """
    verified_books.read()
    with reading() as db:
        entries = chain.entries_in(db, "NOT INDEXED WHERE spec = ?", plan.spec.digest())
    touched = {entry.run for entry in entries if entry.kind == "touch"}
    runs = [entry for entry in entries if entry.kind == "reserve" and entry.run in touched]
    ours = sealed_fingerprints.seals(fingerprints.of_spec(plan.spec), [entry.run for entry in runs]) if runs else []
    return [entry.run for entry, seal in zip(runs, ours, strict=True) if sealed_fingerprints.are_same(entry.fingerprint, seal)][::-1]


def charged(
    plan: Plan, execute: Callable[[str, Callable[[], None]], None], warn: Callable[[str], None], warn_privately: Callable[[str], None]
) -> None:
    """Reserve the plan's budget and call `execute`.

    The ledger of an office is charged if one is configured, else the ledger here. A population that is not open is opened
    with the default cap. If the run ends before it reads a record, the reservation is given back. With the ledger here,
    the run is a job, as in the app (`jobs`): if this process is killed, the next process that reconciles jobs gives the
    reservation back. If `execute` raises after it read a record, the run can continue or be recovered.

    Args:
        plan: The plan; its population is charged.
        execute: Called with the run's id in the ledger and a function to call right before the
            first record is read. The run is over when `execute` returns, with the release complete. What it raises
            is raised here.
        warn: Called with a sentence if a population is opened whose name mixes scripts, and if the clock is behind
            the ledger here; an office's ledger is not compared with the clock.
        warn_privately: Called with a sentence if the same file was charged to another population in the ledger here,
            which depends on every record. Simulated tables, and an office's ledger, are not looked at.

    Raises:
        InputError: The plan breaks a rule of the house, a table cannot be read, or the office refuses; nothing is
            reserved.
        CapExceeded: The cap leaves too little; nothing is reserved.
        UnitDiffers: The population has another unit of privacy; nothing is reserved.
        StoreFault: The ledger cannot be used; nothing is reserved. But if an office's server does not answer, the
            reservation may stand.
        ChargedError: The reservation could not be given back, or (InDoubt) a database server was lost while it was written.
    """
    run, spec = new_id(), plan.spec
    if (doubt := mixed_scripts(spec.population)) and left(spec.population, plan.shares.accountant) is None:
        warn(doubt)
    if (elsewhere := office()) is not None:
        elsewhere.reserve(charge_of(plan, run, fingerprints.of_spec(spec)))
        _carry_out(run, execute, elsewhere.touch, elsewhere.give_back)
        return
    job = jobs.Job(run, LOCAL_OWNER, None, jobs.COMMAND, spec.model_dump_json(), spec.digest(), spec.population, plan.shares.rho)
    with _costing_nothing():
        check_rules(spec)
        charge = charge_of(plan, run, fingerprints.of_spec(spec))
        for name in () if spec.data.simulated else balance.same_file_elsewhere(charge.fingerprint, spec.population):
            warn_privately(f"the same table was charged to the population {name!r}: these are the same people, and their losses add up")
        if problem := balance.clock_problem():
            warn(problem)
        with transaction() as db:
            jobs.reconcile(db)
            jobs.submit(db, job, charge)
            jobs.work_here(db, run)
    with jobs.beating(run, on_loss=lambda: None):
        _carry_out(run, execute, jobs.touch, _give_back)
    with suppress(StoreFault):  # the release is complete; the next one that looks finds a job without a process
        jobs.remove(run)


def citation(run: str, plan: str) -> dict[str, Any]:
    """Return a release's reference to the ledger that was charged for it, as JSON.

    It has the charge's entry with its hash, the unit of privacy and the cap of the population, and
    more (`balance.citation`). The ledger is the office's if one is configured, else the local one.

    Args:
        run: Id of the run in the ledger.
        plan: Digest of the plan.

    Raises:
        PlanDiffers: The run was charged for another plan.
        StoreFault: The ledger does not know the run or cannot be asked.
        InputError: The settings of the office are invalid.
    """
    if (elsewhere := office()) is not None:
        return elsewhere.cite(run, plan)
    ledger.check_plan(run, plan)
    return balance.citation(run)


def left(population: str, following: Accountant) -> balance.Left | None:
    """Return what is left of a population's cap, in the ledger here or at the office; None if the population is not open.

    Args:
        population: Name of the population.
        following: Accountant of the release that would come next.

    Raises:
        StoreFault: The ledger cannot be used.
        InputError: The office refuses, or its settings are invalid.
    """
    elsewhere = office()
    return balance.left(population, following) if elsewhere is None else elsewhere.left(population, following)


def _carry_out(
    run: str, execute: Callable[[str, Callable[[], None]], None], touch: Callable[[str], None], give_back: Callable[[str], None]
) -> None:
    """Execute a run whose budget is reserved, and give the budget back if the run ends before it reads a record.

    Args:
        run: Id of the run.
        execute: Called with the id and a function to call right before the first record is read.
        touch: Makes the charge final; called with the id.
        give_back: Returns the reservation; called with the id.

    Raises:
        ChargedError: The budget could not be given back.
    """
    touched = False

    def touching() -> None:
        nonlocal touched
        touch(run)
        touched = True

    try:
        execute(run, touching)
    except BaseException as reason:
        if not touched:
            try:
                give_back(run)
            except InputError as error:
                cause = reason if isinstance(reason, InputError) else error
                problem = f"{cause.problem}, and the reserved budget could not be given back"
                raise ChargedError(cause.field, problem, cause.remedy) from error
        raise


def _give_back(run: str) -> None:
    """End a command's job before it touched private data, which returns its reservation."""
    with suppress(jobs.NotMine):
        jobs.give(run, 0, "failed")
    jobs.remove(run)
