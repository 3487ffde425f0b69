"""A release: rows, their quality, and answers to questions. All of this may be published, and nothing here costs budget."""

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
from dpsynth_core.foundation.asked_files import asked_file
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.foreign import package_of
from dpsynth_core.interface import shown as words
from dpsynth_core.interface.frames import Back, frame_of
from dpsynth_core.interface.given_values import cells, names, path_of, whole_number
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.release import release as releases
from dpsynth_core.release.rows import as_table
from dpsynth_core.report import asking
from dpsynth_core.report.asking import Answer, Answers, Cells

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.bundle.verdicts import Report
    from dpsynth_core.interface.plots import Plots
    from dpsynth_core.release.sampling import Refitted


Grouped: TypeAlias = Literal["count", "share", "mean", "median"]
"""What can be asked of each group of a column by itself."""
_MOST_SEED = 2**64 - 1
Of: TypeAlias = "Cells | str | list[str] | None"


@dataclass(frozen=True, eq=False, repr=False)
class Release:
    """A release, made by a run or read from a bundle. Print it to read a summary.

    Attributes:
        made: The release as the room `release` represents it.
        back: A function that converts rows into the kind of table that was given.
    """

    made: releases.Release
    _bundle: Path | bytes
    back: Back

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle the bundle's bytes, from which unpickling opens the release again.

        No path, cache or fitted model is in a pickle, unless the bundle's file is gone: then its
        path is.
        """
        bundle = self._bundle.read_bytes() if isinstance(self._bundle, Path) and self._bundle.is_file() else self._bundle
        return opened, (bundle, self.back, package_of(self.made.spec.mechanism.name))

    @cached_property
    def rows(self) -> Any:
        """The synthetic rows as the kind of table that was given; None if the release has no rows.

        For a file or a database they are a pandas frame. With two linked tables they are the households.
        Each access returns the same object: copy it before you change it.

        Do not test hypotheses on them: a test takes noise for people, and finds relations that are
        not there far more often than its level says. Ask for the difference instead,
        ``ask("difference", ...)``, and look whether its interval leaves out 0.
        """
        return None if self.made.table is None else self.back(self.made.table, self.made.domain)

    @cached_property
    def row_tables(self) -> list[Any]:
        """All tables of rows that were drawn from the one measurement, `rows` first; empty if the release has no rows."""
        return [] if self.made.table is None else [self.rows, *(self.back(as_table(one), self.made.domain) for one in self.made.further)]

    @cached_property
    def members(self) -> Any:
        """The rows of the second of two linked tables, with the keys of `rows`; None for a single table or without rows.

        They are the same kind of table as `rows`.
        """
        return None if self.made.members is None else self.back(as_table(self.made.members), self.made.domain)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Return the rows for any library that reads Arrow's PyCapsule interface.

        Raises:
            InputError: The release has no rows.
        """
        if (table := self.made.table) is None:
            raise InputError("rows", "this release has none", "look at what it measured: errors, ask")
        return table.__arrow_c_stream__(requested_schema)

    @property
    def verdict(self) -> str:
        """The uses that the release is fit to be published for, with reasons; "" for a rule, which has no tables."""
        return words.verdict(self.made)

    @property
    def guarantee(self) -> str:
        """The privacy guarantee, in words."""
        return self.made.statement

    @property
    def warnings(self) -> tuple[str, ...]:
        """Warnings that a reader must know before trusting the release, in full sentences; () without warnings.

        Names of columns in them are not escaped for HTML.
        """
        return tuple(report.warnings(self.made))

    @property
    def facts(self) -> list[tuple[str, str]]:
        """A summary of the release: four pairs of name and text, named About, Protection, Tables and Made."""
        return report.in_short(self.made)

    @property
    def errors(self) -> pd.DataFrame:
        """The error of each table, as a share of the people from 0 to 1: one line per table.

        `marginal` has the names of the columns as a text, and `cells` the table's number of cells.
        `error` is the best estimate of a certificate, missing without one; `low` and `limit` are
        bounds of the error with 95 % confidence each. Without a certificate, `limit` is the bound
        that follows from the noisy tables. Unknown values are missing. `support` says how the table is
        known: "measured" (a noisy table contains it), "inferred" (no noisy table contains it, but the
        mechanism preferred others to it, which bounds its error) or "not bounded".

        Tables are sorted by `error`, the largest first, or by `limit` without a certificate.
        """
        table = report.quality_of(self.made).value.table
        return table[["marginal", "cells", "error", "low", "limit", "support"]].reset_index(drop=True)

    @property
    def plot(self) -> Plots:
        """Charts (Altair), one for each method: `errors`, `overview`, `simpler`, `pairs` and `columns`."""
        from dpsynth_core.interface.plots import Plots  # loaded for charts alone

        return Plots(self.made)

    @overload
    def ask(self, statistic: Literal["table"], of: str | list[str], *, among: Cells | None = None, weighted: bool = False) -> Answers: ...
    @overload
    def ask(self, statistic: Grouped, of: Of = None, *, among: Cells | None = None, by: str, weighted: bool = False) -> Answers: ...
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
        """Answer a question from all that was released, with a 95 % interval, which holds for this answer by itself.

        With two linked tables, a question that names a column of members is about members: each counts once and has the columns of its
        household. Any other question is about households, whose column ``members`` holds their number of members. Intervals are known for
        two columns of households, `members` among them, and for one column of members; all other answers are guesses. Questions about
        the members of households, ``{"some member": {"age": (0, 15)}, "no member": {"work": "employed"}}`` with cells of members or a
        list of cells, are answered by guesses too.

        Args:
            statistic: "count", "share", "mean", "median", "difference" or "table".
            of: Subject of the question. For a share, cells of columns such as ``{"sex": "f", "age": (20, 39)}``; for a
                mean or median, a column; for a difference, either; for a table, columns; for a count, the group.
            among: The group in question, as cells; everybody by default.
            versus: The other group, for a difference; left out for other statistics.
            by: A column, for one answer for each of its values; None for a single answer.
            weighted: Count people by their survey weight. Intervals are then known for single columns and for the
                weighted tables of the plan; all other answers are guesses.

        Returns:
            The answer in `value`: a number of people, a share from 0 to 1, or a number in the column's unit. For a table
            and with `by`, `Answers` with one answer for each cell or value.

        Raises:
            InputError: If the question is invalid, or the rows cannot answer it.

        Examples:
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
        """Draw a row for each line of a table of known columns.

        The other columns follow the model's distribution given the known values.

        It costs nothing, like `sample`. A missing cell means a missing value, and not an unknown value.

        Args:
            known: A pandas, Polars or Arrow table with some of the columns, in values of the domain.
            seed: A whole number from 0; another seed gives other rows. It protects no data and need not be secret.

        Returns:
            The rows, in the order of the lines.

        Raises:
            InputError: If a value is not in the domain, if the model has no people like a line, or if the release
                has no rows or two linked tables.
            CapacityError: If `known` has more than 20,000,000 lines, or lines that are too rare in the model.

        Examples:
            >>> import dpsynth_core as dps, pandas as pd
            >>> plan = dps.plan("demo", {"sex": ["female", "male"], "age": (16, 95)}, epsilon=1, tables=2, mechanism="independent")
            >>> known = pd.DataFrame({"sex": ["male", "female", "male"]})
            >>> list(plan.run(progress=False).complete(known).rows["sex"])
            ['male', 'female', 'male']
        """
        from dpsynth_core.interface.labelled import known_cells
        from dpsynth_core.release import sampling

        seed, fitted = whole_number(seed, "seed", "a seed", 0, _MOST_SEED), self.refitted
        columns, codes = known_cells(known, fitted.plan.domain)
        drawn = sampling.complete(fitted, codes, columns, seed)
        return Sample(self.back(as_table(drawn.rows), self.made.domain), drawn.errors)

    @cached_property
    def refitted(self) -> Refitted:
        """The model of the release, fitted again from the released answers, from which `sample` draws.

        The first use takes about as long as the run did; no private record is read, and nothing is spent.

        Raises:
            InputError: The release has no rows, or two linked tables, or this version of the program
                asks other questions than the recorded ones.
            CapacityError: The model does not fit into this machine.
        """
        from dpsynth_core.release import sampling

        return sampling.refit(self.made)

    @overload
    def save(self, path: str | os.PathLike[str]) -> Path: ...
    @overload
    def save(self, path: BinaryIO) -> None: ...
    def save(self, path: str | os.PathLike[str] | BinaryIO) -> Path | None:
        """Write the bundle, which is the file to publish: rows, record, report, and instructions for checks.

        Args:
            path: A file, which is replaced if it exists, or a binary stream.

        Returns:
            The path, or None for a stream.

        Raises:
            InputError: If the path is a folder or a device, or the file cannot be written there.
        """
        if not isinstance(path, str | os.PathLike) and hasattr(path, "write"):
            with self._stored() as source:
                shutil.copyfileobj(source, path)
            return None
        target = path_of(path, "path")
        with asked_file(target, "path") as stream, self._stored() as source:
            shutil.copyfileobj(source, stream)
        return target

    def _stored(self) -> BinaryIO:
        return io.BytesIO(self._bundle) if isinstance(self._bundle, bytes) else self._bundle.open("rb")

    def verify(self) -> Report:
        """Check the bundle as a recipient would, and return the report of all checks (`verify`).

        The question whether the mechanism makes the same rows again stays open if that takes more than 30 seconds of
        processor time or 1024 MB; the function `verify` can allow more.

        Raises:
            InputError: The bundle cannot be read.
            CapacityError: The other checks take more than that.
        """
        return verify(self._bundle)

    def __repr__(self) -> str:
        return words.release_line(self.made)

    def __str__(self) -> str:
        return words.release_text(self.made)

    def _repr_html_(self) -> str:
        return words.release_html(self.made)


def _column(by: Any) -> str | None:
    """Return the column that `by` names, as a text; None for None.

    Raises:
        InputError: A list does not name exactly one column.
    """
    named = names(by)
    if isinstance(named, list):
        if len(named) != 1:
            raise InputError("by", f"it names {len(named)} columns", 'name one, such as by="sex"')
        named = named[0]
    return None if named is None else str(named)


@dataclass(frozen=True, eq=False, repr=False)
class Sample:
    """More rows of a release's model.

    Attributes:
        rows: A table of the same kind as the release's rows.
        errors: A sentence about the known errors of their tables.
    """

    rows: Any
    errors: str

    def __repr__(self) -> str:
        return f"{len(self.rows):,} more rows. {self.errors}"


def sample(release: Release, n: int, where: Cells | None = None, *, seed: int = 1) -> Sample:
    """Draw more rows from a release's model, of all people or of a group.

    It costs nothing: the model follows from the released answers.

    The first call for a release fits its model again, which takes as long as the run did.

    Args:
        release: A release that has rows.
        n: Number of rows, from 1 to 20,000,000.
        where: The group, as values of columns such as ``{"sex": "f", "age": (20, 39)}``. All rows have a value in the
            range, even if it cuts groups of the domain.
        seed: A whole number from 0; another seed gives other rows. It protects no data and need not be secret.

    Raises:
        InputError: If `n`, `where` or `seed` is invalid, or the release has no rows, or two linked tables, or the model
            has no people in the group.
        CapacityError: If the group is too rare for this number of rows, or the model does not fit into this machine.

    Examples:
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
    return Sample(release.back(as_table(drawn.rows), release.made.domain), drawn.errors)


