"""Paths of the answers of charged runs, which are kept until their releases are complete."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path

from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import spool
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.home import home


def check_room(plan: Plan) -> None:
    """Check, before anything is charged, that a run's answers and rows will fit on the disk of DPSYNTH_HOME.

    Raises:
        InputError: They will not.
    """
    spool.check_room(plan, home(), "DPSYNTH_HOME")


def spool_file(run: str) -> Path:
    """Return the path of the file with a run's answers, which exists from before the first read until the release is complete."""
    return home() / "spools" / f"{run}.jsonl"


def holds_answers(run: str) -> bool:
    """Return whether the run has stored at least one answer of the kernel (the first line of its file is the plan)."""
    try:
        with spool_file(run).open("rb") as stream:
            return len(list(islice(stream, 2))) == 2
    except FileNotFoundError:
        return False


def unfinished() -> tuple[str, ...]:
    """Return the ids of the runs that stored an answer and have no complete release, the last changed first; () without any."""
    files = sorted((home() / "spools").glob("*.jsonl"), key=lambda file: -file.stat().st_mtime_ns)
    return tuple(file.stem for file in files if holds_answers(file.stem))


def settle(run: str) -> None:
    """Delete the stored answers and the job of a run whose release is complete; an error of the disk is ignored.

    A run of the app is left unchanged, because its page recovers it.
    """
    from dpsynth_core.store import jobs  # loaded for charged runs alone

    if jobs.kind_of(run) != jobs.RELEASE:
        with suppress(OSError, StoreFault):  # a home that is full, or refuses, is no reason to call the release unfinished
            spool_file(run).unlink(missing_ok=True)
            jobs.remove(run)
