"""The spool of a run: every answer of the kernel is on disk before anybody acts on it, with what else its release follows from.

One JSON text per line and its checksum: first the sealed plan, then an answer and what it was charged, as they come. A last line that a
crash cut off, or a power cut left without some of its sectors, holds an answer that was never used. Nothing in it but public and released
values; it is private all the same, because the plan names a path. The process that holds the file open holds its lock, so that a run that
is still under way is not recovered.

A run of which everything that was paid for is here can go on (Proposition 25). Where an error ended it between a charge and its answer's
line, the file becomes read-only: the answer may have been the error's reason, and must not be drawn again until it suits.
"""

from __future__ import annotations

import json
import os
import shutil
import stat
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, BinaryIO, Self
from zlib import crc32

from dpsynth_core.foundation.errors import ChargedError, InputError, shown
from dpsynth_core.foundation.locks import lock
from dpsynth_core.foundation.private_files import private_directory, sync
from dpsynth_core.planning import machine
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.events import Event
from dpsynth_core.release import document, transcript
from dpsynth_core.release.transcript import Given, RecordedAnswer

_BYTES_PER_CELL, _MOST_FOR_CELLS = 40, 64 << 20
_BYTES_PER_VALUE = 40
"""Of a row's column in CSV, Parquet and the bundle together."""
MAX_BYTES = 2 << 30
"""Of a spool: noisy tables of hundreds of millions of cells."""
_LEAST_ROOM = 4 << 20
_UNDER_WAY = "it is still under way", "wait for its end, or stop it"


@dataclass(frozen=True, eq=False)
class Kept:
    """The content of a spool.

    Attributes:
        run: The ledger's name for the run, "" for a run without a charge.
        spec: The sealed spec.
        private: Whether the noise is private, which repeatable noise is not.
        answers: The recorded answers, in order.
        paid: The events that were charged, in order.
    """

    run: str
    spec: Spec
    private: bool
    answers: tuple[RecordedAnswer, ...]
    paid: tuple[Event, ...]


class Spool:
    """A new spool file, locked by this process.

    Attributes:
        given: The answers of a run that is continued, and their charges; both empty for a new run.
        answers: Number of answers on disk.
        paid: Number of charges on disk.
        path: Path of the file.

    Args:
        path: Path of the file.
        run: The ledger's name for the run, "" for a run without a charge.
        plan: The sealed plan.
        private: Whether the noise is private, which repeatable noise is not.

    Raises:
        FileExistsError: There is a spool at the path.
        OSError: It cannot be written.
    """

    given: Given = ((), ())

    def __init__(self, path: Path, run: str, plan: Plan, private: bool) -> None:
        self._begin(path, plan, os.O_CREAT | os.O_EXCL)
        try:
            self._write({"run": run, "spec": plan.spec.model_dump(mode="json"), "private": private})
            sync(path.parent)
        except OSError:
            self.discard()
            raise

    @classmethod
    def again(cls, path: Path, run: str, plan: Plan) -> Self:
        """Open the spool of an interrupted run to continue the run, and delete a last line that was cut off.

        If the noise is repeatable, the kept answers are deleted too, because the run begins anew.

        Args:
            path: Path of the file.
            run: The ledger's name for the run.
            plan: The sealed plan.

        Raises:
            InputError: The run cannot go on: its spool is missing, read-only, damaged, locked, or of another
                plan.
        """
        spool, field = cls.__new__(cls), f"run {run!r}"
        remedy = f"recover it, which spends nothing, or delete {shown(path)} to be charged once more"
        lost = InputError(field, "an answer that was paid for is lost, so that it cannot go on", remedy)
        try:
            if not path.stat().st_mode & stat.S_IWUSR:
                raise lost
            spool._begin(path, plan, 0)
        except OSError as error:
            raise InputError(field, f"what it kept cannot be opened ({error.strerror})", "make that possible first") from None
        try:
            if not spool.goes_on:  # since it was looked at, and before its lock was free
                raise lost
            kept, rest = _content(spool._stream, field)
            if b"\n" in rest:  # it may have been damaged later, when somebody had acted on it
                raise lost
            spool._stream.seek(-len(rest), os.SEEK_END)
            if (kept.run, kept.spec.digest(), kept.spec.reading) != (run, plan.spec.digest(), plan.spec.reading):
                problem = "what it kept is of another plan, or of a table that was read otherwise"
                raise InputError(field, problem, "put back what the run kept, or recover it")
            if not kept.private:  # its noise comes again from the beginning
                spool._stream.seek(0)
                kept = replace(kept, answers=(), paid=())
                spool._stream.readline()
            spool._stream.truncate()
            spool._stream.seek(0, os.SEEK_END)  # where `_write` writes
        except BaseException:
            spool.close()
            raise
        spool.given, spool._repeated = (kept.answers, kept.paid), len(kept.answers)
        spool.answers, spool.paid = len(kept.answers), len(kept.paid)
        return spool

    def _begin(self, path: Path, plan: Plan, flags: int) -> None:
        self.path = path
        self.answers = self.paid = self._repeated = 0
        self._accountant = plan.shares.accountant
        private_directory(path.parent)
        self._stream = os.fdopen(os.open(path, os.O_RDWR | flags, 0o600), "r+b")
        try:
            lock(self._stream.fileno(), wait=False)
        except BlockingIOError:
            self._stream.close()
            raise InputError(f"run {path.stem!r}", *_UNDER_WAY) from None

    def keep(self, answer: RecordedAnswer, paid: Sequence[Event]) -> None:
        """Write an answer and its charges to disk; both are on disk when this returns.

        A continued run repeats the answers that its spool already has, in the same order. So the first calls,
        one for each of these answers, write nothing; the answers are not compared.

        Args:
            answer: The answer.
            paid: The events that were charged for the answer.

        Raises:
            ChargedError: The answer cannot be written, for example because the disk is full.
        """
        if self._repeated:
            self._repeated -= 1
            return
        (entry,) = transcript.to_json([answer], [])
        try:
            self._write({"answer": entry, "paid": [document.charge_json(event, self._accountant) for event in paid]})
        except OSError as error:
            problem = f"what is measured can no longer be kept ({error.strerror})"
            raise ChargedError("disk", problem, "make room, then recover the run") from error
        self.answers += 1
        self.paid += len(paid)

    @property
    def goes_on(self) -> bool:
        """True unless the spool is marked read-only (`close_for_good`), after which its run must not be continued."""
        return bool(os.fstat(self._stream.fileno()).st_mode & stat.S_IWUSR)

    def close_for_good(self) -> None:
        """Mark the spool read-only: tables may be recovered from it, but the run must not go on.

        This needs no space on the disk.
        """
        with suppress(OSError):  # a disk that takes nothing at all lets nothing go on either
            os.fchmod(self._stream.fileno(), 0o400)

    def close(self) -> None:
        """Close the spool file, which stays on disk; errors are ignored."""
        with suppress(OSError):
            self._stream.close()

    def discard(self) -> None:
        """Delete the spool file and close it.

        If the disk refuses, the file stays without an error, so that other errors are still
        reported.
        """
        with suppress(OSError):
            self.path.unlink(missing_ok=True)
        self.close()

    def _write(self, content: Any) -> None:
        text = json.dumps(content, default=document.plain).encode()
        line = memoryview(b"%b\t%08x\n" % (text, crc32(text)))
        while line:  # a stream that failed to write would try again at its end, and an answer could be there twice
            line = line[os.write(self._stream.fileno(), line) :]
        os.fsync(self._stream.fileno())


