"""Dummy rows made in a process that can open no file but programs, as bytes of the files of their bundle."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any, BinaryIO, cast

from dpsynth_core.bundle.pack import MANIFEST, manifest, zipped
from dpsynth_core.extensions.dummy.document import writers
from dpsynth_core.extensions.dummy.drawing import drawn
from dpsynth_core.extensions.dummy.order import Order
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.content import PART_BYTES, in_memory
from dpsynth_core.foundation.errors import CapacityError, InputError

LIMITS = Limits(megabytes=4096, seconds=600)
"""Limits of the process that makes the rows."""
WORK = f"{__name__}:work"
"""Import path of the generator that makes the files, in the process that is confined."""
_WAIT = 10
"""Factor from the seconds of work to the wait for each answer, for a busy machine."""


def make(order: Order, limits: Limits = LIMITS) -> dict[str, bytes]:
    """Return the files of the bundle of dummy rows by name, with its manifest.

    The process that makes them can open programs and libraries alone (`foundation.sandbox`), so no
    table of records.

    Args:
        order: The order.
        limits: Limits of the process.

    Raises:
        InputError: The rules leave no household, or the process fails.
        CapacityError: The process exceeds the limits.
    """
    files: dict[str, io.BytesIO] = {}
    stream = io.BytesIO()
    try:
        with Work(WORK, order.to_json(), limits=limits, files=(), patience=_WAIT * limits.seconds) as answers:
            for answer in answers:
                if isinstance(answer, bytes):
                    stream.write(answer)
                else:
                    stream = files.setdefault(str(answer["file"]), io.BytesIO())
    except Ended as ended:
        problem = f"making the dummy rows {ended.problem}"
        if ended.beyond:
            raise CapacityError("rows", problem, "ask for fewer rows, or for fewer columns") from None
        raise InputError("rows", problem, "try again, and report it if that does not help") from None
    made = {name: content.getvalue() for name, content in files.items()}
    return made | {MANIFEST: manifest({name: in_memory(content).digest for name, content in made.items()})}


def work(stated: dict[str, Any]) -> Iterator[Any]:
    """Make the rows of an order, and yield {"file": name} before the bytes of each file, part by part.

    Args:
        stated: The order as JSON.
    """
    order = Order.of(stated)
    for name, write in writers(order, drawn(order)).items():
        yield {"file": name}
        stream = io.BytesIO()
        write(cast(BinaryIO, stream))
        stream.seek(0)
        yield from iter(partial(stream.read, PART_BYTES), b"")


def pack(files: Mapping[str, bytes], stream: BinaryIO) -> None:
    """Write the files of a bundle as a ZIP; the same files give the same bytes."""
    zipped({name: in_memory(content) for name, content in files.items()}, stream)
