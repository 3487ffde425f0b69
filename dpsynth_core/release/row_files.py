"""Synthetic rows as files of the formats that curators use, with the labels, types and days of the domain.

The same rows give the same bytes: where a format has a place for the time of writing, it says 1980-01-01. `check` finds out before a run
whether a format can hold the rows: names, labels and bounds are public.
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterable
from itertools import chain
from typing import BinaryIO

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.extension import RowFormat
from dpsynth_core.release.about import About
from dpsynth_core.release.document import with_readable_times, write_csv
from dpsynth_core.release.row_formats import FORMATS
from dpsynth_core.release.rows import HeldRows, Rows
from dpsynth_core.sources.decoding import extremes
from dpsynth_core.vocabulary.domain import Domain, column_field

_FEATHER_ROWS = 65_536


def check(domain: Domain, about: About, formats: Iterable[str]) -> None:
    """Check that each format can hold the rows, by writing invented rows in memory before anything is charged.

    Args:
        domain: The columns of the rows; their names, labels, values and bounds decide, which are
            public.
        about: The description that the files will contain.
        formats: Keys of `FORMATS`.

    Raises:
        InputError: A format cannot hold the rows; it names the column if a single column is the
            reason.
        ImportError: A package that writes a format is missing.
    """
    for form in (FORMATS[name] for name in formats):
        if (error := _refusal(form, domain, about)) is None:
            continue
        if isinstance(error, InputError):
            raise error
        alone = ((attribute.name, Domain((attribute,))) for attribute in domain)
        name = next((name for name, one in alone if _refusal(form, one, about) is not None), None)
        field, what = ("--format", "these columns") if name is None else (column_field(name), "this column")
        remedy = "shorten its name, labels or values, narrow its bounds, or use another format such as csv"
        raise InputError(field, f"a file for {form.title} cannot hold {what}", remedy) from error


def _refusal(form: RowFormat, domain: Domain, about: About) -> Exception | None:
    """Return the error that writing invented rows raises, of any type but ImportError; None if they can be written."""
    try:
        form.write(HeldRows(extremes(domain)), domain, io.BytesIO(), about)
    except ImportError:
        raise  # a package is missing, whatever the columns are
    except Exception as error:  # noqa: BLE001
        return error
    return None


def write_text(rows: Rows, _: Domain, stream: BinaryIO, _about: About) -> None:
    """Write rows as UTF-8 CSV with exact values; the domain and the description are not used."""
    write_csv(rows, stream)


def write_feather(rows: Rows, domain: Domain, stream: BinaryIO, about: About) -> None:
    """Write rows as a compressed Feather file with the labels of the domain and the description."""
    batches = rows.batches()
    first = next(batches)
    schema = about.described(first.schema, domain)
    with pa.ipc.new_file(stream, schema, options=pa.ipc.IpcWriteOptions(compression="lz4")) as writer:
        for batch in chain((first,), batches):
            writer.write_table(batch.cast(schema), _FEATHER_ROWS)


def write_json_lines(rows: Rows, _: Domain, stream: BinaryIO, _about: About) -> None:
    """Write rows as JSON lines in UTF-8, times as texts; the domain and the description are not used."""
    for some in rows.batches():
        for batch in with_readable_times(some).to_batches(10_000):
            lines = (json.dumps(row, ensure_ascii=False, default=str) + "\n" for row in batch.to_pylist())
            stream.write("".join(lines).encode())
