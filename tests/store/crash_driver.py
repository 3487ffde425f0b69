"""Makes releases that meet a fault at a chosen point: a helper process of the crash tests, so that each case costs a fork and no imports.

Reads lines "HOME DATABASE CALLER NAME STEP FAULT" and answers each with the exit status of a forked process. DATABASE: an
address, or - for SQLite. CALLER: `worker`, of the run NAME;
`command` or `python`, which make a release of the plan in NAME, a spec beside the home; or `charge`, a command line that charges the
population NAME in a home that may be new. A durable step is a database commit, a line of a spool or a file appearing under its final
name; a crash anywhere between two of them leaves the same behind as a crash right before the second. FAULT, right before the STEP-th
durable step: `kill`; `full`, a disk that takes nothing from then on; `interrupt`, Ctrl-C. STEP 0 meets none. What it says goes to a file
`said` beside the home, and how many steps it took to one called `steps`.
"""

from __future__ import annotations

import errno
import os
import shutil
import signal
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.bundle import pack
from dpsynth_core.foundation import interrupts
from dpsynth_core.interface import running
from dpsynth_core.planning.spec import load_spec
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.release import document, synthesis
from dpsynth_core.release.spool import Spool
from dpsynth_core.store import database, dispatch, folders, home, jobs, ledger, postgres, worker

PRELOADED = (document, pack, running, synthesis)
_step = 0


def disturbed(act: Callable[..., Any], at: int, fault: str, full: Callable[[], Exception]) -> Callable[..., Any]:
    """`act`, counted as one durable step, with the fault before the chosen one."""

    def counted(*arguments: Any) -> Any:
        global _step
        _step += 1
        if fault == "full" and 0 < at <= _step:
            raise full()
        if _step == at and fault == "kill":
            os.kill(os.getpid(), signal.SIGKILL)
        if _step == at and fault == "interrupt":
            os.kill(os.getpid(), signal.SIGINT)
        return act(*arguments)

    return counted


def full_disk() -> OSError:
    return OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def full_database() -> sqlite3.Error:
    error = sqlite3.OperationalError("database or disk is full")
    error.sqlite_errorcode = sqlite3.SQLITE_FULL
    return error


def work(caller: str, name: str, at: int, fault: str) -> None:
    """Make a release as this caller does; a worker in a session of its own, as `processes.launch` would start it."""
    os.setsid()
    said = os.open(home.home().with_name("said"), os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(said, 1)
    os.dup2(said, 2)
    jobs.HEARTBEAT_SECONDS = 1000.0  # its commits would make the steps' numbers depend on time
    dispatch.launch_worker = lambda *_: None

    class Connection(sqlite3.Connection):
        def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:  # type: ignore[override]
            act = super().execute
            return disturbed(act, at, fault, full_database)(sql) if sql == "COMMIT" else act(sql, *parameters)

    connect = sqlite3.connect
    database.sqlite3.connect = lambda *a, **k: connect(*a, **k, factory=Connection)  # type: ignore[attr-defined]
    postgres.Connection._commit = disturbed(postgres.Connection._commit, at, fault, full_database)  # type: ignore[method-assign]
    for owner, step in ((Path, "replace"), (Path, "rename"), (Spool, "_write"), (Path, "hardlink_to")):
        setattr(owner, step, disturbed(getattr(owner, step), at, fault, full_disk))
    status = {"worker": work_off, "charge": charge, "command": command, "python": program}[caller](name)
    home.home().with_name("steps").write_text(str(_step))
    os._exit(status)


def work_off(run: str) -> int:
    worker.main(run)
    return 0


def command(plan: str) -> int:
    interrupts.handle()
    folder = home.home().parent
    os.chdir(folder)
    return cli.main(["run", plan, "--population", "people", "--out", "out"])


def program(plan: str) -> int:
    """A program that says how it ended as the command line does: 2, nothing was spent; 1, it stays spent."""
    os.chdir(home.home().parent)
    spec = load_spec(Path(plan))
    columns = {name: (0, size - 1) for name, size in spec.domain.items()}
    table = dps.plan("people.csv", columns, epsilon=spec.budget.epsilon, tables=1, mechanism=spec.mechanism.name,
        certificate=0.0, inside=0.0, means=0.0, population="people")  # fmt: skip
    try:
        shutil.copyfile(table.run(progress=False)._bundle, "out.zip")  # no step of the run
    except KeyboardInterrupt:
        return 130
    except dps.InputError as error:
        print(error, file=sys.stderr, flush=True)
        return 1 if isinstance(error, dps.ChargedError) else 2
    return 0


def charge(population: str) -> int:
    """Charge a run, as the command line does, up to the moment at which the first record would be read; that leaves a file behind."""
    run = folders.new_id()
    with database.transaction() as db:
        ledger.reserve(db, home.LOCAL_OWNER, ledger.Charge(population, run, "digest", UnitSpec(), 0.01, 1.0, 1e-9, fingerprint="f"))
    with database.transaction() as db:
        ledger.touch(db, run)
    home.home().with_name(f"read {run}").touch()
    return 0


def main() -> None:
    for line in sys.stdin:
        place, address, caller, name, at, fault = line.split()
        if (child := os.fork()) == 0:
            os.environ["DPSYNTH_HOME"], os.environ["DPSYNTH_DATABASE"] = place, address.strip("-")
            work(caller, name, int(at), fault)
        print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)


if __name__ == "__main__":
    main()
