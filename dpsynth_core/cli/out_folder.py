"""The folder of --out: that a release can be written there, and that nothing in it is lost which another run made or makes."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from dpsynth_core.cli.options import check_writable
from dpsynth_core.foundation.errors import InputError, shown

BUNDLE = "release.zip"


@contextmanager
def alone_in(out: Path, formats: Sequence[str], population: str | None) -> Iterator[None]:
    """Before anything is charged: the files of a release can be written in the folder, where no other run writes meanwhile. What a run
    left half written that was killed is removed.

    formats: of the rows. population: that is charged, None if none is. Raises InputError.
    """
    from dpsynth_core.foundation.private_files import remove_partial

    check_writable(out)
    descriptor = os.open(out, os.O_RDONLY)
    try:
        _lock(descriptor, out)
        for name in (*(f"synthetic.{name}" for name in formats), "release.json", "times.json", BUNDLE):
            if (out / name).is_dir():
                raise InputError("--out", f"{shown(out / name)} is a folder", "remove it, or name another folder")
        _check_population(out / "release.json", population)
        remove_partial(out)
        yield
    finally:
        os.close(descriptor)


def _lock(descriptor: int, out: Path) -> None:
    """Until the descriptor is closed, or this process ends. Nothing where the file system has no locks for folders."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise InputError("--out", f"another run writes in {shown(out)}", "name another folder, or wait for its end") from None
    except OSError:
        return


def _check_population(document: Path, population: str | None) -> None:
    """A release that another population was charged for is not replaced in silence."""
    from dpsynth_core.foundation.documents import parse_json, read_document

    charged = None
    with suppress(InputError, AttributeError):  # it is no release
        charged = parse_json(read_document(document, "--out"), "--out").get("ledger", {}).get("population")
    if charged is not None and charged != population:
        problem = f"it holds a release that was charged to the population {shown(charged)}"
        raise InputError("--out", problem, "name another folder, or move that release")
