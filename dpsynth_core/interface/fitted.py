"""Rows from tables that were made elsewhere: by another program, or by an office that protects its tables in its own way.

No guarantee of ours is in them. What holds of the tables holds of the rows, for nothing else is looked at; who made the tables says what.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.inference.estimation import estimate, estimate_total
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.interface import columns as domains
from dpsynth_core.interface import labelled
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.frames import pandas_of
from dpsynth_core.interface.given_values import whole_number
from dpsynth_core.mechanisms.graphical.models import CONVERGED, Capacity
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.sources.decoding import as_written, decode
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.published import check_named
from dpsynth_core.vocabulary.rows import row_marginals

Tables: TypeAlias = "Mapping[Any, Any] | Sequence[Any]"
"""Tables by the columns that each is over, or, of tables whose labels name the columns, a list.

An array has an axis for each column and a place for each of its cells, those for other and missing values among them. A table with labels
is read by its labels, in whatever order they are: a Series or cross table of pandas whose index (and columns) have the names of columns, a
pandas, Polars or Arrow table with a column for each column and `count`, or {value: count} of one column. It names every value of its
columns; combinations without a line count 0, and so do other and missing values that it does not name.
"""
CAPACITY_MB = 500.0
STATEMENT = "No guarantee of this program: these rows protect people as far as the tables do that they were made from."


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """Rows that were fitted to given tables.

    Attributes:
        rows: A pandas frame.
        differences: A pandas frame with a row for each given table: `table`, the names of its columns, and
            `difference`, the share of the rows that must move to another cell to match the table's shares. Negative
            counts of the table are read as 0.
        statement: A sentence about privacy, to be passed on with the rows.
    """

    rows: pd.DataFrame
    differences: pd.DataFrame
    statement: str

    def __repr__(self) -> str:
        return f"{len(self.rows):,} rows from {len(self.differences):,} tables. {self.statement}"


def rows_from(
    tables: Tables,
    columns: Columns,
    *,
    deviations: Mapping[Any, float] | None = None,
    rows: int | None = None,
    giver: str = "",
) -> Fitted:
    """Make rows whose tables match the given tables as closely as one graphical model can (Private-PGM).

    Nothing is protected and no budget is charged: the rows protect people as far as the tables do. Each call draws
    other rows.

    Args:
        tables: Counts, exact or noisy, of the same people.
        columns: What each column may contain, as for `plan`.
        deviations: Standard deviation of the noise in a cell, in people, by table; 1 for each table that is left out.
        rows: Number of rows; by default the estimated total of the tables.
        giver: A sentence that is passed on with the rows: who made the tables, and which protection they promise.

    Returns:
        The rows in random order, and how far their tables differ from the given ones.

    Raises:
        InputError: If a table does not fit these columns, no table is given, or the values of a column are to be learnt.
        CapacityError: If the tables connect too many columns for one model.

    Examples:
        >>> import dpsynth_core as dps, numpy as np
        >>> columns = {"sex": {"kind": "categorical", "categories": ["f", "m"], "missing": False, "other": False}}
        >>> fitted = dps.rows_from({("sex",): np.array([60.0, 40.0])}, columns)
        >>> fitted.rows["sex"].value_counts().to_dict()
        {'f': 60, 'm': 40}
    """
    domain = domains.domain(columns)
    if domain.unknown:
        raise InputError("columns", f"the values of {domain.unknown[0].name!r} are to be learnt, and tables have their own", "list them")
    given = _measurements(domain, tables, deviations or {})
    cliques = [measurement.clique for measurement in given]
    if (size := Capacity(domain, CAPACITY_MB).used_mb(cliques)) > CAPACITY_MB:
        problem = f"a model of these tables takes {size:,.0f} MB, and may take {CAPACITY_MB:,.0f}"
        raise CapacityError("tables", problem, "give fewer tables, or ones that tie fewer columns together")
    total = estimate_total(given)
    number = whole_number(round(total) if rows is None else rows, "rows", "a number of rows that can be made", 1, MAX_ROWS)
    rng = np.random.default_rng(secrets.randbits(128))
    model = estimate(domain, given, total, stopping=CONVERGED)
    codes = in_random_order(as_written(domain, model.rows(number, dict.fromkeys(cliques, 1.0), rng)), rng)
    counts = row_marginals(domain, codes, cliques)
    off = [in_wrong_cell(_shares(one.values), _shares(counts[one.clique].astype(np.float64))) for one in given]
    differences = pd.DataFrame({"table": [label(clique) for clique in cliques], "difference": off})
    statement = f"{STATEMENT} Whoever made these says: {giver}" if giver else STATEMENT
    return Fitted(pandas_of(decode(domain, codes, rng)), differences, statement)


def _shares(table: NDArray[np.float64]) -> NDArray[np.float64]:
    positive = np.maximum(0.0, table)
    return np.asarray(positive / max(1e-9, float(positive.sum())))


def _measurements(domain: Domain, tables: Tables, deviations: Mapping[Any, Any]) -> list[Measurement]:
    if isinstance(tables, Mapping):
        pairs = [(_names(names), table) for names, table in tables.items()]
    else:
        pairs = [([], table) for table in (tables if isinstance(tables, list | tuple) else [] if tables is None else [tables])]
    if not pairs:
        raise InputError("tables", "there are none", "give one or more")
    noise = {domain.clique(_names(names)): sigma for names, sigma in deviations.items()}
    found: dict[Clique, Measurement] = {}
    for names, table in pairs:
        listed, values = _counted(domain, names, table)
        clique = domain.clique(listed)
        if not np.isfinite(values).all() or clique in found:
            raise InputError(f"table {label(clique)}", "it is there twice, or holds what is not a number", "give each once, with numbers")
        sigma = noise.get(clique, 1.0)
        if not (issubclass(type(sigma), Real) and 0 < sigma < math.inf):
            raise InputError("deviations", f"{shown(sigma)} is not a deviation of noise", "give a number above 0")
        found[clique] = Measurement(clique, values.transpose([listed.index(name) for name in clique]), float(sigma))
    return list(found.values())


def _names(names: Any) -> list[str]:
    return [names] if isinstance(names, str) else list(map(str, names))


def _counted(domain: Domain, names: list[str], table: Any) -> tuple[list[str], NDArray[np.float64]]:
    """Return the columns of a table and its counts.

    Args:
        domain: The domain of the columns.
        names: The columns that the table is given for; empty if the table's own labels name them.
        table: A table with labels, or an array with one axis per name.

    Returns:
        The column names in the order of the axes, and a count for each cell.

    Raises:
        InputError: The table is not one of counts, has another shape, or leaves out a value.
        CapacityError: A table with labels has more cells than fit in `CAPACITY_MB`.
    """
    if isinstance(table, str) or (not names and isinstance(table, Mapping)):
        raise InputError("tables", f"{shown(table)} is not a table of counts", "give tables by columns, or pandas frames with a count")
    field = f"table {label(tuple(names))}" if names else "tables"
    sizes = domain.sizes(names)
    if (found := labelled.counts(table, domain, names, field)) is not None:
        columns = list(found.columns)
        if (size := 8 * domain.cells(columns) / 1e6) > CAPACITY_MB:
            raise CapacityError(field, f"it takes {size:,.0f} MB, and may take {CAPACITY_MB:,.0f}", "give tables of fewer columns")
        values, seen = np.zeros(domain.sizes(columns)), np.zeros(domain.sizes(columns), dtype=bool)
        places = tuple(np.array(list(found.cells), dtype=np.intp).reshape(-1, len(columns)).T)
        values[places], seen[places] = list(found.cells.values()), True
        check_named(seen, [domain[name] for name in columns], field)
        return columns, values
    if not names:
        raise InputError("tables", f"{shown(table)} is not a table of counts", "give arrays by columns, or pandas frames with a count")
    values = _numbers(table)
    if values.shape != sizes:
        problem = f"it has {' x '.join(map(str, values.shape))} cells, and its columns have {' x '.join(map(str, sizes))}"
        raise InputError(field, problem, "give a count for each cell, those for other and missing values too")
    return names, values


def _numbers(array: Any) -> NDArray[np.float64]:
    try:
        return np.ma.filled(np.ma.asarray(array, dtype=np.float64), np.nan)
    except (TypeError, ValueError):  # its text could quote a cell
        raise InputError("tables", "a count is not a number", "give numbers") from None
