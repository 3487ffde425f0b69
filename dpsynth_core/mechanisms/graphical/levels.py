"""Columns whose ranges are asked for, measured by their cells and by groups of neighbours, of four cells, of sixteen and so on.

The error of a range that is summed over cells is the sum of its cells' errors. Groups of neighbours answer its middle with few numbers, and
cells its ends (Hay, Rastogi, Miklau, Suciu 2010, "Boosting the accuracy of differentially private histograms through consistency"). The
number of levels follows from the number of cells alone; the cells get twice as much budget as each level, which is near
the best division at every size that was tried. The estimate of the cells is the nearest nonnegative numbers that add up to all people:
where most cells are empty, that removes most of the noise.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import takewhile

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.inference.smoothing import Columns, smooth_columns
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement

Levels = Mapping[str, tuple[Groups, ...]]
"""Levels of each column whose ranges are asked for, from fine to coarse; empty for a column of few cells."""

Believed = Callable[[Domain, Sequence[Measurement], Sequence[MarginalCounts]], Columns]
"""Returns the smoothed columns from the measurements of columns alone."""

TOGETHER = 4
"""Number of neighbours in a group, and of groups in a group of the next level."""
FEWEST_GROUPS = 2
MOST_CELLS = 256
"""Largest number of cells of a column with levels; the time of the estimate grows with its cube."""
_EXACTLY = 300.0
"""Weight of the condition that the cells add up to all people, relative to a measured number."""


def levels_of(domain: Domain, columns: Collection[str]) -> Levels:
    """Return the levels of the named columns, from fine to coarse: groups of 4 neighbouring cells, of 16 and so on.

    A column of fewer than 8 ordered cells has no levels, and a column of more than 256 cells has no entry.
    """
    return {name: tuple(_levels(domain, domain[name])) for name in columns if domain[name].size <= MOST_CELLS}


def without_levels(_domain: Domain, _columns: Collection[str]) -> Levels:
    """Return no levels, so that columns are measured by their cells alone."""
    return {}


def _levels(domain: Domain, attribute: Attribute) -> list[Groups]:
    """Return the levels of a column, from fine to coarse; cells for missing and other values have their own group."""
    sizes = takewhile(lambda size: FEWEST_GROUPS * size <= attribute.ordered, (TOGETHER**level for level in range(1, 10)))
    return [_level(domain, attribute, size) for size in sizes]


def _level(domain: Domain, attribute: Attribute, size: int) -> Groups:
    places = [cell // size for cell in range(attribute.ordered)]
    spare = [places[-1] + 1] * (attribute.size - attribute.ordered)
    name = f"{attribute.name} (by {size})"
    while name in domain.column_names:
        name += "*"
    return Groups(name, attribute.name, (*places, *spare))


def divided(shares: Mapping[Clique, float], levels: Levels) -> dict[Clique, float]:
    """Return the share of the budget for each column and for each of its levels, from the shares of columns.

    The shares of columns with levels are pooled. Errors of ranges hardly grow with the number of
    cells, so each level of each column gets the same share, and the cells of a column get twice
    that.

    Args:
        shares: Share of each column.
        levels: Levels of each column whose ranges are asked for.
    """
    ranged = [(name,) for name in levels]
    one = sum(shares[clique] for clique in ranged) / max(1, sum(2 + len(coarser) for coarser in levels.values()))
    coarser = [(groups.name,) for of_column in levels.values() for groups in of_column]
    return {**shares, **dict.fromkeys(ranged, 2 * one), **dict.fromkeys(coarser, one)}


def believed(levels: Levels, measured: Sequence[Measurement], total: float) -> Believed:
    """Return the function that estimates columns: those with levels from all their levels, others by smoothing.

    Args:
        levels: Levels of each column whose ranges are asked for.
        measured: All measurements of columns, levels included.
        total: Number of people.
    """

    def of(domain: Domain, measurements: Sequence[Measurement], known: Sequence[MarginalCounts] = ()) -> Columns:
        others = smooth_columns(domain, [m for m in measurements if m.clique[0] not in levels], known)
        ranged = [_cells(domain, name, [m for m in measured if _is_of(m, name)], total) for name in levels]
        used = [m for m in measurements if m.clique[0] in levels]
        return Columns((*others.believed, *ranged), (*others.measured, *used), others.known)

    return of


def _is_of(measurement: Measurement, name: str) -> bool:
    """Return whether a measurement is of this single column, by its cells or by groups of its values."""
    return measurement.clique == (name,) or [one.column for one in measurement.groups] == [name]


def _cells(domain: Domain, name: str, measured: Sequence[Measurement], total: float) -> MarginalCounts:
    """Estimate the cells of a column by weighted least squares over counts of 0 or more with the sum `total`.

    The stated variances are the variances of plain least squares, without these two conditions.

    Args:
        domain: The domain.
        name: The column.
        measured: The measurements of its cells and levels.
        total: Number of people.
    """
    size = domain[name].size
    rows = np.vstack([_sums(m, size) / m.deviation for m in measured])
    noisy = np.concatenate([m.values / m.deviation for m in measured])
    variances = np.diag(np.linalg.inv(rows.T @ rows))
    exactly = _EXACTLY * max(1 / m.deviation for m in measured)
    counts, _ = scipy.optimize.nnls(np.vstack([rows, np.full((1, size), exactly)]), np.append(noisy, exactly * total))
    return MarginalCounts((name,), counts, variances)


def _sums(measurement: Measurement, size: int) -> NDArray[np.float64]:
    """Return, for each number of a measurement, which cells it counts (1 or 0), shape (numbers, cells)."""
    if not measurement.groups:
        return np.eye(size)
    (groups,) = measurement.groups
    return (np.array(groups.places)[None, :] == np.arange(groups.size)[:, None]).astype(np.float64)
