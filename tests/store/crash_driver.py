"""Runs workers that die at a chosen point: a helper process of the crash tests, so that each case costs a fork and no imports.

Reads lines "HOME KIND NAME STEP" (KIND: job for one of its workers, or charge for a command line that charges the population NAME in a
home that may be new) and answers each with the exit status of a forked worker that was killed right before its STEP-th durable step. A
durable step is a database commit, a line of a spool or a file appearing under its final name; a crash anywhere between two of them leaves
the same behind as a crash right before the second. STEP 0 never dies.
"""

from __future__ import annotations

import os
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.release.spool import Spool
from dpsynth_core.store import database, folders, home, jobs, ledger, worker

_step = 0


def dying(act: Callable[..., Any], at: int) -> Callable[..., Any]:
    """`act`, counted as one durable step; kills this process before the chosen one."""

    def counted(*arguments: Any) -> Any:
        global _step
        _step += 1
        if _step == at:
            os.kill(os.getpid(), signal.SIGKILL)
        return act(*arguments)

    return counted


def work(kind: str, name: str, at: int) -> None:
    """Be the worker of a run, or one of a sweep, in a session of its own, as `processes.launch` would start it."""
    os.setsid()
    jobs.HEARTBEAT_SECONDS = 1000.0  # its commits would make the steps' numbers depend on time
    jobs._launch = lambda *_: None

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # type: ignore[override]
            act = super().execute
            return dying(act, at)(sql) if sql == "COMMIT" else act(sql, *parameters)

    connect = sqlite3.connect
    database.sqlite3.connect = lambda *a, **k: connect(*a, **k, factory=Connection)  # type: ignore[attr-defined]
    Path.replace = dying(Path.replace, at)  # type: ignore[method-assign]
    Path.rename = dying(Path.rename, at)  # type: ignore[method-assign]
    Spool._write = dying(Spool._write, at)  # type: ignore[method-assign]
    Path.hardlink_to = dying(Path.hardlink_to, at)  # type: ignore[method-assign]
    {"job": worker.main, "charge": charge}[kind](name)


def charge(population: str) -> None:
    """Charge a run, as the command line does, up to the moment at which the first record would be read; that leaves a file behind."""
    run = folders.new_id()
    with database.transaction() as db:
        ledger.reserve(db, home.LOCAL_OWNER, ledger.Charge(population, run, "digest", UnitSpec(), 0.01, 1.0, 1e-9, fingerprint="f"))
    with database.transaction() as db:
        ledger.touch(db, run)
    home.home().with_name(f"read {run}").touch()


def main() -> None:
    for line in sys.stdin:
        place, kind, name, at = line.split()
        if (child := os.fork()) == 0:
            os.environ["DPSYNTH_HOME"] = place
            work(kind, name, int(at))
            os._exit(0)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
