"""A release: its rows, their errors, and answers to questions. All parts may be published, and none costs budget."""

from __future__ import annotations

import io
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO, Literal, TypeAlias, overload

from dpsynth_core import report
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.foreign import package_of
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.interface import shown as words
from dpsynth_core.interface.frames import Back, frame_of
from dpsynth_core.interface.given_values import cells, names, path_of, whole_number
from dpsynth_core.interface.labelled import known_cells
from dpsynth_core.interface.plots import Plots
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.release import release as releases
from dpsynth_core.release.rows import whole
from dpsynth_core.report import asking
from dpsynth_core.report.asking import Answer, Answers, Cells

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.bundle.verdicts import Report
    from dpsynth_core.release.sampling import Refitted


Grouped: TypeAlias = Literal["count", "share", "mean", "median"]
"""What can be asked of each group of a column by itself."""
_MOST_SEED = 2**64 - 1
Of: TypeAlias = "Cells | str | list[str] | None"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """The result of a run, or the content of a bundle. Print it to read its statements.

    Attributes:
        made: The release as the lower rooms know it.
        back: The conversion of its rows to the kind of table that was given.
    """

    made: releases.Release
    _bundle: Path | bytes
    back: Back

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bundle, from which the release is opened again: no file, cache or fitted model is in a pickle."""
        bundle = self._bundle.read_bytes() if isinstance(self._bundle, Path) and self._bundle.is_file() else self._bundle
        return opened, (bundle, self.back, package_of(self.made.spec.mechanism.name))

    @cached_property
    def rows(self) -> Any:
        """The synthetic rows as the kind of table that came in, in pandas where that was a file or a database. None where none are.

        Do not test hypotheses on them: a test takes noise for people, and finds relations that are not there far more often than it says.
        Ask for the difference instead, ``ask("difference", ...)``, and look whether its interval leaves out 0.
        """
        return None if self.made.table is None else self.back(self.made.table, self.made.domain)

    @cached_property
    def members(self) -> Any:
        """The rows of the second of two linked tables, under the keys of `rows`; None for one table."""
        return None if self.made.members is None else self.back(whole(self.made.members), self.made.domain)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows for any library with Arrow's PyCapsule interface. Raises InputError for a release without rows."""
        if (table := self.made.table) is None:
            raise InputError("rows", "this release has none", "look at what it measured: errors, ask")
        return table.__arrow_c_stream__(requested_schema)

    @property
    def verdict(self) -> str:
        """The purposes that the release may be published for, with reasons; "" for a rule, which is not a table."""
        return words.verdict(self.made)

    @property
    def guarantee(self) -> str:
        """The protection of the people, in words."""
        return self.made.statement

    @property
    def warnings(self) -> tuple[str, ...]:
        """The warnings for readers, in full sentences."""
        return tuple(report.warnings(self.made))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """Facts about the release, in pairs of name and text."""
        return report.in_short(self.made)

    @property
    def errors(self) -> pd.DataFrame:
        """The error of each table, as a share of the people, the largest `limit` first.

        `error` is the measured error; `low` and `limit` hold with 95 % confidence each. Values are missing where they are not known.
        """
        table = report.quality_of(self.made).value.table
        return table[["marginal", "cells", "error", "low", "limit", "support"]].reset_index(drop=True)

    @property
    def plot(self) -> Plots:
        """Charts (Altair): `errors`, `overview`, `simpler`, `pairs`."""
        return Plots(self.made)

    @overload
    def ask(
        self, statistic: Literal["table"], of: str | list[str], *, among: Cells | None = None, weighted: bool = False
    ) -> Answers: ...
    @overload
    def ask(
        self, statistic: Grouped, of: Of = None, *, among: Cells | None = None, by: str, weighted: bool = False
    ) -> Answers: ...
    @overload
    def ask(
        self,
        statistic: Grouped | Literal["difference"],
        of: Of = None,
        *,
        among: Cells | None = None,
        versus: Cells | None = None,
        weighted: bool = False,
    ) -> Answer: ...
    def ask(
        self,
        statistic: str,
        of: Of = None,
        *,
        among: Cells | None = None,
        versus: Cells | None = None,
        by: str | None = None,
        weighted: bool = False,
    ) -> Answer | Answers:
        """Ask a question of all that was released: the best estimate, with an interval that holds the true number with 95 % confidence.

        Of two linked tables, a question that names a column of members is about members, each of whom counts once and has the columns of
        its household; any other is about households, whose column ``members`` says how many they have. Intervals are of two columns of
        households, `members` among them, and of one column of members; all else is a guess. So is what is asked of households with
        ``{"some member": {"age": (0, 15)}, "no member": {"work": "employed"}}``: cells of members, or a list of such.

        Parameters
        ----------
        statistic : "count", "share", "mean", "median", "difference" or "table".
        of : of what. For a share, cells of columns such as ``{"sex": "f", "age": (20, 39)}``; for a mean or median, a column; for a
            difference, either; for a table, columns. A count takes the group here too.
        among : the group that is asked about, as cells; everybody where it is left out.
        versus : the other group, of a difference.
        by : a column: one answer for each of its values.
        weighted : whether people count as their survey weight says. Intervals are then of single columns, and of the tables that the plan
            names for it; all else is a guess.

        Returns
        -------
        Answer, or Answers with one for each value or cell.

        Raises
        ------
        InputError
            For what cannot be asked of such rows.

        Examples
        --------
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
        >>> share = plan.run(progress=False).ask("share", of={"sex": "female"})
        >>> 0.4 < share.value < 0.6, share.kind
        (True, 'measured')
        """
        what = names(of if statistic in ("table", "mean", "median") else cells(of))
        one = what[0] if statistic != "table" and isinstance(what, list) and len(what) == 1 else what
        return asking.ask(self.made, asking.Asked(statistic, one, cells(among), cells(versus), _column(by), weighted))

    def complete(self, known: Any, *, seed: int = 1) -> Sample:
        """Draw a row for each line of a table of known columns, with the other columns as the model has them of such people.

        It costs nothing, as `sample`. A missing cell is a missing value, and not an unknown one.

        Args:
            known: A table with some of the columns, in values of the domain.
            seed: Another one gives other rows. It protects nobody and need not be secret.

        Returns:
            The rows, in the order of the lines.

        Raises:
            InputError: For a value that is not in the domain, and for a line that the model has nobody for.

        Examples
        --------
        >>> import dpsynth_core as dps, pandas as pd
        >>> plan = dps.plan("demo", {"sex": ["female", "male"], "age": (16, 95)}, epsilon=1, tables=2, mechanism="independent")
        >>> known = pd.DataFrame({"sex": ["male", "female", "male"]})
        >>> list(plan.run(progress=False).complete(known).rows["sex"])
        ['male', 'female', 'male']
        """
        from dpsynth_core.release import sampling

        seed, fitted = whole_number(seed, "seed", "a seed", 0, _MOST_SEED), self.refitted
        columns, codes = known_cells(known, fitted.plan.domain)
        drawn = sampling.complete(fitted, codes, columns, seed)
        return Sample(self.back(whole(drawn.rows), self.made.domain), drawn.errors)

    @cached_property
    def refitted(self) -> Refitted:
        """Its model, from its answers (see `sample`)."""
        from dpsynth_core.release import sampling

        return sampling.refit(self.made)

    @overload
    def save(self, path: str | os.PathLike[str]) -> Path: ...
    @overload
    def save(self, path: BinaryIO) -> None: ...
    def save(self, path: str | os.PathLike[str] | BinaryIO) -> Path | None:
        """Write the bundle, which is what to publish: rows, record, report, and how to check it.

        Args:
            path: A file, which is replaced if it is there, or a binary stream.

        Returns:
            The path; None for a stream.
        """
        if not isinstance(path, str | os.PathLike) and hasattr(path, "write"):
            with self._stored() as source:
                shutil.copyfileobj(source, path)
            return None
        target = path_of(path, "path")
        if target.exists() and not target.is_file():
            raise InputError("path", "it is a folder or a device", "name a file, such as release.zip")
        try:
            with self._stored() as source, private_file(target) as stream:
                shutil.copyfileobj(source, stream)
        except OSError as error:
            problem = f"the release cannot be saved there ({error.strerror})"
            raise InputError("path", problem, "check the folder and the room on its disk") from None
        return target

    def _stored(self) -> BinaryIO:
        return io.BytesIO(self._bundle) if isinstance(self._bundle, bytes) else self._bundle.open("rb")

    def verify(self) -> Report:
        """Check the bundle as a recipient would. See `verify`."""
        return verify(self._bundle)

    def __repr__(self) -> str:
        return words.release_line(self.made)

    def __str__(self) -> str:
        return words.release_text(self.made)

    def _repr_html_(self) -> str:
        return words.release_html(self.made)


