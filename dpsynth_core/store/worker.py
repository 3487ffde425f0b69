"""The process that carries out a job: ``python -m dpsynth_core.store.worker JOB``. `dispatch.pump` starts it, alone in its session.

Its results go into the store at once, so that killing it at any point loses nothing that was paid for. It prints nothing: errors cross as
our own messages, or as the type and place of an exception, because an exception's text may quote a record.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import sys
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from dpsynth_core.foundation import allocation, confinement, extension, interrupts
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.interrupts import Interrupted
from dpsynth_core.foundation.private_files import private_directory, sync
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning import machine
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import making, recovery, spool, synthesis, times
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.spool import Spool
from dpsynth_core.release.times import Times
from dpsynth_core.store import balance, dispatch, faults, fingerprints, jobs, ledger, rules, spools
from dpsynth_core.store.connection import Row
from dpsynth_core.store.faults import explained
from dpsynth_core.store.folders import run_folder

NICENESS, NICENESS_SHARED = 5, 10
"""Process priorities: below the pages, and shared jobs below runs."""
_TRIED = "rows.tried"
"""Name of the file in a run's folder that exists once its rows were made, or tried, from stored answers."""


def main(job: str) -> None:
    """Claim the job with this id, carry out its waiting points, and start the next job."""
    interrupts.handle()
    interrupts.defer()
    allocation.keep_freed_memory()
    confinement.end_first()
    confinement.limit_data(machine.LEAST_MB)
    with contextlib.suppress(jobs.NotMine, Interrupted):
        row = dispatch.claim(job)
        niceness = NICENESS_SHARED if jobs.is_shared(row["kind"]) else NICENESS
        os.nice(max(0, niceness - os.nice(0)))  # another worker may have started this one
        work(row)
    dispatch.pump()


def work(row: Row) -> None:
    """Carry out a job that this process has claimed.

    Args:
        row: The job's row of the database.

    Raises:
        NotMine: The job was stopped meanwhile.
        Interrupted: A signal ended a shared job; its points are judged once this process is gone.
    """
    job = row["id"]
    with jobs.beating(job):
        if jobs.is_shared(row["kind"]):
            _work_on_points(row)
        elif (number := dispatch.take(job)) is not None:
            try:
                _try(job, number, partial(_make_release, row))
            except Interrupted:
                jobs.give(job, number, "cancelled")
    dispatch.leave(job)


def _work_on_points(row: Row) -> None:
    """Carry out the waiting points of a job that an extension added (`extension.Work`).

    If the extension refuses the job, no point is carried out.
    """
    job = row["id"]
    try:
        kind = extension.jobs().get(row["kind"])
        if kind is None:
            raise InputError("job", "this program lacks the extension that carries it out", "use one that has it, or delete the job")
        carry_out = extension.load(kind.begin)(row, _limit)
    except InputError as error:  # so would every point end, one after the other
        dispatch.refuse(job, str(error))
        return
    while (number := dispatch.take(job)) is not None:
        _try(job, number, partial(carry_out, number))


def _try(job: str, number: int, attempt: Callable[[], Mapping[str, Any] | None]) -> None:
    """Carry out a point of a job and store its outcome, or why it failed.

    Args:
        job: Id of the job.
        number: Number of the point.
        attempt: Does the work; returns an outcome to store as JSON, or None.
    """
    try:
        outcome = attempt()
    except InputError as error:
        failed = str(error)
    except jobs.NotMine:
        raise
    except MemoryError:
        failed = (
            "It needed more memory than a run may take here: twice what was forecast, and 2 GB. Other runs and the pages were not harmed. "
            "Ask for fewer or smaller tables, or for fewer rows."
        )
    except Exception as error:  # noqa: BLE001 (a run ends with a state, also after a mistake of ours)
        failed = str(cause_of(error) or f"It stopped on an internal error: {faults.describe(error)}.")
    else:
        jobs.give(job, number, "done", outcome=outcome)
        return
    jobs.give(job, number, "failed", failed)  # here, where what the attempt held is given back


