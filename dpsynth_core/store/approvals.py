"""Four-eyes approvals: what a population demands before a plan runs or a release leaves, who approved it, and what waits.

Demands and approvals are entries of the ledger. A person cannot approve their own work. A plan without its approval waits and reads no
record: the worker asks right before it would read (`jobs.touch`).
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import check_reason
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import accounts, audit_actions, chain, roles, rules
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.database import reading, transaction
from dpsynth_core.store.demands import APPROVALS
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


def demanded(books: Sequence[Entry], population: str) -> tuple[str, ...]:
    """Return the stages (PLAN, RELEASE) at which a population's runs need approval, by its own demand or by the house rules.

    Args:
        books: The ledger's entries.
        population: Name of the population.
    """
    newest = next((entry.note for entry in reversed(books) if entry.kind == DEMAND and entry.population == population), "")
    asked = {*newest.split(), *rules.in_force(books).approve}
    return tuple(stage for stage in STAGES if stage in asked)


def demand(owner: str, population: str, what: Collection[str]) -> None:
    """Set the stages at which a population's runs need approval; this also holds for waiting runs and existing releases.

    Args:
        owner: The person who demands it; their role must allow `Act.DEMAND`.
        population: Name of the population.
        what: The stages, PLAN or RELEASE or both; empty for none.

    Raises:
        InputError: The role does not allow it, or the population is not open.
    """
    with transaction() as db:
        roles.check(db, owner, Act.DEMAND)
        books = chain.whole_in(db)
        if not accounts.cap_of(books, population):
            raise InputError(f"population {population!r}", "it does not exist", "open it first")
        chain.append(db, books, Entry(owner, DEMAND, population, note=" ".join(s for s in STAGES if s in what) or _NOTHING))


def lacks(books: Sequence[Entry], run: str, stage: str) -> bool:
    """Return whether a charged run needs an approval of its plan or release and does not have it.

    Args:
        books: The ledger's entries.
        run: Id of the run.
        stage: PLAN or RELEASE.
    """
    charge = next((entry for entry in books if entry.kind == "reserve" and entry.run == run), None)
    return charge is not None and stage in demanded(books, charge.population) and not is_approved(books, run, stage)


def check(books: Sequence[Entry], run: str, stage: str) -> None:
    """Check that a run has the approval that a stage needs.

    Args:
        books: The ledger's entries.
        run: Id of the run.
        stage: PLAN or RELEASE.

    Raises:
        InputError: It needs an approval and does not have it.
    """
    if lacks(books, run, stage):
        problem = "its population demands that a second person approves it, and none has"
        raise InputError(stage, problem, "ask a reviewer, to whom the Ledger page shows plans of projects, and no others")


def approve(owner: str, run: str, stage: str, reason: str) -> None:
    """Record a second person's approval of a run's plan or release.

    Args:
        owner: The person who approves; their role must allow `Act.APPROVE`.
        run: Id of the run.
        stage: PLAN or RELEASE.
        reason: The reason, which is kept in the ledger.

    Raises:
        InputError: The person made the run or had a part in its project, the reason is missing, no
            approval is awaited, or the role does not allow it.
    """
    check_reason("reason", reason, "why it may go on (it is kept in the ledger)")
    with transaction() as db:
        roles.check(db, owner, Act.APPROVE)
        books = chain.whole_in(db)
        if not lacks(books, run, stage):
            raise InputError(stage, "it waits for no approval", "choose one that does")
        charge = accounts.reservation(books, run)
        project = db.execute("SELECT project FROM jobs WHERE id = ?", (run,)).fetchone()
        makers = {charge.curator, *(audit_actions.had(books, project["project"]) if project else ())}
        if any(roles.one_person(db, maker, owner) for maker in makers):
            raise InputError(stage, "you made it yourself, or had a part in its project", "ask another reviewer")
        chain.append(db, books, Entry(owner, _APPROVE + stage, charge.population, run, charge.spec, note=reason.strip()))


def awaited(run: str, stage: str) -> bool:
    """Return whether a run needs an approval of the stage (PLAN or RELEASE) and does not have it."""
    return lacks(chain.entries(), run, stage)


def is_approved(books: Sequence[Entry], run: str, stage: str) -> bool:
    """Return whether a second person approved the stage of a run, even if no approval is demanded any more.

    Args:
        books: The ledger's entries.
        run: Id of the run.
        stage: PLAN or RELEASE.
    """
    return any(entry.kind == _APPROVE + stage and entry.run == run for entry in books)


def waiting() -> tuple[Waiting, ...]:
    """Return the plans and releases, of all owners, that wait for approval, by age of their charges, oldest first."""
    with reading() as db:
        books = chain.entries_in(db)
        if not any(entry.kind in (DEMAND, rules.KIND) for entry in books):
            return ()
        runs = {row["id"]: row for row in db.execute("SELECT id, spec, state FROM runs WHERE state IN ('queued', 'done')")}
    found = []
    for charge in (one for one in accounts.standing(books) if one.run in runs):
        row = runs[charge.run]
        stage = RELEASE if row["state"] == "done" else PLAN
        if lacks(books, charge.run, stage):
            found.append(Waiting(charge.run, stage, charge.curator, Spec.from_json(json.loads(row["spec"])).published(), charge))
    return tuple(found)
