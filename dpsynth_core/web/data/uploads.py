"""What the two tables of the Data page have in common: an uploader, and changes that wait for the running run."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain
from typing import Any

from dpsynth_core.sources.formats import COMPRESSED, KNOWN, SUFFIXES
from dpsynth_core.web.shell import fields, refusals, session
from dpsynth_core.web.shell.document import Draft


def uploader(place: str, keep: Callable[[Any], object], help: str | None = None) -> None:
    """A file of any kind of table: see `fields.file`."""
    kinds = [ending.removeprefix(".") for ending in (*chain.from_iterable(SUFFIXES.values()), *COMPRESSED)]
    fields.file(f"{KNOWN} file", kinds, place, keep, help)


def change(place: str, field: str, prepare: Callable[[], Callable[[Draft], None]]) -> None:
    """Do what `prepare` does, then edit the draft as it says; refused at `place` while a run is under way, or if either is refused."""

    def act() -> None:
        session.check_idle(field)
        session.edit(prepare())

    refusals.attempt(place, act)
