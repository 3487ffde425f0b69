"""Columns alone: the error of rows that reproduce every single column and no relation. The yardstick of every release.

A release's own statements cannot tell: flat or noisy tables have a flat or noisy distance from the product of its columns. So
the kernel measures it. The answers are known: for every table, the product of the columns as the release has them. One person moves the
mean of their k errors by marginal_l1 at most for every k, so that a small part of the certificate's budget is enough.

That product differs from a run of Independent on the same budget, because the two have different noise in their columns. The interval
covers such a run. With d a cell's distance from the product and s the noise that columns bring into it, to first order:

- The mean of |d + s Z| grows with s. How much the noise of either raises the mean error is computed with the released tables in the place
  of d, and the interval is widened by the difference towards Independent. Only widened: released tables may be flatter than the private
  ones, or full of noise, and this cannot tell where the truth lies between the two.
- An error depends on one draw of the noise. With w_i the share of the tables that have column i, and n_i its cells that are not empty, the
  mean L1 distance is sqrt(sum of w_i^2 n_i s_i^2)-Lipschitz in the noise in standard units, and so has no larger standard deviation
  (Poincare's inequality).

Counts below 0 are mended by taking the nearest distribution, which removes most of the noise from empty cells. The rest in each cell is
simulated, with the same draws each time.

The run of Independent has the whole of the mechanism's share, after the same certificate.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Annotated

import numpy as np
import scipy
from numpy.typing import NDArray
from pydantic import BeforeValidator, PlainSerializer

from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.statistics.quantiles import margin
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique

Array = NDArray[np.float64]

_CONFIDENCE = 0.95
_SURE = 1e3
_NO_NOISE = 1e-150
"""Standard deviation in place of 0, to divide by."""
_FITTING_ROUNDS = 20
_DRAWS = 200
"""Number of simulated columns, and the seed of their draws. Their deviations are off by 5 %, in an interval that is far wider."""


Distance = Annotated[
    float, BeforeValidator(lambda distance: IN_WRONG_CELL * distance), PlainSerializer(lambda share: share / IN_WRONG_CELL)
]
"""A share of people in a wrong cell, written as the L1 distance of fractions."""


@dataclass(frozen=True)
class ColumnsAlone:
    """The yardstick: means over the tables, as shares of people in a wrong cell.

    Attributes:
        error: Measured error of the product of the release's columns, unbiased.
        low95: Lower end of the 95 % interval for the error of a run of Independent on the same budget.
        high95: Upper end of that interval.
        sigma: Standard deviation of the noise of each L1 distance, in records.
    """

    error: Distance
    low95: Distance
    high95: Distance
    sigma: float


@dataclass(frozen=True, eq=False)
class Columns:
    """The single columns of a release.

    Attributes:
        domain: The domain.
        shares: For each column, the share of people in each cell.
        noise: For each column with a noisy table, the standard deviation of a cell's noise, in
            records.
        sigma: Standard deviation of a cell's noise in a run of Independent, in records.
    """

    domain: Domain
    shares: Mapping[str, Array]
    noise: Mapping[str, float]
    sigma: float

    def product(self, clique: Clique) -> Array:
        """Return the product of the single columns as a table of fractions, with one axis per column.

        If some cells are impossible, iterative proportional fitting gives a table without them,
        near the product and with the same columns.

        Args:
            clique: The columns of the table.
        """
        impossible = self.domain.impossible_cells(clique)
        product = np.asarray(reduce(np.multiply.outer, [self.shares[name] for name in clique]))
        if impossible is None:
            return product
        product = np.where(impossible, 0.0, product)
        for _ in range(_FITTING_ROUNDS):
            for axis, name in enumerate(clique):
                now = project(product, range(product.ndim), (axis,))
                factor = np.divide(self.shares[name], now, out=np.zeros_like(now), where=now > 0)
                product = product * factor.reshape([-1 if i == axis else 1 for i in range(product.ndim)])
        return product

    def stated(self, mean: float, sigma: float, published: Mapping[Clique, Array], total: Total) -> ColumnsAlone:
        """Return the yardstick that follows from the measured mean of the L1 distances. It reads no record.

        Its interval holds with 95 % confidence and is about the mean error of a run of Independent. Its noise is
        simulated with fixed draws, so that equal arguments give equal results.

        Args:
            mean: Mean distance over the tables, in records.
            sigma: Standard deviation of the noise of each distance, in records.
            published: The published tables by clique, as fractions.
            total: Number of records.
        """
        run = self._left(dict.fromkeys(self.shares, self.sigma), total)
        own = self._left({name: self.noise.get(name, 0.0) for name in self.shares}, total)
        unknown = any(name not in self.noise for clique in published for name in clique)
        distances = {clique: np.abs(table - self.product(clique)) for clique, table in published.items()}
        shift = self._raised(distances, run) - self._raised(distances, own)
        drawn = total.value * math.hypot(self._spread(published, run), self._spread(published, own))
        deviation = math.hypot(sigma / math.sqrt(len(published)), drawn)
        floor = total.at_least((1 + _CONFIDENCE) / 2)
        width = margin(deviation, total.sigma, 1, (1 + _CONFIDENCE) / 2) / floor if floor > 0 else math.inf
        error = mean / total.value
        low = 0.0 if unknown else max(0.0, error - width + min(0.0, shift))
        high = min(1 / IN_WRONG_CELL, max(0.0, error + width + max(0.0, shift)))
        return ColumnsAlone(IN_WRONG_CELL * error, IN_WRONG_CELL * low, IN_WRONG_CELL * high, sigma)

    def _raised(self, distances: Mapping[Clique, Array], left: Mapping[str, _Left]) -> float:
        """Return how much the columns' noise raises the L1 distance of a product from its table.

        Args:
            distances: Distance of each cell of the published tables from the product, as fractions.
            left: The remaining noise by column.

        Returns:
            The expected increase as a fraction, averaged over the tables.
        """
        raised, squares = [], {name: share**2 for name, share in self.shares.items()}
        variances = {name: one.deviations**2 for name, one in left.items()}
        for clique, distance in distances.items():
            variance = np.zeros(distance.shape)
            for noisy in clique:
                variance += reduce(np.multiply.outer, [variances[name] if name == noisy else squares[name] for name in clique])
            impossible = self.domain.impossible_cells(clique)
            if impossible is not None:
                variance[impossible] = 0.0
            deviation = np.maximum(np.sqrt(variance), _NO_NOISE)
            ratio = np.minimum(distance / deviation, _SURE)  # squares of larger ones are not numbers, and the noise adds nothing there
            raised.append(float(np.sum(deviation * (HALF_NORMAL * np.exp(-(ratio**2) / 2) - 2 * ratio * scipy.special.ndtr(-ratio)))))
        return math.fsum(raised) / len(distances)

    def _spread(self, published: Mapping[Clique, Array], left: Mapping[str, _Left]) -> float:
        """Return an upper bound of the standard deviation of the mean L1 distance, as a fraction.

        The mean is over the published tables, the deviation over draws of the noise in the columns.

        Args:
            published: The published tables; only their cliques are used.
            left: The noise that remains in each column, by its name, in fractions.
        """
        holding = Counter(chain.from_iterable(published))
        part = {name: holding[name] / len(published) for name in left}
        return math.sqrt(math.fsum(part[name] ** 2 * one.filled * one.sigma**2 for name, one in left.items()))

    def _left(self, noise: Mapping[str, float], total: Total) -> dict[str, _Left]:
        """Return the noise that remains in each column after taking the nearest distribution.

        Args:
            noise: Standard deviation of the noise in a cell before, in records, by column.
            total: Number of records.

        Returns:
            The remaining noise by column, as shares of the records.
        """
        left = {}
        for name, share in self.shares.items():
            sigma = noise[name] / total.value
            draws = nearest_distributions(share + sigma * np.random.default_rng(_DRAWS).standard_normal((_DRAWS, share.size)))
            left[name] = _Left(sigma, np.asarray(draws.std(axis=0)), float((draws > 0).sum(axis=1).mean()))
        return left


@dataclass(frozen=True, eq=False)
class _Left:
    """Noise in a column of fractions after taking the nearest distribution.

    Attributes:
        sigma: Noise before.
        deviations: Noise of each cell after.
        filled: Mean number of cells above 0.
    """

    sigma: float
    deviations: Array
    filled: float


def nearest_distributions(rows: Array) -> Array:
    """Return the distribution nearest to each row in Euclidean distance: all cells lowered so that the positive ones sum to 1.

    Args:
        rows: Noisy fractions, shape (rows, cells); the result has the same shape.
    """
    falling = np.sort(rows, axis=1)[:, ::-1]
    excess = falling.cumsum(axis=1) - 1
    number = np.arange(1, rows.shape[1] + 1)
    last = (falling * number > excess).sum(axis=1) - 1
    lowered = np.take_along_axis(excess, last[:, None], axis=1) / (last[:, None] + 1)
    return np.asarray(np.maximum(rows - lowered, 0.0))


def of(evidence: Evidence, sigma: float, cliques: Mapping[Clique, Array]) -> Columns | None:
    """Return the single columns that some tables contain, as a release has them.

    Negative cells of a noisy table count as 0. A column without any positive cell counts as uniform.

    Args:
        evidence: The released tables and rows.
        sigma: Standard deviation of a cell's noise in a run of Independent with the same budget, in records.
        cliques: The tables by their columns; only the columns are used.

    Returns:
        The columns; None if a wanted column is not published, or if there are no tables.
    """
    wanted = [(name,) for name in evidence.domain.names if any(name in clique for clique in cliques)]
    published = evidence.published(wanted)
    if not wanted or len(published) < len(wanted):
        return None
    shares = {}
    for (name,), table in published.items():
        kept = np.maximum(table, 0.0)
        shares[name] = np.asarray(kept / kept.sum() if kept.sum() > 0 else np.full(kept.shape, 1 / kept.size))  # even where nothing is left
    measured = {name: evidence.measured((name,)) for name in shares}
    return Columns(evidence.domain, shares, {name: one.deviation for name, one in measured.items() if one is not None}, sigma)
