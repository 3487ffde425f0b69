"""Four-eyes approvals: what a population demands before a plan runs or a release leaves, who approved it, and what waits.

Demands and approvals are entries of the ledger. A person cannot approve their own work. A plan without its approval waits and reads no
record: the worker asks right before it would read (`jobs.touch`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import audit_actions, chain, roles, rules, verified_books
from dpsynth_core.store.chain import OF_RUN, Entry
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.demands import APPROVALS, any_approval
from dpsynth_core.store.ledger_books import Books
from dpsynth_core.store.roles import Act

PLAN, RELEASE = "plan", "release"
STAGES = (PLAN, RELEASE)
DEMAND, _APPROVE = APPROVALS, "approve "
_NOTHING = "nothing"


@dataclass(frozen=True)
class Waiting:
    """A plan or release that waits for a second person's approval.

    Attributes:
        run: Id of the run.
        what: PLAN or RELEASE.
        owner: Id of the person who made it.
        plan: The published form of the spec.
        charge: The run's entry of the ledger.
    """

    run: str
    what: str
    owner: str
    plan: Mapping[str, Any]
    charge: Entry


def demanded(books: Books, population: str) -> tuple[str, ...]:
    """Return the stages at which runs on a population need an approval, in the order of `STAGES`.

    They are those that the population demands and those that the house rules demand; empty if neither
    demands any.

    Args:
        books: The ledger's books.
        population: The name of the population; one without an account demands nothing itself.

    Raises:
        StoreFault: The file of the house rules is missing or was altered.
    """
    asked = {*books.account(population).demand.split(), *rules.in_force(books).approve}
    return tuple(stage for stage in STAGES if stage in asked)


def demand(owner: str, population: str, what: Collection[str]) -> None:
    """Set the stages at which a population's runs need approval, as an entry of the ledger.

    It replaces what was demanded before, and also holds for waiting runs and existing releases.

    Args:
        owner: The person who demands it; their role must allow `Act.DEMAND`.
        population: Name of the population.
        what: The stages, PLAN ("plan") or RELEASE ("release") or both; empty for none, but house rules may demand
            some all the same.

    Raises:
        InputError: The role does not allow it, or the population is not open.
        BooksLost: The ledger is not whole.
    """
    with transaction() as db:
        roles.check(db, owner, Act.DEMAND)
        books = verified_books.current(db)
        if population not in books.populations:
            raise InputError(f"population {population!r}", "it does not exist", "open it first")
        verified_books.append(db, books, Entry(owner, DEMAND, population, note=" ".join(s for s in STAGES if s in what) or _NOTHING))


def lacks(db: Connection, books: Books, run: str, stage: str) -> bool:
    """Return whether a charged run needs an approval of its plan or release and does not have it.

    False is returned for a run without a charge in the ledger.

    Args:
        db: Connection.
        books: The ledger's books.
        run: Id of the run.
        stage: PLAN or RELEASE.

    Raises:
        StoreFault: The file of the house rules is missing or was altered.
    """
    if not any_approval(books):
        return False
    entries = chain.entries_in(db, OF_RUN, run)
    charge = next((entry for entry in entries if entry.kind == "reserve"), None)
    if charge is None or stage not in demanded(books, charge.population):
        return False
    return all(entry.kind != _APPROVE + stage for entry in entries)


def check(db: Connection, run: str, stage: str) -> None:
    """Check that a run has the approval that a stage needs; a stage that needs no approval passes.

    Args:
        db: Connection.
        run: Id of the run.
        stage: PLAN or RELEASE.

    Raises:
        InputError: It needs an approval and does not have it.
        StoreFault: The file of the house rules is missing or was altered.
    """
    if lacks(db, verified_books.unverified(db), run, stage):
        problem = "its population demands that a second person approves it, and none has"
        raise InputError(stage, problem, "ask a reviewer, to whom the Ledger page shows plans of projects, and no others")


def approve(owner: str, run: str, stage: str, reason: str) -> None:
    """Record a second person's approval of a run's plan or release, as an entry of the ledger.

    Args:
        owner: The person who approves; their role must allow `Act.APPROVE`.
        run: Id of the run.
        stage: PLAN or RELEASE.
        reason: The reason, which is kept in the ledger without spaces around it.

    Raises:
        InputError: The person made the run or had a part in its project, the reason has fewer than three different
            words, no approval is awaited, or the role does not allow it.
        StoreFault: The ledger is not whole (BooksLost), or the file of the house rules is missing or was altered.
    """
    check_reason("reason", reason, "why it may go on (it is kept in the ledger)")
    with transaction() as db:
        roles.check(db, owner, Act.APPROVE)
        books = verified_books.current(db)
        if not lacks(db, books, run, stage):
            raise InputError(stage, "it waits for no approval", "choose one that does")
        charge = verified_books.reservation(db, books, run)
        project = db.execute("SELECT project FROM jobs WHERE id = ?", (run,)).fetchone()
        shared = chain.entries_in(db, "WHERE kind = ?", audit_actions.SHARE)
        makers = {charge.curator, *(audit_actions.had(shared, project["project"]) if project else ())}
        if any(roles.one_person(db, maker, owner) for maker in makers):
            raise InputError(stage, "you made it yourself, or had a part in its project", "ask another reviewer")
        verified_books.append(db, books, Entry(owner, _APPROVE + stage, charge.population, run, charge.spec, note=reason.strip()))


def awaited(run: str, stage: str) -> bool:
    """Return whether a run needs an approval of the stage (PLAN or RELEASE) and does not have it.

    False is returned for a run without a charge in the ledger.

    Raises:
        StoreFault: The file of the house rules is missing or was altered.
    """
    with reading() as db:
        return lacks(db, verified_books.unverified(db), run, stage)


def is_approved(db: Connection, run: str, stage: str) -> bool:
    """Return whether a second person approved the stage of a run, even if no approval is demanded any more.

    Args:
        db: Connection.
        run: Id of the run.
        stage: PLAN or RELEASE.
    """
    return any(entry.kind == _APPROVE + stage for entry in chain.entries_in(db, OF_RUN, run))


def waiting() -> tuple[Waiting, ...]:
    """Return the plans and releases, of all owners, that wait for approval, by age of their charges, oldest first.

    These are plans of runs that were submitted in the app and are queued, and releases of runs that are done. Runs
    charged elsewhere, jobs of extensions, and runs whose charge was given back are left out. The result is () if
    nothing waits.

    Raises:
        StoreFault: The file of the house rules is missing or was altered.
    """
    with reading() as db:
        books = verified_books.unverified(db)
        if not any_approval(books):
            return ()
        runs = {row["id"]: row for row in db.execute("SELECT id, spec, state FROM runs WHERE state IN ('queued', 'done')")}
        entries = chain.entries_in(db, "NOT INDEXED WHERE run IN (SELECT id FROM runs WHERE state IN ('queued', 'done'))")
    done, wanted = {(entry.run, entry.kind) for entry in entries}, cache(partial(demanded, books))
    found = []
    for charge in (one for one in entries if one.kind == "reserve" and (one.run, "return") not in done):
        row = runs[charge.run]
        stage = RELEASE if row["state"] == "done" else PLAN
        if stage in wanted(charge.population) and (charge.run, _APPROVE + stage) not in done:
            found.append(Waiting(charge.run, stage, charge.curator, Spec.from_json(json.loads(row["spec"])).published(), charge))
    return tuple(found)
