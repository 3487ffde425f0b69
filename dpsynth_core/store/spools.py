"""Paths of the answers of charged runs, which are kept until their releases are complete."""

from __future__ import annotations

from contextlib import suppress
from itertools import islice
from pathlib import Path

from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import spool
from dpsynth_core.store import jobs
from dpsynth_core.store.faults import StoreFault
from dpsynth_core.store.home import home


def check_room(plan: Plan) -> None:
    """Raise InputError if answers and rows of a run will not fit on the disk of DPSYNTH_HOME. Called before anything is charged."""
    spool.check_room(plan, home(), "DPSYNTH_HOME")


def spool_file(run: str) -> Path:
    """Return the path of a run's spool, which exists from before its first read until its release is complete."""
    return home() / "spools" / f"{run}.jsonl"


def holds_answers(run: str) -> bool:
    """Return whether the run has a spool with an answer after the plan."""
    try:
        with spool_file(run).open("rb") as stream:
            return len(list(islice(stream, 2))) == 2
    except FileNotFoundError:
        return False


def unfinished() -> tuple[str, ...]:
    """Return the runs that measured something and have no release, last begun first."""
    files = sorted((home() / "spools").glob("*.jsonl"), key=lambda file: -file.stat().st_mtime_ns)
    return tuple(file.stem for file in files if holds_answers(file.stem))


def settle(run: str) -> None:
    """Delete the spool of a command whose release was made after all, and its job. A run of the app stays: its page recovers it."""
    if jobs.kind_of(run) != jobs.RELEASE:
        with suppress(OSError, StoreFault):  # a home that is full, or refuses, is no reason to call the release unfinished
            spool_file(run).unlink(missing_ok=True)
            jobs.remove(run)
