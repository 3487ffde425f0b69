"""Compare synthetic rows with the noisy marginals that they were made from, from released values alone.

Everything is zone-tagged. Without `truth` the results are released; with it (curator-only true counts) they are curator-only.
How far off each marginal is, is said in `quality`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from dpsynth_core.evaluation.grouping import CellGroups, group
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique

SYNTHETIC = "Synthetic rows"
MEASURED = "Noisy measurement"
PRIVATE = "Private data"
DIFFERENCE = "Synthetic minus measured"

_CELLS_SHOWN = 60
_SIDE_SHOWN = 36

Truth = Zoned[Mapping[Clique, NDArray[np.int64]]]


def one_way(evidence: Zoned[Evidence], column: str, truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """One column, in people. Columns: cell, position, series, count, low, high (95 % interval of a noisy count)."""
    if truth is None:
        return combine(lambda e: _one_way(e, column, None), evidence)
    return combine(lambda e, t: _one_way(e, column, t), evidence, truth)


def _one_way(evidence: Evidence, column: str, truth: Mapping[Clique, NDArray[np.int64]] | None) -> pd.DataFrame:
    clique = evidence.domain.clique([column])
    rows, measured = evidence.people(clique), evidence.measured(clique)
    groups = group(evidence.domain[column], _best_known(evidence, clique), _CELLS_SHOWN)
    parts = [] if rows is None else [_series(groups, SYNTHETIC, rows, 0.0)]
    if measured is not None:
        parts.append(_series(groups, MEASURED, measured.values, measured.deviation))
    if truth is not None:
        parts.append(_series(groups, PRIVATE, truth[clique].astype(np.float64), 0.0))
    return (
        pd.concat(parts, ignore_index=True) if parts else _series(groups, SYNTHETIC, np.zeros(evidence.domain.sizes(clique)), 0.0).head(0)
    )


def _best_known(evidence: Evidence, clique: Clique) -> NDArray[np.float64]:
    """Released counts that say which cells are large; zeros if there are none."""
    rows, measured = evidence.people(clique), evidence.measured(clique)
    return rows if rows is not None else measured.values if measured is not None else np.zeros(evidence.domain.sizes(clique))


def _series(groups: CellGroups, name: str, counts: NDArray[np.float64], deviation: float) -> pd.DataFrame:
    counts_by_group, half = groups.sum(counts), 1.96 * deviation * np.sqrt(groups.widths)
    return pd.DataFrame(
        {
            "cell": groups.labels,
            "position": np.arange(len(groups.labels)),
            "series": name,
            "count": counts_by_group,
            "low": np.maximum(0, counts_by_group - half),
            "high": counts_by_group + half,
        }
    )


def two_way(evidence: Zoned[Evidence], first: str, second: str, truth: Truth | None = None) -> dict[str, Zoned[pd.DataFrame]]:
    """A pair of columns as heat maps, in people: SYNTHETIC; MEASURED and DIFFERENCE where measured; PRIVATE with truth.

    Each frame has columns row, column (labels), row_position, column_position, count. Only PRIVATE is curator-only.
    """
    bare = evidence.value
    clique = bare.domain.clique([first, second])
    measured = bare.measured(clique)
    tables: dict[str, Zoned[NDArray[np.float64]]] = {}
    if bare.codes is not None:
        tables[SYNTHETIC] = combine(lambda e: e.people(clique), evidence)
    if measured is not None:
        tables[MEASURED] = combine(lambda _: measured.values, evidence)
    if len(tables) == 2:
        tables[DIFFERENCE] = combine(lambda rows, noisy: rows - noisy, tables[SYNTHETIC], tables[MEASURED])
    to_group_by = _best_known(bare, clique)
    if truth is not None:
        tables[PRIVATE] = combine(lambda t: t[clique].astype(np.float64), truth)
    sides = [group(bare.domain[name], project(to_group_by, clique, (name,)), _SIDE_SHOWN) for name in clique]
    return {name: combine(lambda t: _long(t, sides, clique[0] != first), table) for name, table in tables.items()}


def _long(table: NDArray[np.float64], sides: Sequence[CellGroups], transposed: bool) -> pd.DataFrame:
    """One line per cell of a grouped table; the column asked for first runs down."""
    grouped = sides[1].sum(sides[0].sum(table, axis=0), axis=1)
    down, across = (sides[1], sides[0]) if transposed else (sides[0], sides[1])
    grouped = grouped.T if transposed else grouped
    i, j = (index.ravel() for index in np.indices(grouped.shape))
    return pd.DataFrame(
        {
            "row": np.array(down.labels, dtype=object)[i],
            "column": np.array(across.labels, dtype=object)[j],
            "row_position": i,
            "column_position": j,
            "count": grouped.ravel(),
        }
    )
