"""Checks and repetitions of bundles in confined processes, so that a hostile bundle can do no harm.

Each process has limited memory and time, and can read the bundle's files alone. `work` holds its content.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pydantic import TypeAdapter

from dpsynth_core.bundle.pack import checked_name
from dpsynth_core.bundle.verdicts import ALLOW_MORE, INCONSISTENT, REPLAYED, SKIPPED, Check, Report, Running
from dpsynth_core.foundation import confined
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.release import Progress

if TYPE_CHECKING:
    from dpsynth_core.report.asking import Asked

USUAL = Limits()
_WAIT = 10
"""Factor from the seconds of work to the wait for each answer, for a busy machine."""


@dataclass(frozen=True)
class Repeated:
    """The result of `reproduced`.

    Attributes:
        different: Parts of release.json that differ from the published ones, and "rows".
        versions: Versions and processor that differ here.
        rows: Whether files of rows were written.
    """

    different: tuple[str, ...]
    versions: tuple[str, ...]
    rows: bool


@dataclass(frozen=True)
class Wanted:
    """A request for rows from a bundle's model.

    Attributes:
        rows: Number of rows.
        where: Conditions COLUMN=VALUE on the rows; everybody if empty.
        seed: Seed of the draw.
        form: A format of `row_formats.FORMATS`.
        file: Name of the file, for what is written beside it.
    """

    rows: int
    where: tuple[str, ...] = ()
    seed: int = 1
    form: str = "csv"
    file: str = ""


@dataclass(frozen=True)
class Sampled:
    """A sentence about drawn rows, and the files to be written with them.

    Attributes:
        errors: A sentence about the known errors of the rows.
        beside: Files to be written beside the file of rows, by name (`extension.beside`).
    """

    errors: str
    beside: Mapping[str, str]


def verified(
    bundle: Path | bytes, limits: Limits = USUAL, public: Path | None = None, on_check: Callable[[Running], None] = lambda _: None
) -> Report:
    """Run `verify.verify` and, if no check fails, `reproduce.replayed`, each in a process with limits.

    For a bundle that is not a release, the checks of its own kind are made instead, and no mechanism is run again.

    Args:
        bundle: A ZIP or folder, or a ZIP's bytes.
        limits: Limits of each of the two processes, by default 1,024 MB of memory and 30 seconds of work.
        public: Path of the public table, if the plan used one.
        on_check: Called before each check.

    Returns:
        The report of all checks. A failed check raises no error. If the second process ends without an answer, its
        question stays open.

    Raises:
        InputError: The bundle cannot be read, the first process fails, or the public table cannot be used.
        CapacityError: The first process exceeds the limits.
    """
    with _answering("checking it"):
        report = _checked(bundle, limits, on_check)
    if report.verdict == INCONSISTENT or report.kind:
        return report
    on_check(Running(REPLAYED, len(report.checks), len(report.checks)))
    try:
        return report.replayed(Check(**confined.answer(*_asked("repeated", bundle, public), **_within(limits, bundle, public))))
    except Ended as ended:
        more = f"; {ALLOW_MORE}" if ended.beyond else ""
        why = f"running the mechanism again {ended.problem}{more}"
        return report.replayed(Check(REPLAYED, SKIPPED, why))


def _checked(bundle: Path | bytes, limits: Limits, on_check: Callable[[Running], None]) -> Report:
    with Work(*_asked("verified", bundle), **_within(limits, bundle)) as answers:
        for answer in answers:
            if "running" not in answer:
                return TypeAdapter(Report).validate_python(answer)
            on_check(TypeAdapter(Running).validate_python(answer["running"]))
    raise Ended("gives no answer")


def reproduced(
    bundle: Path, folder: Path, limits: Limits, on_event: Callable[[Progress], None] = lambda _: None, public: Path | None = None
) -> Repeated:
    """Run `reproduce.reproduce` in a process with limits, and write the rows to `folder`.

    The files appear in the folder when the run has ended, and replace files of the same names; if the run fails, none
    appears. A release that was interrupted has no rows, so no file is written.

    Args:
        bundle: A ZIP or folder.
        folder: The folder for the files of rows.
        limits: Limits of the process; the rows may take as many megabytes as its memory.
        on_event: Called with each step of the run.
        public: Path of the public table, if the plan used one.

    Returns:
        What differs from the published release (a difference raises no error), and whether files
        were written.

    Raises:
        InputError: The mechanism cannot be run again, or the process fails.
        OracleError: A search for records failed.
        CapacityError: The process exceeds the limits, or the rows do.
    """
    with ExitStack() as files:
        streams = list[BinaryIO]()

        def opened(name: str) -> BinaryIO:
            streams.append(files.enter_context(private_file(folder / checked_name(name))))
            return streams[-1]

        made = _run_again(_asked("reproduced", bundle, public), limits, [bundle, public], on_event, opened)
    return Repeated(tuple(made["different"]), tuple(made["versions"]), bool(streams))


def sampled(
    bundle: Path | bytes,
    stream: BinaryIO,
    wanted: Wanted,
    limits: Limits,
    on_event: Callable[[Progress], None] = lambda _: None,
    public: Path | None = None,
) -> Sampled:
    """Draw new rows from a bundle's model (`sampling.sample`) and write them to the stream.

    After an error, the stream may hold the beginning of the file.

    Args:
        bundle: A ZIP or folder, or a ZIP's bytes.
        stream: Receives the file of rows.
        wanted: The rows to draw.
        limits: Limits of the process; the file may take as many megabytes as its memory.
        on_event: Called with each step of the fit.
        public: Path of the public table, if the plan used one.

    Returns:
        A sentence on the rows' errors, and files that the caller is to write beside the file of rows.

    Raises:
        InputError: The model cannot be fitted or has no such rows, the format cannot hold them, or the process fails.
        OracleError: A search for records failed.
        CapacityError: The process exceeds the limits, or the file does.
    """
    asked = (*_asked("sampled", bundle, public), wanted.rows, list(wanted.where), wanted.seed, wanted.form, wanted.file)
    last = _run_again(asked, limits, [bundle, public], on_event, lambda _: stream)
    beside = {f"{wanted.file}{end}": str(text) for end, text in last["beside"].items() if checked_name(f"a{end}")}
    return Sampled(str(last["errors"]), beside)


def compared(before: Path, after: Path, form: str, limits: Limits) -> tuple[list[str], bytes]:
    """Compare two releases in a process with limits.

    Args:
        before: The ZIP or folder of the earlier release.
        after: The ZIP or folder of the later release.
        form: Format of the report: "html" or "md".
        limits: Limits of the process.

    Returns:
        The summary line by line, and the content of the report.

    Raises:
        InputError: A bundle cannot be read or is not a release, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    places = (str(place.absolute()) for place in (before, after))
    with _answering("comparing them"), Work(f"{__package__}.work:compared", *places, form, **_within(limits, before, after)) as answers:
        lines, report = answers
        return list(lines), bytes(report)


