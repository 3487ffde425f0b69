"""Tables of counts that somebody else protected: read from files and from Python by their labels, as JSON, and what follows from them.

A count may be withheld (suppressed). It is then nan, and the fit leaves its cell open.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.inference.estimation import estimate_total
from dpsynth_core.interface import labelled
from dpsynth_core.sources import published
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.published import MAX_COUNT, MAX_TABLES, check_named

Tables: TypeAlias = "Mapping[Any, Any] | Sequence[Any]"
"""Tables by the columns that each is over, or, of tables whose labels name the columns, a list.

An array has an axis for each column and a place for each of its cells, those for other and missing values among them. A table with labels
is read by its labels, in whatever order they are: a Series or cross table of pandas whose index (and columns) have the names of columns, a
pandas, Polars or Arrow table with a column for each column and `count`, the path of such a table, or {value: count} of one column. It names
every value of its columns; combinations without a line count 0, and so do other and missing values that it does not name. A count that is
empty, nan, or one of the usual marks (`MARKS`) was suppressed.
"""
MAX_CELLS = 1_000_000
"""The most cells of a table."""
MARKS = ("..", "...", ".", "x", "c", "s", ":", "*", "na", "n/a")
"""Marks of a suppressed count, in small or capital letters; an empty cell and "<5" are others."""
_BELOW = re.compile(r"<\s*\d+")


@dataclass(frozen=True, eq=False)
class Given:
    """A table of counts.

    Attributes:
        columns: Its columns, in the domain's order.
        counts: Numbers of people, with one axis per column; nan where they were suppressed. Noise may have made them negative.
        deviation: Standard deviation of the noise or rounding in a cell, in people. The ratios of deviations alone matter.
    """

    columns: Clique
    counts: NDArray[np.float64]
    deviation: float = 1.0

    @property
    def suppressed(self) -> int:
        """The number of cells whose counts were suppressed."""
        return int(np.isnan(self.counts).sum())

    @property
    def total(self) -> float | None:
        """The sum of the counts; None if some were suppressed."""
        return None if self.suppressed else float(self.counts.sum())

    def __str__(self) -> str:
        return label(self.columns)

    def to_json(self, domain: Domain) -> dict[str, Any]:
        """Return the table as JSON, with "columns", "cells" and "deviation".

        Each cell that does not count 0 is a list of labels and a count, which is null if it is suppressed.

        Args:
            domain: The domain.
        """
        labels = [domain[name].cell_labels() for name in self.columns]
        places = np.argwhere(self.counts != 0).tolist()  # nan is not 0
        numbers = [None if math.isnan(n) else int(n) if n == int(n) else n for n in self.counts[self.counts != 0].tolist()]
        cells = [[*(of[at] for of, at in zip(labels, place, strict=True)), n] for place, n in zip(places, numbers, strict=True)]
        return {"columns": list(self.columns), "cells": cells, "deviation": self.deviation}

    def lines(self, domain: Domain) -> pa.Table:
        """Return the table with a line for each cell, also if it counts 0: labels, and a count, which is null if suppressed."""
        labels = [np.array(domain[name].cell_labels(), dtype=object) for name in self.columns]
        places = np.indices(self.counts.shape).reshape(self.counts.ndim, -1)
        numbers = pa.array(self.counts.ravel(), from_pandas=True)
        whole = bool(np.all(np.isnan(self.counts) | (self.counts == np.round(self.counts))))
        columns = {name: pa.array(of[at], pa.string()) for name, of, at in zip(self.columns, labels, places, strict=True)}
        return pa.table(columns | {published.COUNT: numbers.cast(pa.int64()) if whole else numbers})


def from_json(stated: Any, domain: Domain, field: str) -> Given:
    """Return the table that JSON states (`Given.to_json`): its columns, its cells with counts, and perhaps a deviation.

    Raises:
        InputError: It is not such a table; its columns are not in the order of the domain; a cell is not in the domain or
            there twice; or no known count is above 0.
        CapacityError: The table has more than 1,000,000 cells (`MAX_CELLS`).
    """
    if not isinstance(stated, Mapping) or not {"columns", "cells"} <= stated.keys() <= {"columns", "cells", "deviation"}:
        raise InputError(field, "it is not a table", "give its columns and its cells, and perhaps a deviation")
    columns, cells = stated["columns"], stated["cells"]
    if not isinstance(columns, list) or not isinstance(cells, list) or not columns:
        raise InputError(field, "its columns or its cells are not a list", "give two lists")
    clique = domain.clique([str(name) for name in columns])
    if list(clique) != columns:
        raise InputError(f"{field}.columns", "they are not in the order of the domain", "name each once, in that order")
    counts, seen = _empty(domain, clique, field), set[tuple[int, ...]]()
    places = [{text: code for code, text in enumerate(domain[name].cell_labels())} for name in clique]
    for cell in cells:
        if not isinstance(cell, list) or len(cell) != len(clique) + 1:
            raise InputError(f"{field}.cells", "one is not a list of a label of each column and a count", "give these")
        *labels, count = cell
        place = tuple(of.get(str(text), -1) for of, text in zip(places, labels, strict=True))
        if -1 in place or place in seen:
            problem = f"{', '.join(map(shown, labels))} is not a cell of the domain, or is there twice"
            raise InputError(f"{field}.cells", problem, "give each cell once")
        if count is not None and (type(count) not in (int, float) or not abs(count) <= MAX_COUNT):
            raise InputError(f"{field}.cells", f"{shown(count)} is not a number of people", f"give a number up to {MAX_COUNT:,}, or null")
        counts[place] = math.nan if count is None else count
        seen.add(place)
    return _checked(Given(clique, counts, _deviation(stated.get("deviation", 1.0), f"{field}.deviation")), field)


def of_file(path: str | Path, domain: Domain, name: str = "") -> Given:
    """Return the table in a file, which has some columns of the domain and a column `count`.

    Args:
        path: The file, of any kind that tables have.
        domain: The domain.
        name: The name of the file in errors; by default the last part of the path.

    Raises:
        InputError: The file cannot be read, has a column or a value that the domain lacks, leaves out a value, or has
            no known count above 0.
        CapacityError: The table has more than 1,000,000 cells (`MAX_CELLS`).
    """
    field = name or Path(path).name
    return _of_counts(published.counts(str(path), domain, field, withheld), domain, field)


def given(domain: Domain, tables: Tables, deviations: Mapping[Any, Any]) -> list[Given]:
    """Return the tables that a Python program gives, in their order.

    Args:
        domain: The domain.
        tables: The tables.
        deviations: Standard deviation of the noise in a cell, in people, by table; 1 for a table without an entry. An entry
            for a table that is not given has no effect.

    Raises:
        InputError: A table does not fit the domain, no table is given, or a deviation is not above 0.
        CapacityError: A table has more than 1,000,000 cells (`MAX_CELLS`).
    """
    if isinstance(tables, Mapping):
        pairs = [(_names(names), table) for names, table in tables.items()]
    else:
        pairs = [([], table) for table in (tables if isinstance(tables, list | tuple) else [] if tables is None else [tables])]
    noise = {domain.clique(_names(names)): _deviation(sigma, "deviations") for names, sigma in deviations.items()}
    found = [_of_python(domain, names, table) for names, table in pairs]
    check(found)
    return [Given(one.columns, one.counts, noise.get(one.columns, 1.0)) for one in found]


def check(tables: Sequence[Given]) -> None:
    """Check that there are tables, each once, and return nothing.

    Raises:
        InputError: Tables are missing, there are more than 100 (`MAX_TABLES`), or two have the same columns.
    """
    cliques = [one.columns for one in tables]
    if not tables or len(tables) > MAX_TABLES:
        raise InputError("tables", "there are none" if not tables else f"there are {len(tables):,}", f"give one to {MAX_TABLES:,}")
    if twice := [clique for clique in cliques if cliques.count(clique) > 1]:
        raise InputError(f"table {label(twice[0])}", "it is there twice", "give each once, the better known one of the two")


def people(tables: Sequence[Given], stated: float | None) -> float:
    """Return the number of people whom the tables count, at least 1.

    Without a stated number it is the mean of the totals of all tables without suppressed counts.
    Each weighs by the inverse of its variance, which grows with cells and deviation.

    Args:
        tables: The tables.
        stated: A number that was published.

    Raises:
        InputError: All tables have suppressed counts, and no number is stated.
    """
    whole = [Measurement(one.columns, one.counts, one.deviation) for one in tables if one.total is not None]
    if stated is None and not whole:
        problem = "each has suppressed counts, so that they do not say how many people there are"
        raise InputError("tables", problem, "give one without, such as a single column, or state the published number of people (people)")
    return max(1.0, stated) if stated is not None else estimate_total(whole)


def scaled(one: Given, tables: Sequence[Given], number: float) -> Given:
    """Return a table scaled to a number of people, so that tables whose totals differ can be fitted together.

    A table without suppressed counts gets this number as its total. A table with some is multiplied by the
    factor that the other tables have together, or by 1 if all tables have suppressed counts. If its known counts
    then sum to more than the number of people, it is scaled down to that number.

    Args:
        one: The table.
        tables: All tables.
        number: The number of people.
    """
    if one.total is not None:
        return Given(one.columns, one.counts * (number / one.total), one.deviation)
    factor = 1.0 if all(other.suppressed for other in tables) else number / people(tables, None)
    known = float(np.nansum(np.maximum(one.counts, 0.0))) * factor
    return Given(one.columns, one.counts * factor * min(1.0, number / max(known, 1e-9)), one.deviation)


def following(one: Given, tables: Sequence[Given], counted: bool) -> int:
    """Return how many suppressed counts of a table follow from other tables by subtraction.

    Such a count is the only suppressed one in a row, a column or another part of the table, and another table,
    which has no suppressed count, has the sum of this part. Further ones may follow from several tables together.

    Args:
        one: The table.
        tables: All tables.
        counted: Whether the number of people is published beside the tables.
    """
    unknown = np.isnan(one.counts)
    found = unknown & (counted and unknown.sum() == 1)
    for other in tables:
        if other is one or other.suppressed:
            continue
        axes = tuple(axis for axis, name in enumerate(one.columns) if name not in other.columns)
        found |= unknown & (unknown.sum(axis=axes, keepdims=True) == 1)
    return int(found.sum())


def multiple(one: Given) -> int:
    """Return the largest whole number of which all known counts are multiples.

    It is 1 for numbers that are not whole, and if no known count is above 0.
    """
    known = one.counts[~np.isnan(one.counts)]
    whole = np.abs(known[known == np.round(known)]).astype(np.int64)
    return int(np.gcd.reduce(whole)) if len(whole) == len(known) and whole.any() else 1


def smallest(one: Given) -> float | None:
    """Return the smallest count above 0; None if no known count is above 0."""
    positive = one.counts[np.nan_to_num(one.counts) > 0]
    return float(positive.min()) if len(positive) else None


def shares(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return counts as shares that add up to 1; negative ones as 0."""
    positive = np.maximum(0.0, counts)
    return np.asarray(positive / max(1e-9, float(positive.sum())))


