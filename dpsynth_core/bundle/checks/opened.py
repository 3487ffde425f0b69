"""An opened bundle: its release, and its rows, which may be hostile."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.csv as pcsv
from numpy.typing import NDArray

from dpsynth_core.bundle.reproduce import other_versions
from dpsynth_core.bundle.unpack import DAMAGE, Bundle
from dpsynth_core.claims.claim import Final
from dpsynth_core.claims.outcome import Wrong, expect, some
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.arrow_times import holds_times
from dpsynth_core.foundation.content import Content
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.events import Event
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.release import document as releases
from dpsynth_core.release import tables
from dpsynth_core.release.linked import in_order, pairs
from dpsynth_core.release.release import INTERRUPTED, Release
from dpsynth_core.release.transcript import RecordedAnswer, replaying
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.decoding import arrow_type, typed
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.filled import Calibrated
from dpsynth_core.vocabulary.rows import Repeated, narrow

_BLOCK_BYTES = 2**22
"""Bytes of synthetic.csv read at a time; no row is longer."""


@dataclass(frozen=True, eq=False)
class CsvRows:
    """The rows of a CSV file, read in batches with the domain's types.

    Attributes:
        domain: The domain of the rows.
        content: Content of the file.
        name: Name of the file in the bundle, for errors.

    Raises:
        Wrong: On reading: the file is not a table of these columns.
    """

    domain: Domain
    content: Content
    name: str = releases.ROWS_CSV

    @cached_property
    def num_rows(self) -> int:
        """Number of rows."""
        with _tabular(self.name):
            return sum(batch.num_rows for batch in self._read())

    @cached_property
    def schema(self) -> pa.Schema:
        """The columns and types of the file as an Arrow schema."""
        return next(self.batches()).schema

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in batches, in order.

        Args:
            columns: Names of the columns to keep, in their order; None for all columns.

        Raises:
            Wrong: The file cannot be read as a table of the domain.
        """
        with _tabular(self.name):
            for batch in self._read():
                table = typed(self.domain, batch)
                yield table if columns is None else table.select(columns)

    def checked(self) -> Iterator[pa.Table]:
        """Yield the rows in batches.

        Raises:
            Wrong: The file cannot be read as a table of the domain, or its columns are not the
                domain's columns in the domain's order.
        """
        for batch in self.batches():
            expect(batch.column_names == list(self.domain.column_names), f"the columns of {self.name} are not those of the domain")
            yield batch

    def codes(self) -> NDArray[np.integer]:
        """Return the rows as cell codes, shape (rows, attributes), in the smallest integer type.

        Raises:
            Wrong: The file cannot be read as a table of the domain, or its columns are not the
                domain's columns in the domain's order.
        """
        codes, start = np.empty((self.num_rows, len(self.domain)), narrow(self.domain.sizes(self.domain.names))), 0
        for batch in self.checked():
            encoded = encode(self.domain, batch, Notation(frozenset()))
            for place, name in enumerate(self.domain.names):
                codes[start : start + batch.num_rows, place] = encoded[name]
            start += batch.num_rows
        return codes

    def _read(self) -> Iterator[pa.Table]:
        kinds = {a.name: pa.string() if holds_times(arrow_type(a)) else arrow_type(a) for a in self.domain.columns}
        options = pcsv.ConvertOptions(column_types=kinds, null_values=[""], strings_can_be_null=True, quoted_strings_can_be_null=False)
        places = pcsv.ReadOptions(block_size=_BLOCK_BYTES, use_threads=False)
        lines = pcsv.ParseOptions(newlines_in_values=True, ignore_empty_lines=False)  # what is missing in a single column
        with self.content.open() as stream, pcsv.open_csv(stream, places, lines, options) as reader:
            empty = True
            for batch in reader:
                empty = False
                yield pa.Table.from_batches([batch])
            if empty:
                yield reader.schema.empty_table()


@contextmanager
def _tabular(name: str) -> Iterator[None]:
    try:
        yield
    except (pa.ArrowException, ValueError):
        raise Wrong(f"{name} is not a table of these columns") from None


