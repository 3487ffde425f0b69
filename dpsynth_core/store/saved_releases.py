"""Releases that programs make as a library (`in_process`), each in a file of its own in DPSYNTH_HOME.

A paid release outlives its notebook, and the same plan for the same table is not paid for twice by mistake.
"""

from __future__ import annotations

import hmac
import json
from collections.abc import Callable
from contextlib import AbstractContextManager
from hashlib import sha256
from pathlib import Path

from dpsynth_core.bundle.pack import pack
from dpsynth_core.foundation.private_files import locked, private_directory, private_file
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
from dpsynth_core.store import in_process, spools
from dpsynth_core.store.faults import explained
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.home import home


def keep(made: Release, note: Callable[[str], None]) -> Path:
    """Store the bundle of a release in DPSYNTH_HOME and return its path.

    Args:
        made: The release.
        note: Called with lines that are public.

    Raises:
        InputError: The bundle cannot be written, for example because the disk is full.
    """
    folder = private_directory(home() / "releases")
    run = _run_of(made) if made.ledger else None
    path = folder / f"{new_id()}.zip" if run is None else _place(run, made.plan)  # what is charged nowhere is never looked for
    with explained(), private_file(path) as stream:
        pack(made, stream, folder, signer=in_process.signer_of(made, note))
    return path


def one_at_a_time(plan: Plan) -> AbstractContextManager[None]:
    """Return a lock, as a context manager, that only one process at a time can have for this plan; entering it waits.

    A process that makes the same plan meanwhile waits, and then finds the release as an `earlier`
    one, so that it is charged once.
    """
    return locked(private_directory(home() / "releases") / f".{plan.spec.digest()}.lock")


def earlier(plan: Plan) -> Path | None:
    """Return the path of the last stored release of this plan for this table, if it was read in the same way.

    The same way means, for instance, the same sheet of a workbook. The result is None without such a release, or if a
    later run of the plan was interrupted, because making the plan again continues that run. The table is read once if
    the plan was charged before.

    Raises:
        StoreFault: The ledger cannot be used.
        InputError: A table cannot be read.
    """
    from dpsynth_core.store import charging  # loaded where a ledger is charged alone

    for run in charging.charged_before(plan):
        if (path := _place(run, plan)).exists():
            return path
        if spools.spool_file(run).exists():
            return None
    return None


def _run_of(made: Release) -> str | None:
    """Return the run that the ledger was charged for, or None if the ledger here does not know the entry."""
    from dpsynth_core.store import chain, database  # loaded where a ledger is charged alone

    with database.reading() as db:
        found = chain.entries_in(db, "WHERE number = ? AND hash = ?", made.ledger["entry"], made.ledger["hash"])
    return found[0].run if found else None


def _place(run: str, plan: Plan) -> Path:
    """Return the path for the release of a charged run.

    A keyed hash of how the tables are read is part of the name, because neither plan nor file
    identifies the sheet of a workbook.
    """
    from dpsynth_core.store import sealed_fingerprints  # loaded where a ledger is charged alone

    reading = hmac.new(sealed_fingerprints.key(), json.dumps([run, plan.spec.reading]).encode(), sha256).hexdigest()
    return home() / "releases" / f"{run}-{reading[:16]}.zip"
