"""Cut the power at any moment and look at what may be left on the disk: ``python -m benchmarks power_cuts [--times N] [--seconds S]``.

Each command of `failing_calls` works once while its library writes down what it does to files. A try then takes a moment of that trace and
builds a disk that may remain: of each file what was there at its last fsync, and of the writes since then any of them, in any order, whole
or some of their sectors; of new names, renames and deletions what a sync of their folder has made last. Of those since then any first few,
because the journal of ext4 keeps their order and a sync all that came before; or, with ``--disk POSIX``, any at all, and a sync makes the
names in its own folder last and no others. Each moment comes once before any comes again. A disk that was not seen before is examined as
there: every answer that was synced before the cut must be in a release or be recovered, and once there is one the whole charge must stand.
It prints a table of all seeds that the record has as Markdown; a few disks of two seeds may be the same.
"""

from __future__ import annotations

import hashlib
import itertools
import operator
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from benchmarks import failing_calls, record, traces
from benchmarks.failing_calls import Due
from benchmarks.ledger_damage import IN_MEMORY
from benchmarks.traces import Step

SECTOR = 512
DISKS = ("ext4", "POSIX")
RESULTS = ("built", "different", "undercharged", "lost", "not whole", "wrong end")


@dataclass
class File:
    """synced: what the disk surely has. since: what was done after that."""

    synced: bytearray = field(default_factory=bytearray)
    since: list[Step] = field(default_factory=list)

    def sync(self) -> None:
        for step in self.since:
            _apply(self.synced, step)
        self.since.clear()

    def remains(self, choose: random.Random) -> bytes:
        """What may be left: any of the steps since the last sync, in any order, each whole or some of its sectors."""
        content = bytearray(self.synced)
        for step in choose.sample(self.since, choose.randint(0, len(self.since))):
            _apply(content, step, choose if choose.random() < 0.3 else None)
        return bytes(content)


def _apply(content: bytearray, step: Step, tear: random.Random | None = None) -> None:
    """tear: chooses which sectors of the file, of those that the step writes to, are as it wrote them; None for all."""
    if step.what == "t":
        content[:] = content[: step.place].ljust(step.place, b"\0")
        return
    begin, end = step.place, step.place + len(step.content)
    while begin < end:
        until = min(end, begin - begin % SECTOR + SECTOR)
        if tear is None or tear.random() < 0.5:
            content.extend(bytes(max(0, begin - len(content))))
            content[begin:until] = step.content[begin - step.place : until - step.place]
        begin = until


def disk(before: Path, trace: Sequence[Step], choose: random.Random, target: Path, kind: str = "ext4") -> str:
    """Build a disk that may remain when the power is cut after these steps, in place of `before`, in the folder `target`. kind: of DISKS.
    Gives its SHA-256."""
    files, names = _after(before, trace, choose, target, kind)
    digest, folders = hashlib.sha256(), {str(target)}
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir()
    for name in sorted(names):
        if _folder(name) not in folders:
            continue  # whose own name was lost
        if (inode := names[name]) is None:
            Path(name).mkdir()
            folders.add(name)
        elif not name.endswith("-shm"):  # shared memory, which begins anew
            content = files[inode].remains(choose)
            Path(name).write_bytes(content)
            digest.update(f"{name} {len(content)} ".encode() + content)
    return digest.hexdigest()


def _after(
    before: Path, trace: Sequence[Step], choose: random.Random, target: Path, kind: str
) -> tuple[dict[int, File], dict[str, int | None]]:
    """Files by their inodes, and the names that they have then."""
    files: dict[int, File] = {}
    names: dict[str, int | None] = {}  # a folder has None
    for path in sorted(before.rglob("*")):
        inode = None if path.is_dir() else path.stat().st_ino
        names[str(target / path.relative_to(before))] = inode
        if inode is not None:
            files[inode] = File(bytearray(path.read_bytes()))
    waiting: list[Step] = []
    for step in trace:
        if step.what == "c":
            files[step.inode] = File()
        if step.what in "wt":
            files.setdefault(step.inode, File()).since.append(step)
        elif step.what == "s" and step.inode in files:
            files[step.inode].sync()
        elif step.what == "s":  # of a folder: what is in it is named for good, and the journal keeps to the order of what came before
            here = [step.one in (_folder(held.one), _folder(held.other)) for held in waiting]
            last = len(here) - here[::-1].index(True) if True in here else 0
            waiting = _name(names, waiting, [True] * last if kind == "ext4" else here)
        if step.what in "crlumd":
            waiting.append(step)
    often = choose.random()
    last = choose.randint(0, len(waiting))
    _name(names, waiting, [at < last if kind == "ext4" else choose.random() < often for at in range(len(waiting))])
    return files, names


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _name(names: dict[str, int | None], steps: Sequence[Step], last: Sequence[bool]) -> list[Step]:
    """Change names by the steps that last, in their order; the others."""
    for step in itertools.compress(steps, last):
        if step.what in "cl":
            names[step.other or step.one] = step.inode
        elif step.what == "m":
            names[step.one] = None
        elif step.what in "ud":
            names.pop(step.one, None)
        elif step.one in names:  # it is renamed
            for name in [name for name in names if name == step.one or name.startswith(f"{step.one}/")]:
                names[step.other + name[len(step.one) :]] = names.pop(name)
    return list(itertools.compress(steps, map(operator.not_, last)))


