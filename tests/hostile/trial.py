"""Runs a case and judges it by the rules that the command line promises, whatever was asked.

The command runs in this process, with a home of its own, its output caught at the level of file descriptors, a limit on processor time and
one on memory. What is wrong comes back as sentences; none means that the promise was kept:

- the exit code is one that the case allows; nothing else than a promised exit is ever "the run failed with ...";
- 2: one line on stderr that begins with "error: ", no source was opened, nothing is charged, and no release is there;
- 1: the charge stands, and the message says that it stays;
- no traceback, no endless line, no warning of a library;
- no canary in output, in a file name or in any file that was written but the tables that the case made;
- within its time and memory.
"""

from __future__ import annotations

import os
import resource
import shutil
import signal
import sys
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest.mock import patch

from dpsynth_core import cli
from dpsynth_core.bundle import confined, reproduce, unpack, verdicts, verify
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import synthesis
from dpsynth_core.store import chain
from tests.hostile.attempts import DONE, FAILED, REFUSED, Attempt, Case
from tests.hostile.people import CANARIES

MEGABYTES = 1500
"""That a case may add to what the process holds."""
ADDRESS_SPACE_MB = 6000
WATCHED = 150
"""Seconds: what gets no further for so long waits for something that may never come. A busy machine gives everybody some of its time."""
LEAST_WORK = 0.1
"""Of processor seconds in that time."""
SECONDS_SHARE = 1.0
"""Of the seconds that cases may take; a larger one for a slower machine."""
LONGEST_LINE = 2000
_ALLOWED = ("error: ", "warning: ")
_PROGRESS = (
    *("budget, as planned: ", "round ", "note: ", "certificate: ", "verdict: ", "models: ", "ranges: ", "means: ", "weighted: "),
    *("ledger: entry ", "signed: by ", "kept: ", "done"),
    *("counting ", "writing ", "measuring ", "training ", "0."),
)


class _Hangs(BaseException):
    """Raised by the watchdog; not an Exception, so that the program cannot take it for one of its own."""


@dataclass(frozen=True)
class Outcome:
    """wrong: what promise was broken, if any; sentences."""

    code: int | None
    stdout: str
    stderr: str
    seconds: float
    megabytes: float
    wrong: tuple[str, ...]


def judge(case: Case) -> Outcome:
    """Make a case in a new folder, run it there, and judge it."""
    place = Path(tempfile.mkdtemp(prefix="hostile-"))
    try:
        work = place / "work"
        work.mkdir()
        attempt = case.make(work)
        made = set(_files(work))
        environment = {"DPSYNTH_HOME": str(place / "home"), "HOME": str(place)} | attempt.environment
        with _place(work, environment):
            outcome, opened = _run(attempt, place)
            wrong = [*_of_code(attempt, outcome, opened, work), *_of_lines(outcome, attempt.replays), *_of_canaries(outcome, place, made)]
        if outcome.megabytes > MEGABYTES:
            wrong.append(f"it took {outcome.megabytes:,.0f} MB")
        return Outcome(outcome.code, outcome.stdout, outcome.stderr, outcome.seconds, outcome.megabytes, tuple(wrong))
    finally:
        for folder in (place, *place.rglob("*")):
            with suppress(OSError):
                if folder.is_dir() and not folder.is_symlink():
                    folder.chmod(0o700)
        shutil.rmtree(place, ignore_errors=True)


@contextmanager
def _place(work: Path, environment: dict[str, str]) -> Iterator[None]:
    before = Path.cwd()
    os.chdir(work)
    try:
        with patch.dict(os.environ, environment):
            os.environ.pop("DPSYNTH_DEBUG", None)
            yield
    finally:
        os.chdir(before)


def _run(attempt: Attempt, place: Path) -> tuple[Outcome, bool]:
    """What came out, and whether a source was opened."""
    opened: list[bool] = []
    open_source = synthesis.open_source

    def noting(plan: synthesis.Plan) -> synthesis.MarginalSource:
        opened.append(True)
        if attempt.meanwhile is not None:
            attempt.meanwhile()
        return open_source(plan)

    resident = _memory("VmRSS")
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the peak starts anew
    start, code = time.monotonic(), None
    with (
        patch.object(synthesis, "open_source", noting),
        patch.object(confined, "verified", _verified_here),
        patch.object(confined, "reproduced", _reproduced_here),
        _caught(place) as caught,
        _limits(SECONDS_SHARE * attempt.seconds),
    ):
        try:
            code = cli.main(attempt.arguments)
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
        except _Hangs:
            _disarm()
            code = None
    stdout, stderr = (path.read_bytes().decode(errors="replace") for path in caught)
    return Outcome(code, stdout, stderr, time.monotonic() - start, _memory("VmHWM") - resident, ()), bool(opened)


def _verified_here(bundle: Path | bytes, limits: Limits, _public: Path | None = None) -> verdicts.Report:
    """`confined.verified` without a process for each case, and without running the mechanism again."""
    try:
        return verify.verify(unpack.read_bytes(bundle) if isinstance(bundle, bytes) else unpack.read(bundle))
    except (MemoryError, RecursionError):
        raise InputError("bundle", f"it takes more than {limits.megabytes} MB", "allow more") from None


def _reproduced_here(bundle: Path, _folder: Path, limits: Limits, on_event: Any, public: Path | None = None) -> confined.Repeated:
    """`confined.reproduced` likewise."""
    try:
        again = reproduce.reproduce(unpack.read(bundle), on_event, public)
    except (MemoryError, RecursionError):
        raise InputError("bundle", f"it takes more than {limits.megabytes} MB", "allow more") from None
    return confined.Repeated(again.different, again.versions, rows=False)


