"""Compare synthetic rows with the noisy marginals that they were made from, in as few cells as a picture has room for.

Only released values are used.

Everything is zone-tagged. Without `truth` the results are released; with it (curator-only true counts) they are curator-only.
How far off each marginal is, is said in `quality`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.histogram import histogram, plain_labels
from dpsynth_core.foundation.zones import Zoned, combine
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique

if TYPE_CHECKING:
    import pandas as pd

SYNTHETIC = "Synthetic rows"
MEASURED = "Noisy measurement"
PRIVATE = "Private data"
DIFFERENCE = "Synthetic minus measured"

_CELLS_SHOWN = 60
_SIDE_SHOWN = 36

Truth = Zoned[Mapping[Clique, NDArray[np.int64]]]


def one_way(evidence: Zoned[Evidence], column: str, truth: Truth | None = None) -> Zoned[pd.DataFrame]:
    """Return the counts of one column in each source, in people, as a frame for a bar chart.

    Args:
        evidence: The released rows and measurements.
        column: The column.
        truth: The exact counts by clique, which add the series PRIVATE; the result is then
            curator-only.

    Returns:
        One row per series (SYNTHETIC, MEASURED, PRIVATE, as far as there are any) and group of
        cells, of which there are at most 60: cell (label), position, series, count, low and high, and
        whether it is outside (`CellGroups`). For MEASURED, low and high are the 95 % interval of the noisy
        count; for the other series they are `count`. For a column of numbers there are also start, end,
        stick, factor and unit (`histogram.Histogram`), and axis (of its `Scale`). Without any series the
        frame has no rows.
    """
    if truth is None:
        return combine(lambda e: _one_way(e, column, None), evidence)
    return combine(lambda e, t: _one_way(e, column, t), evidence, truth)


def _one_way(evidence: Evidence, column: str, truth: Mapping[Clique, NDArray[np.int64]] | None) -> pd.DataFrame:
    import pandas as pd

    clique = evidence.domain.clique([column])
    rows, measured = evidence.people(clique), evidence.measured(clique)
    groups = group(evidence.domain[column], _best_known(evidence, clique), _CELLS_SHOWN)
    parts = [] if rows is None else [_series(groups, SYNTHETIC, rows, 0.0)]
    if measured is not None:
        parts.append(_series(groups, MEASURED, measured.values, measured.deviation))
    if truth is not None:
        parts.append(_series(groups, PRIVATE, truth[clique].astype(np.float64), 0.0))
    nothing = _series(groups, SYNTHETIC, np.zeros(evidence.domain.sizes(clique)), 0.0).head(0)
    frame = pd.concat(parts, ignore_index=True) if parts else nothing
    if not evidence.domain[column].is_number or evidence.domain[column].most:
        return frame
    shape = histogram(evidence.domain[column], groups.cells)
    places = {"start": shape.start, "end": shape.end, "stick": shape.stick, "factor": shape.factor}
    frame = frame.assign(**{name: values[frame["position"]] for name, values in places.items()})
    return frame.assign(axis=evidence.domain[column].scale.axis, unit=shape.unit)


def _best_known(evidence: Evidence, clique: Clique) -> NDArray[np.float64]:
    """Return released counts that show which cells are large: of the rows, else measured; else zeros."""
    rows, measured = evidence.people(clique), evidence.measured(clique)
    return rows if rows is not None else measured.values if measured is not None else np.zeros(evidence.domain.sizes(clique))


def _series(groups: CellGroups, name: str, counts: NDArray[np.float64], deviation: float) -> pd.DataFrame:
    """Return the rows of `one_way` for one series.

    Args:
        groups: The groups of cells.
        name: The series.
        counts: Number of people in each cell.
        deviation: Standard deviation of the noise of a cell, in people.
    """
    import pandas as pd

    count, half = groups.sum(counts), 1.96 * deviation * np.sqrt(groups.widths)
    about = {"cell": groups.labels, "position": np.arange(len(groups.labels)), "series": name, "outside": groups.outside}
    return pd.DataFrame({**about, "count": count, "low": np.maximum(0, count - half), "high": count + half})


def two_way(evidence: Zoned[Evidence], first: str, second: str, truth: Truth | None = None) -> dict[str, Zoned[pd.DataFrame]]:
    """Return the counts of a pair of columns in each source, in people, as frames for heat maps.

    Args:
        evidence: The released rows and measurements.
        first: The column that runs down.
        second: The column that runs across.
        truth: The exact counts by clique; they make the frame PRIVATE, the only one that is
            curator-only.

    Returns:
        By source, a frame with the columns row and column (labels), row_position, column_position,
        count: SYNTHETIC with rows, MEASURED where the pair was measured, DIFFERENCE (synthetic
        minus measured) with both, PRIVATE with truth. The frame DIFFERENCE has the further column noise,
        the 95 % half width of the measured count. Cells are grouped, so that each side has at most 36
        groups.
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
    frames = {name: combine(lambda t: _long(t, sides, clique[0] != first), table) for name, table in tables.items()}
    if measured is not None and DIFFERENCE in frames:
        joined = combine(lambda _: _long(np.ones(measured.values.shape), sides, clique[0] != first), evidence)
        half = 1.96 * measured.deviation
        frames[DIFFERENCE] = combine(lambda f, cells: f.assign(noise=half * np.sqrt(cells["count"])), frames[DIFFERENCE], joined)
    return frames


