"""Tables that come in, of any library that speaks Arrow's PyCapsule interface, and rows that go out as the same kind of table."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import pyarrow as pa

from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import FIELDS
from dpsynth_core.vocabulary.domain import Domain

if TYPE_CHECKING:
    import pandas as pd

    from dpsynth_core.sources import memory

Back = Callable[[pa.Table, Domain], Any]
"""Converts the rows of a release over a domain into the caller's kind of table."""
_WRITTEN = {"data": "form={}", "members": "members=(path, columns, {})"}
"""How entries about a file are stated, by the table's name in `plan`."""


@dataclass(frozen=True, eq=False)
class Given:
    """A table as a program gave it.

    Attributes:
        section: The data section of a spec.
        back: The function that converts synthetic rows to the kind of table that was given.
        name: The name that the spec gets: the stem of a file's name, for example.
        held: The object that keeps a table in memory at the address in `section`; None for a file,
            a database or simulated people.
        second: The second of two linked tables.
    """

    section: Mapping[str, Any]
    back: Back
    name: str = "release"
    held: memory.NamedTable | None = None
    second: Given | None = None

    def __getstate__(self) -> dict[str, Any]:
        """Leave the table itself out of a pickle, so that no record is written with a plan."""
        return {**vars(self), "held": None}

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, _memo: object) -> Self:
        return self


def given(data: Any, form: Mapping[str, Any], field: str = "data") -> Given:
    """Return a table and the data section of a spec that names it.

    The first records of a file are read to settle its format.

    Args:
        data: A frame; the path of a file, or of a folder of files; the address of a database;
            "demo", the simulated people, unless a file or folder has this name.
        form: Entries of the data section: the format of a file, as far as stated, or the table or
            query of a database. Empty for a frame.
        field: The name of the table in errors: "data", or "members" for the second of two linked
            tables.

    Raises:
        InputError: The table cannot be read, its first records suggest another format, or `form`
            is given for a frame or the simulated people.
    """
    if isinstance(data, str | os.PathLike):
        return _place(os.fspath(data), form, field)
    from dpsynth_core.interface import row_types  # loaded for tables in memory alone
    from dpsynth_core.sources import memory

    if form:
        raise _without_form(form, "a table in memory")
    if hasattr(data, "to_frame") and not hasattr(data, "columns"):
        raise InputError(field, f"a {type(data).__name__} is one column, and not a table", "give a table of it, as to_frame() makes")
    kind = type(data).__module__.partition(".")[0].lstrip("_")
    if kind == "pandas" and hasattr(data, "iloc") and hasattr(data, "columns"):
        held = memory.hold(data)  # cell by cell: an odd object must not change how others are read
    elif hasattr(data, "__arrow_c_stream__"):
        try:
            held = memory.hold(pa.table(data))
        except (pa.ArrowException, TypeError, ValueError):  # its text could quote a cell
            raise InputError(field, "its columns cannot be read by way of Arrow", "give each column one type") from None
    else:
        problem = f"a {type(data).__name__} is not a table that can be read"
        raise InputError(field, problem, "give a pandas, Polars or Arrow table, a DuckDB relation or a path; collect a lazy frame first")
    back = _AsGiven(kind, row_types.restorable(held.source.schema), data.columns if kind == "pandas" else None)
    return Given({"kind": memory.KIND, "path": held.name}, back, held=held)


@dataclass(frozen=True, eq=False)
class _AsGiven:
    """A function that converts synthetic rows to the kind of table that was given.

    It keeps no record of the given table, only these:

    Attributes:
        library: The top-level package of the table's type, such as "pandas" or "polars".
        types: The column types, as `row_types.restorable` returns them.
        columns: The column labels of a pandas frame; None for other libraries.
    """

    library: str
    types: pa.Schema
    columns: pd.Index[Any] | None

    def __call__(self, rows: pa.Table, domain: Domain) -> Any:
        from dpsynth_core.interface import row_types

        table = row_types.restored(rows, self.types, domain)
        if self.columns is not None:
            return _renamed(pandas_of(table), self.columns)
        return import_module(self.library).from_arrow(table) if self.library in _LIBRARIES else table


def _renamed(rows: pd.DataFrame, columns: pd.Index[Any]) -> pd.DataFrame:
    """Return a frame whose column names, which are texts, are replaced by the original labels.

    Original labels may be numbers, or tuples of several levels.

    Args:
        rows: Synthetic rows, with texts as column names.
        columns: The column labels of the frame that was given.
    """
    import pandas as pd

    own = {str(name): name for name in columns}
    names = [own.get(name, name) for name in rows.columns]
    if isinstance(columns, pd.MultiIndex) and set(names) <= set(columns):
        return rows.set_axis(pd.MultiIndex.from_tuples(names, names=columns.names), axis="columns")
    return rows.set_axis(pd.Index(names, name=columns.name, tupleize_cols=False), axis="columns")


def _without_form(form: Mapping[str, Any], what: str) -> InputError:
    """Return the error for a form that is given with a table that has none.

    Args:
        form: The form, which is not empty.
        what: The table, in words.
    """
    places = " and ".join(("files", *(place.many for place in extension.places().values())))
    return InputError(next(iter(form)), f"it goes with {places}, and this is {what}", "leave it out")


def _place(place: str, form: Mapping[str, Any], field: str) -> Given:
    if place == "demo" and not os.path.exists(place):
        if form:
            raise _without_form(form, "the demo")
        return Given({"kind": "demo"}, frame_of, "Simulated people")
    from dpsynth_core.planning.spec import stated_table
    from dpsynth_core.sources.detect import settled_format  # this and more is loaded for files and places alone
    from dpsynth_core.sources.registry import KINDS

    if (there := extension.place_at(place)) is not None:
        return Given({"path": place, "kind": there.kind, **form}, frame_of)
    stated = stated_table(form, field)
    if not KINDS[stated.get("kind", "csv")].is_file:
        raise InputError(f"{field}.kind", "it is not a kind of file, and this is a path", "leave it out")
    fields = {name: value for name, value in stated.items() if name in FIELDS}
    settled = settled_format(place, fields, field, lambda said: _WRITTEN[field].format(json.dumps(dict(said), ensure_ascii=False)))
    section = {**stated, **settled.section(place)}
    return Given(section, frame_of, "".join(sign if sign.isprintable() else "_" for sign in Path(place).stem) or "release")


def frame_of(table: pa.Table, _domain: Domain) -> pd.DataFrame:
    """Return synthetic rows as a pandas frame: the conversion for files, databases and simulated people."""
    return pandas_of(table)


def pandas_of(table: pa.Table) -> pd.DataFrame:
    """Return a table as a pandas frame.

    Integer and boolean columns with missing values get pandas' nullable types instead of becoming
    floats or objects, and dates become datetime64.
    """
    import pandas as pd

    kept: dict[pa.DataType, Any] = {getattr(pa, name.lower())(): getattr(pd, f"{name}Dtype")() for name in _INTEGERS}
    kept |= {pa.bool_(): pd.BooleanDtype()}

    def series(column: pa.ChunkedArray) -> Any:
        return column.to_pandas(types_mapper=kept.get if column.null_count else None, date_as_object=False)

    return pd.DataFrame({name: series(table.column(name)) for name in table.column_names})


_INTEGERS = [f"{sign}{bits}" for sign in ("Int", "UInt") for bits in (8, 16, 32, 64)]
_LIBRARIES = ("polars", "duckdb")
"""Libraries that make tables of theirs from Arrow."""
