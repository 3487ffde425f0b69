"""Break runs of the command line and count what is lost: ``python -m benchmarks faults [--times N] [--only CASE]``.

Each case charges people of its own for one release and hurts the process while it works: a signal or `kill -9` at a random
moment, a disk that takes no more bytes (a limit on the size of files, so that no rights are needed), a folder that is replaced. Then it
looks at three things. Undercharged: an answer of the kernel is on disk, and the ledger has no charge. Lost: there are answers, and neither
a complete release nor one that `recover` makes. Wrong: another exit code than 0, 1, 2 or 130 (-9 for a kill; that of any signal which comes
before the program's first line), a traceback, or exit code 0 without a release.
Prints a table in Markdown.
"""

from __future__ import annotations

import json
import multiprocessing
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import ForkServerProcess
from pathlib import Path
from typing import NoReturn

import numpy as np

from benchmarks import record
from benchmarks.table import ROOT

DOMAIN = {"a": 4, "b": 5, "c": 3}
SIZES = (16_000, 200_000, 300_000)
"""Bytes that a file may have when the disk counts as full: too few for the ledger, for its log, and for the rows of the release."""

_FORKS = multiprocessing.get_context("forkserver")
"""Commands are forked from a process that has imported everything: starting Python anew each time would take longer than the runs."""

QUICK = ("--mechanism", "independent", "--workload", "all-1way")
LONG = ("--workload", "all-2way", "--set", "rounds_per_attribute=40", "--rows", "40000")


@dataclass(frozen=True)
class Ended:
    """A command that has ended. code: of the exit, negative for a signal."""

    code: int
    stdout: str
    stderr: str


@dataclass(frozen=True)
class Command:
    """A command at work. Its output goes to files, which need not be read meanwhile."""

    process: ForkServerProcess
    stdout: Path
    stderr: Path

    def running(self) -> bool:
        return self.process.is_alive()

    def send(self, number: signal.Signals) -> None:
        """Send a signal, unless the command has ended."""
        if self.process.is_alive() and self.process.pid is not None:
            os.kill(self.process.pid, number)

    def wait(self) -> Ended:
        self.process.join()
        code = self.process.exitcode
        self.process.close()
        return Ended(-1 if code is None else code, self.stdout.read_text(errors="replace"), self.stderr.read_text(errors="replace"))


def _warm_up() -> None:
    """Start the process that the others are forked from. It imports every module of the program that a command can need."""
    os.environ["PYTHONPATH"] = str(ROOT)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    package = ROOT / "dpsynth_core"
    modules = [".".join(path.relative_to(ROOT).with_suffix("").parts) for path in sorted(package.rglob("*.py"))]
    needed = [name for name in modules if ".web" not in name and ".charts" not in name and not name.endswith(("__main__", "__init__"))]
    _FORKS.set_forkserver_preload([name for name in needed if not name.endswith("_process")])


def _start(folder: Path, *arguments: str, file_limit: int | None = None) -> Command:
    """Start `python -m dpsynth_core ARGUMENTS` in a folder whose `home` is its DPSYNTH_HOME.

    file_limit: the largest file that the process can write, in bytes; what it writes beyond fails as on a full disk.
    """
    place = folder / "output"
    place.mkdir(exist_ok=True)
    number = len(list(place.iterdir()))
    stdout, stderr = place / f"{number}.out", place / f"{number}.err"
    stdout.touch()
    stderr.touch()
    process = _FORKS.Process(target=_command, args=(folder, arguments, stdout, stderr, file_limit), daemon=False)
    process.start()
    return Command(process, stdout, stderr)


def _command(folder: Path, arguments: tuple[str, ...], stdout: Path, stderr: Path, file_limit: int | None) -> NoReturn:
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    for descriptor, path in ((1, stdout), (2, stderr)):
        opened = os.open(path, os.O_WRONLY | os.O_APPEND)
        os.dup2(opened, descriptor)
        os.close(opened)
    if file_limit is not None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, as of a full disk, and not a death
        resource.setrlimit(resource.RLIMIT_FSIZE, (file_limit, file_limit))
    os.chdir(folder)
    os.environ["DPSYNTH_HOME"] = str(folder / "home")
    sys.argv = ["dpsynth_core", *arguments]
    from dpsynth_core.__main__ import main as begin

    begin()


@dataclass
class Tally:
    tried: int = 0
    charged: int = 0
    whole: int = 0
    recovered: int = 0
    undercharged: int = 0
    lost: int = 0
    wrong: int = 0


