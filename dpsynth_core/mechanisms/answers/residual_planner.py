"""ResidualPlanner: the least noisy unbiased answers to a workload of marginals under Gaussian noise. Answers only, no rows.

The source is Xiao, He, Zhang, Kifer 2023, "An Optimal and Scalable Matrix Mechanism for Noisy Marginals under Convex Loss Functions".

A marginal is the sum of the residuals of its subsets (see `privacy.residuals`), the smallest being the number of rows. Each residual is
measured once, however many marginals contain it, and the marginals put together from them agree with each other exactly. How precise
each residual is made follows from the workload and the domain alone. Optimal among matrix mechanisms for add-remove; for replace, where
residuals save less, each is charged for its own worst case: valid, and close to optimal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import Card, Forecast, Split, split_by_size
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand
from dpsynth_core.vocabulary.measurement import Clique, Measurement, Residual, subsets
from dpsynth_core.vocabulary.workload import Workload

_SECONDS_PER_CELL, _SECONDS_PER_MARGINAL, _BYTES_PER_CELL, _MAX_CELLS = 4e-5, 1e-3, 40, 50_000_000
_MOST_STEPS = 500
_CLOSE_ENOUGH = 1e-10


ROWS: Clique = ()
"""The smallest subset of every marginal; its residual is the number of rows."""


@dataclass(frozen=True, eq=False)
class ResidualAnswers:
    """Unbiased noisy marginals that agree with each other: a Model that writes no rows. Cells may be negative.

    Impossible cells are answered 0 (`Domain.cleared`); their sums in smaller marginals do not
    follow.

    Attributes:
        domain: The domain.
        total: Number of rows, noisy or exact.
        residuals: The residuals, without the number of rows.
        sigmas: Standard deviation of the noise by clique, of the residuals and of the number of
            rows if it is noisy.
    """

    domain: Domain
    total: float
    residuals: Mapping[Clique, Residual]
    sigmas: Mapping[Clique, float]

    def marginal(self, clique: Clique) -> NDArray[np.float64]:
        """Return the noisy marginal over `clique`, in counts, one axis per column.

        Raises:
            KeyError: One of the marginal's residuals was not measured.
        """
        return self.domain.cleared(clique, self._combined(clique))

    def _combined(self, clique: Clique) -> NDArray[np.float64]:
        cells = self.domain.cells(clique)
        answer = np.full(self.domain.sizes(clique), self.total / cells)
        for part in parts(self.domain, clique):
            answer += expand(self.residuals[part].values, part, clique) * (self.domain.cells(part) / cells)
        return answer

    def measurement(self, clique: Clique) -> Measurement | None:
        """Return the marginal as a measurement with its correlated noise; None if it has no noise at all.

        Raises:
            KeyError: One of the marginal's residuals was not measured.
        """
        variance = _directions(self.domain, clique, self.sigmas)
        if not variance:
            return None
        return Measurement(clique, self._combined(clique), cell_sigma(self.domain, clique, self.sigmas), math.sqrt(max(variance.values())))


def cell_sigma(domain: Domain, clique: Clique, sigmas: Mapping[Clique, float]) -> float:
    """Return the standard deviation, in counts, of the noise in each cell of a marginal that is composed of residuals.

    Args:
        domain: The domain.
        clique: The marginal.
        sigmas: Standard deviation of the noise of each noisy residual, in counts; residuals without an entry
            are exact.
    """
    variance, cells = _directions(domain, clique, sigmas), domain.cells(clique)
    return math.sqrt(math.fsum(variance[part] * domain.cells(part) * saving(domain, part) / cells for part in variance))


def _directions(domain: Domain, clique: Clique, sigmas: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return, by noisy residual q of a marginal, the variance of the marginal's noise along each direction of q.

    Residual q has prod over q of (n_i - 1) directions; the directions of all residuals are
    orthogonal.
    """
    cells = domain.cells(clique)
    return {part: sigmas[part] ** 2 * domain.cells(part) / cells for part in (ROWS, *parts(domain, clique)) if part in sigmas}


