"""The work of a process with limits on files that a library in C reads (`confined`): it answers questions of `readers` and of `detect`."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation import confinement
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import readers
from dpsynth_core.sources.confined import SAVE_AGAIN
from dpsynth_core.sources.listing import Files
from dpsynth_core.sources.parts import Piece

SLOWEST = 100_000
"""Bytes of a file in a second of work. The slowest kind of file, a workbook, takes about a third of that time."""


def answer(table: list[Any], which: str, *arguments: Any) -> Iterator[Any]:
    """Yield the result of one function of `readers`, once.

    Args:
        table: The files, as `Files.to_json` wrote them.
        which: The name of the function.
        *arguments: Its further arguments.
    """
    yield getattr(readers, which)(Files.from_json(table), *arguments)


def batches(
    table: list[Any], columns: list[str], rows: int, pieces: list[list[Any]], seconds: int, listed: dict[str, list[str]]
) -> Iterator[bytes]:
    """Yield each record batch as the bytes of an Arrow stream.

    Each batch may take `seconds` of processor time. All batches together may take `seconds` and one second for each
    100,000 bytes of the files. The process's limit of processor time is changed after each batch.

    Args:
        table: The files, as `Files.to_json` wrote them.
        columns: The names of the columns.
        rows: The approximate number of rows of a batch.
        pieces: The pieces of the part to read; empty for the whole table.
        seconds: The processor time of a batch, in seconds.
        listed: Listed values by column, which are never missing.

    Raises:
        InputError: The files cannot be read, or reading takes longer than all batches may.
    """
    files, part = Files.from_json(table), tuple(Piece(*piece) for piece in pieces)
    longest = seconds + files.size / SLOWEST
    for batch in readers.batches(files, columns, rows, part, listed):
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, batch.schema) as writer:
            writer.write_batch(batch)
        yield sink.getvalue().to_pybytes()
        if (left := longest - time.process_time()) <= 0:
            raise InputError("data", f"reading it takes more than {longest:,.0f} seconds of work", SAVE_AGAIN)
        confinement.limit_seconds(min(seconds, left))


def about(path: str, kind: str, which: str) -> Iterator[Any]:
    """Yield the result of one function of the module that reads a kind of file, once.

    Args:
        path: The file, the only argument of the function.
        kind: The kind of file.
        which: The name of the function.
    """
    yield getattr(readers.reader(kind), which)(Path(path))
