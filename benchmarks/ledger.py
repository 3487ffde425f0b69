"""How long a ledger of many entries takes to check, and to charge, for a charge recomputes all of it first.

    python -m benchmarks.ledger --entries 10000

Each time is the least of five, in seconds of this process and by the wall; the ledger is made in a temporary home.
"""

from __future__ import annotations

import os
import sqlite3
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace

from benchmarks import record
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.store import balance, chain, database, ledger, seals
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.folders import new_id
from dpsynth_core.store.head import Head
from dpsynth_core.store.home import LOCAL_OWNER

RHO = 1e-4
REPEATS = 5


def main() -> None:
    options = record.options(__doc__, entries=10_000).parse_args()
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPSYNTH_HOME"] = f"{folder}/home"
        fill(options.entries)
        acts: dict[str, Callable[[], object]] = {
            "check": chain.verify,
            "account": lambda: balance.spent("people"),
            "charge": charge,
            "same file elsewhere": lambda: balance.same_file_elsewhere("f", "others"),
        }
        for name, act in acts.items():
            cpu, wall = least(act)
            print(f"{options.entries:,} entries, {name}: {cpu:.3f} s of processor, {wall:.3f} s by the wall")


def fill(entries: int) -> None:
    """One population, and runs that were reserved and opened the records."""
    seals.seal("the key", "is made before the first charge")
    with database.transaction() as db:
        last = add(db, Entry(LOCAL_OWNER, "population", "people", epsilon=1000.0, delta=1e-9), Head())
        for number in range(1, entries):
            run = Entry(LOCAL_OWNER, "touch", "people", f"run {(number + 1) // 2}", "d" * 64, "add-remove", max_rows=1, accountant="zCDP")
            last = add(db, replace(run, kind="reserve", rho=RHO, fingerprint="f" * 64) if number % 2 else run, last)


def add(db: sqlite3.Connection, entry: Entry, last: Head) -> Head:
    written = chain.insert(db, chain.linked(entry, last))
    return Head(written.number, written.hash)


def charge() -> object:
    with database.transaction() as db:
        return ledger.reserve(db, LOCAL_OWNER, ledger.Charge("people", new_id(), "d" * 64, UnitSpec(), RHO, 1.0, 1e-9, "f"))


def least(act: Callable[[], object]) -> tuple[float, float]:
    """Seconds of processor and by the wall."""
    times = []
    for _ in range(REPEATS):
        cpu, wall = time.process_time(), time.perf_counter()
        act()
        times.append((time.process_time() - cpu, time.perf_counter() - wall))
    return min(cpu for cpu, _ in times), min(wall for _, wall in times)


if __name__ == "__main__":
    main()