@dataclass(frozen=True, eq=False)
class Opened:
    """A bundle with its release, which has no rows at first.

    `codes`, `rows` and further tables are read from the bundle's files on first use.
    """

    bundle: Bundle
    release: Release

    @property
    def plan(self) -> Plan:
        """The plan of the release."""
        return self.release.plan

    @cached_property
    def other_versions(self) -> list[str]:
        """The names whose version here is not the one that made the release: of programs, libraries and the processor.

        They are sorted; [] if all are the same.
        """
        return other_versions(self.release.versions)

    @property
    def other_program(self) -> bool:
        """True if another version of this program made the release."""
        return "dpsynth_core" in self.other_versions

    @cached_property
    def rows(self) -> CsvRows | None:
        """synthetic.csv, or None if the release has no rows."""
        content = self.bundle.files.get(releases.ROWS_CSV)
        domain, weight = self.plan.row_domain, self.plan.weight
        if weight is not None:  # the weights follow from the codes of these rows, which are read first
            domain = self.plan.weighed(Calibrated.of_column(weight.column, lambda: self._weights[0]))
        return None if content is None else CsvRows(domain, content)

    @cached_property
    def members(self) -> CsvRows | None:
        """The rows of members.csv; None for a release of one table and for one without rows.

        Raises:
            Wrong: Two linked tables are stated, and the file is missing.
        """
        if self.rows is None or self.plan.link is None:
            return None
        expect(tables.MEMBERS in self.bundle.files, f"{tables.MEMBERS} is missing, but two linked tables are stated")
        domain, weight = self.plan.member_domain, self.plan.weight
        if weight is not None:
            domain = self.plan.weighed_members(Calibrated.of_column(weight.column, lambda: self._weights[1]))
        return CsvRows(domain, self.bundle.files[tables.MEMBERS], tables.MEMBERS)

    @cached_property
    def _weights(self) -> tuple[NDArray[np.float64], ...]:
        """The calibrated weights of the rows, and for two linked tables of the members."""
        weights = np.asarray(self.with_rows.weights)
        return (weights,) if self.plan.link is None else in_order(weights, self.owners)

    @cached_property
    def owners(self) -> NDArray[np.int64]:
        """The household of each member: the position of its row in synthetic.csv, from 0, shape (members,).

        It is for releases of two linked tables only.

        Raises:
            Wrong: A key is unknown, members are not in the order of their households, or a household
                has more members than it may have.
        """
        assert self.rows is not None
        assert self.members is not None
        assert self.plan.link is not None
        key = self.members.domain.column_names[0]
        keys = [np.empty(0, np.int64)] + [batch.column(key).to_numpy() for batch in self.members.checked()]
        owners = np.concatenate(keys) - 1
        there = np.issubdtype(owners.dtype, np.integer) and bool(np.all((owners >= 0) & (owners < self.rows.num_rows)))
        expect(there, f"a row of {tables.MEMBERS} has a key that no row of {releases.ROWS_CSV} has")
        expect(bool(np.all(np.diff(owners) >= 0)), f"{tables.MEMBERS} is not in the order of {releases.ROWS_CSV}")
        most = int(np.bincount(owners).max(initial=0))
        expect(most <= self.plan.link.most, f"{most:,} rows of {tables.MEMBERS} have one key, and {self.plan.link.most} may")
        return owners

    @cached_property
    def further(self) -> tuple[CsvRows, ...]:
        """The tables of rows after the first, in order; () if the plan asks for one table or the release has no rows.

        Raises:
            Wrong: A table that the plan asks for is missing.
        """
        names = [tables.name(number) for number in range(2, (self.plan.spec.output.tables if self.rows else 1) + 1)]
        missing = [name for name in names if name not in self.bundle.files]
        expect(not missing, f"{some(missing)} is missing, but {len(names) + 1:,} tables of rows are stated")
        return tuple(CsvRows(self.release.domain, self.bundle.files[name], name) for name in names)

    @cached_property
    def codes(self) -> NDArray[np.integer] | Repeated | None:
        """The rows as cell codes of the domain, in the smallest integer type; None for a release without rows.

        For two linked tables they are pairs of households and members. This is the only copy of all
        rows in memory.
        """
        if self.rows is None or self.members is None or self.plan.link is None:
            return None if self.rows is None else self.rows.codes()
        layout = extension.layout(self.plan.spec.extensions)
        carried = None if layout is None or not layout.carried else extension.load(layout.carried)
        members = self.members.codes() if carried is None else carried(self)
        return pairs(self.plan.link, self.rows.codes(), self.owners, members)

    @cached_property
    def with_rows(self) -> Release:
        """The release with its rows; the release unchanged if it has no rows.

        Raises:
            Wrong: A file of rows is missing or cannot be read.
        """
        return replace(self.release, codes=self.codes, values=self.rows, further=self.further, members=self.members)

    @cached_property
    def final(self) -> Final:
        """The statements at the end of the release, computed with the rows of synthetic.csv."""
        return replace(self.release, codes=self.codes).final

    @property
    def answers(self) -> tuple[RecordedAnswer, ...]:
        """The kernel's answers, in order."""
        return self.release.transcript

    @property
    def charges(self) -> tuple[Event, ...]:
        """The charges of all answers, in order."""
        return self.release.charges

    @property
    def interrupted(self) -> bool:
        """True if the run ended before its mechanism was finished."""
        return self.release.branded(INTERRUPTED)

    def branded(self, code: str) -> bool:
        """Return whether the release has the warning with this code."""
        return self.release.branded(code)

    def written(self, part: str) -> Any:
        """Return the parsed JSON of one top-level entry of release.json.

        Raises:
            KeyError: The document lacks the entry.
        """
        return self.bundle.document[part]

    def behind(self, name: str) -> int:
        """Return the number of kernel answers that belong to claims after the claim `name`, in the order of `CLAIMS`."""
        names = [claim.name for claim in CLAIMS]
        later = CLAIMS[names.index(name) + 1 :]
        return sum(claim.answers(self.plan, self.release.claims[claim.name]) for claim in later)

    @property
    def of_extensions(self) -> int:
        """The number of kernel answers that belong to claims of extensions, which are the last ones."""
        return sum(claim.answers(self.plan, self.release.claims[claim.name]) for claim in CLAIMS if claim.setting)

    def replaying(self, answers: slice) -> SealedKernel:
        """Return a kernel that repeats the recorded answers of this slice, with their charges. It has no private table.

        Args:
            answers: A slice of the property `answers`, with an explicit end.
        """
        repeated = self.answers[answers]
        end = len(self.charges) - sum(answer.charges for answer in self.answers[answers.stop :])
        charges = self.charges[end - sum(answer.charges for answer in repeated) : end]
        return replaying(self.plan.domain, self.plan.unit, self.plan.shares, repeated, charges)


def damaged() -> InputError:
    """Return the error for a bundle that cannot be read."""
    return InputError("bundle", "it is damaged", "download it again, or verify it to see what is wrong")


def release_with_rows(bundle: Bundle) -> Release:
    """Return the release of a bundle with its rows. Only that it can be read is checked.

    Raises:
        InputError: The bundle is damaged.
    """
    try:
        return Opened(bundle, releases.from_json(bundle.document)).with_rows
    except (Wrong, *DAMAGE):
        raise damaged() from None