def read(path: Path) -> Kept:
    """Return the content of a spool.

    Raises:
        InputError: The path has no spool, the spool is damaged, or its run is still under way.
    """
    field = f"run {path.stem!r}"
    try:
        with path.open("rb") as stream:
            lock(stream.fileno(), shared=True, wait=False)
            return _content(stream, field)[0]
    except BlockingIOError:
        raise InputError(field, *_UNDER_WAY) from None
    except OSError:
        raise InputError(field, "there is nothing to recover", "name a run that was interrupted") from None


def _content(stream: BinaryIO, field: str) -> tuple[Kept, bytes]:
    """Return the content of an open spool, and the bytes after its last readable line.

    Args:
        stream: The spool, at its beginning.
        field: Name of the run in errors.

    Raises:
        InputError: The spool is empty, too large or damaged.
    """
    size = os.fstat(stream.fileno()).st_size
    if not 0 < size <= MAX_BYTES:
        raise InputError(field, "it is empty, or too large to be what a run kept", "name a run that was interrupted")
    content = stream.read(size)
    whole = content.rfind(b"\n") + 1
    for end in (whole, content.rfind(b"\n", 0, max(0, whole - 1)) + 1):
        with suppress(ArithmeticError, AttributeError, LookupError, TypeError, ValueError, RecursionError):
            first, *others = map(parsed, content[:end].split(b"\n")[:-1])
            kept = Kept(
                run=first["run"],
                spec=Spec.from_json(first["spec"]),
                private=first["private"],
                answers=transcript.from_json([line["answer"] for line in others], ()),
                paid=tuple(document.charge_of(event) for line in others for event in line["paid"]),
            )
            if isinstance(kept.run, str) and isinstance(kept.private, bool):
                return kept, content[end:]
    raise InputError(field, "its spool is damaged", "nothing of it can be recovered")


def parsed(line: bytes) -> Any:
    """Return the JSON value of a line of a spool, whose checksum is checked if it has one.

    Lines of earlier versions have no checksum.

    Raises:
        ValueError: The line has been damaged.
    """
    text, _, checksum = line.partition(b"\t")
    if checksum and int(checksum, 16) != crc32(text):
        raise ValueError("the line has been damaged")
    return json.loads(text)


def check_room(plan: Plan, folder: Path, field: str) -> None:
    """Check that answers and rows will fit on the disk, as far as that is known before a record is read.

    A single table of rows whose number is not stated is not counted.

    Args:
        plan: The plan.
        folder: An existing folder on the disk.
        field: Name of the setting that errors name.

    Raises:
        InputError: The disk has too little space left; the message states both sizes in MB.
    """
    for_cells = min(_BYTES_PER_CELL * plan.workload.cells, _MOST_FOR_CELLS)
    needed = _LEAST_ROOM + for_cells + _BYTES_PER_VALUE * machine.values(plan)
    free = shutil.disk_usage(folder).free
    if free < needed:
        problem = f"its disk has {free >> 20:,} MB left, and the release may need {needed >> 20:,} MB{machine.left_out(plan)}"
        fewer = ", or state a smaller number of rows (output.rows)" if machine.values(plan) else ""
        raise InputError(field, problem, f"make room first{fewer}")