def _limit(plan: Plan) -> None:
    """Limit this process's memory and processor time, so that a run that takes far more than forecast ends without harm to others."""
    confinement.limit_data(machine.most_mb(plan))
    confinement.limit_seconds(machine.most_seconds(plan))


def _changed(job: str, spec: Spec) -> bool:
    """Return whether the private table differs from the one that the job was charged for."""
    return not ledger.is_charged_for(job, fingerprints.of_spec(spec))


def _make_release(row: Row) -> None:
    """Make the release of a run and store it.

    If the run already began to read records, its release is made of the answers that it stored.
    """
    run, folder = row["id"], run_folder(row["project"], row["id"])
    spec = Spec.from_json(json.loads(row["document"]))

    def keep(made: Release, taken: Zoned[Times] | None) -> None:
        with explained():
            _keep(made.charged(balance.citation(run)), taken, folder)

    if row["touched"]:
        keep(_recovered(run, spec, folder / _TRIED), None)
        with contextlib.suppress(OSError):  # the release is there
            spools.spool_file(run).unlink()
    else:
        _fresh(run, spec, keep)


def _fresh(run: str, spec: Spec, keep: making.HandOver) -> None:
    """Make the release of a run that has not read a record yet.

    Args:
        run: Id of the run.
        spec: Its sealed spec.
        keep: Called with the release and how long it took.

    Raises:
        InputError: The table changed after the run was submitted, or cannot be read to its end.
    """
    _record(run, Progress("phase", message="checking the plan"))
    plan = synthesis.plan(spec)
    ledger.check_plan(run, spec.digest())
    _record(run, Progress("phase", message="looking whether the table is the one that was charged, and can be read to its end"))
    if _changed(run, spec):
        raise InputError("data", "the file changed after the run was submitted", "submit it again")
    _limit(plan)
    synthesis.survey(plan)  # what cannot be read to its end is refused while that costs nothing

    def spool_for(private: bool) -> Spool:
        with explained():
            return Spool(spools.spool_file(run), run, plan, private)

    def begin() -> None:
        """Make the charge final, after checking the house rules, which may have changed since the run was submitted."""
        _record(run, Progress("phase", message="opening the records"))
        rules.check(plan.spec)  # which may be others than when it was submitted
        jobs.touch(run)  # nothing above keeps or counts a record, everything below may

    making.make(plan, spool_for, begin, partial(_record, run), keep)


def _recovered(run: str, spec: Spec, tried: Path) -> Release:
    """Return the release of an interrupted run: with rows if its answers suffice, otherwise its noisy tables alone.

    Rows are tried once. If that ends badly, for example because the model does not fit into memory,
    the next attempt makes the noisy tables.

    Args:
        run: Id of the run.
        spec: Its sealed spec.
        tried: A file that exists once rows were tried.
    """
    _limit(Plan.of(spec))
    kept = spool.read(spools.spool_file(run))
    ledger.check_plan(run, kept.spec.digest())
    answers = tried.exists() or not recovery.suffices(kept)
    if not answers:
        with explained():
            private_directory(tried.parent)
            tried.touch(0o600)
    return recovery.recover(kept, partial(_record, run), answers)


def _record(run: str, progress: Progress) -> None:
    """Store a step of the run as it happens.

    Raises:
        Interrupted: The run is being stopped.
    """
    interrupts.check()
    if dispatch.record(run, progress.to_json()):
        raise Interrupted


def _keep(release: Release, taken: Zoned[Times] | None, folder: Path) -> None:
    """Write the release to a folder of its own, and rename this once it is complete.

    Args:
        release: The release.
        taken: Durations of the run, for this machine only.
        folder: Folder of the job.
    """
    aside = folder / f"{jobs.RESULT}.partial"
    shutil.rmtree(aside, ignore_errors=True)  # of a worker that died here
    private_directory(aside)
    try:
        releases.save(release, aside)
        times.write(taken, aside)
        aside.rename(folder / jobs.RESULT)
        sync(folder)  # before the job is called done, and its spool deleted
    except OSError:
        shutil.rmtree(aside, ignore_errors=True)  # a full disk gets back what it gave
        raise


if __name__ == "__main__":
    main(sys.argv[1])