def parts(domain: Domain, clique: Clique) -> Iterator[Clique]:
    """Yield the non-empty subsets of a clique that have a residual: the sets of its columns with several values.

    Smaller sets come first.
    """
    return subsets([name for name in clique if domain[name].size > 1], 1)


def saving(domain: Domain, part: Clique) -> float:
    """Return prod (n_i - 1) / n_i over the columns of a residual, n_i their numbers of cells; 1 for ().

    It is the cost of the residual, and the variance of its cells, as a fraction of its marginal's.
    """
    return math.prod(1 - 1 / size for size in domain.sizes(part))


@dataclass(frozen=True)
class ResidualPlanner:
    """ResidualPlanner with the least expected weighted L1 error."""

    card: Card = Card(
        "residual_planner", "ResidualPlanner", GDP, makes_rows=False,
        summary="The most precise unbiased answers to the tables of your workload, which all agree. Answers only, no rows.",
        paper="Xiao, He, Zhang, Kifer: An Optimal and Scalable Matrix Mechanism for Noisy Marginals (NeurIPS 2023)",
        privacy=(
            "Measures, for each table of the workload and each smaller table inside one, only what it says beyond the tables inside it, "
            "with rounded Gaussian noise on a fine lattice (rho = sensitivity^2 / (2 sigma^2), of a sensitivity that is smaller than a "
            "whole table's). The costs add up under Gaussian differential privacy. How the budget is split depends on the workload and the "
            "domain alone."
        ),
    )

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused: more than 50 million cells.

        Both grow with the number of cells of the workload's closure, and the time with its number
        of marginals; the budget does not matter.
        """
        closure = workload.closure()
        cells = sum(map(workload.domain.cells, closure))
        reason = rounds.too_many_cells(cells, _MAX_CELLS, "the tables have")
        seconds = 1.0 + _SECONDS_PER_CELL * cells + _SECONDS_PER_MARGINAL * len(closure)
        return Forecast(not reason, seconds, 150.0 + _BYTES_PER_CELL * cells / 1e6, reason)

    def split(self, workload: Workload, total_is_public: bool) -> Split:
        """Return the shares of the budget for the least noisy residuals, by size of table: the count, single columns, larger tables.

        They add up to 1; a size without a share is left out.
        """
        prices = {part: saving(workload.domain, part) / 2 for part in _wanted(workload) if part or not total_is_public}
        sigmas = least_noise(workload, prices, 1.0)
        return split_by_size({part: prices[part] / sigma**2 for part, sigma in sigmas.items()})

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run ResidualPlanner with the kernel's remaining budget; yield its steps.

        Of the steps, a `Measured` has a noisy answer and the last one, `Finished`, has the model.

        Yields:
            A Measured for each marginal of the workload's closure, as soon as its last residual is
            measured, then a Finished. A marginal without noise has no Measured.
        """
        domain, marginals = kernel.domain, (ROWS, *workload.closure())
        sigmas = planned(workload, kernel.residual_l2, kernel.rho_left)
        residuals: dict[Clique, Residual] = {}
        answers = ResidualAnswers(domain, kernel.measure_total(sigmas.get(ROWS, 1.0)), residuals, sigmas)
        for number, clique in enumerate(marginals, start=1):
            if clique and clique in sigmas:
                residuals[clique] = kernel.measure_residual(clique, sigmas[clique])
            measurement = answers.measurement(clique)
            if measurement:
                yield Measured(0, measurement, kernel.rho_spent, number / len(marginals))
        yield Finished(answers, max(1.0, answers.total), {"residuals": len(residuals)})


