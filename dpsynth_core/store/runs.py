"""Runs, for pages: submit, watch, cancel, delete, read the result. A run is a job of one point, whose release is kept (`jobs`).

Submitting reserves the budget in the same transaction that creates the run.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from pathlib import Path

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_directory
from dpsynth_core.foundation.reasons import MAX_REASON, check_reason, is_one_paragraph
from dpsynth_core.foundation.zones import Zoned
from dpsynth_core.planning import learning_plan, machine
from dpsynth_core.planning.plan import check_used
from dpsynth_core.planning.private_views import ordered
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import document as releases
from dpsynth_core.release import times
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.times import Times
from dpsynth_core.store import (
    approvals,
    audit_actions,
    charging,
    dispatch,
    fingerprints,
    jobs,
    projects,
    recorded_views,
    roles,
    rules,
    sharing,
    spools,
)
from dpsynth_core.store.connection import Row
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.faults import BooksLost
from dpsynth_core.store.folders import new_id, run_folder
from dpsynth_core.store.roles import Act
from dpsynth_core.store.tables import REACHED, owned

ACTIVE = ("queued", "running", "cancelling")
"""States that are not final."""


@dataclass(frozen=True)
class Run:
    """A run of a plan, as pages show it.

    Attributes:
        id: Identifier.
        owner: Id of the person who started it.
        project: Id of its project.
        sealed: The spec's whole document as JSON text, with the path of the table.
        digest: Digest of the plan.
        population: Name of the charged population.
        rho: Its cost, in the rho of the plan's accountant.
        state: queued, running, cancelling, done, failed, cancelled or lost.
        touched: Whether reading of records began, so that the charge is final.
        created: Time, UTC in ISO 8601, as all times here.
        started: Time or None.
        heartbeat: Time of the worker's last sign of life, or None.
        finished: Time or None.
        error: Message for people, or "".
    """

    id: str
    owner: str
    project: str
    sealed: str
    digest: str
    population: str
    rho: float
    state: str
    touched: bool
    created: str
    started: str | None
    heartbeat: str | None
    finished: str | None
    error: str

    @cached_property
    def spec(self) -> Spec:
        """The sealed spec.

        Raises:
            InputError: This version cannot read the document.
        """
        return Spec.from_json(json.loads(self.sealed))

    @property
    def active(self) -> bool:
        """True in a state that is not final, so that polling is worthwhile."""
        return self.state in ACTIVE

    @property
    def only_learns(self) -> bool:
        """True if the run only learns values of columns, before the release itself is planned.

        False for a document that this version cannot read.
        """
        return _only_learns(self.sealed)


@lru_cache(maxsize=256)  # pages ask this of every run at each drawing
def _only_learns(sealed: str) -> bool:
    try:
        return learning_plan.only_learns(Spec.from_json(json.loads(sealed)))
    except InputError:  # of another version
        return False


def submit(owner: str, project: str, spec: Spec, seen: Collection[str] | None = None) -> str:
    """Check the spec, reserve its budget, queue the run, and return its id, without waiting for the run.

    A population that is not open is opened with the default cap. A worker process is started if there is room for one.
    The looks that the project has taken are sealed with the spec.

    Args:
        owner: The person who submits.
        project: Id of the project.
        spec: The spec.
        seen: Ids of the project's runs that the curator knew of when deciding. If another run of
            the very same spec was started since, in a second tab or by a second click, its id is
            returned and nothing is charged again. None to charge in any case.

    Raises:
        InputError: The spec cannot be run; nothing is spent. CapExceeded, CapacityError and StoreFault are such
            errors.
    """
    from dpsynth_core.release import synthesis  # brings the mechanisms with it: only needed here, not to look at runs

    projects.check_reach(owner, project, spec)
    spec = spec.model_copy(update={"looks": ordered((*recorded_views.of(owner, project), *(spec.looks or ())))})
    rules.check(spec)
    plan = synthesis.plan(spec)
    check_used(spec)
    spools.check_room(plan)
    run = new_id()
    charge = charging.charge_of(plan, run, fingerprints.of_spec(spec))
    document, rho, needed = spec.model_dump_json(), plan.shares.rho, machine.needed_mb(plan)
    job = jobs.Job(run, owner, project, jobs.RELEASE, document, spec.digest(), spec.population, rho, memory_mb=needed)
    with transaction() as db:
        owned(db, "project", owner, project)
        if not set(recorded_views.taken(db, project)) <= set(spec.looks or ()):
            raise InputError("plan", "the table was looked at in another tab while it was sealed", "seal it again")
        if (other := dispatch.started_meanwhile(db, job, seen)) is not None:
            return other
        jobs.submit(db, job, charge)
        private_directory(run_folder(project, run))
    dispatch.pump()
    return run


def get(owner: str, run: str) -> Run:
    """Return a run.

    Raises:
        InputError: It does not exist in a project that the person owns or shares.
    """
    with reading() as db:
        return _run(owned(db, "run", owner, run))


def list(owner: str, project: str | None = None) -> tuple[Run, ...]:
    """Return the runs of a project that the person owns or shares, newest first; () without any.

    Args:
        owner: Id of the person.
        project: Id of the project; None for the runs of all such projects.
    """
    with reading() as db:
        among = f"project IN {REACHED} AND project = COALESCE(?, project)"
        rows = db.execute(f"SELECT * FROM runs WHERE {among} ORDER BY created DESC, id", (owner, owner, project))
        return tuple(_run(row) for row in rows)


def queue_position(owner: str, run: str) -> int:
    """Return how many queued runs, of all owners, start before this one; 0 if it is next or not queued.

    Raises:
        InputError: The run does not exist in a project that the person owns or shares.
    """
    with reading() as db:
        owned(db, "run", owner, run)
        waiting = [job["id"] for job in dispatch.queue(db) if job["kind"] == jobs.RELEASE]
        return waiting.index(run) if run in waiting else 0


def cancel(owner: str, run: str) -> None:
    """Ask a run to stop, and give its charge back if it never touched private data. Returns without waiting.

    A run that has ended stays unchanged. A worker that ignores the request is killed by a later `dispatch.pump`.

    Raises:
        InputError: The person has no such run.
    """
    get(owner, run)
    dispatch.ask_to_stop(run)
    dispatch.pump()


def delete(owner: str, run: str) -> None:
    """Delete a run that has ended, with its release and stored answers; its ledger entries stay.

    For a person who signed in, the deletion is noted in the ledger if that is whole.

    Raises:
        InputError: The person has no such run, it has not ended, or another person owns the project.
    """
    ended = get(owner, run)
    if ended.active:
        raise InputError("run", "it has not ended", "cancel it first")
    with transaction() as db, suppress(BooksLost):
        sharing.check_own(db, owner, ended.project)
        audit_actions.record(db, owner, audit_actions.DELETE, f"run {run}", population=ended.population, spec=ended.digest)
    jobs.remove(run)
    shutil.rmtree(run_folder(ended.project, run), ignore_errors=True)
    spools.spool_file(run).unlink(missing_ok=True)
    projects.forget_deleted()


def events(owner: str, run: str) -> tuple[Progress, ...]:
    """Return the events of the run so far, oldest first, for the display of progress; () before the first.

    Raises:
        InputError: The run does not exist in a project that the person owns or shares.
    """
    with reading() as db:
        owned(db, "run", owner, run)
        rows = db.execute("SELECT content FROM events WHERE job = ? ORDER BY number", (run,))
        return tuple(Progress.from_json(json.loads(row["content"])) for row in rows)


def can_keep(run: Run) -> bool:
    """Return whether the run ended early after it had stored answers, so that a release can be made of these (`keep`)."""
    return run.touched and run.state in ("cancelled", "failed", "lost") and spools.holds_answers(run.id)


def keep(owner: str, run: str) -> None:
    """Start to make a release of the answers that a run stored before it ended early. This costs nothing.

    It has rows if the answers suffice for them, otherwise noisy tables alone (`worker`). Returns without waiting.

    Raises:
        InputError: The run stored no answer, or has not ended, or the person may not run plans.
    """
    if not can_keep(get(owner, run)):
        raise InputError("run", "there is nothing to keep of it", "choose a run that ended after it had measured something")
    with transaction() as db:
        dispatch.resume(db, owner, run)
    dispatch.pump()


def release(owner: str, run: str) -> Release:
    """Return the release of a finished run; whether it may be viewed or taken away is not checked.

    Raises:
        InputError: The run has no release, or does not exist in a project that the person owns or shares.
    """
    return releases.load(_result(owner, run))


def to_look_at(owner: str, run: str) -> Release:
    """Return the release of a run, for viewing its rows.

    Raises:
        InputError: The run has no release, it needs an approval first, or the person may not view it.
    """
    made = release(owner, run)
    with reading() as db:
        roles.check(db, owner, Act.DOWNLOAD)
        approvals.check(db, run, approvals.RELEASE)
    return made


def to_take_away(owner: str, run: str) -> Release:
    """Return the release of a run, for a download, which `note_download` then records.

    Raises:
        InputError: The run has no release, it needs an approval or a reason first, or the person may not download it.
    """
    made = to_look_at(owner, run)
    if made.withheld:
        remedy = "write on the Results page why it is published all the same"
        raise InputError("release", "a condition that must be met is not, or was not measured", remedy)
    return made


def note_download(owner: str, run: str, what: str) -> None:
    """Record in the ledger that a person downloads a file of the release; nothing is recorded for the local user.

    Args:
        owner: The person.
        run: Id of the run.
        what: Kind of the file, such as "bundle".

    Raises:
        InputError: The run does not exist in a project that the person owns or shares.
        StoreFault: The ledger is not whole or cannot be written.
    """
    about = get(owner, run)
    with transaction() as db:
        audit_actions.record(db, owner, audit_actions.DOWNLOAD, f"{what} of run {run}", population=about.population, spec=about.digest)


def approve(owner: str, run: str, stage: str, reason: str) -> None:
    """Approve a run's plan or release (`approvals.approve`), as an entry of the ledger.

    Args:
        owner: The person who approves.
        run: Id of the run.
        stage: "plan" or "release".
        reason: The reason, which is kept in the ledger.

    Raises:
        InputError: No approval is awaited, the person had a part in the project or may not approve, the reason has fewer
            than three different words, or the release needs a reason of its curator first.
    """
    with reading() as db:
        row = db.execute("SELECT owner FROM runs WHERE id = ?", (run,)).fetchone()
    if stage == approvals.RELEASE and row is not None and release(row["owner"], run).withheld:
        raise InputError(stage, "its curator has to write first why it is published all the same", "come back when that is done")
    approvals.approve(owner, run, stage, reason)


def explain(owner: str, run: str, reason: str) -> None:
    """Record why the release of a run is published although a required criterion is not met or was not measured.

    The reason becomes part of the release; line breaks and repeated spaces in it become single spaces.

    Args:
        owner: The person who writes it.
        run: Id of the run.
        reason: The reason: at least three different words, at most 10,000 characters, and no invisible ones.

    Raises:
        InputError: The text does not qualify as a reason, the release needs no reason or is
            approved already, the run has no release, or the person may not run plans.
    """
    with reading() as db:
        roles.check(db, owner, Act.RUN)
    folder = _result(owner, run)
    kept = releases.load(folder)
    if not kept.needs_reason:
        raise InputError("reason", "every criterion that must be met was measured, and none is known to fail", "publish it as it is")
    check_reason("reason", reason, "why the release is published all the same")
    paragraph = " ".join(reason.split())
    if not is_one_paragraph(paragraph):
        problem = f"it has more than {MAX_REASON:,} characters, or some that are not seen"
        raise InputError("reason", problem, "shorten it, or type it anew")
    with transaction() as db:  # nobody approves it meanwhile
        if approvals.is_approved(db, run, approvals.RELEASE):
            raise InputError("reason", "a second person has approved the release as it is", "publish it as it is")
        releases.write_document(replace(kept, despite=paragraph), folder)


def times_of(owner: str, run: str) -> Zoned[Times] | None:
    """Return how long the stages of a finished run took, in seconds, curator-only; None if the release was made of stored answers.

    Raises:
        InputError: The run has no release.
    """
    return times.read(_result(owner, run))


def _result(owner: str, run: str) -> Path:
    """Return the folder of a finished run's release.

    Raises:
        InputError: The run has no release.
    """
    ended = get(owner, run)
    folder = run_folder(ended.project, run) / jobs.RESULT
    if ended.state != "done" or not folder.exists():
        raise InputError("run", f"it is {ended.state} and has no release", "choose a run that is done")
    return folder


def _run(row: Row) -> Run:
    fields = {key: row[key] for key in Run.__dataclass_fields__ if key != "sealed"}
    return Run(**{**fields, "sealed": row["spec"], "touched": bool(row["touched"])})
