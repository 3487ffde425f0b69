"""Kill processes at random moments and see what is lost: ``python -m benchmarks kills [--times N] [--seconds S]``.

Five works on books of their own take turns: a run of the command line, one of a Python program, the wizard's worker, its queue (the part of
the server that starts workers) while the worker goes on, and both together. Each gets SIGKILL at a moment drawn from the time that it takes
undisturbed. Then the books are examined as by `failing_calls`: undercharged, lost, not whole, wrong end. What the command line and the
worker left has to be recovered, if an answer is on disk. The same Python program is run again: it has to end with a release for one charge.

"killed" counts those that were still at work. The program prints a table of all seeds that the record has as Markdown.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pandas as pd

import dpsynth_core as dps
from benchmarks import failing_calls, record
from benchmarks.failing_calls import PEOPLE, Due, Fault, forked
from benchmarks.ledger_damage import IN_MEMORY
from dpsynth_core.store import dispatch, processes, runs, worker
from dpsynth_core.store.database import transaction
from dpsynth_core.store.home import LOCAL_OWNER

RESULTS = ("tried", "killed", "charged", "undercharged", "lost", "not whole", "wrong end")
OFTEN = 20
"""Kills after which the record is written."""
_COLUMNS = {"a": (0, 1), "b": (0, 2), "c": (0, 3)}


def python() -> int:
    """A program that plans, runs and saves a release."""
    plan = dps.plan(pd.read_csv("people.csv"), _COLUMNS, epsilon=1, tables=1, mechanism="hdmm_pgm", population=PEOPLE)
    Path("out").mkdir(exist_ok=True)
    plan.run(progress=False).save("out/release.zip")
    return 0


def queue() -> int:
    """What the server does while a run works, with a worker that is forked instead of started anew."""
    _launch(failing_calls.waiting())
    while runs.get(LOCAL_OWNER, failing_calls.waiting()).state in runs.ACTIVE:
        dispatch.pump()
        time.sleep(0.01)
    return 0


def _launch(job: str) -> None:
    if (child := os.fork()) == 0:
        worker.main(job)
        os._exit(0)
    with transaction() as db:
        dispatch.fill(db, job, child, processes.birth(child) or "ended")


SUBJECTS: dict[str, tuple[str, Callable[[], int], bool]] = {
    "command line": ("run", failing_calls.run, True),
    "Python": ("run", python, True),
    "worker": ("worker", failing_calls.work_off, True),
    "queue": ("worker", queue, False),
    "queue and worker": ("worker", queue, True),
}
"""Of each what of `failing_calls` prepares and examines it, what it does, and whether all of its processes are killed."""


def killed(seconds: float, whole_group: bool, process: int) -> None:
    """Wait so long, kill the process, or its group, and wait until nothing of the group works any more."""
    time.sleep(seconds)
    try:
        (os.killpg if whole_group else os.kill)(process, signal.SIGKILL)
    except ProcessLookupError:
        return  # it has ended, and is not collected yet, or had no time to make its group
    until = time.monotonic() + failing_calls.LONGEST
    while _at_work(process) and time.monotonic() < until:
        time.sleep(0.01)


def _at_work(group: int) -> bool:
    """Whether a process of this group has not ended."""
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            state, _, number = stat.read_text().rpartition(")")[2].split()[:3]
        except OSError:
            continue  # it has ended meanwhile
        if int(number) == group and state not in "ZX":
            return True
    return False


def tried(name: str, prepared: Path, due: Due, seconds: float) -> tuple[bool, bool, list[str]]:
    """Whether it was at work when it was killed, whether there was a charge afterwards, and what is wrong."""
    subject, act, whole_group = SUBJECTS[name]
    place = Path(shutil.copytree(prepared, prepared.parent / "hurt"))
    try:
        ended = forked(place, act, Fault(), partial(killed, seconds, whole_group))
        found: list[str] = []
        if name == "Python":
            again = forked(place, act)
            found += [] if again.code == 0 else [f"lost: the second run ended with {again.code}: {failing_calls._end(again.said)}"]
            charged = failing_calls.charged(place)
            found += ["undercharged: not once"] if abs(charged - due.after) > 1e-9 else []
        found += failing_calls.examine(subject, place, ended.code if name != "Python" else 0, due)
        charged = failing_calls.charged(place)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    if ended.code not in (0, -signal.SIGKILL):
        found.append(f"wrong end: {ended.code}: {failing_calls._end(ended.said)}")
    return ended.code != 0, charged > 0, found


def main() -> int:
    options = record.parser(__doc__, times=200, seconds=0.0, seed=0).parse_args()
    failing_calls.preload()
    choose, tally, findings = random.Random(options.seed), Counter[tuple[str, str]](), list[str]()
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        places: dict[str, tuple[Path, Due, float]] = {}
        for name, (subject, act, _) in SUBJECTS.items():
            prepared = Path(folder, name.replace(" ", "-"), "prepared")
            prepared.mkdir(parents=True)
            failing_calls.prepare(subject, prepared)
            for _ in range(2):  # the first one loads what no later one has to
                trial = Path(shutil.copytree(prepared, prepared.parent / "hurt"))
                began = time.monotonic()
                ended = forked(trial, act)
                took, due = time.monotonic() - began, Due(0.0, failing_calls.charged(trial), 0)
                wrong = failing_calls.examine(subject, trial, ended.code, due)
                if ended.code or wrong or not due.after:
                    raise SystemExit(f"undisturbed, {name} ended with {ended.code}: {ended.said} {wrong}")
                shutil.rmtree(trial)
            places[name] = prepared, due, took
        for number in record.numbers(options.times, options.seconds):
            name = list(SUBJECTS)[number % len(SUBJECTS)]
            prepared, due, took = places[name]
            at_work, charged, wrong = tried(name, prepared, due, choose.uniform(0, took))
            tally.update({(name, "tried"): 1, (name, "killed"): at_work, (name, "charged"): charged})
            for one in wrong:
                tally[name, one.partition(":")[0]] += 1
                findings.append(f"{name}: {one}")
                print(findings[-1], file=sys.stderr, flush=True)
            if number % OFTEN == OFTEN - 1:
                keep(options.results / "kills", options.seed, tally, findings)
    keep(options.results / "kills", options.seed, tally, findings)
    return 1 if findings else 0


def keep(place: Path, seed: int, tally: Counter[tuple[str, str]], findings: list[str]) -> None:
    """In the record, beside what other seeds came to."""
    counts = {name: [tally[name, result] for result in RESULTS] for name in SUBJECTS}
    runs_of_all = record.instead(record.earlier(place), record.machine() | {"seed": seed, "counts": counts, "findings": findings}, "seed")
    rows = [[name, *map(sum, zip(*(run["counts"][name] for run in runs_of_all), strict=True))] for name in SUBJECTS]
    rows.append(["**all**", *map(sum, zip(*(row[1:] for row in rows), strict=True))])
    record.write(place, runs_of_all, record.table(("killed", *RESULTS), rows))


if __name__ == "__main__":
    raise SystemExit(main())