def _of_code(attempt: Attempt, outcome: Outcome, opened: bool, work: Path) -> Iterator[str]:
    last = (outcome.stderr.strip().splitlines() or [""])[-1]
    if outcome.code is None:
        yield "it hangs"
    elif outcome.code not in attempt.codes:
        yield f"it ends with {outcome.code} and not with {' or '.join(map(str, sorted(attempt.codes)))}"
    if "failed with" in last:
        yield "it met an exception that nobody expected"
    charged = attempt.charges and any(entry.kind == "touch" for entry in chain.entries())
    if outcome.code == REFUSED:
        if opened:
            yield "it opened the source and ends with 2"
        if charged:
            yield "it charged and ends with 2"
        if (_out(attempt, work) / "release.json").is_file():
            yield "it wrote a release and ends with 2"
    if outcome.code == FAILED and opened and "what was charged stays charged" not in last:
        yield "it ends with 1 and does not say that the charge stays"
    if outcome.code in (DONE, FAILED) and attempt.charges and opened and not charged:
        yield "it opened the source and charged nothing"
    if outcome.code == DONE and opened and not (_out(attempt, work) / "release.json").is_file():
        yield "it wrote no release and ends with 0"


def _out(attempt: Attempt, work: Path) -> Path:
    """The folder that the command was told to write to."""
    given = dict(zip(attempt.arguments, attempt.arguments[1:], strict=False))
    return work / given.get("--out", "out").replace("\0", "")


def _of_lines(outcome: Outcome, replays: bool) -> Iterator[str]:
    lines = outcome.stderr.splitlines()
    if "Traceback" in outcome.stderr or "Traceback" in outcome.stdout:
        yield "it prints a traceback"
    if any(len(line) > LONGEST_LINE for line in lines):
        yield f"a line has more than {LONGEST_LINE} characters"
    if outcome.code == REFUSED:
        errors = [line for line in lines if line.startswith("error: ")]
        others = [line for line in lines if not line.startswith("error: ")]
        if replays:
            others = [line for line in others if not line.startswith(_PROGRESS)]
        if len(errors) != 1 or others:
            yield f"it says {len(lines)} lines where one is promised"
        elif errors[0].count("; ") < 1 or errors[0].count(": ") < 2:
            yield "its message lacks field, problem or remedy"
    elif strange := [line for line in lines if not line.startswith((*_ALLOWED, *_PROGRESS))]:
        yield f"it prints {strange[0][:80]!r}"


def _of_canaries(outcome: Outcome, place: Path, made: set[Path]) -> Iterator[str]:
    for canary in CANARIES:
        if canary in outcome.stdout or canary in outcome.stderr:
            yield f"it prints the canary {canary}"
        for path in _files(place):
            if path in made or path.name in ("stdout", "stderr"):
                continue
            if canary in path.name or any(canary.encode() in content for content in _contents(path)):
                yield f"the canary {canary} is in {path.relative_to(place)}"


def _files(place: Path) -> Iterator[Path]:
    for folder, _, names in os.walk(place):
        yield from (Path(folder, name) for name in names)


def _contents(path: Path) -> Iterator[bytes]:
    if not path.is_file():
        return
    content = path.read_bytes()
    yield content
    if path.suffix == ".zip":
        with zipfile.ZipFile(path) as archive:
            yield from map(archive.read, archive.namelist())


@contextmanager
def _caught(place: Path) -> Iterator[tuple[Path, Path]]:
    """What this process writes to its descriptors 1 and 2, also from libraries in C."""
    paths = (place / "stdout", place / "stderr")
    kept = [os.dup(number) for number in (1, 2)]
    streams = sys.stdout, sys.stderr
    out, err = (path.open("w", encoding="utf-8", errors="backslashreplace") for path in paths)
    with out, err:
        os.dup2(out.fileno(), 1)
        os.dup2(err.fileno(), 2)
        sys.stdout, sys.stderr = out, err
        try:
            yield paths
        finally:
            sys.stdout, sys.stderr = streams
            for number, descriptor in zip((1, 2), kept, strict=True):
                os.dup2(descriptor, number)
                os.close(descriptor)


@contextmanager
def _limits(seconds: float) -> Iterator[None]:
    """A watchdog over processor time and for what waits for ever, and a bound on the address space for the worst."""
    worked = time.process_time()

    def stop(number: int, _: object) -> None:
        nonlocal worked
        earlier, worked = worked, time.process_time()
        if number == signal.SIGPROF or worked - earlier < LEAST_WORK:
            raise _Hangs

    before = {number: signal.signal(number, stop) for number in (signal.SIGPROF, signal.SIGALRM)}
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    signal.setitimer(signal.ITIMER_PROF, seconds, 1)
    signal.setitimer(signal.ITIMER_REAL, WATCHED, WATCHED)
    resource.setrlimit(resource.RLIMIT_AS, (int((_memory("VmSize") + ADDRESS_SPACE_MB) * 2**20), hard))
    try:
        yield
    finally:
        _disarm()
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
        for number, handler in before.items():
            signal.signal(number, handler)


def _disarm() -> None:
    for timer in (signal.ITIMER_PROF, signal.ITIMER_REAL):
        signal.setitimer(timer, 0)


def _memory(name: str) -> float:
    """A line of /proc/self/status, in MB."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) / 1024 for line in lines if line.startswith(f"{name}:"))