def open(path: str | os.PathLike[str] | bytes | BinaryIO, *, package: str = "") -> Release:
    """Open a bundle. Only its readability is checked: `verify` checks its contents.

    Args:
        path: Path of a bundle or of the folder that it was unpacked into, a bundle's bytes, or a binary stream.
        package: The other package whose mechanism made the release, if you trust its code: that code runs in this
            process.

    Raises:
        InputError: If the file is not a bundle or is damaged, or if its mechanism belongs to a package that is not
            named.

    Examples:
        >>> import dpsynth_core as dps
        >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, tables=1, mechanism="independent")
        >>> release = plan.run(progress=False)
        >>> path = release.save("release.zip")
        >>> dps.open("release.zip").warnings == release.warnings
        True
    """
    return opened(_bundle(path), frame_of, package)


def opened(stored: Path | bytes, back: Back, package: str) -> Release:
    """Open a bundle as a release whose rows are converted by `back`.

    Args:
        stored: The path of the bundle, or its bytes.
        back: The function that converts synthetic rows to the caller's kind of table.
        package: The trusted other package whose mechanism made the release, or "".

    Raises:
        InputError: It is not a bundle or is damaged, or its mechanism belongs to another package
            than `package`.
    """
    from dpsynth_core.bundle import unpack
    from dpsynth_core.bundle.checks.opened import release_with_rows

    bundle = unpack.read(stored) if isinstance(stored, Path) else unpack.read_bytes(stored)
    unpack.plan_of(bundle, package)
    return Release(release_with_rows(bundle), stored, back)


