"""Rows from tables that were made elsewhere: by another program, or by an office that protects its tables in its own way.

No guarantee of ours is in them. What holds of the tables holds of the rows, for nothing else is looked at; who made the tables says what.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.foundation.errors import CapacityError, InputError, shown
from dpsynth_core.inference.estimation import estimate, estimate_total
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.interface import columns as domains
from dpsynth_core.interface.columns import Columns
from dpsynth_core.interface.frames import pandas_of
from dpsynth_core.mechanisms.graphical.models import CONVERGED, Capacity
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.sources.decoding import as_written, decode
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.evidence import label
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.zeros import cells_named

Tables: TypeAlias = "Mapping[Any, NDArray[Any]] | Sequence[pd.DataFrame]"
"""Counts by the columns that a table is over, with an axis for each column and a place for each of its cells, those for other and missing
values among them; or frames with a column for each column, and `count`."""
COUNT = "count"
CAPACITY_MB = 500.0
STATEMENT = "No guarantee of this program: these rows protect people as far as the tables do that they were made from."


@dataclass(frozen=True, eq=False, repr=False)
class Fitted:
    """rows: as a pandas frame. differences: of each table that was given, the share of the rows that would have to be in another cell to
    agree with it, negative counts taken as none. statement: what is said of privacy, to be passed on with the rows."""

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
    """Rows whose tables are as near to those that are given as one model can be (Private-PGM).

    Parameters
    ----------
    tables : counts, exact or noisy, of the same people.
    columns : what each column may contain, as for `plan`.
    deviations : the standard deviation of the noise in a cell of each table; the same for all where it is left out.
    rows : how many; as many as the tables count unless given.
    giver : who made the tables, and what they promise: a sentence that is passed on with the rows.

    Raises
    ------
    InputError
        For a table that is not one over these columns, and CapacityError for tables that tie too many columns together.

    Examples
    --------
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
    number: Any = round(total) if rows is None else rows
    if not issubclass(type(number), Integral) or not 1 <= number <= MAX_ROWS:
        raise InputError("rows", f"{shown(number)} rows cannot be made", f"give a number from 1 to {MAX_ROWS:,}")
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
    pairs = list(tables.items()) if isinstance(tables, Mapping) else [_from_frame(domain, frame) for frame in tables or ()]
    if not pairs:
        raise InputError("tables", "there are none", "give one or more")
    noise = {domain.clique(_names(names)): sigma for names, sigma in deviations.items()}
    found: dict[Clique, Measurement] = {}
    for names, counts in pairs:
        listed = _names(names)
        clique, values = domain.clique(listed), _numbers(counts)
        if values.shape != domain.sizes(listed):
            wanted = " x ".join(map(str, domain.sizes(listed)))
            problem = f"it has {' x '.join(map(str, values.shape))} cells, and its columns have {wanted}"
            raise InputError(f"table {label(clique)}", problem, "give a count for each cell, those for other and missing values too")
        if not np.isfinite(values).all() or clique in found:
            raise InputError(f"table {label(clique)}", "it is there twice, or holds what is no number", "give each once, with numbers")
        sigma = noise.get(clique, 1.0)
        if not (issubclass(type(sigma), Real) and 0 < sigma < math.inf):
            raise InputError("deviations", f"{shown(sigma)} is no deviation of noise", "give a number above 0")
        found[clique] = Measurement(clique, values.transpose([listed.index(name) for name in clique]), float(sigma))
    return list(found.values())


def _names(names: Sequence[str] | str) -> list[str]:
    return [names] if isinstance(names, str) else list(map(str, names))


def _from_frame(domain: Domain, frame: Any) -> tuple[Sequence[str], NDArray[np.float64]]:
    """A table from one line for each cell; cells without a line hold 0."""
    if not isinstance(frame, pd.DataFrame):
        raise InputError("tables", f"{shown(frame)} is no table of counts", "give arrays by their columns, or pandas frames with a count")
    names = [str(name) for name in frame.columns if name != COUNT]
    if COUNT not in frame or not names:
        raise InputError("tables", f"a frame has no column {COUNT!r}, or no other", "give each cell's values and its count")
    field = f"table {label(tuple(names))}"
    places = [[cells_named(domain.attributes, {name: value}, field)[name] for value in frame[name]] for name in names]
    if any(len(cells) != 1 for column in places for cells in column):
        raise InputError("tables", "a line is about more than one cell of a column", "give one line for each cell")
    table = np.zeros(domain.sizes(names))
    np.add.at(table, tuple(np.array([cell for (cell,) in column], dtype=np.intp) for column in places), _numbers(frame[COUNT]))
    return names, table


def _numbers(counts: Any) -> NDArray[np.float64]:
    try:
        return np.asarray(counts, dtype=np.float64)
    except (TypeError, ValueError):  # its text could quote a cell
        raise InputError("tables", "a count is no number", "give numbers") from None
