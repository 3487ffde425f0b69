"""Marginals put together from the residuals of their subsets: unbiased answers that agree with each other. No rows.

A marginal is the sum of the residuals of its subsets (see `privacy.residuals`), the smallest being the number of rows, each spread evenly
over the columns that it does not have."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique, Measurement, Residual, subsets

ROWS: Clique = ()
"""The smallest subset of every marginal; its residual is the number of rows."""


@dataclass(frozen=True, eq=False)
class ResidualAnswers:
    """Unbiased noisy marginals that agree with each other: a Model that writes no rows. Cells may be negative. Impossible cells are
    answered 0 (`Domain.cleared`), which their sums in smaller marginals do not follow. residuals: without the number of rows, which is
    `total`. sigmas: of the residuals, and of the number of rows where it is noisy."""

    domain: Domain
    total: float
    residuals: Mapping[Clique, Residual]
    sigmas: Mapping[Clique, float]

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Counts. Raises KeyError if a residual of it was not measured."""
        return self.domain.cleared(clique, self._combined(clique))

    def _combined(self, clique: Clique) -> NDArray[np.float64]:
        """Every residual spread evenly over the columns it does not have."""
        cells = self.domain.cells(clique)
        answer = np.full(self.domain.sizes(clique), self.total / cells)
        for part in parts(self.domain, clique):
            answer += expand(self.residuals[part].values, part, clique) * (self.domain.cells(part) / cells)
        return answer

    def measurement(self, clique: Clique) -> Measurement | None:
        """The marginal with the precision of its noise; None for a number of rows that is exact."""
        variance = _directions(self.domain, clique, self.sigmas)
        if not variance:
            return None
        return Measurement(clique, self._combined(clique), cell_sigma(self.domain, clique, self.sigmas), math.sqrt(max(variance.values())))


def cell_sigma(domain: Domain, clique: Clique, sigmas: Mapping[Clique, float]) -> float:
    """Standard deviation of each cell of a marginal put together from residuals of noise `sigmas`; 0 if none of them is noisy."""
    variance, cells = _directions(domain, clique, sigmas), domain.cells(clique)
    return math.sqrt(math.fsum(variance[part] * domain.cells(part) * saving(domain, part) / cells for part in variance))


def _directions(domain: Domain, clique: Clique, sigmas: Mapping[Clique, float]) -> dict[Clique, float]:
    """Variance of the noise of a marginal in the prod (n_i - 1) directions of each noisy part, i in it; those of all parts are
    orthogonal."""
    cells = domain.cells(clique)
    return {part: sigmas[part] ** 2 * domain.cells(part) / cells for part in (ROWS, *parts(domain, clique)) if part in sigmas}


def parts(domain: Domain, clique: Clique) -> Iterator[Clique]:
    """The non-empty subsets that have a residual: a column of one value says nothing."""
    return subsets([name for name in clique if domain[name].size > 1], 1)


def saving(domain: Domain, part: Clique) -> float:
    """prod (n_i - 1) / n_i: the price of a residual as a fraction of its marginal's, and the variance of its cells likewise."""
    return math.prod(1 - 1 / size for size in domain.sizes(part))