def _long(table: NDArray[np.float64], sides: Sequence[CellGroups], transposed: bool) -> pd.DataFrame:
    """Return one row per cell of a two-way table after grouping.

    Args:
        table: Number of people in each cell.
        sides: The groups of cells for each axis of `table`.
        transposed: Whether the second axis runs down, because its column was named first.
    """
    import pandas as pd

    grouped = sides[1].sum(sides[0].sum(table, axis=0), axis=1)
    down, across = (sides[1], sides[0]) if transposed else (sides[0], sides[1])
    grouped = grouped.T if transposed else grouped
    i, j = (index.ravel() for index in np.indices(grouped.shape))
    labels = {"row": np.array(down.labels, dtype=object)[i], "column": np.array(across.labels, dtype=object)[j]}
    return pd.DataFrame({**labels, "row_position": i, "column_position": j, "count": grouped.ravel()})


@dataclass(frozen=True)
class CellGroups:
    """A partition of an attribute's cells: the codes `cells[i]` are shown together under `labels[i]`.

    Every code of the attribute is in exactly one group.

    Attributes:
        labels: The label of each group.
        cells: The codes of each group.
        values: Number of cells of declared values; the codes from there on are of other and missing values.
    """

    labels: tuple[str, ...]
    cells: tuple[NDArray[np.intp], ...]
    values: int

    @property
    def outside(self) -> NDArray[np.bool_]:
        """True for each group without a listed value, which has only other or missing ones; shape (groups,)."""
        return np.array([codes[0] >= self.values for codes in self.cells], dtype=bool)

    @property
    def widths(self) -> NDArray[np.float64]:
        """Number of cells of each group, shape (groups,)."""
        return np.array([len(codes) for codes in self.cells], dtype=np.float64)

    def sum(self, counts: NDArray[np.float64], axis: int = 0) -> NDArray[np.float64]:
        """Return the counts with the cells of each group summed along an axis.

        Args:
            counts: The counts, with one entry per cell along the axis.
            axis: The axis, which has one entry per group in the result.
        """
        order = np.concatenate(self.cells)
        starts = np.concatenate([[0], np.cumsum([len(codes) for codes in self.cells])[:-1]])
        return np.add.reduceat(np.take(counts, order, axis=axis), starts, axis=axis)


def is_ordered(attribute: Attribute) -> bool:
    """Return whether the order of the attribute's cells has a meaning, as for numbers."""
    return attribute.about.ordered


def group(attribute: Attribute, counts: NDArray[np.float64], limit: int) -> CellGroups:
    """Return at most `limit` groups of an attribute's cells, for a picture with little room.

    Cells of ordered attributes are grouped with their neighbours and stay in code order; the cells of other and
    missing values stay alone at the end. For other attributes the smallest cells are put into one group, which
    comes last, and each larger cell is a group of its own.

    Args:
        attribute: The column.
        counts: Public or released counts per cell, never private ones; they only decide which
            categories are the largest.
        limit: Largest number of groups.
    """
    labels = plain_labels(attribute)
    if len(labels) <= limit:
        return CellGroups(labels, tuple(np.array([code]) for code in range(len(labels))), attribute.values)
    if is_ordered(attribute):  # runs of equal length; the cells for other and missing values stay alone at the end
        special = [np.array([code]) for code in range(attribute.values, attribute.size)]
        length = -(-attribute.values // (limit - len(special)))
        runs = [np.arange(start, min(start + length, attribute.values)) for start in range(0, attribute.values, length)]
        cells = (*runs, *special)
        spans = (labels[codes[0]] if len(codes) == 1 else _joined(attribute, labels[codes[0]], labels[codes[-1]]) for codes in cells)
        return CellGroups(tuple(spans), cells, attribute.values)
    order = np.argsort(-counts, kind="stable")
    kept, rest = np.sort(order[: limit - 1]), np.sort(order[limit - 1 :])
    cells = (*(np.array([code]) for code in kept), rest)
    return CellGroups((*(labels[code] for code in kept), f"({len(rest):,} smaller cells)"), cells, attribute.values)


def _joined(attribute: Attribute, first: str, last: str) -> str:
    """Return the label of a run of neighbouring cells: of numbers, from the beginning of the first to the end of the last."""
    if not attribute.is_number:
        return f"{first} … {last}"
    low, *_ = first.partition(" to ")
    return f"{low} to {last.rpartition(' to ')[2]}"