def traced(subject: str, prepared: Path) -> tuple[list[Step], Due]:
    """What the command does to its files when nothing disturbs it, and what is due then."""
    place = Path(shutil.copytree(prepared, prepared.parent / "hurt"))
    # files keep their inodes where the copy is the folder that the trace begins with
    kept = Path(shutil.copytree(place, prepared.parent / "kept"))
    inodes = {path.stat().st_ino: (kept / path.relative_to(place)).stat().st_ino for path in place.rglob("*") if path.is_file()}
    _, trace, due = failing_calls.undisturbed(subject, prepared, place)
    shutil.rmtree(place)
    made, found = set[int](), list[Step]()
    for step in trace:
        made |= {step.inode} if step.what == "c" else set()
        inode = step.inode if step.inode in made else inodes.get(step.inode, step.inode)
        found.append(replace(step, inode=inode))
    return found, due


@dataclass
class Cuts:
    """Of one command. before: the folder that it began with. kept: answers in it. disk: of DISKS. seen: disks that were examined, with the
    most answers that were due."""

    subject: str
    before: Path
    due: Due
    trace: list[Step]
    kept: int
    choose: random.Random
    disk: str
    seen: dict[str, int] = field(default_factory=dict)

    @classmethod
    def of(cls, subject: str, folder: Path, seed: int, kind: str) -> Cuts:
        prepared = folder / subject.replace(" ", "-") / "prepared"
        prepared.mkdir(parents=True)
        failing_calls.prepare(subject, prepared)
        trace, due = traced(subject, prepared)
        choose = random.Random(f"{subject}/{seed}")
        return cls(subject, prepared.parent / "kept", due, trace, failing_calls.kept(prepared), choose, kind)

    def cut(self, at: int) -> tuple[bool, list[str]]:
        """Whether a disk that may remain after so many steps is a new one, and what is wrong with it."""
        place, answers = self.before.parent / "hurt", max(self.kept, traces.answers(self.trace[:at]))
        built = disk(self.before, self.trace[:at], self.choose, place, self.disk)
        most = self.seen.get(built, -1)
        self.seen[built] = max(most, answers)
        wrong = failing_calls.examine(self.subject, place, -9, replace(self.due, answers=answers)) if answers > most else []
        return most < 0, [f"{one} (after step {at} of {len(self.trace)})" for one in wrong]


def main() -> int:
    options = record.parser(__doc__, {"disk": DISKS}, times=1000, seconds=0.0, seed=0, disk="ext4").parse_args()
    failing_calls.preload()
    tally, findings, choose = Counter[tuple[str, str]](), list[str](), random.Random(options.seed)
    with tempfile.TemporaryDirectory(dir=IN_MEMORY if IN_MEMORY.is_dir() else None) as folder:
        commands = [Cuts.of(subject, Path(folder), options.seed, options.disk) for subject in failing_calls.SUBJECTS]
        moments = [(command, at) for command in commands for at in range(len(command.trace) + 1)]
        passes = itertools.chain.from_iterable(choose.sample(moments, len(moments)) for _ in itertools.count())
        for number, (command, at) in zip(record.numbers(options.times, options.seconds), passes):  # noqa: B905
            new, wrong = command.cut(at)
            tally[command.subject, "built"] += 1
            tally[command.subject, "different"] += new
            for one in wrong:
                tally[command.subject, one.partition(":")[0].partition(" (")[0]] += 1
                findings.append(f"{command.subject}: {one}")
                print(findings[-1], file=sys.stderr, flush=True)
            if number % failing_calls.OFTEN == failing_calls.OFTEN - 1:
                keep(options.results / "power_cuts", options.disk, options.seed, tally, findings)
    keep(options.results / "power_cuts", options.disk, options.seed, tally, findings)
    return 1 if findings else 0


def keep(place: Path, kind: str, seed: int, tally: Counter[tuple[str, str]], findings: list[str]) -> None:
    """In the record, beside what other seeds and kinds of disks came to."""
    found: dict[str, list[int]] = {subject: [tally[subject, result] for result in RESULTS] for subject in failing_calls.SUBJECTS}
    run = record.machine() | {"disk": kind, "seed": seed, "counts": found, "findings": findings}
    runs = record.instead(record.earlier(place), run, "disk", "seed")
    rows = list[list[Any]]()
    for each in DISKS:
        if counts := [run["counts"] for run in runs if run["disk"] == each]:
            sums = {subject: [*map(sum, zip(*(count[subject] for count in counts), strict=True))] for subject in found}
            sums["**all**"] = [*map(sum, zip(*sums.values(), strict=True))]
            rows += [[each, subject, *row] for subject, row in sums.items()]
    record.write(place, runs, record.table(("disk", "command", *RESULTS), rows))