def difference(wanted: Given, number: float, counts: NDArray[np.int64]) -> float:
    """Return the share of the rows, from 0 to 1, that must move to another cell to have the known shares of a table.

    Args:
        wanted: The table, scaled to `number` people.
        number: The number of people.
        counts: Numbers of rows in its cells.
    """
    known, rows = ~np.isnan(wanted.counts), counts / max(1, int(counts.sum()))
    if known.all():
        return in_wrong_cell(shares(wanted.counts), rows)
    off = rows[known] - np.maximum(wanted.counts[known], 0.0) / number
    return 0.5 * float(np.abs(off).sum() + abs(off.sum()))  # what the known cells lack lies in the others


def withheld(text: str | None) -> bool:
    """Return whether a text in place of a count says that it was suppressed: None, an empty text, one of `MARKS`, or such as "<5"."""
    plain = "" if text is None else text.strip().lower()
    return plain in ("", *MARKS) or _BELOW.fullmatch(plain) is not None


def _deviation(value: Any, field: str) -> float:
    if isinstance(value, bool) or not (issubclass(type(value), Real) and 0 < value < math.inf):
        raise InputError(field, f"{shown(value)} is not a deviation of noise", "give a number above 0")
    return float(value)


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(map(str, names))


def _empty(domain: Domain, columns: Sequence[str], field: str) -> NDArray[np.float64]:
    if (cells := domain.cells(columns)) > MAX_CELLS:
        raise CapacityError(field, f"it has {cells:,} cells, and may have {MAX_CELLS:,}", "give tables of fewer columns")
    return np.zeros(domain.sizes(columns))


