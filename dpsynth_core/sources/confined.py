"""The functions of `readers` for kinds that a library in C reads, each run in a process of its own with limited memory and time.

A file from a stranger may make such a library take any memory, run for ever or crash. Then one InputError says so, and nothing else is
harmed. Answers come back through a socket, records as Arrow batches: nothing of the file is written anywhere.

Python and the library take half a second to start. So one process starts once, loads what is needed, and becomes two for each question
(`reader_process`). It knows nothing of any file, and ends with the program that started it.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import closing, suppress
from dataclasses import asdict, astuple, dataclass, replace
from typing import Any, BinaryIO, cast

import pyarrow as pa

from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.foundation.processors import available
from dpsynth_core.sources.formats import TEXT, TableFormat, kind_of
from dpsynth_core.sources.locations import Location, located
from dpsynth_core.sources.parts import WHOLE, Part, Piece
from dpsynth_core.vocabulary.column import Column

LIMITS = Limits(megabytes=2048, seconds=60, processors=available())
"""Of an answer; of reading all records, each further batch has as many seconds again."""
SAVE_AGAIN = "save it again with another program, or as CSV"
LOAD = "load"
"""The question of `prepare`, to which there is no answer."""
_PROGRAM = "dpsynth_core.sources.reader_process"


@dataclass(frozen=True)
class Question:
    """which: a function of `readers`, or one that `sniff` asks. columns, rows, part: of batches."""

    which: str
    path: Location
    form: TableFormat
    columns: tuple[str, ...]
    rows: int
    limits: Limits
    part: Part = WHOLE

    def to_json(self) -> str:
        section = self.form.section(self.path.absolute())
        return json.dumps([self.which, section, self.columns, self.rows, asdict(self.limits), [astuple(piece) for piece in self.part]])

    @classmethod
    def from_json(cls, text: str | bytes) -> Question:
        which, section, columns, rows, limits, pieces = json.loads(text)
        part = tuple(Piece(*piece) for piece in pieces)
        return cls(which, located(section["path"]), TableFormat.of(section), tuple(columns), rows, Limits(**limits), part)


def prepare(path: str | os.PathLike[str]) -> None:
    """Start what reading this file will take, by the ending of its name, and wait for nothing. Nothing for text and for folders."""
    if (kind := kind_of(located(path))) is not None and kind not in TEXT:
        with suppress(InputError):  # whoever asks for an answer is told
            _asked(_question(LOAD, path, TableFormat(kind))).close()


def names(path: str | os.PathLike[str], form: TableFormat) -> tuple[str, ...]:
    return tuple(_answer(_question("names", path, form)))


def header(path: str | os.PathLike[str], form: TableFormat) -> tuple[str, ...]:
    return tuple(_answer(_question("header", path, form)))


def check(path: str | os.PathLike[str], form: TableFormat) -> None:
    _answer(_question("check", path, form))


def described(path: str | os.PathLike[str], form: TableFormat) -> tuple[Column, ...]:
    return tuple(map(Column.from_json, _answer(_question("described", path, form))))


def sheets(path: str | os.PathLike[str]) -> tuple[str, ...]:
    """See `spreadsheet_file.sheets`."""
    return tuple(_answer(_question("sheets", path, TableFormat("spreadsheet"))))


def is_workbook(path: str | os.PathLike[str]) -> bool:
    """See `spreadsheet_file.is_workbook`."""
    return bool(_answer(_question("is_workbook", path, TableFormat("spreadsheet"))))


def encoding_of(path: str | os.PathLike[str], kind: str) -> str:
    """See `statistical_file.encoding_of`."""
    return str(_answer(_question("encoding_of", path, TableFormat(kind))))


def pieces(path: str | os.PathLike[str], form: TableFormat, _every: int) -> list[tuple[Piece, int]]:
    """See `readers.pieces`. These kinds of files are not cut by bytes."""
    return [(Piece(*piece), size) for piece, size in _answer(_question("pieces", path, form))]


def batches(
    path: str | os.PathLike[str], form: TableFormat, columns: Sequence[str], rows: int, part: Part = WHOLE
) -> Iterator[pa.RecordBatch]:
    with closing(_asked(_question("batches", path, form, tuple(columns), rows, part))) as stream:
        while size := _said(stream):
            with pa.ipc.open_stream(pa.py_buffer(stream.read(size))) as reader:
                yield from reader


def _question(
    which: str, path: str | os.PathLike[str], form: TableFormat, columns: tuple[str, ...] = (), rows: int = 0, part: Part = WHOLE
) -> Question:
    files = tuple(replace(piece, file=str(located(piece.file).absolute())) for piece in part)
    return Question(which, located(path), form, columns, rows, LIMITS, files)


def _answer(question: Question) -> Any:
    with closing(_asked(question)) as stream:
        return _said(stream)


def _said(stream: BinaryIO) -> Any:
    """The next answer. Raises InputError where the process refuses, and where it ended without one."""
    try:
        line = stream.readline()
    except ConnectionError:
        line = b""
    if not line.endswith(b"\n"):
        problem = f"reading it takes more than {LIMITS.words}, or makes the program that reads such files fail"
        raise InputError("data", problem, SAVE_AGAIN)
    answer = json.loads(line)
    if "refused" in answer:
        raise InputError(*answer["refused"])
    if "too_large" in answer:
        raise CapacityError(*answer["too_large"])
    if "failed" in answer:
        raise RuntimeError(f"reading a file failed with {answer['failed']}")
    return answer["answer"]


class _Readers:
    """The process that becomes two for each question, as long as it lives; started with the first one."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._control: socket.socket | None = None
        self._process: subprocess.Popen[bytes] | None = None

    def begin(self, theirs: socket.socket) -> None:
        """Let a new process read its question from this socket."""
        with self._lock:
            try:
                self._send(theirs)
            except OSError:  # it is not there yet, or it died
                try:
                    self._start()
                except OSError:
                    remedy = "free memory or end other programs, then try again"
                    raise InputError("data", "the process that reads such files cannot be started", remedy) from None
                self._send(theirs)

    def _send(self, theirs: socket.socket) -> None:
        if self._control is None:
            raise OSError
        socket.send_fds(self._control, [b"."], [theirs.fileno()])

    def _start(self) -> None:
        if self._control is not None:
            self._control.close()
        if self._process is not None:
            self._process.kill()
            self._process.wait()
        self._control, theirs = socket.socketpair()
        with theirs:
            self._process = subprocess.Popen(
                confinement.command(_PROGRAM, str(theirs.fileno())),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,  # a traceback quotes the file
                pass_fds=[theirs.fileno()],
                start_new_session=True,  # Ctrl-C is for the program that reads, which ends this one
                env=confinement.environment(),
            )


_READERS = _Readers()


def _asked(question: Question) -> BinaryIO:
    """What a process answers to the question; closing it ends the process."""
    ours, theirs = socket.socketpair()
    with ours:
        with theirs:
            _READERS.begin(theirs)
        with suppress(OSError):  # it ended already; what it says tells
            ours.sendall(question.to_json().encode() + b"\n")
        return cast(BinaryIO, ours.makefile("rb", buffering=1 << 20))
