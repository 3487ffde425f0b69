"""Does a charge cost the same after 100,000 entries? ``python -m benchmarks long_ledger [--entries N] [--populations N]``.

Fills the ledger of a new directory in one transaction, with pairs of a charge and its touch, and measures on it: the first charge, which
finds no checkpoint and checks every entry; later charges, each with the touch of its run; a full check; and what the Ledger page computes.
With DPSYNTH_DATABASE the tables are in that database, which must be empty: run it once without and once with it. Wall times mean
something where the load, which the record has, is below the number of cores. Ends with 1 if the median of the later charges takes more
than 20 ms of processor time, or the page's sums more than 300 ms.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple
from functools import partial
from pathlib import Path

from benchmarks import record
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.store import auditing, balance, chain, database, ledger, ledger_head, sealed_fingerprints, verified_books
from dpsynth_core.store.chain import Entry
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.ledger_head import EMPTY, Head

CHARGE_MS, PAGE_MS = 20.0, 300.0
TIMES = 40
RHO = 1e-5


def main(arguments: Sequence[str] | None = None) -> int:
    options = record.parser(__doc__, entries=100_000, populations=1_000).parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        os.environ["DPSYNTH_HOME"], load = folder, os.getloadavg()[0]
        filling = measured(lambda: fill(options.entries, options.populations))
        found = {
            "fill, in one transaction": [filling],
            "first charge, which checks every entry": [measured(lambda: charge(0))],
            "charge": [measured(partial(charge, number)) for number in range(1, TIMES)],
            "touch": [measured(partial(touch, number)) for number in range(1, TIMES)],
            "full check": [measured(verified_books.verify)],
            "Ledger page: state, ten accounts, 500 entries": [measured(page) for _ in range(5)],
            "accounts of all populations": [measured(balance.spent_by_all)],
        }
        checkpoint = (Path(folder) / "ledger.checkpoint").stat().st_size
    engine = "PostgreSQL" if os.environ.get("DPSYNTH_DATABASE") else "SQLite"
    stated = {name: {"processor": [cpu for cpu, _ in some], "wall": [wall for _, wall in some]} for name, some in found.items()}
    asked = {"entries": options.entries, "populations": options.populations, "checkpoint_bytes": checkpoint}
    loads = [round(load, 1), round(os.getloadavg()[0], 1)]
    kept = {**record.machine(), "engine": engine, "load": loads, **asked, "ms": stated}
    place = options.results / "long_ledger"
    runs = record.instead(record.earlier(place), kept, "engine")
    lines = record.table(("step", *(f"{run['engine']}, {of}" for run in runs for of in ("processor ms", "wall ms"))), rows(runs))
    size = f"{options.entries:,} entries and {options.populations:,} populations"
    about = f"Medians in milliseconds, of {size}. Processor time is this program's; the database server's shows in the wall time alone."
    about += "".join(f" {run['engine']}: load {run['load'][0]} before and {run['load'][1]} after." for run in runs if "load" in run)
    record.write(place, runs, [about, "", *lines])
    slow = median(found["charge"]) > CHARGE_MS or median(found["Ledger page: state, ten accounts, 500 entries"]) > PAGE_MS
    return int(slow)


def rows(runs: Sequence[dict[str, object]]) -> Iterator[tuple[str, ...]]:
    for name in runs[0]["ms"]:  # type: ignore[attr-defined]
        each = (run["ms"][name][of] for run in runs for of in ("processor", "wall"))  # type: ignore[index]
        yield (name, *(f"{statistics.median(some):,.1f}" for some in each))


def median(some: Sequence[tuple[float, float]]) -> float:
    return statistics.median(cpu for cpu, _ in some)


def measured(step: Callable[[], object]) -> tuple[float, float]:
    """Milliseconds of this process's processor, and of the clock, that a step takes."""
    cpu, wall = time.process_time(), time.perf_counter()
    step()
    return 1000 * (time.process_time() - cpu), 1000 * (time.perf_counter() - wall)


def entries(count: int, populations: int) -> Iterator[Entry]:
    """Whole entries of a new ledger: each population is opened, then charges and touches take turns among them."""
    last, runs = EMPTY, [f"{number:016x}" for number in range((count - populations + 1) // 2)]
    seals = sealed_fingerprints.seals("f" * 64, runs)
    for number in range(count):
        pair = number - populations
        if pair < 0:
            entry = Entry(LOCAL_OWNER, "population", f"population {number}", epsilon=1000.0, delta=1e-6)
        else:
            charged, population = pair % 2 == 0, f"population {pair // 2 % populations}"
            entry = Entry(
                LOCAL_OWNER, "reserve" if charged else "touch", population, runs[pair // 2], "d" * 64, "add-remove", None, 1,
                RHO if charged else 0.0, 0.0, ZCDP.name, 0.01, 1e-9, seals[pair // 2], "a release with AIM" if charged else "",
            )  # fmt: skip
        entry = chain.linked(entry, last)
        last = Head(entry.number, entry.hash)
        yield entry


def fill(count: int, populations: int) -> None:
    """Make a ledger of so many entries, around the rules, which search all earlier entries for each one."""
    with database.reading():
        pass
    made = list(entries(count, populations))
    ledger_head.begin()
    with database.transaction() as db:
        rules = [part for part in database.parts(db) if part.kind == "trigger" and part.table == "ledger"]
        for rule in rules:
            db.execute(rule.undone)
        db.executemany(chain.INSERT, map(astuple, made))
        for rule in rules:
            db.execute(rule.made)


def charge(number: int) -> None:
    stated = ledger.Charge(f"population {number}", f"r{number}", "d" * 64, UnitSpec(), RHO, 0.01, 1e-9, "f" * 64)
    with database.transaction() as db:
        ledger.reserve(db, LOCAL_OWNER, stated)


def touch(number: int) -> None:
    with database.transaction() as db:
        ledger.touch(db, f"r{number}")


def page() -> None:
    verified_books.standing()
    names = balance.populations()
    balance.spent_by_all(names[:10])
    auditing.newest_entries(())


if __name__ == "__main__":
    raise SystemExit(main())
