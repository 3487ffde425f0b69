"""Noisy tables that agree with each other and have no negative cells (Zhang et al. 2021, "PrivSyn"; the consistency step is that of
Qardaji, Yang, Li 2014, "PriView"). Released values only.

What two or more tables share is set to the minimum-variance mean of what they say of it, the difference spread evenly over the cells that
were added up. Sets of columns come before larger ones, so that a step leaves what was made equal before as it is. Negative cells are then
set to zero and the others lowered by one amount each (norm-sub), which spoils the agreement a little; so both are repeated.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, project
from dpsynth_core.vocabulary.measurement import Clique, Measurement

Float = NDArray[np.float64]
_REPETITIONS = 10


def consistent(domain: Domain, measurements: Sequence[Measurement], total: float) -> dict[Clique, Float]:
    """Counts of each measured table: none negative, adding up to `total`, 0 in impossible cells, and nearly equal where tables overlap."""
    tables, precisions = _combined(measurements)
    overlaps = shared_columns(tuple(tables))
    for _ in range(_REPETITIONS):
        for shared in overlaps:
            agree(tables, precisions, shared)
        tables = {clique: without_negatives(table, domain.impossible_cells(clique), total) for clique, table in tables.items()}
    return tables


def _combined(measurements: Sequence[Measurement]) -> tuple[dict[Clique, Float], dict[Clique, float]]:
    """Each table once, with the precision of a cell: the minimum-variance mean where it was measured several times."""
    sums: dict[Clique, Float] = {}
    precisions: dict[Clique, float] = {}
    for m in measurements:
        precision = 1 / m.deviation**2
        sums[m.clique] = sums.get(m.clique, 0.0) + precision * m.values
        precisions[m.clique] = precisions.get(m.clique, 0.0) + precision
    return {clique: sums[clique] / precisions[clique] for clique in sums}, precisions


def shared_columns(cliques: Collection[Clique]) -> list[Clique]:
    """What any two of the sets of columns have in common, smaller sets first."""
    overlaps = {tuple(name for name in a if name in b) for a, b in combinations(cliques, 2)} - {()}
    return sorted(overlaps, key=lambda shared: (len(shared), shared))


def agree(tables: dict[Clique, Float], precisions: dict[Clique, float], shared: Clique) -> None:
    """Make all tables that contain `shared` say the same of it; changes `tables`. precisions: of a cell of each table."""
    containing = [clique for clique in tables if set(shared) <= set(clique)]
    sums = {clique: project(tables[clique], clique, shared) for clique in containing}
    weights = {clique: precisions[clique] * sums[clique].size / tables[clique].size for clique in containing}
    mean = sum(weights[clique] * sums[clique] for clique in containing) / sum(weights.values())
    for clique in containing:
        added_up = tables[clique].size / sums[clique].size
        tables[clique] = tables[clique] + expand(np.asarray(mean - sums[clique]) / added_up, shared, clique)


def without_negatives(table: Float, impossible: NDArray[np.bool_] | None, total: float) -> Float:
    """The nearest table with cells of 0 or more that add up to `total`, and 0 where it is impossible: max(cell - t, 0) for one t."""
    possible = np.ones(table.shape, dtype=bool) if impossible is None else ~impossible
    cells = table[possible]
    falling = np.sort(cells)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, falling.size + 1)
    kept = int(np.flatnonzero(falling > lowered)[-1])
    answer = np.zeros(table.shape)
    answer[possible] = np.maximum(cells - lowered[kept], 0.0)
    return answer
