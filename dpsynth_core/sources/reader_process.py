"""The process behind `confined`: for each question it becomes two, and the new one limits itself, answers and ends.

The first one opens no file. It loads what a question takes before it becomes two, so that this is done once.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import astuple, replace
from typing import Any, BinaryIO

import pyarrow as pa

from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.confinement import TOO_MUCH, Limits
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.sources import readers, spreadsheet_file, statistical_file
from dpsynth_core.sources.confined import LOAD, SAVE_AGAIN, Question
from dpsynth_core.sources.formats import STATISTICAL, table_files

SLOWEST = 100_000
"""Bytes of a file in a second of work. The slowest kind of file, a workbook, takes about a third of that time."""

_ANSWERS: Mapping[str, Callable[[Question], Any]] = {
    "names": lambda question: readers.names(question.path, question.form),
    "header": lambda question: readers.header(question.path, question.form),
    "check": lambda question: readers.check(question.path, question.form),
    "described": lambda question: [column.to_json() for column in readers.described(question.path, question.form)],
    "pieces": lambda question: [(astuple(piece), size) for piece, size in readers.pieces(question.path, question.form, 0)],
    "sheets": lambda question: spreadsheet_file.sheets(table_files(question.path)[0]),
    "is_workbook": lambda question: spreadsheet_file.is_workbook(question.path),
    "encoding_of": lambda question: statistical_file.encoding_of(question.path),
}


class _TooLong(Exception):
    """Reading all records takes longer than a file of this size may."""


def main(descriptor: int) -> None:
    """descriptor: of the socket that brings a socket for each question. Returns when it is closed."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # nobody asks how a process ended
    with socket.socket(fileno=descriptor) as control:
        while True:
            mark, descriptors, _, _ = socket.recv_fds(control, 1, 1)
            if not mark:
                return
            with socket.socket(fileno=descriptors[0]) as asked, suppress(OSError, ValueError), asked.makefile("rb") as stream:
                question = Question.from_json(stream.readline())
                try:
                    _load(question.form.kind)
                except ImportError as error:
                    if (cause := cause_of(error)) is not None:
                        _say(asked.makefile("wb"), refused=[cause.field, cause.problem, cause.remedy])
                    continue
                if question.which != LOAD and os.fork() == 0:
                    control.close()
                    os._exit(_work(question, asked))


def _load(kind: str) -> None:
    """What reading this kind takes."""
    if kind == "parquet":
        from dpsynth_core.sources import parquet_file  # noqa: F401
    else:
        readers.reader(kind)
    if kind in STATISTICAL:
        import pandas  # noqa: F401
        import pyreadstat  # noqa: F401


def _work(question: Question, asked: socket.socket) -> int:
    """Answer one question in a line of JSON. Ends without an answer, or earlier, where it is too much."""
    confinement.end_with(asked.fileno())
    confinement.limit(_limits(question))
    out = asked.makefile("wb")
    try:
        if question.which == "batches":
            _send_batches(question, out)
        else:
            _say(out, answer=_ANSWERS[question.which](question))
    except CapacityError as refused:
        _say(out, too_large=[refused.field, refused.problem, refused.remedy])
    except InputError as refused:
        _say(out, refused=[refused.field, refused.problem, refused.remedy])
    except (RecursionError, BrokenPipeError):
        return TOO_MUCH
    except MemoryError:
        _say(out, refused=["data", f"reading it takes more than {question.limits.megabytes:,} MB of memory", SAVE_AGAIN])
    except _TooLong as ended:
        _say(out, refused=["data", f"reading it takes more than {ended} seconds of work", SAVE_AGAIN])
    except Exception as error:  # noqa: BLE001 (its text could quote a record)
        _say(out, failed=type(error).__name__)
    return 0


def _send_batches(question: Question, out: BinaryIO) -> None:
    """Each as a stream of its own, after an answer that says how many bytes it has; 0 at the end."""
    longest = question.limits.seconds + _size(question) / SLOWEST
    for batch in readers.batches(question.path, question.form, question.columns, question.rows, question.part):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        content = sink.getvalue()
        _say(out, answer=content.size)
        out.write(content)
        out.flush()
        left = longest - time.process_time()
        if left <= 0:
            raise _TooLong(f"{longest:,.0f}")
        confinement.limit_seconds(min(question.limits.seconds, left))
    _say(out, answer=0)


def _say(out: BinaryIO, **answer: Any) -> None:
    out.write(json.dumps(answer).encode() + b"\n")
    out.flush()


def _size(question: Question) -> int:
    return sum(path.stat().st_size for path in table_files(question.path))


def _limits(question: Question) -> Limits:
    """A Feather file is mapped into memory, which it does not occupy."""
    if question.form.kind != "feather":
        return question.limits
    return replace(question.limits, megabytes=question.limits.megabytes + _size(question) // 2**20)


if __name__ == "__main__":
    main(int(sys.argv[1]))
