"""Find the subgroups with the largest errors, from released evidence without any true count.

A subgroup is a cell of a table that was measured or certified. The search chooses by the answers, so all intervals must hold together.
Those from noisy counts are Bonferroni's over all cells of all tables, (ALPHA - LIMIT_ALPHA) / N each; intervals of limits hold for all
certified tables at once with LIMIT_ALPHA. All statements together are true with 95 % confidence.

Subgroups are ranked by the error that is certain, as a share of the subgroup's size, and then by the likely error. A ranking by the largest
possible error would list the subgroups with the least evidence. Where a table's error was measured, its best estimate is divided among the
cells by the square roots of their counts, as errors of sampling and noise are at least. For other tables the likely error comes from the
difference between noisy counts and rows, and from their noise.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.evaluation.questions.evidence import agreeing
from dpsynth_core.evaluation.questions.known import ALPHA, LIMIT_ALPHA, Known
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals

LEAST_SHARE = 0.01
"""Of all people: a subgroup that is smaller is not looked at, for noise hides it whatever the release is like."""
MOST_TABLES = 500
MOST_LISTED = 10


@dataclass(frozen=True)
class Subgroup:
    """A cell of a table with the error of its count.

    Attributes:
        table: The columns of the table.
        codes: The cell, one code per column.
        value: People in the cell by the rows or, without rows, by noisy counts.
        low, high: Bounds of the true count, in people; the bounds of all subgroups hold together
            with 95 % confidence.
        measured: Whether noisy counts give the bounds, and not only a table's limit.
        off: The likely error of `value`, in people.
    """

    table: Clique
    codes: tuple[int, ...]
    value: float
    low: float
    high: float
    measured: bool
    off: float

    @property
    def surely(self) -> float:
        """The smallest relative error of the count that the bounds allow, as a share of `value`; 0 if `value` may be right."""
        return max(0.0, self.low - self.value, self.value - self.high) / self.value

    @property
    def perhaps(self) -> float:
        """The largest relative error of the count that the bounds allow, as a share of `value`."""
        return max(self.high - self.value, self.value - self.low) / self.value


def tables(known: Known) -> list[Clique]:
    """Return the tables whose cells are subgroups: noisy tables, and tables with a limit that holds for all tables at once.

    A limit of 1 does not count. There are at most 500 tables (`MOST_TABLES`), those with the fewest cells, the
    smallest first.
    """
    bounded = [table for table, limit in known.limits.items() if limit.together < 1]
    every = {clique for clique in (*bounded, *(m.clique for m in known.measurements)) if clique}
    return sorted(every, key=lambda clique: (known.domain.cells(clique), clique))[:MOST_TABLES]


def z_together(known: Known) -> float:
    """Return the two-sided normal quantile with which the noisy counts of all cells of all tables hold together (Bonferroni)."""
    cells = sum(known.domain.cells(table) for table in tables(known))
    return normal(1 - (ALPHA - LIMIT_ALPHA) / (2 * max(1, cells)))


def worst(known: Known, most: int = MOST_LISTED) -> Sequence[Subgroup]:
    """Return the subgroups with the largest relative errors, the worst first, from released values alone.

    A subgroup is a cell of a table (`tables`) with at least 1 % of the people (`LEAST_SHARE`). They are ranked by
    the error that is certain, then by the likely error. The result is empty
    where the number of people is unknown, or no large subgroup is bounded.

    Args:
        known: The released values.
        most: Largest number of subgroups.
    """
    if known.total is None:
        return ()
    chosen, z = tables(known), z_together(known)
    counts = None if known.codes is None else row_marginals(known.domain, known.codes, chosen)
    ranked: list[tuple[tuple[float, float, int, int], Subgroup]] = []
    for place, table in enumerate(chosen):
        rows = None if counts is None or known.codes is None else counts[table].ravel() / max(1, len(known.codes))
        for cell, one in _subgroups(known, table, rows, z):
            ranked.append(((-_rounded(one.surely), -_rounded(one.off / one.value), place, cell), one))
        ranked = sorted(ranked, key=lambda entry: entry[0])[:most]
    return tuple(one for _, one in ranked)


def _rounded(share: float) -> float:
    """Round to six digits, so that differences between processors change no order."""
    return float(f"{share:.6g}")


def _subgroups(known: Known, table: Clique, rows: NDArray[np.float64] | None, z: float) -> list[tuple[int, Subgroup]]:
    """Return (position in the flattened table, subgroup) for the large cells of one table.

    A cell is large if at least the share `LEAST_SHARE` of the people is in it. Cells whose count
    nothing bounds are left out.

    Args:
        known: The released values.
        table: The table.
        rows: The share of the rows in each cell, flattened; None without rows.
        z: Normal quantile for the noisy counts.
    """
    assert known.total is not None
    total, estimate, sizes = known.total.value, known.estimate(table), known.domain.sizes(table)
    noisy = None if estimate is None else estimate.values.ravel()
    margin = spread = 0.0
    if estimate is not None:  # all cells of a table have the same noise
        sides = {name: 1 / known.domain[name].size for name in table}
        of_parts = ((v, math.prod(1 - sides[n] if n in part else sides[n] for n in table)) for part, v in estimate.variances.items())
        spread = math.sqrt(math.fsum(variance * level for variance, level in of_parts))
        margin = z * spread
    values = np.maximum(noisy, 0.0) if rows is None and noisy is not None else (rows if rows is not None else np.zeros(0)) * total
    stated = known.limits.get(table) if rows is not None else None
    limit = 1.0 if stated is None else stated.together
    if stated is not None and stated.likely is not None:
        off = stated.likely / IN_WRONG_CELL * total * np.sqrt(values) / np.sqrt(values).sum()
    else:
        off = np.full(len(values), spread) if noisy is None else np.hypot(values - noisy, spread)
    subgroups = []
    for cell in np.flatnonzero(values >= LEAST_SHARE * total):
        ends = []
        if noisy is not None:
            ends.append((max(0.0, noisy[cell] - margin), max(0.0, noisy[cell] + margin)))
        if limit < 1 and rows is not None:
            low, high = max(0.0, rows[cell] - limit), min(1.0, rows[cell] + limit)
            ends.append((max(0.0, total - known.doubt) * low, (total + known.doubt) * high))
        if ends:
            low, high = agreeing(*ends) if len(ends) == 2 else ends[0]
            codes = tuple(int(code) for code in np.unravel_index(cell, sizes))
            value, low, high = map(float, (values[cell], low, high))
            subgroups.append((int(cell), Subgroup(table, codes, value, low, high, noisy is not None, float(off[cell]))))
    return subgroups