def asked(bundle: Path, typed: Asked, limits: Limits) -> list[str]:
    """Return the answer of a release's bundle to a typed question as text, line by line.

    Args:
        bundle: A ZIP or folder.
        typed: The question.
        limits: Limits of the process.

    Raises:
        InputError: The bundle cannot be read, is not a release or cannot answer the question, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    with _answering("asking it"), Work(*_asked("asked", bundle), asdict(typed), **_within(limits, bundle)) as answers:
        return [str(line) for line in answers]


def answered(function: str, bundle: bytes, *arguments: str) -> Any:
    """Return what a function says of a bundle, which runs in a process with the usual limits: 1,024 MB of memory and 30 seconds of work.

    Args:
        function: The generator function, as "module:function". It takes the bytes of the ZIP and the arguments, and yields one value.
        bundle: The ZIP.
        *arguments: Further arguments.

    Raises:
        InputError: The function raises it, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    with _answering("computing it"):
        return confined.answer(function, bundle, *arguments, **_within(USUAL, bundle))


def planned(bundle: Path | bytes) -> Spec:
    """Return the spec of a bundle, read in a process with the usual limits: 1,024 MB of memory and 30 seconds of work.

    Raises:
        InputError: The spec cannot be read (`unpack.plan_of`), or the process exceeds the limits.
    """
    try:
        return Spec.from_json(confined.answer(*_asked("planned", bundle), **_within(USUAL, bundle)))
    except Ended as ended:
        raise InputError("bundle", f"reading its plan {ended.problem}", "check the bundle with `verify` first") from None


def _run_again(
    asked: tuple[Any, ...],
    limits: Limits,
    files: Sequence[Path | bytes | None],
    on_event: Callable[[Progress], None],
    opened: Callable[[str], BinaryIO],
) -> dict[str, Any]:
    """Run a mechanism again in a process with limits, and return the last message of the process.

    The earlier messages are steps of the run, which go to `on_event`, and parts of files, which are
    written to the streams that `opened` returns.

    Args:
        asked: The function of `work` and its arguments.
        limits: Limits of the process; the files together may have `limits.megabytes` too.
        files: The files that the process may read.
        on_event: Called with each step.
        opened: Returns the stream for a file, by the file's name.

    Raises:
        CapacityError: The process exceeds its limits.
    """
    left, made = limits.megabytes << 20, dict[str, Any]()
    stream: BinaryIO = io.BytesIO()
    with _answering("running its mechanism again"), Work(*asked, **_within(limits, *files)) as answers:
        for answer in answers:
            if isinstance(answer, bytes):
                if (left := left - len(answer)) < 0:
                    raise Ended(f"writes more than {limits.megabytes:,} MB of rows", beyond=True)
                stream.write(answer)
            elif "file" in answer:
                stream = opened(answer["file"])
            elif "step" in answer:
                on_event(Progress.from_json(answer["step"]))
            else:
                made = answer
    return made


def _asked(function: str, bundle: Path | bytes, *public: Path | None) -> tuple[Any, ...]:
    place = bundle if isinstance(bundle, bytes) else str(bundle.absolute())
    return (f"{__package__}.work:{function}", place, *("" if path is None else str(path.absolute()) for path in public))


def _within(limits: Limits, *files: Path | bytes | None) -> dict[str, Any]:
    """Return the keyword arguments of `confined.Work` that confine a process.

    They are its limits, the files it may read, and the seconds to wait for each answer.

    Args:
        limits: The limits.
        *files: Paths of bundles and tables. Bytes and None need no access to a file.
    """
    return {"limits": limits, "files": [str(one.absolute()) for one in files if isinstance(one, Path)], "patience": _WAIT * limits.seconds}


@contextmanager
def _answering(what: str) -> Iterator[None]:
    """Turn `Ended`, a process that ended without an answer, into an InputError or CapacityError.

    `what` names the request in the message.
    """
    try:
        yield
    except Ended as ended:
        problem = f"{what} {ended.problem}"
        if ended.beyond:
            raise CapacityError("bundle", problem, f"if you trust whoever made it, {ALLOW_MORE}") from None
        raise InputError("bundle", problem, "nothing is known of it; try again, and report it if that does not help") from None
