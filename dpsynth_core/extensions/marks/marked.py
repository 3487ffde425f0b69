"""Rows as CSV and JSON lines with a first column that says what they are, and as CSV with the file that describes it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any, BinaryIO, cast

import pyarrow as pa

from dpsynth_core.extensions.marks.names import COLUMN
from dpsynth_core.extensions.marks.sidecar import beside
from dpsynth_core.foundation.content import Digest, Sink
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.release import document as releases
from dpsynth_core.release import row_files
from dpsynth_core.release.about import About
from dpsynth_core.release.rows import Rows
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.names import column_field

_IN_ZIP = "synthetic.csv"
_EPOCH = (1980, 1, 1, 0, 0, 0)


def write_csv(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    """Write rows as CSV whose first column, "synthetic_rows" (`names.COLUMN`), says in each row what it is.

    Args:
        rows: The rows.
        domain: Their columns.
        stream: The open file.
        about: The description, whose title is the column's value.

    Raises:
        InputError: The rows have a column of this name already.
    """
    releases.write_csv(_marked(rows, domain, about), stream)


def write_json_lines(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    """Write rows as JSON lines whose first entry, "synthetic_rows" (`names.COLUMN`), says what the row is.

    Args:
        rows: The rows.
        domain: Their columns.
        stream: The open file.
        about: The description, whose title is the entry's value.

    Raises:
        InputError: The rows have a column of this name already.
    """
    row_files.write_json_lines(_marked(rows, domain, about), domain, stream, about)


def write_zip(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    """Write a ZIP of the rows as CSV and of the file that describes them, with fixed dates: the same rows give the same bytes.

    The entries are synthetic.csv, without a further column, and synthetic.csv-metadata.json.

    Args:
        rows: The rows.
        domain: Their columns.
        stream: The open file.
        about: The description, which is in the file that describes the rows.
    """
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        hashed = sha256()
        with archive.open(_entry(_IN_ZIP), "w", force_zip64=True) as target:

            def take(part: Any) -> None:
                hashed.update(part)
                target.write(part)

            sink = Sink(take)
            releases.write_csv(rows, cast(BinaryIO, sink))
        for name, text in beside(_IN_ZIP, Digest(sink.size, hashed.hexdigest()), domain, about).items():
            archive.writestr(_entry(name), text)


def _entry(name: str) -> zipfile.ZipInfo:
    entry = zipfile.ZipInfo(name, _EPOCH)
    entry.create_system, entry.compress_type, entry.external_attr = 3, zipfile.ZIP_DEFLATED, 0o644 << 16
    return entry


@dataclass(frozen=True, eq=False)
class _Marked:
    """Rows with the column in front.

    Attributes:
        rows: The rows.
        text: The column's value.
    """

    rows: Rows
    text: str

    @property
    def num_rows(self) -> int:
        """The number of rows."""
        return self.rows.num_rows

    def batches(self, columns: Sequence[str] | None = None) -> Iterator[pa.Table]:
        """Yield the batches of the rows, each with the column in front, whichever other columns are asked for."""
        for batch in self.rows.batches(columns):
            yield batch.add_column(0, COLUMN, pa.repeat(pa.scalar(self.text), batch.num_rows))


def _marked(rows: Rows, domain: Domain, about: About) -> Rows:
    if COLUMN in (column.name for column in domain.columns):
        raise InputError(column_field(COLUMN), "marked rows have a column of this name in front", "rename it, or take another format")
    return _Marked(rows, about.label)