def _column(by: Any) -> str | None:
    """Return the one column that is named. Raises InputError for several."""
    named = names(by)
    if isinstance(named, list):
        if len(named) != 1:
            raise InputError("by", f"it names {len(named)} columns", 'name one, such as by="sex"')
        named = named[0]
    return None if named is None else str(named)


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """Rows drawn from the model of a release.

    Attributes:
        rows: The rows, in the kind of table that the release has.
        errors: A sentence about the errors of their tables.
    """

    rows: Any
    errors: str

    def __repr__(self) -> str:
        return f"{len(self.rows):,} more rows. {self.errors}"


def sample(release: Release, n: int, where: Cells | None = None, *, seed: int = 1) -> Sample:
    """Draw more rows of a release's model, of everybody or of a group. It costs nothing: the model follows from what was released.

    The first call for a release fits its model again, which takes as long as its run did.

    Parameters
    ----------
    release : one that has rows.
    n : how many rows.
    where : the group, as values of columns such as ``{"sex": "f", "age": (20, 39)}``. All rows have a value in the range, also where it
        cuts groups of the domain.
    seed : another one gives other rows. It protects nobody and need not be secret.

    Raises
    ------
    InputError
        For a release without rows, and for a group that the model has nobody in.

    Examples
    --------
    >>> import dpsynth_core as dps
    >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
    >>> more = dps.sample(plan.run(progress=False), 3, {"sex": "male"})
    >>> list(more.rows["sex"])
    ['male', 'male', 'male']
    """
    from dpsynth_core.release import sampling

    number, seed = whole_number(n, "n", "a number of rows", 1, MAX_ROWS), whole_number(seed, "seed", "a seed", 0, _MOST_SEED)
    if not isinstance(where, Mapping) and hasattr(where, "columns"):
        raise InputError("where", "a table does not say which one group is meant", "draw a row for each of its lines: release.complete")
    fitted = release.refitted
    domain = fitted.plan.domain
    group = asking.named(domain, cells(where), "where")
    drawn = sampling.sample(fitted, number, group, seed)
    return Sample(release.back(whole(drawn.rows), release.made.domain), drawn.errors)


