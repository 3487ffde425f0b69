"""The changes between two releases, for Python programs."""

from __future__ import annotations

import io
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO, TypeAlias

from dpsynth_core.extensions.repeated.changes import HOLM
from dpsynth_core.extensions.repeated.changes_report import COLUMNS
from dpsynth_core.extensions.repeated.changes_work import Found, found
from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.interface.given_values import path_of, plain, whole_number
from dpsynth_core.interface.release import Release

if TYPE_CHECKING:
    import pandas as pd

Given: TypeAlias = "Release | str | os.PathLike[str] | bytes | BinaryIO"


@dataclass(frozen=True, eq=False, repr=False)
class Changes:
    """The changes between two releases of a table. Print it to read a summary."""

    _found: Found

    @property
    def cells(self) -> pd.DataFrame:
        """All compared cells, as a pandas frame with a row for each.

        `table` and `cell` say which it is, and `basis` whether its change rests on noise or on bounds.
        `before` and `after` are shares of all people, which noise can move below 0 or above 1, and `change`
        is their difference. `low` and `high` are a 95 % interval of the change by itself. `p` is the p-value
        of no change and `adjusted` the one after the correction, both missing for a table that rests on
        bounds. `changed` says whether the cell is listed.
        """
        import pandas as pd

        return pd.DataFrame(self._found.rows, columns=list(COLUMNS))

    @property
    def changed(self) -> pd.DataFrame:
        """The rows of `cells` that changed beyond the noise or the bounds, by the size of `change`, largest first.

        The frame has the columns of `cells`, and no rows if no cell changed.
        """
        cells = self.cells
        kept = cells[cells["changed"].astype(bool)]
        return kept.sort_values("change", key=abs, ascending=False, kind="stable", ignore_index=True)

    @property
    def summary(self) -> tuple[str, ...]:
        """Sentences on what changed and how it was decided. Names in them are not escaped for HTML."""
        return tuple(self._found.summary)

    @property
    def unsaid(self) -> tuple[str, ...]:
        """Sentences on what can't be said, such as which tables were not compared. Names in them are not escaped for HTML."""
        return tuple(self._found.unsaid)

    @property
    def unchecked(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The questions of the check that stayed open, for the earlier bundle and for the later one; () where all were answered."""
        return self._found.open

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Write the report as a page (.html) or all cells as a table (.csv), and return the path.

        Args:
            path: Where to write it. A file that is there is replaced.

        Raises:
            InputError: If the path has another ending or cannot be written.
        """
        place = path_of(path, "path")
        if place.suffix.lower() not in (".html", ".csv"):
            raise InputError("path", f"{shown(place.name)} is neither", "name a file that ends in .html or .csv")
        with asked_file(place, "path") as stream:
            stream.write(self._found.html if place.suffix.lower() == ".html" else self._found.csv)
        return place

    def __repr__(self) -> str:
        return "\n".join(self.summary)


def changes(
    before: Given, after: Given, *, correction: str = HOLM, sampling: float | None = None, seconds: int = 30, megabytes: int = 1024
) -> Changes:
    """Say what changed between two releases of a table, beyond the noise of both. Both bundles are checked first.

    The checks run in processes of their own that can open nothing else. No table of people is read, and
    nothing is charged.

    Args:
        before: The earlier release, or its bundle: a path, bytes or a binary stream.
        after: The later release, or its bundle.
        correction: How many cells are corrected for: "holm" (the probability of any false change is at most 5 %) or "bh" (of
            the listed changes, at most 5 % are expected to be false if cells are independent or depend positively;
            Benjamini-Hochberg).
        sampling: The design effect of the samples, from 1 (simple random samples) to 100, to count the sampling error
            too; by default it is left out.
        seconds: Time that each check may take, from 1 to 1,000,000.
        megabytes: Memory that each check may take, from 1 to 1,000,000.

    Raises:
        InputError: If a bundle cannot be read, is not consistent or holds a learnt rule; the two have no column with
            the same values in common; a choice is unknown or out of range; or sampling is asked for and a
            release does not state its number of people.
        CapacityError: If the checks exceed `seconds` or `megabytes`.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
        >>> found = dps.changes(plan.run(progress=False), plan.run(progress=False), seconds=300)
        >>> set(found.cells["table"]), set(found.cells["basis"])
        ({'sex'}, {'noise'})
    """
    number, most = whole_number(seconds, "seconds", "a time", 1, 10**6), whole_number(megabytes, "megabytes", "a size", 1, 10**6)
    first, second = _bundle(before, "before"), _bundle(after, "after")
    return Changes(found(first, second, str(correction), plain(sampling), Limits(megabytes=most, seconds=number)))


def _bundle(given: Given, field: str) -> Path | bytes:
    if isinstance(given, Release):
        stream = io.BytesIO()
        given.save(stream)
        return stream.getvalue()
    if isinstance(given, bytes | bytearray | memoryview):
        return bytes(given)
    if isinstance(given, str | os.PathLike):
        return path_of(given, field)
    content = given.read() if hasattr(given, "read") else None
    if not isinstance(content, bytes):
        raise InputError(field, f"{shown(given)} is no release", "give a release, or the path or bytes of its bundle")
    return content
