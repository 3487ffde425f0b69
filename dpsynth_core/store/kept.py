"""Releases that programs make as a library (`in_process`), each in a file of its own in DPSYNTH_HOME: what is paid for outlives a notebook,
and the same plan for the same table is not paid for twice by mistake."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path

from dpsynth_core.bundle.pack import pack
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import alone, private_directory, private_file
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.release import Release
from dpsynth_core.store import chain, fingerprints, in_process, seals, spools
from dpsynth_core.store.faults import explained
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.home import home


def keep(made: Release, note: Callable[[str], None]) -> Path:
    """Where the bundle of a release is, from now on. note: takes lines that anybody may read. Raises InputError where the disk takes no
    more."""
    folder = private_directory(home() / "releases")
    path = folder / f"{_run(made)}.zip"
    with explained(), private_file(path) as stream:
        pack(made, stream, folder, signer=in_process.signer_of(made, note))
    return path


def one_at_a_time(plan: Plan) -> AbstractContextManager[None]:
    """Whoever carries out the same plan meanwhile waits, and then finds the release as an `earlier` one: it is charged once."""
    return alone(private_directory(home() / "releases") / f".{plan.spec.digest()}.lock")


def earlier(plan: Plan) -> Path | None:
    """The newest release of this very plan for this very table that was charged and kept. Raises InputError where there is none but a run
    that was interrupted, which can be finished for nothing. Reads the table once where the plan was charged before."""
    digest = plan.spec.digest()
    runs = [entry for entry in chain.entries() if entry.kind == "reserve" and entry.spec == digest]
    if not runs:
        return None
    ours = seals.seals(fingerprints.of_data(plan.spec.data), [entry.run for entry in runs])
    same = [entry.run for entry, seal in zip(runs, ours, strict=True) if entry.fingerprint == seal]
    for run in reversed(same):
        if (path := home() / "releases" / f"{run}.zip").exists():
            return path
        if spools.holds_answers(run):
            remedy = f"finish it with recover({run!r}), which spends nothing; or spend once more, with run(again=True)"
            raise InputError("run", "a run of this plan was charged for this table, and was interrupted", remedy)
    return None


def _run(made: Release) -> str:
    """The ledger's name for the run; a new one where none was charged."""
    return next((entry.run for entry in chain.entries() if entry.hash == made.ledger["hash"]), new_id()) if made.ledger else new_id()