def _bundle(given: Any) -> Path | bytes:
    """Return the path of a bundle, or the bytes of a bundle given as bytes or as a binary stream.

    Raises:
        InputError: `given` is a text stream, or no path, bytes or stream.
    """
    if hasattr(given, "read"):
        given = given.read()
        if not isinstance(given, bytes):
            raise InputError("path", "it is a stream of text", "open the file in binary mode, or give its path")
    return bytes(given) if isinstance(given, bytes | bytearray | memoryview) else path_of(given, "path")


def verify(path: str | os.PathLike[str] | bytes | BinaryIO, *, key: str | None = None, seconds: int = 30, megabytes: int = 1024) -> Report:
    """Check the claims of a bundle, from the bundle alone, in processes whose limits a hostile bundle cannot escape.

    Args:
        path: Path of a bundle or of the folder that it was unpacked into, a bundle's bytes, or a binary stream.
        key: The publisher's public key (64 hexadecimal digits), which must have signed the bundle; None to accept any
            signature, and a bundle without one.
        seconds, megabytes: Processor time and memory that each of the two processes of the checks may take.

    Returns:
        `verdict` states whether the bundle is consistent, `checks` lists the checks, and `unseen` lists what no bundle
        can show. If the second process, which runs the mechanism again, exceeds the limits, its question stays open.

    Raises:
        InputError: If the bundle cannot be read, or `key` is not a key.
        CapacityError: If the first process exceeds `seconds` or `megabytes`.

    Examples:
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