def _of_counts(found: published.Counts, domain: Domain, field: str) -> Given:
    """Return a table whose lines were read, in the domain's order of columns."""
    if not found.columns:
        raise InputError(field, f"it has no column but {published.COUNT!r}", "give columns of the domain beside it")
    counts, seen = _empty(domain, found.columns, field), np.zeros(domain.sizes(found.columns), dtype=bool)
    places = tuple(np.array(list(found.cells), dtype=np.intp).reshape(-1, len(found.columns)).T)
    counts[places], seen[places] = list(found.cells.values()), True
    check_named(seen, [domain[name] for name in found.columns], field)
    return _ordered(domain, found.columns, counts, field)


def _ordered(domain: Domain, columns: Sequence[str], counts: NDArray[np.float64], field: str) -> Given:
    clique = domain.clique(columns)
    return _checked(Given(clique, counts.transpose([list(columns).index(name) for name in clique])), field)


def _checked(one: Given, field: str) -> Given:
    """Return the table.

    Raises:
        InputError: It has infinite counts, no known count, or none above 0.
    """
    if np.isinf(one.counts).any():
        raise InputError(field, "a count is not a number", "give numbers of people")
    if not float(np.nansum(one.counts)) > 0:
        raise InputError(field, "its known counts are nobody", "give the numbers of people")
    return one


