"""What the suite of engines needs of each: how the records of an Arrow table become a counting source of it, and how they are damaged.

A new engine is one entry in `ENGINES`, here or in the module `sources.engines` of an extension's tests; `test_engines.py` then asks it what
it asks of all.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from dpsynth_core.sources.arrow import ArrowSource
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.parts import Sizes
from dpsynth_core.sources.source import MarginalSource
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import added

PARQUET = TableFormat("parquet")
MANY = Sizes(rows=1, divided=0)

Open = Callable[[Path, pa.Table, Domain, str | None, int], MarginalSource]
"""Puts the records, of at least one column and perhaps no row, where the engine reads them, in an empty folder if it needs one, and opens a
source over the domain, with the person column (or None) and the rows that each person may have. Columns of the table that are not of the
domain are there to be ignored."""


@dataclass(frozen=True)
class Engine:
    """open: see `Open`. damage: makes the records of the folder unreadable, those of the beginning perhaps not; a source that is open
    already then fails while it counts. ordered: whether the first rows of a person are those that come first in the table. decimals:
    whether it has a type for decimals."""

    open: Open
    damage: Callable[[Path], None]
    ordered: bool = True
    decimals: bool = True


def one_stream(folder: Path, records: pa.Table, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    """What all are compared with: one file that is read from its beginning to its end."""
    path = folder / "records.parquet"
    pq.write_table(records, path)
    return ArrowSource(domain, path, PARQUET, person, rows)


def in_many_parts(folder: Path, records: pa.Table, domain: Domain, person: str | None, rows: int) -> MarginalSource:
    """Each part is a few rows, so that every person is in several of them."""
    path = folder / "records.parquet"
    pq.write_table(records, path, row_group_size=max(2, len(records) // 4))
    return ArrowSource(domain, path, PARQUET, person, rows, MANY)


def cut_off(folder: Path) -> None:
    for path in folder.glob("*.parquet"):
        content = path.read_bytes()
        path.write_bytes(content[: len(content) // 2] + bytes(len(content) - len(content) // 2))


ENGINES: dict[str, Engine] = {
    "this machine": Engine(one_stream, cut_off),
    "this machine, many parts": Engine(in_many_parts, cut_off),
}
for module in added("sources.engines"):
    ENGINES |= module.ENGINES
