"""The rows of a release as one table like the one that was given: each row with its person's key and columns, rows of a person in order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from dpsynth_core.extensions.sequences.words import ROWS_FILE
from dpsynth_core.foundation.content import Writer
from dpsynth_core.foundation.extension import is_of_one
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release.document import write_csv
from dpsynth_core.release.release import Release
from dpsynth_core.release.rows import Rows, as_table
from dpsynth_core.vocabulary.domain import Domain


@dataclass(frozen=True, eq=False)
class JoinedRows:
    """Rows with the columns of their persons.

    Attributes:
        persons: The rows of persons, whose keys count up from 1; they are held in memory during a pass.
        rows: The rows, each with the key of its person.
        key: Name of the column of keys, the first one of both.
    """

    persons: Rows
    rows: Rows
    key: str

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.rows.num_rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the rows in order as tables, at least one: the key, the columns of the person, and the columns of the row.

        Args:
            columns: Names of the columns; None for all.
        """
        persons = as_table(self.persons)
        for batch in self.rows.batches():
            owners = persons.take(pc.subtract(batch.column(self.key).combine_chunks(), 1))
            own = [name for name in batch.column_names if name != self.key]
            held = [batch.column(self.key), *(owners.column(name) for name in persons.column_names if name != self.key)]
            names = [self.key, *(name for name in persons.column_names if name != self.key), *own]
            table = pa.table([*held, *(batch.column(name) for name in own)], names=names)
            yield table if columns is None else table.select(columns)


def joined(release: Release) -> JoinedRows | None:
    """Return the rows of a release with the columns of their persons; None for a release without rows in order.

    Args:
        release: The release, of one file or of two.
    """
    if release.values is None or release.members is None or "order" not in release.spec.extensions:
        return None
    return JoinedRows(release.values, release.members, str(release.spec.unit.person_column))


def row_copies(release: Release) -> dict[str, JoinedRows]:
    """Return the rows with the columns of their persons, by file name; {} unless one file was given."""
    rows = joined(release) if is_of_one(release.spec.extensions) else None
    return {} if rows is None else {ROWS_FILE: rows}


def row_files(release: Release) -> dict[str, Writer]:
    """Return the function that writes the rows with the columns of their persons, by file name; {} unless one file was given."""
    return {name: partial(write_csv, rows) for name, rows in row_copies(release).items()}


def row_domain(plan: Plan) -> Domain:
    """Return the domain of the rows with the columns of their persons, the key among the filled columns."""
    return Domain((*plan.row_domain.attributes, *plan.member_domain.attributes), filled=plan.row_domain.filled)