def _of_python(domain: Domain, names: list[str], table: Any) -> Given:
    """Return a table that a Python program gives.

    Args:
        domain: The domain of the columns.
        names: The columns that the table is given for; empty if the table's own labels name them.
        table: A table with labels, its path, or an array with one axis per name.

    Raises:
        InputError: The table is not one of counts, has another shape, or leaves out a value.
        CapacityError: It has too many cells.
    """
    if not names and isinstance(table, str | Path):
        return of_file(table, domain)
    if isinstance(table, str) or (not names and isinstance(table, Mapping)):
        raise InputError("tables", f"{shown(table)} is not a table of counts", "give tables by columns, or pandas frames with a count")
    field = f"table {label(tuple(names))}" if names else "tables"
    sizes = domain.sizes(names)
    if (found := labelled.counts(table, domain, names, field, withheld)) is not None:
        return _of_counts(found, domain, field)
    if not names:
        raise InputError("tables", f"{shown(table)} is not a table of counts", "give arrays by columns, or pandas frames with a count")
    _empty(domain, names, field)
    try:
        counts = np.ma.filled(np.ma.asarray(table, dtype=np.float64), np.nan)
    except (TypeError, ValueError):  # its text could quote a cell
        raise InputError("tables", "a count is not a number", "give numbers") from None
    if counts.shape != sizes:
        problem = f"it has {' x '.join(map(str, counts.shape))} cells, and its columns have {' x '.join(map(str, sizes))}"
        raise InputError(field, problem, "give a count for each cell, those for other and missing values too")
    return _ordered(domain, names, counts, field)
