"""Sweeps, for pages: submit, watch, stop, resume, delete, read the outcomes.

A sweep is a job whose points are tried by worker processes, one on each core (`jobs`). It goes on by itself after a restart of the server,
or of the machine.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass

from dpsynth_core.extensions.tradeoffs import trial
from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, Sweep
from dpsynth_core.extensions.tradeoffs.trial import Outcome
from dpsynth_core.foundation import settings
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.processors import available
from dpsynth_core.planning import machine
from dpsynth_core.privacy.conversions import epsilon_from
from dpsynth_core.store import approvals, demands, dispatch, fingerprints, jobs, projects, recorded_views, sharing, verified_books
from dpsynth_core.store.connection import Row
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.ledger import Charge
from dpsynth_core.store.tables import REACHED, owned
from dpsynth_core.store.times import seconds_between

KIND = "sweep"
"""The kind of the job in the store."""


@dataclass(frozen=True)
class PointState:
    """The state of one trial (point) of a sweep.

    Attributes:
        number: Number of the point, from 0.
        state: waiting, running, done, failed or lost.
        forecast: Forecast seconds of processor time.
        attempts: Number of workers that took it.
        started: Time, UTC in ISO 8601, or None.
        finished: Time, UTC in ISO 8601, or None.
        error: Message for people, or "".
    """

    number: int
    state: str
    forecast: float
    attempts: int
    started: str | None
    finished: str | None
    error: str

    @property
    def seconds(self) -> float | None:
        """Seconds of wall clock time from start to finish; None unless the point is done."""
        if self.state != "done" or not self.started or not self.finished:
            return None
        return seconds_between(self.started, self.finished)


@dataclass(frozen=True)
class Stored:
    """A sweep in the store.

    Attributes:
        id: Identifier.
        sweep: The sweep's document.
        state: active, stopped or done.
        touched: Whether reading of the private table began, so that the charge is final.
        workers: Largest number of processes at work on it.
        created: Time, UTC in ISO 8601.
    """

    id: str
    sweep: Sweep
    state: str
    touched: bool
    workers: int
    created: str

    @property
    def active(self) -> bool:
        """True while the sweep runs or waits."""
        return self.state == "active"

    @property
    def can_resume(self) -> bool:
        """True if the sweep is not active and its budget was not given back."""
        return not self.active and (self.touched or self.sweep.table != PRIVATE)


def submit(owner: str, project: str, sweep: Sweep, seen: Collection[str] | None = None) -> str:
    """Check every kind of trial, charge the population if the table is private, begin, and return the sweep's id.

    A sweep on a private table that is not simulated is also noted among the project's recorded looks at the
    table.

    Args:
        owner: The person who submits.
        project: Id of the project.
        sweep: The sweep.
        seen: Ids of the project's sweeps that the curator knew of when deciding. If another sweep
            of the very same trials was started since, its id is returned, and nothing is charged
            again (`dispatch.started_meanwhile`). None leaves this check out.

    Raises:
        InputError: The sweep cannot be tried, its population has no budget for it, or a sweep on the private
            table meets rules of the house or a demand for approval; nothing is spent. CapExceeded and
            CapacityError are such errors.
    """
    projects.check_reach(owner, project, sweep.base)
    found = trial.checked(sweep)
    expected = [found.seconds[p.setting] for p in sweep.points]
    workers = workers_at_once(found.memory_mb)
    name, private = new_id(), sweep.table == PRIVATE
    with reading() as db:
        books = verified_books.unverified(db)
    if private and demands.newest_rules(books):
        raise InputError("rules of the house", "where there are any, nothing is tried on a private table", "try it on a simulated one")
    if private and approvals.PLAN in approvals.demanded(books, sweep.base.population):
        raise InputError("population", "a second person approves its plans, and nobody approves trials", "try it on a simulated table")
    charge = _charge(sweep, name) if private else None
    document, rho = json.dumps(sweep.to_json()), sweep.rho if private else 0.0
    job = jobs.Job(
        name, owner, project, KIND, document, sweep.digest(), sweep.base.population, rho, expected, workers, found.memory_mb
    )
    with transaction() as db:
        owned(db, "project", owner, project)
        if (other := dispatch.started_meanwhile(db, job, seen)) is not None:
            return other
        if private and not sweep.base.data.simulated:  # trials are charged, what is chosen by their errors is not
            recorded_views.add(db, project, "trials")
        jobs.submit(db, job, charge)
    dispatch.pump()
    return name


def get(owner: str, sweep: str) -> Stored:
    """Return a sweep.

    Args:
        owner: A person who owns the sweep's project or shares it.
        sweep: The id of the sweep.

    Raises:
        InputError: It does not exist in a project that the person owns or shares.
    """
    with reading() as db:
        return _stored(owned(db, KIND, owner, sweep))


def list(owner: str, project: str) -> tuple[Stored, ...]:
    """Return the sweeps of a project that the person owns or shares, newest first; empty for another project."""
    with reading() as db:
        among = f"kind = '{KIND}' AND project = ? AND project IN {REACHED}"
        rows = db.execute(f"SELECT * FROM jobs WHERE {among} ORDER BY created DESC, id", (project, owner, owner))
        return tuple(_stored(row) for row in rows)


def points(owner: str, sweep: str) -> tuple[PointState, ...]:
    """Return the state of each point of a sweep, in the order of their numbers.

    Args:
        owner: A person who owns the sweep's project or shares it.
        sweep: The id of the sweep.

    Raises:
        InputError: The sweep is not in a project that the person owns or shares.
    """
    with reading() as db:
        owned(db, KIND, owner, sweep)
        columns = ", ".join(PointState.__dataclass_fields__)
        rows = db.execute(f"SELECT {columns} FROM points WHERE job = ? ORDER BY number", (sweep,))
        return tuple(PointState(*row) for row in rows)


def outcomes(owner: str, sweep: str) -> Mapping[int, Outcome]:
    """Return the outcomes of the finished points of a sweep, by the number of the point.

    They are curator-only if the sweep used the private table (`Sweep.zone`); the result is not wrapped in
    `Zoned`.

    Args:
        owner: A person who owns the sweep's project or shares it.
        sweep: The id of the sweep.

    Raises:
        InputError: The sweep is not in a project that the person owns or shares.
    """
    with reading() as db:
        owned(db, KIND, owner, sweep)
        rows = db.execute("SELECT number, outcome FROM points WHERE job = ? AND state = 'done' ORDER BY number", (sweep,))
        return {row["number"]: Outcome.from_json(json.loads(row["outcome"])) for row in rows}


def stop(owner: str, sweep: str) -> None:
    """Stop a sweep; finished points keep their outcomes. On a private table the charge stays unless no record was read.

    Args:
        owner: A person who owns the sweep's project or shares it.
        sweep: The id of the sweep.

    Raises:
        InputError: The sweep is not in a project that the person owns or shares.
    """
    get(owner, sweep)
    dispatch.stop(sweep)
    dispatch.pump()


def resume(owner: str, sweep: str) -> None:
    """Continue a stopped or ended sweep with its waiting and failed points; nothing is charged again.

    Raises:
        InputError: It is under way, its budget was given back, the person may not run plans, or the sweep is not in a project
            that the person owns or shares.
    """
    if not get(owner, sweep).can_resume:
        raise InputError("sweep", "it is under way, or its budget was given back", "start another one")
    with transaction() as db:
        dispatch.resume(db, owner, sweep)
    dispatch.pump()


def delete(owner: str, sweep: str) -> None:
    """Stop a sweep and delete it with its outcomes; its ledger entries stay.

    Raises:
        InputError: Another person owns the project, or the sweep does not exist.
    """
    with reading() as db:
        sharing.check_own(db, owner, owned(db, KIND, owner, sweep)["project"])
    dispatch.stop(sweep)
    jobs.remove(sweep)
    projects.forget_deleted()


def workers_at_once(memory_mb: float) -> int:
    """Return how many trials may run at the same time.

    It is `DPSYNTH_SWEEP_WORKERS` if that is set, else one per core as far as the free memory allows, at least 1.

    Args:
        memory_mb: Forecast memory of one trial in MB.
    """
    if (stated := settings.number(settings.SWEEP_WORKERS)) is not None:
        return stated
    free = machine.free_mb()
    return max(1, available() if free is None else min(available(), int(machine.MEMORY_SHARE * free / max(1.0, memory_mb))))


def cost(sweep: Sweep) -> tuple[float, float]:
    """Return (epsilon, delta) of all trials together as if on a private table.

    Delta is the plan's delta plus what single trials need of their own.
    """
    delta = sweep.base.budget.delta
    return epsilon_from(sweep.rho, delta), delta + sweep.own_delta


def _charge(sweep: Sweep, name: str) -> Charge:
    """Return the charge of a sweep on a private table.

    Args:
        sweep: The sweep.
        name: Id of the sweep, under which the ledger lists it.
    """
    spec, (epsilon, delta) = sweep.base, cost(sweep)
    return Charge(
        population=spec.population,
        run=name,
        spec=sweep.digest(),
        unit=spec.unit,
        rho=sweep.rho,
        epsilon=epsilon,
        delta=delta,
        fingerprint=fingerprints.of_spec(spec),
        note=f"trade-offs, {len(sweep.points)} trials that are never released",
        own_delta=sweep.own_delta,
    )


def _stored(row: Row) -> Stored:
    kept = {name: row[name] for name in ("id", "state", "workers", "created")}
    return Stored(**kept, sweep=Sweep.from_json(json.loads(row["document"])), touched=bool(row["touched"]))
