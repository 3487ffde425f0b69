"""Tables that come in, of any library that speaks Arrow's PyCapsule interface, and rows that go out as the same kind of table."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import memory

Back = Callable[[pa.Table], Any]


@dataclass(frozen=True, eq=False)
class Given:
    """section: about the data, of a spec. back: rows as the kind of table that came in. held: what keeps a table in memory there."""

    section: Mapping[str, Any]
    back: Back
    name: str = "release"
    held: memory.Held | None = None


def given(data: Any, form: Mapping[str, Any]) -> Given:
    """A frame; the path of a file, or of a folder of files; the address of a database; "demo", the simulated people.

    form: how a file is written, or the table or query of a database, as in a spec's section about the data. Raises InputError.
    """
    if isinstance(data, str | os.PathLike):
        return _place(os.fspath(data), form)
    if form:
        raise InputError(next(iter(form)), "it goes with files and databases, and this is a table in memory", "leave it out")
    kind = type(data).__module__.partition(".")[0].lstrip("_")
    if kind == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        held = memory.hold(data)  # cell by cell: an odd object must not change how others are read
    elif hasattr(data, "__arrow_c_stream__"):
        try:
            held = memory.hold(pa.table(data))
        except (pa.ArrowException, TypeError, ValueError):  # its text could quote a cell
            raise InputError("data", "its columns cannot be read by way of Arrow", "give each column one type") from None
    else:
        problem = f"a {type(data).__name__} is no table that can be read"
        raise InputError("data", problem, "give a pandas, Polars or Arrow table, a DuckDB relation or a path; collect a lazy frame first")
    return Given({"kind": memory.KIND, "path": held.name}, _BACK.get(kind, lambda table: table), held=held)


def _place(place: str, form: Mapping[str, Any]) -> Given:
    from dpsynth_core.sources.databases.address import is_address
    from dpsynth_core.sources.detect import detect_without_doubt

    if place == "demo" and not os.path.exists(place):
        return Given({"kind": "demo"}, pandas_of, "Simulated people")
    if is_address(place):
        return Given({"path": place, "kind": "database", **form}, pandas_of)
    section = {"path": place, **form} if form else detect_without_doubt(place, "data").section(place)
    return Given(section, pandas_of, "".join(sign if sign.isprintable() else "_" for sign in Path(place).stem) or "release")


def pandas_of(table: pa.Table) -> Any:
    """Whole numbers and truths with missing values stay what they are, and dates are pandas' own."""
    import pandas as pd

    kept = {pa.int64(): pd.Int64Dtype(), pa.bool_(): pd.BooleanDtype()}

    def series(column: pa.ChunkedArray) -> Any:
        return column.to_pandas(types_mapper=kept.get if column.null_count else None, date_as_object=False)

    return pd.DataFrame({name: series(table.column(name)) for name in table.column_names})


_BACK: Mapping[str, Back] = {
    "pandas": pandas_of,
    "polars": lambda table: sys.modules["polars"].from_arrow(table),  # the program that gave a frame of it has loaded it
    "duckdb": lambda table: sys.modules["duckdb"].from_arrow(table),
}