def open(path: str | os.PathLike[str] | bytes | BinaryIO, *, package: str = "") -> Release:
    """Open a bundle. Nothing of it is checked but that it can be read: `verify` checks.

    Parameters
    ----------
    path : of a bundle, or of the folder it was unpacked into; or a bundle's bytes, or a binary stream of them.
    package : the other package whose mechanism made it, if you trust its code: that runs in this process.

    Raises
    ------
    InputError
        Where it is no bundle, is damaged, or has the mechanism of a package that is not named.

    Examples
    --------
    >>> import dpsynth_core as dps
    >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
    >>> release = plan.run(progress=False)
    >>> path = release.save("release.zip")
    >>> dps.open("release.zip").warnings == release.warnings
    True
    """
    return opened(_bundle(path), frame_of, package)


def opened(stored: Path | bytes, back: Back, package: str) -> Release:
    """Open a bundle whose rows are given back as another kind of table."""
    from dpsynth_core.bundle import unpack
    from dpsynth_core.bundle.checks.opened import whole

    bundle = unpack.read(stored) if isinstance(stored, Path) else unpack.read_bytes(stored)
    unpack.plan_of(bundle, package)
    return Release(whole(bundle), stored, back)


def _bundle(given: Any) -> Path | bytes:
    """Return where a bundle is, or its bytes. Raises InputError for anything else."""
    if hasattr(given, "read"):
        given = given.read()
        if not isinstance(given, bytes):
            raise InputError("path", "it is a stream of text", "open the file in binary mode, or give its path")
    return bytes(given) if isinstance(given, bytes | bytearray | memoryview) else path_of(given, "path")


def verify(path: str | os.PathLike[str] | bytes | BinaryIO, *, key: str | None = None, seconds: int = 30, megabytes: int = 1024) -> Report:
    """Check what a bundle says, from the bundle alone, in processes with limits that a hostile one cannot leave.

    Parameters
    ----------
    path : of a bundle, or of the folder it was unpacked into; or a bundle's bytes, or a binary stream of them.
    key : the publisher's public key, with which it must be signed.
    seconds, megabytes : what checking may take.

    Returns
    -------
    Report
        `verdict` says whether it is consistent, `checks` what was looked at, and `unseen` what no bundle can show.

    Examples
    --------
    >>> import dpsynth_core as dps
    >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
    >>> path = plan.run(progress=False).save("release.zip")
    >>> dps.verify("release.zip", seconds=300).verdict
    'consistent'
    """
    from dpsynth_core.bundle import confined
    from dpsynth_core.bundle.signature import parse_key
    from dpsynth_core.foundation.confinement import Limits

    found = confined.verified(_bundle(path), Limits(megabytes=megabytes, seconds=seconds))
    return found if key is None else found.by(parse_key(key, "key"))
