"""Questions about files that a library in C reads, answered by a process with limits (`reading_work`).

A file from a stranger may make the library take any memory, run for ever or crash. Then one InputError reports it, and nothing else is
harmed. Records come back as Arrow batches: nothing of the file is written anywhere.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from dpsynth_core.foundation import confined
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.processors import available
from dpsynth_core.sources.file_kinds import FILE_KINDS
from dpsynth_core.sources.listing import Files, kind_of
from dpsynth_core.sources.locations import Location, Remote, located

LIMITS = Limits(megabytes=2048, seconds=60, processors=available())
"""Limits of one answer. When all records are read, each further batch has as many seconds again."""
SAVE_AGAIN = "save it again with another program, or as CSV"

_WORK = f"{__package__}.reading_work"
_WAIT = 10
"""Times the seconds of work that are waited for an answer, for a busy machine."""


def prepare(path: str | os.PathLike[str]) -> None:
    """Start loading the libraries that read a file, in the background, and return at once.

    The ending of the name decides. For text, and for names without a known ending (most folders),
    nothing is started.

    Raises:
        InputError: The path is a URI of no known object store, or holds credentials.
    """
    if (kind := kind_of(located(path))) is not None and not FILE_KINDS[kind].is_text:
        confined.prepare(_WORK, *_loaded(kind))


def _loaded(kind: str) -> tuple[str, ...]:
    """Return the modules that read a kind of file, which are loaded before a file is opened."""
    return (*FILE_KINDS[kind].libraries, FILE_KINDS[kind].reader)


def about(which: str, path: str | os.PathLike[str], kind: str) -> Any:
    """Return the result of a function about one file, run in a process with limits.

    The limits are `LIMITS`: 2,048 MB of memory and 60 seconds.

    Args:
        which: The name of a function in the module that reads files of this kind; the path is its only argument.
        path: The file.
        kind: The kind of file, as `readers.reader` takes it.

    Raises:
        InputError: The function raises it, or the process exceeds its limits or dies.
    """
    place = located(path).absolute()
    with _work(kind, 0, [place], "about", str(place), kind, which) as answers:
        (answer,) = answers
        return answer


@contextmanager
def work(which: str, table: Files, *arguments: Any) -> Iterator[Work]:
    """Yield an iterator over the results of a `reading_work` generator in a limited process.

    The limits are `LIMITS`: 2,048 MB of memory, and 60 seconds of work for an answer. A file may be mapped into memory,
    not read into it; then its size is added to the memory limit.

    Args:
        which: The name of a generator function in `reading_work`.
        table: The files, its first argument and the only ones that the process may open.
        *arguments: Its further arguments.

    Raises:
        InputError: The generator raises it, or the process exceeds its limits or dies.
    """
    mapped = table.size >> 20 if table.form.file_kind.is_mapped else 0
    with _work(table.form.kind, mapped, table.files, which, table.to_json(), *arguments) as answers:
        yield answers


@contextmanager
def _work(kind: str, mapped: int, places: Sequence[Location], which: str, *arguments: Any) -> Iterator[Work]:
    """Run a generator function of `reading_work` in a process with limits and yield its iterator.

    The process can open only the files in `places`. If these are in an object store, it has the
    network and can open files with credentials.

    Args:
        kind: The kind of file, which decides the libraries to load.
        mapped: Megabytes to add to the memory limit.
        places: The files.
        which: The name of the generator function.
        *arguments: Its arguments.

    Raises:
        InputError: The process failed or exceeded its limits while the body used it.
    """
    limits = replace(LIMITS, megabytes=LIMITS.megabytes + mapped)
    files = None if any(isinstance(place, Remote) for place in places) else list(map(str, places))
    load, patience = _loaded(kind), _WAIT * LIMITS.seconds
    try:
        with Work(f"{_WORK}:{which}", *arguments, limits=limits, files=files, patience=patience, load=load) as answers:
            yield answers
    except Ended as ended:
        fails = f"takes more than {LIMITS.words}, or makes the program that reads such files fail: it {ended.problem}"
        raise InputError("data", f"reading it {ended.problem if ended.beyond else fails}", SAVE_AGAIN) from None
