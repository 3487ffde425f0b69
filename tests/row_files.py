"""Files of synthetic rows, as the tests make them."""

from __future__ import annotations

import io

import pyarrow as pa

from dpsynth_core.planning.about_spec import AboutSpec
from dpsynth_core.release.about import About
from dpsynth_core.release.document import write_parquet
from dpsynth_core.release.release import Release
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import HeldRows, Rows
from dpsynth_core.vocabulary.domain import Domain

ABOUT = About("0123456789abcdef" * 4, 1.0, 1e-9, protects=True, stated=AboutSpec(licence="CC-BY-4.0", creators=("Statistics Office",)))


READABLE = tuple(name for name, form in FORMATS.items() if not form.ending.endswith(".zip"))
"""Formats that are tables and no archives."""


def row_file(name: str, table: pa.Table, domain: Domain) -> bytes:
    """A table in one of the formats of rows."""
    out = io.BytesIO()
    FORMATS[name].write(HeldRows(table), domain, out, ABOUT)
    return out.getvalue()


def parquet_of(release: Release, rows: Rows | None = None) -> bytes:
    """synthetic.parquet of a release, with other rows perhaps."""
    given = rows or release.values
    assert given is not None
    out = io.BytesIO()
    write_parquet(given, release.plan.row_domain, out, release.about)
    return out.getvalue()