def planned(workload: Workload, residual_l2: Callable[[Clique, float], float], rho: float) -> dict[Clique, float]:
    """Return the standard deviation of each residual's noise that gives the least expected weighted L1 error at a cost of `rho`.

    The error is the sum over the workload's marginals r of c_r E||noise of r||_1, where c_r is the
    weight of r. It is minimised with the sensitivities at sigma = 1. If the sensitivities at the
    resulting sigmas are higher, all sigmas are multiplied by the same factor until the cost is at most
    `rho`.

    Args:
        workload: The marginals to answer, with their weights.
        residual_l2: Returns the L2 sensitivity of a residual, in records, from its clique and its
            sigma (`Kernel.residual_l2`). It is higher at a large sigma, because a residual is rounded
            to a lattice that is coarser for larger noise. It is 0 for () if the number of rows is
            public.
        rho: The budget: the sum of residual_l2^2 / (2 sigma^2) over the residuals.

    Returns:
        Sigma by clique, in records. The clique () is the number of rows; it is absent if that number
        is public.
    """
    prices = {part: residual_l2(part, 1.0) ** 2 / 2 for part in _wanted(workload)}
    noisy = {part: price for part, price in prices.items() if price > 0}  # without a number of rows that is public
    sigmas = least_noise(workload, noisy, rho)
    while True:  # larger where noise is so large that its lattice is coarser and the price higher than at sigma = 1
        cost = math.fsum(residual_l2(part, sigma) ** 2 / (2 * sigma**2) for part, sigma in sigmas.items())
        if cost <= rho * (1 + _CLOSE_ENOUGH):
            return sigmas
        sigmas = {part: sigma * math.sqrt(cost / rho) for part, sigma in sigmas.items()}


def least_noise(workload: Workload, prices: Mapping[Clique, float], rho: float) -> dict[Clique, float]:
    """Return the sigma of each residual that minimises the expected workload error, sum of c_r E||noise of M_r||_1.

    With v_r the variance of a cell of M_r, a weighted sum of sigma_q^2 over the subsets q of r, the
    error is proportional to sum c_r n_r sqrt(v_r), which is convex in 1/sigma^2. A weighted sum of
    variances is least, in closed form, for sigma_q^2 proportional to sqrt(price_q / pull_q), pull_q
    being the factor of sigma_q^2 in the sum. The square roots are brought to that form: sqrt(v) is
    at most v / (2 sqrt(u)) + sqrt(u) / 2, with equality at u = v, so that solving with weights c_r
    n_r / sqrt(v_r) for the last v never increases the error, and stands still only at the minimum.

    Args:
        workload: The marginals to answer, with their weights.
        prices: Cost (rho) of each residual at sigma = 1, by clique; {} gives {}.
        rho: Cost of all residuals together.
    """
    if not prices:
        return {}  # columns of one value each, and a number of records that is public
    columns = {part: k for k, part in enumerate(prices)}
    variances = _variances(workload, columns)
    importance = np.array([weight * workload.domain.cells(clique) for clique, weight in workload.weights.items()])
    price = np.array(list(prices.values()))
    weights, least = importance, math.inf
    for _ in range(_MOST_STEPS):
        pull = variances.T @ weights
        squared = np.sqrt(price / pull) * np.sqrt(price * pull).sum() / rho
        deviations = np.sqrt(variances @ squared)
        error = float(importance @ deviations)
        if error > least * (1 - _CLOSE_ENOUGH):
            break
        least = error  # a marginal without noise, such as a public number of records, weighs nothing
        weights = np.divide(importance, deviations, out=np.zeros_like(importance), where=deviations > 0)
    return dict(zip(prices, np.sqrt(squared).tolist(), strict=True))


def _variances(workload: Workload, columns: Mapping[Clique, int]) -> scipy.sparse.csr_array:
    """Return how much a residual of sigma 1 adds to the variance of a marginal's cell, shape (marginals, residuals).

    Args:
        workload: The marginals.
        columns: The column of the result for each residual.
    """
    domain = workload.domain
    entries = [
        (row, columns[part], saving(domain, part) * (domain.cells(part) / domain.cells(clique)) ** 2)
        for row, clique in enumerate(workload.cliques)
        for part in (ROWS, *parts(domain, clique))
        if part in columns
    ]
    rows, places, values = zip(*entries, strict=True)
    return scipy.sparse.csr_array((values, (rows, places)), shape=(len(workload.cliques), len(columns)))


def _wanted(workload: Workload) -> list[Clique]:
    """Return the cliques of all residuals that the marginals of the workload need."""
    return [ROWS, *(clique for clique in workload.closure() if min(workload.domain.sizes(clique)) > 1)]
