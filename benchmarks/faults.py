"""Break runs of the command line and count what is lost: ``python -m benchmarks.faults [--times N] [--only CASE]``.

Each case charges people of its own for one release and hurts the process while it works: a signal or `kill -9` at a random moment, a disk
that takes no more bytes (a limit on the size of files, so that no rights are needed), a folder that is replaced. Then it looks at three
things. Undercharged: an answer of the kernel is on disk, and the ledger has no charge. Lost: there are answers, and neither a complete
release nor one that `recover` makes. Wrong: another exit code than 0, 1, 2 or 130 (-9 for a kill), a traceback, or exit code 0 without
a release. Prints the table as Markdown.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
DOMAIN = {"a": 4, "b": 5, "c": 3}
SIZES = (16_000, 200_000, 300_000)
"""Bytes that a file may have when the disk counts as full: too few for the ledger, for its log, and for the rows of the release."""


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
        rows = np.random.default_rng(0).integers(0, list(DOMAIN.values()), (2000, 3))
        np.savetxt(self.folder / "people.csv", rows, fmt="%d", delimiter=",", header="a,b,c", comments="")
        (self.folder / "domain.json").write_text(json.dumps(DOMAIN))

    def start(self, *arguments: str, limit: int | None = None) -> subprocess.Popen[str]:
        """limit: the largest file that the process can write, in bytes."""

        def prepare() -> None:
            for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
                signal.signal(number, signal.SIG_DFL)
            if limit is not None:
                signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # an error, as of a full disk, and not a death
                resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

        environment = {**os.environ, "PYTHONPATH": str(ROOT), "DPSYNTH_HOME": str(self.folder / "home")}
        command = [sys.executable, "-m", "dpsynth_core", *arguments]
        quiet, said = subprocess.DEVNULL, subprocess.PIPE
        return subprocess.Popen(command, cwd=self.folder, env=environment, stdout=quiet, stderr=said, text=True, preexec_fn=prepare)

    def synthesize(self, limit: int | None = None) -> subprocess.Popen[str]:
        more = ("--workload", "all-2way", "--set", "rounds_per_attribute=40", "--population", "people", "--rows", "40000")
        return self.start("synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", *more, limit=limit)

    def answers(self) -> bool:
        """Whether an answer of the kernel is on disk in a spool."""
        return any(file.read_bytes().count(b"\n") > 1 for file in (self.folder / "home" / "spools").glob("*.jsonl"))

    def released(self, out: str) -> bool:
        """Whether there is a complete release; `verify` opens all of it."""
        if not (self.folder / out / "release.zip").exists():
            return False
        check = self.start("verify", f"{out}/release.zip")
        check.communicate()
        return check.returncode == 0

    def charged(self) -> bool:
        ledger = subprocess.run(
            [sys.executable, "-m", "dpsynth_core", "ledger", "export"],
            cwd=self.folder,
            env={**os.environ, "PYTHONPATH": str(ROOT), "DPSYNTH_HOME": str(self.folder / "home")},
            capture_output=True,
            text=True,
            check=False,
        ).stdout
        kinds = [entry["kind"] for entry in json.loads(ledger or "[]")]
        return "touch" in kinds


def after(seconds: float, number: signal.Signals) -> Callable[[Place], tuple[int, str]]:
    """Signal the run at a moment drawn from the time that a run takes."""

    def hurt(place: Place) -> tuple[int, str]:
        process = place.synthesize()
        time.sleep(random.uniform(0.05, seconds))
        process.send_signal(number)
        said = process.communicate()[1]
        return process.returncode, said

    return hurt


def full(limit: int) -> Callable[[Place], tuple[int, str]]:
    """Let the run meet a full disk; its database exists already, so that small limits reach its later files too."""

    def hurt(place: Place) -> tuple[int, str]:
        place.start("ledger", "check").communicate()
        process = place.synthesize(limit)
        said = process.communicate()[1]
        return process.returncode, said

    return hurt


def vanished(place: Place) -> tuple[int, str]:
    """Delete the folder for the result and put a file in its place while the run is at work."""
    process = place.synthesize()
    while process.poll() is None and not place.answers():
        time.sleep(0.005)
    shutil.rmtree(place.folder / "out", ignore_errors=True)
    (place.folder / "out").write_text("in the way")
    said = process.communicate()[1]
    (place.folder / "out").unlink()
    return process.returncode, said


def examine(place: Place, code: int, said: str, tally: Tally) -> None:
    tally.tried += 1
    answers, whole, charged = place.answers(), place.released("out"), place.charged()
    recovered = False
    if answers:
        process = place.start("recover", "--out", "again")
        process.communicate()
        recovered = process.returncode == 0 and place.released("again")
    tally.charged += charged
    tally.whole += whole
    tally.recovered += recovered
    tally.undercharged += (answers or whole) and not charged
    tally.lost += answers and not whole and not recovered
    tally.wrong += code not in (0, 1, 2, 130, -signal.SIGKILL) or "Traceback" in said or (code == 0 and not whole)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--times", type=int, default=10, help="tries of each case")
    parser.add_argument("--only", default="", help="the cases whose name contains this")
    options = parser.parse_args()
    undisturbed = Place()
    began = time.monotonic()
    process = undisturbed.synthesize()
    process.communicate()
    seconds = time.monotonic() - began
    shutil.rmtree(undisturbed.folder)
    cases: dict[str, Callable[[Place], tuple[int, str]]] = {
        "kill -9": after(seconds, signal.SIGKILL),
        "Ctrl-C": after(seconds, signal.SIGINT),
        "SIGTERM": after(seconds, signal.SIGTERM),
        "SIGHUP": after(seconds, signal.SIGHUP),
        **{f"files of at most {limit // 1000} kB": full(limit) for limit in SIZES},
        "the folder replaced by a file": vanished,
    }
    print("| fault | tried | charged | complete | recovered | undercharged | lost | wrong end |")
    print("|---|---|---|---|---|---|---|---|")
    for name, hurt in ((name, hurt) for name, hurt in cases.items() if options.only in name):
        tally = Tally()
        for _ in range(options.times):
            place = Place()
            examine(place, *hurt(place), tally)
            shutil.rmtree(place.folder)
        print(f"| {name} | {' | '.join(str(value) for value in vars(tally).values())} |", flush=True)


if __name__ == "__main__":
    main()
