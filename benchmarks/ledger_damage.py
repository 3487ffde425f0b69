"""Flip bits of the ledger's database and see that no budget comes back: ``python -m benchmarks ledger_damage [--times N] [--where ...]``.

Each try takes a ledger of two populations with charges that stand, that were given back and a cap that was changed, flips 1 to 64 bits of
its database, or drops one of its triggers, and asks three questions: whether one more charge is taken, what each population has spent, and
what `ledger check` says. Either the charge is refused, or every sum is what it was; without a trigger it is refused. Half of the tries are
of a ledger with a checkpoint of all but the newest entries, as long ledgers have one, and some flip bits of the checkpoint. There a charge
may be taken although a full check finds damage among earlier entries; every sum is what it was.
Prints how many tries ended how, of all seeds that the record has, and every try that broke that.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import sqlite3
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from pathlib import Path

from benchmarks import record
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.unit_spec import UnitSpec
from dpsynth_core.store import auditing, balance, database, ledger, verified_books
from dpsynth_core.store.home import LOCAL_OWNER

RHO = 0.01
CHECKPOINT_EVERY = 12
"""Number of entries after which there is a checkpoint, in place of `verified_books.EVERY`: the ledger here has eighteen."""
REFUSED, UNCHANGED, UNCHECKED = "refused", "taken, every sum unchanged", "taken, though `ledger check` finds damage"
BROKEN = "BROKEN"
ENDS = (REFUSED, UNCHANGED, UNCHECKED, BROKEN)
Damage = Callable[[Path, random.Random], None]
Place = Callable[[Path, random.Random], Callable[[], int]]
"""From a database to a function that draws a bit of it."""

CLOSE_BYTES = 256
"""Flips that are close together lie within so many bytes."""


IN_MEMORY = Path("/dev/shm")
"""A ledger waits for the disk at each charge; where files may lie in memory, a try takes a tenth of the time."""


def main() -> int:
    options = record.parser(__doc__, {"where": DAMAGES}, times=1000, seconds=0.0, seed=0, where=list(DAMAGES)).parse_args()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        tally = damaged(Path(folder), record.numbers(options.times, options.seconds), options.seed, options.where)
    place, tried = options.results / "ledger_damage", {where: [tally[where, end] for end in ENDS] for where in DAMAGES}
    runs = record.instead(record.earlier(place), record.machine() | {"seed": options.seed, "ends": ENDS, "counts": tried}, "seed")
    none = [0] * len(ENDS)
    counts = {where: [sum(some) for some in zip(*(run["counts"].get(where, none) for run in runs), strict=True)] for where in DAMAGES}
    rows = [(where, *(f"{count:,}" for count in (sum(some), *some))) for where, some in counts.items()]
    rows += [("**all**", f"{sum(map(sum, counts.values())):,}", *(f"{sum(some):,}" for some in zip(*counts.values(), strict=True)))]
    record.write(place, runs, record.table(("where", "tried", *ENDS), rows))
    wrong = [where for where, end in tally if end == BROKEN or (where.startswith(DROPPED) and end != REFUSED)]
    wrong += [where for where, end in tally if end == UNCHECKED and where in OF_SHORT]
    return 1 if wrong else 0


def damaged(folder: Path, numbers: Iterable[int], seed: int, places: Sequence[str]) -> Counter[tuple[str, str]]:
    """How tries ended, by how the books were hurt. places: of `DAMAGES`, in turns. Sets DPSYNTH_HOME."""
    for name, every in (("short", 10**6), ("long", CHECKPOINT_EVERY)):
        os.environ["DPSYNTH_HOME"], verified_books.EVERY = str(folder / name), every
        fill()
    sums, tally = spent(), Counter[tuple[str, str]]()
    for number in numbers:
        where = places[number % len(places)]
        long = where not in OF_SHORT
        verified_books.EVERY = CHECKPOINT_EVERY if long else 10**6
        home = Path(shutil.copytree(folder / ("long" if long else "short"), folder / "hurt"))
        DAMAGES[where](home / database.DATABASE, random.Random(f"{seed}/{number}"))
        os.environ["DPSYNTH_HOME"] = str(home)
        end = outcome(sums)
        if end not in ENDS:
            print(f"{BROKEN}: {where}, try {number} of seed {seed}: {end}", file=sys.stderr, flush=True)
        tally[where, end if end in ENDS else BROKEN] += 1
        shutil.rmtree(home)
    return tally


def fill() -> None:
    ledger.open_population(LOCAL_OWNER, "patients", (3.0, 1e-9))
    for number in range(12):
        charge(f"run {number}", "people" if number % 4 == 0 else "patients")
    with database.transaction() as db:
        ledger.touch(db, "run 1")
        ledger.give_back(db, "run 2", "cancelled")
    ledger.change_cap(LOCAL_OWNER, "patients", (4.0, 1e-9), "the board allowed more")
    with closing(sqlite3.connect(Path(os.environ["DPSYNTH_HOME"]) / database.DATABASE)) as db:
        db.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def charge(run: str, population: str) -> None:
    with database.transaction() as db:
        ledger.reserve(db, LOCAL_OWNER, ledger.Charge(population, run, "d" * 64, UnitSpec(), RHO, 1.0, 1e-9, "f"))


def spent() -> dict[str, tuple[float, float, float]]:
    return {one.population: (one.rho, one.cap_epsilon, one.cap_delta) for one in balance.spent_by_all()}


def outcome(sums: dict[str, tuple[float, float, float]]) -> str:
    """One of ENDS, or what went wrong in a few words."""
    try:
        try:
            charge("one more", "people")
        except InputError:
            return REFUSED if spent_or_nothing() in (sums, None) else "refused, and other sums are shown"
        rho, *cap = sums["people"]
        if spent_or_nothing() != sums | {"people": (spent()["people"][0], *cap)} or abs(spent()["people"][0] - rho - RHO) > 1e-12:
            return "taken, with other sums"
        return UNCHECKED if auditing.audit().problem else UNCHANGED
    except Exception as error:  # noqa: BLE001 (each kind of failure is a row of the table)
        return f"{type(error).__name__}: {error}"


def spent_or_nothing() -> dict[str, tuple[float, float, float]] | None:
    try:
        return spent()
    except InputError:
        return None


def _anywhere(books: Path, choose: random.Random) -> Callable[[], int]:
    bits = 8 * books.stat().st_size
    return lambda: choose.randrange(bits)


def _together(books: Path, choose: random.Random) -> Callable[[], int]:
    begin = choose.randrange(books.stat().st_size - CLOSE_BYTES)
    return lambda: 8 * begin + choose.randrange(8 * CLOSE_BYTES)


def _at(text: bytes) -> Place:
    """In or beside one of the places that hold this text."""

    def place(books: Path, choose: random.Random) -> Callable[[], int]:
        begin = choose.choice([found.start() for found in re.finditer(text, books.read_bytes())]) - CLOSE_BYTES // 2
        return lambda: 8 * begin + choose.randrange(8 * CLOSE_BYTES)

    return place


def _on_a_page(part: str) -> Place:
    """Within the page where an index begins: random bits seldom find it."""

    def place(books: Path, choose: random.Random) -> Callable[[], int]:
        with closing(sqlite3.connect(books)) as db:
            (page,) = db.execute("SELECT rootpage FROM sqlite_master WHERE name = ?", (part,)).fetchone()
            (size,) = db.execute("PRAGMA page_size").fetchone()
        return lambda: 8 * (page - 1) * size + choose.randrange(8 * size)

    return place


def flipped(place: Place) -> Damage:
    """1 to 64 bits of this place."""

    def damage(books: Path, choose: random.Random) -> None:
        draw, content = place(books, choose), bytearray(books.read_bytes())
        for _ in range(choose.choice((1, 1, 2, 4, 8, 16, 32, 64))):
            bit = draw()
            content[bit // 8] ^= 1 << bit % 8
        books.write_bytes(content)

    return damage


def _trigger_dropped(books: Path, choose: random.Random) -> None:
    with closing(sqlite3.connect(books)) as db:
        triggers = [name for (name,) in db.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")]
        db.execute(f"DROP TRIGGER {choose.choice(triggers)}")
        db.commit()


def _checkpoint(books: Path, choose: random.Random) -> None:
    flipped(_anywhere)(books.with_name("ledger.checkpoint"), choose)


DROPPED = "a trigger dropped"
LONG = ", with a checkpoint"
OF_SHORT: dict[str, Damage] = {
    "anywhere": flipped(_anywhere),
    "close together": flipped(_together),
    "at an entry": flipped(_at(b"reserve")),
    "the index of its populations": flipped(_on_a_page("ledger_of_population")),
    "the index of its runs": flipped(_on_a_page("ledger_of_run")),
    "the text of its triggers": flipped(_at(b"CREATE TRIGGER")),
    DROPPED: _trigger_dropped,
}
DAMAGES = OF_SHORT | {place + LONG: damage for place, damage in OF_SHORT.items()} | {"the checkpoint": _checkpoint}