class Place:
    """A folder with a table and a home, thrown away after its case."""

    def __init__(self) -> None:
        self.folder = Path(tempfile.mkdtemp(prefix="faults"))
        self.home = self.folder / "home"
        rows = np.random.default_rng(0).integers(0, list(DOMAIN.values()), (2000, 3))
        np.savetxt(self.folder / "people.csv", rows, fmt="%d", delimiter=",", header="a,b,c", comments="")
        (self.folder / "domain.json").write_text(json.dumps(DOMAIN))

    def run(self, *arguments: str) -> Ended:
        return _start(self.folder, *arguments).wait()

    def synthesize(self, *more: str, out: str = "out", file_limit: int | None = None) -> Command:
        arguments = ("synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", out, "--population", "people", *more)
        return _start(self.folder, *arguments, file_limit=file_limit)

    def answers(self) -> bool:
        """Whether an answer of the kernel is on disk in a spool."""
        return any(file.read_bytes().count(b"\n") > 1 for file in (self.home / "spools").glob("*.jsonl"))

    def released(self, out: str) -> bool:
        """Whether there is a complete release; `verify` opens all of it."""
        bundle = self.folder / out / "release.zip"
        return bundle.exists() and self.run("verify", f"{out}/release.zip").code in (0, 4)

    def charged(self) -> bool:
        ledger = self.run("ledger", "export").stdout
        return "touch" in [entry["kind"] for entry in json.loads(ledger or "[]")]


def signalled(seconds: float, number: signal.Signals) -> Callable[[Place], Ended]:
    """Signal the run at a moment drawn from the time that a run takes."""

    def hurt(place: Place) -> Ended:
        command = place.synthesize(*LONG)
        time.sleep(random.uniform(0, seconds))
        command.send(number)
        return command.wait()

    return hurt


def full(limit: int) -> Callable[[Place], Ended]:
    """Let the run meet a full disk; its database exists already, so that small limits reach its later files too."""

    def hurt(place: Place) -> Ended:
        place.run("ledger", "check")
        return place.synthesize(*LONG, file_limit=limit).wait()

    return hurt


def vanished(place: Place) -> Ended:
    """Delete the folder for the result and put a file in its place while the run is at work."""
    command = place.synthesize(*LONG)
    while command.running() and not place.answers():
        time.sleep(0.005)
    shutil.rmtree(place.folder / "out", ignore_errors=True)
    (place.folder / "out").write_text("in the way")
    ended = command.wait()
    (place.folder / "out").unlink(missing_ok=True)
    return ended


def examine(place: Place, ended: Ended, tally: Tally) -> None:
    tally.tried += 1
    answers, whole, charged = place.answers(), place.released("out"), place.charged()
    recovered = answers and place.run("recover", "--out", "again").code == 0 and place.released("again")
    tally.charged += charged
    tally.whole += whole
    tally.recovered += recovered
    tally.undercharged += (answers or whole) and not charged
    tally.lost += answers and not whole and not recovered
    killed = ended.code == -signal.SIGKILL or (ended.code < 0 and not charged)  # a signal that comes before the program's first line
    wrong_end = not (killed or ended.code in (0, 1, 2, 130)) or "Traceback" in ended.stderr
    tally.wrong += wrong_end or (ended.code == 0 and not whole)


def undisturbed() -> float:
    """Seconds that an undisturbed run takes."""
    place = Place()
    place.synthesize(*QUICK, out="first").wait()  # the process that the others are forked from starts here
    began = time.monotonic()
    ended = place.synthesize(*LONG).wait()
    if ended.code != 0:
        raise SystemExit(f"an undisturbed run ended with {ended.code}: {ended.stderr}")
    shutil.rmtree(place.folder)
    return time.monotonic() - began


def main() -> None:
    parser = record.options(__doc__, times=10)
    parser.add_argument("--only", default="", help="the cases whose name contains this")
    options = parser.parse_args()
    _warm_up()
    seconds = undisturbed()
    cases: dict[str, Callable[[Place], Ended]] = {
        "kill -9": signalled(seconds, signal.SIGKILL),
        "Ctrl-C": signalled(seconds, signal.SIGINT),
        "SIGTERM": signalled(seconds, signal.SIGTERM),
        "SIGHUP": signalled(seconds, signal.SIGHUP),
        **{f"files of at most {limit // 1000} kB": full(limit) for limit in SIZES},
        "the folder replaced by a file": vanished,
    }
    print("\n".join(record.table(("fault", "tried", "charged", "complete", "recovered", "undercharged", "lost", "wrong end"), ())))
    for name, hurt in ((name, hurt) for name, hurt in cases.items() if options.only in name):
        tally = Tally()
        for _ in range(options.times):
            place = Place()
            examine(place, hurt(place), tally)
            shutil.rmtree(place.folder)
        print(record.row((name, *vars(tally).values())), flush=True)
