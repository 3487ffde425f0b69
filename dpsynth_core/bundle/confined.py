"""Check and repeat bundles in processes of their own with limited memory and time, so that a hostile one can do no harm.

Each process answers on its stdout, one JSON text per line: the steps of a run, then the rows part by part, if there are some, and at last
its outcome.
"""

from __future__ import annotations

import importlib
import json
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import IO, Any, BinaryIO

from dpsynth_core.bundle.pack import checked_name
from dpsynth_core.bundle.verdicts import INCONSISTENT, REPLAYED, SKIPPED, Check, Report, Summary
from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError, OracleError
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.release.release import Progress

VERIFY, REPLAY, REPRODUCE = "verify", "replay", "reproduce"
_PROGRAM = "dpsynth_core.bundle.confined_process"
USUAL = Limits()
_WAIT = 10
"""Times the seconds of work that are waited, for a busy machine."""


@dataclass(frozen=True)
class Task:
    """What a process has to do. place: of the bundle, "" where its `size` bytes come on stdin. public: path of the public table, or ""."""

    kind: str
    place: str
    size: int
    public: str
    limits: Limits

    @classmethod
    def from_json(cls, text: str) -> Task:
        obj = json.loads(text)
        return cls(**{**obj, "limits": Limits(**obj["limits"])})


@dataclass(frozen=True)
class Repeated:
    """What `reproduce` came to. rows: whether files of them were written; the others as in `reproduce.Reproduction`."""

    different: tuple[str, ...]
    versions: tuple[str, ...]
    rows: bool


class _Ended(Exception):
    """The process gave no answer. problem: why, as what follows the name of its work. beyond: it went beyond its limits."""

    def __init__(self, problem: str, beyond: bool) -> None:
        self.problem, self.beyond = problem, beyond


def verified(bundle: Path | bytes, limits: Limits = USUAL, public: Path | None = None) -> Report:
    """`verify.verify` of a ZIP or folder, or of a ZIP's bytes, and `replay.replayed` of what seems right, each within the limits.

    public: the public table, where one was used. Raises InputError as they and `unpack` do, CapacityError where the first goes beyond the
    limits, InputError where it fails otherwise; the second then leaves its question open.
    """
    try:
        report = _report(_answer(VERIFY, bundle, limits))
    except _Ended as ended:
        raise _unanswered("checking it", ended) from None
    if report.verdict == INCONSISTENT:
        return report
    try:
        return report.replayed(Check(**_answer(REPLAY, bundle, limits, public)["check"]))
    except _Ended as ended:
        more = "; allow more with --memory and --seconds on the command line" if ended.beyond else ""
        why = f"running the mechanism again {ended.problem}{more}"
        return report.replayed(Check(REPLAYED, SKIPPED, why))


def reproduced(
    bundle: Path, folder: Path, limits: Limits, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None
) -> Repeated:
    """`reproduce.reproduce` within the limits; the files of its rows appear in the folder when it has come to its end.

    Raises InputError and OracleError as it does, CapacityError beyond the limits.
    """
    streams: dict[str, BinaryIO] = {}
    try:
        with ExitStack() as files:

            def part(name: str, content: bytes) -> None:
                if name not in streams:
                    streams[name] = files.enter_context(private_file(folder / checked_name(name)))
                streams[name].write(content)

            made = _answer(REPRODUCE, bundle, limits, public, on_event, part)
    except _Ended as ended:
        raise _unanswered("running its mechanism again", ended) from None
    return Repeated(tuple(made["different"]), tuple(made["versions"]), bool(streams))


def _answer(
    kind: str,
    bundle: Path | bytes,
    limits: Limits,
    public: Path | None = None,
    on_event: Callable[[Progress], None] = lambda _: None,
    on_part: Callable[[str, bytes], None] = lambda *_: None,
) -> dict[str, Any]:
    """What a process says at last. on_part: takes the parts of files, with their names.

    Raises InputError where it refuses, OracleError where a search for records failed, and _Ended.
    """
    content = bundle if isinstance(bundle, bytes) else b""
    place = "" if isinstance(bundle, bytes) else str(bundle.absolute())
    task = Task(kind, place, len(content), "" if public is None else str(public.absolute()), limits)
    with _process(task, content) as process:
        for line in process.output:
            answer: dict[str, Any] = json.loads(line)
            if "step" in answer:
                on_event(Progress.from_json(answer["step"]))
                continue
            if "part" in answer:
                name, size = answer["part"]
                on_part(name, process.output.read(size))
                continue
            if "unsolved" in answer:
                raise OracleError(*answer["unsolved"])
            if "refused" in answer:
                raise InputError(*answer["refused"])
            if "failed" in answer:
                raise _Ended(f"failed with {answer['failed']}", beyond=False)
            return answer
        raise process.ended(limits)


@dataclass(frozen=True)
class _Process:
    output: IO[bytes]
    process: subprocess.Popen[bytes]
    late: threading.Event

    def ended(self, limits: Limits) -> _Ended:
        """Why it did, without an answer. Raises InputError where a package is missing."""
        code = self.process.wait()
        late = f"has not come to an end in {_WAIT * limits.seconds:,} seconds" if self.late.is_set() else ""
        if beyond := late or limits.exceeded(code):
            return _Ended(beyond, beyond=True)
        try:
            importlib.import_module(_PROGRAM)  # what that process has not, this one has not either
        except ImportError as error:
            if (cause := cause_of(error)) is not None:
                raise cause from None
        return _Ended(confinement.fate(code), beyond=False)


@contextmanager
def _process(task: Task, content: bytes) -> Iterator[_Process]:
    """A process that works on the task. It is gone afterwards, and ends with this one: it watches its stdin."""
    process = subprocess.Popen(
        confinement.command(_PROGRAM, json.dumps(asdict(task))),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,  # a traceback quotes the bundle
        env=confinement.environment(),
    )
    assert process.stdin is not None
    assert process.stdout is not None
    late = threading.Event()

    def end() -> None:
        late.set()
        process.kill()

    watch = threading.Timer(_WAIT * task.limits.seconds, end)
    watch.start()
    try:
        with suppress(BrokenPipeError):
            process.stdin.write(content)
            process.stdin.flush()
        yield _Process(process.stdout, process, late)
    finally:
        watch.cancel()
        process.kill()
        process.wait()
        process.stdout.close()
        with suppress(BrokenPipeError):
            process.stdin.close()


def _report(answer: dict[str, Any]) -> Report:
    summary = answer["report"]["summary"]
    if summary is not None:
        facts = tuple((name, text) for name, text in summary["facts"])
        summary = Summary(tuple(summary["warnings"]), summary["statement"], facts)
    checks = tuple(Check(**check) for check in answer["report"]["checks"])
    return Report(checks, answer["report"]["sha256"], summary, answer["report"]["page"], answer["report"]["signer"])


def _unanswered(what: str, ended: _Ended) -> InputError:
    if ended.beyond:
        remedy = "if you trust whoever made it, allow more with --memory and --seconds on the command line"
        return CapacityError("bundle", f"{what} {ended.problem}", remedy)
    return InputError("bundle", f"{what} {ended.problem}", "nothing is known of it; try again, and report it if that does not help")
