"""Estimates counts of rows from noisy sums of roots (`Kernel.measure_roots`).

A person with k rows, c of which are in a cell, adds c/k to the cell's count and sqrt(c/k) to its sum of roots. The noise is the same, so a
sum of roots is relatively more precise where the person's rows differ. In a table of a row and the row before, sums of roots are over the
k - 1 rows that have a row before. The ratio of count to root in each cell is estimated from persons who are drawn from the model, again
after each fit. This module uses released values only.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import BACK, LAST, START, STARTS, SequenceLink
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.roots import of_members
from dpsynth_core.vocabulary.link import NUMBER
from dpsynth_core.vocabulary.measurement import Clique, MarginalCounts, Measurement

Floats = NDArray[np.float64]

FEW = 10.0
"""Drawn persons who count as much, in what a root of a cell stands for, as what the cell's columns say of it one by one."""
UNSURE = 0.02
"""Relative deviation of what roots stand for, shared by the cells of a table."""


@dataclass(frozen=True, eq=False)
class Drawn:
    """Persons who were drawn from a model.

    Attributes:
        link: The link of persons and rows.
        records: One record for each row, person by person and in order, as codes of `link.domain`.
        sizes: Number of rows of each person, shape (persons,).
    """

    link: SequenceLink
    records: NDArray[np.integer]
    sizes: NDArray[np.int64]

    def each(self, clique: Clique) -> Floats:
        """Return the count that a sum of roots of 1 stands for, over the cells of a table in which no row is absent.

        Args:
            clique: The columns of the table.
        """
        shape = [self.link.domain[name].size - (name in self.link.with_nobody) for name in clique]
        mine = self.records[:, [self.link.domain.position(name) for name in clique]].astype(np.int64)
        there = (mine < shape).all(axis=1)
        owners, cells = np.repeat(np.arange(len(self.sizes)), self.sizes)[there], int(np.prod(shape))
        held, alike = np.unique(owners * cells + np.ravel_multi_index(tuple(mine[there].T), shape), return_counts=True)
        person, cell = np.divmod(held, cells)
        rows = np.bincount(owners, minlength=len(self.sizes))
        counts = np.bincount(cell, alike / self.sizes[person], cells).reshape(shape)
        roots = np.bincount(cell, np.sqrt(alike / rows[person]), cells).reshape(shape)
        whole = usual = (counts.sum() + 1e-9) / (roots.sum() + 1e-9)
        for axis in range(len(shape)):
            others = tuple(one for one in range(len(shape)) if one != axis)
            usual = usual * (counts.sum(others, keepdims=True) / whole + FEW) / (roots.sum(others, keepdims=True) + FEW)
        return np.asarray((counts + FEW * usual) / (roots + FEW))


def counts_of(link: SequenceLink, one: Measurement, drawn: Drawn, model: GraphicalModel, number: Measurement) -> MarginalCounts:
    """Return the counts of a table that noisy sums of roots stand for; cells with an absent row get an infinite variance.

    Numbers of rows say how many records there are, first of all of last rows. The difference is spread by the errors from noise and
    `UNSURE`.

    Args:
        link: The link of persons and rows.
        one: The sums, over the cells in which no row is absent.
        drawn: Persons drawn from the model.
        model: The present model.
        number: The measured numbers of rows.
    """
    each, inside = drawn.each(one.clique), of_members(link, one.clique)
    believed, error = np.maximum(model.marginal(one.clique)[inside], 0.0), (each * one.sigma) ** 2
    spread = error + UNSURE**2 * believed.sum() * believed
    axes = tuple(axis for axis, name in enumerate(one.clique) if name not in (NUMBER, LAST))
    off = _present(link, one.clique, number) - (each * one.values).sum(axes, keepdims=True)
    sizes = link.domain.sizes(one.clique)
    values, variances = np.zeros(sizes), np.full(sizes, np.inf)
    values[inside] = each * one.values + off * spread / np.maximum(spread.sum(axes, keepdims=True), 1e-9)
    variances[inside] = error
    return MarginalCounts(one.clique, values, variances)


def _present(link: SequenceLink, clique: Clique, number: Measurement) -> Floats:
    """Return how many records have all rows of a table, by its number of rows and its last row where it has these columns."""
    back = max((link.lags[name][1] for name in clique if name in link.lags), default=0)
    held = places_of(link, number).values[:, back : STARTS.index("none")].sum(1)
    held = held.sum(tuple(axis for axis, name in enumerate((NUMBER, LAST)) if name not in clique), keepdims=True)
    return np.asarray(held.reshape([held.shape[(NUMBER, LAST).index(name)] if name in (NUMBER, LAST) else 1 for name in clique]))


def places_of(link: SequenceLink, number: Measurement) -> MarginalCounts:
    """Return how many records are first, second, later and last rows, by number of rows, which alone says it.

    Args:
        link: The link of persons and rows.
        number: The measured numbers of rows.
    """
    shares = np.zeros((link.most + 1, len(STARTS), 2))
    shares[0, -1, 1] = 1.0
    for size in range(1, link.most + 1):
        for place in range(size):
            shares[size, min(place, BACK), int(place == size - 1)] += 1 / size
    held = shares > 0
    variances = np.where(held, number.deviation**2 * shares**2 * held.sum((1, 2), keepdims=True), np.inf)  # the cells' errors are one
    return MarginalCounts((NUMBER, START, LAST), np.maximum(number.values, 0.0)[:, None, None] * shares, variances)
