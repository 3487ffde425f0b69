"""Shared parts of rounds: their cost, measuring, counting people, the progress of a run.

Released values only: the private table is reached through the given kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, groupby

import numpy as np

from dpsynth_core.inference.estimation import estimate_total
from dpsynth_core.mechanisms.steps import Fitted, Measured
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, Measurement

MAX_CELLS = 100_000_000
"""Largest number of cells for a mechanism that compares its model with many marginals and keeps both answers: 16 bytes a cell."""
TOGETHER = 250_000
"""Cells that take noise at once: some seconds, in which no progress is shown and the run cannot be stopped."""
TOTAL_SHARE = 0.01
"""Share of rho for the number of people where it is secret and no table contains it; the papers take it as known. At eps = 1, delta = 1e-9:
sigma = 58.
"""
ANNEALING = 2.0
"""Largest factor by which a round costs more after an uninformative one; in the papers four, for half the noise."""
LEAST_ROWS, MOST_ROWS = 1_000, 100_000
"""Bounds of the number of rows that are moved towards tables."""


def too_many_cells(cells: int, most: int = MAX_CELLS, whose: str = "the workload has", remedy: str = "use fewer or smaller tables") -> str:
    """Return why a run with this many cells is refused; "" if it is not.

    Args:
        cells: Number of cells.
        most: Largest number of cells.
        whose: Beginning of the sentence, before the number.
        remedy: What to do instead.
    """
    return f"{whose} {cells:,} cells, more than {most:,}; {remedy}" if cells > most else ""


def too_many_in_pairs(cells: int, most: int = MAX_CELLS) -> str:
    """Return why pairs of columns with this many cells together are refused, or "" if they are not."""
    return too_many_cells(cells, most, whose="the pairs of columns have", remedy="merge values or drop columns")


def cells_of_pairs(domain: Domain) -> int:
    """Return the number of cells of all pairs of columns together."""
    sizes = domain.sizes(domain.names)
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def without_pairs(domain: Domain) -> str:
    """Return why a domain of a single column is refused, or "" if it has two columns or more."""
    return "it needs two columns; use Independent" if len(domain) < 2 else ""


def rows_moved(total: float) -> int:
    """Return how many rows are moved towards measured tables: the number of people, from 1,000 to 100,000."""
    return int(min(max(total, LEAST_ROWS), MOST_ROWS))


@dataclass(frozen=True)
class RoundBudget:
    """The budget of one round, which selects a table and measures it.

    Attributes:
        sigma: Standard deviation of the measurement's noise, in counts.
        eps: Privacy parameter of the selection.
        rho: Cost of both together, in rho.
    """

    sigma: float
    eps: float
    rho: float

    @staticmethod
    def spending(rho: float, measure_share: float, l2: float, price: float) -> RoundBudget:
        """Return a round that costs `rho`.

        Args:
            rho: Cost of the round, in rho.
            measure_share: Share of the cost for the measurement, from 0 to 1; the rest is for the selection.
            l2: L2 sensitivity of the measurement, in counts.
            price: rho of a selection at eps = 1 (`Kernel.selection_price`).
        """
        return RoundBudget(sigma_for(measure_share * rho, l2), eps_for((1.0 - measure_share) * rho, price), rho)

    def sharper(self, factor: float) -> RoundBudget:
        """Return the round with eps multiplied and sigma divided by `factor`, which costs factor^2 times as much."""
        return RoundBudget(self.sigma / factor, self.eps * factor, self.rho * factor**2)

    def affordable(self, kernel: Kernel, measure_share: float) -> tuple[RoundBudget, bool]:
        """Return the round to run next, and whether it is the last: this is the end of AIM's Algorithm 3.

        If the remaining budget covers at most two such rounds, the next round takes all that is
        left and is the last.

        Args:
            kernel: The kernel, whose remaining budget counts.
            measure_share: Share of a last round's cost for the measurement.
        """
        if kernel.rho_left > 2.0 * self.rho:
            return self, False
        return self.spending(kernel.rho_left, measure_share, kernel.unit.marginal_l2, kernel.selection_price), True

    def annealed(self, rho_left: float, reserve: float, most: float) -> RoundBudget:
        """Return the round that follows an uninformative one: more expensive and more precise (`annealing_factor`).

        Args:
            rho_left: Remaining budget.
            reserve: Number of rounds that must stay affordable.
            most: Largest factor by which the cost may grow.
        """
        return self.sharper(math.sqrt(annealing_factor(self.rho, rho_left, reserve, most)))


def annealing_factor(rho: float, rho_left: float, reserve: float, most: float) -> float:
    """Return the factor by which a round after an uninformative one costs more, at least 1.

    It is `most`, unless only a smaller factor lets the remaining budget pay `reserve` rounds (AIM,
    Algorithm 3, where `most` is 4 and the reserve 1).

    Args:
        rho: Cost of the uninformative round, in rho.
        rho_left: Remaining budget, in rho.
        reserve: Number of rounds that must stay affordable.
        most: Largest factor.
    """
    return min(most, max(1.0, rho_left / rho / reserve))


def sigma_for(rho: float, l2: float) -> float:
    """Return the standard deviation of Gaussian noise on an answer of L2 sensitivity `l2` that costs `rho`, in the unit of `l2`."""
    return l2 / math.sqrt(2.0 * rho)


def distance_sigma(unit: Unit, rho: float, tables: int) -> float:
    """Return the sigma, in counts, for measuring L1 distances between tables and answers at a given total cost.

    Args:
        unit: The unit of privacy.
        rho: Cost of all distances together.
        tables: Number of distances.
    """
    return unit.marginal_l1 * math.sqrt(tables / (2 * rho))


def eps_for(rho: float, price: float) -> float:
    """Return the eps of a selection that costs `rho`.

    Args:
        rho: The cost, in rho.
        price: The rho of a selection at eps = 1 (`Kernel.selection_price`).
    """
    return math.sqrt(rho / price)


def measure(kernel: Kernel, number: int, cliques: Collection[Clique], sigma: float) -> Generator[Measured, None, list[Measurement]]:
    """Measure marginals, yield a `Measured` step for each, and return the measurements (by `yield from`).

    Args:
        kernel: The kernel, which is charged.
        number: Number of the round, 0 before the rounds.
        cliques: The marginals.
        sigma: Standard deviation of the noise of each cell, in counts.
    """
    taken = list[Measurement]()
    for some in _batches(kernel.domain, cliques):
        measurements = kernel.measure_marginals(some, sigma)
        for measurement in measurements:
            yield Measured(number, measurement, kernel.rho_spent, done(kernel))
        taken += measurements
    return taken


def _batches(domain: Domain, cliques: Collection[Clique]) -> Iterator[list[Clique]]:
    """Yield the cliques in their order, in batches whose tables get noise at once.

    A batch begins with the table that brings the cells of all tables so far to a further multiple
    of `TOGETHER`. So a batch has fewer than `TOGETHER` cells besides the cells of its first table.
    """
    ends = accumulate(map(domain.cells, cliques))
    for _, some in groupby(zip(cliques, ends, strict=True), lambda pair: pair[1] // TOGETHER):
        yield [clique for clique, _ in some]


def count_people(kernel: Kernel, share: float) -> Generator[Measured, None, Measurement]:
    """Return the number of records as a measurement of the empty clique (by `yield from`).

    If the number is public, it is exact and free. Otherwise it is measured and the step is yielded.

    Args:
        kernel: The kernel.
        share: Share of the kernel's whole budget that a secret number costs, from 0 to 1.
    """
    counted = count(kernel, share * kernel.rho_total, kernel.unit.query_l1)
    if not kernel.unit.total_is_public:
        yield Measured(0, counted, kernel.rho_spent, done(kernel))
    return counted


def total_from(kernel: Kernel, measurements: Sequence[Measurement]) -> float:
    """Return the number of records: the exact one, for free, if it is public, else the best estimate from measurements.

    An estimate is at least 1; a public number may be 0.
    """
    return kernel.measure_total(1.0) if kernel.unit.total_is_public else estimate_total(measurements)


def people(counted: Measurement) -> float:
    """Return the number of records in a measurement of the empty clique, at least 1."""
    return max(1.0, float(counted.values))


def count(kernel: Kernel, rho: float, l2: float) -> Measurement:
    """Return the number of rows as a measurement of the empty clique.

    If the number is public, it is exact and free, although the measurement states a sigma.

    Args:
        kernel: The kernel.
        rho: Cost of a secret number, if `l2` is its sensitivity.
        l2: Sensitivity from which the noise is computed.
    """
    sigma = sigma_for(rho, l2)
    return Measurement((), np.array(kernel.measure_total(sigma)), sigma, rounding=ROUNDING)


def fitted(kernel: Kernel, number: int, message: str) -> Fitted:
    """Return the step that reports a fitted model, with the budget spent so far.

    Args:
        kernel: The kernel, which knows the spent budget.
        number: Number of the round.
        message: What was fitted, in words.
    """
    return Fitted(number, message, kernel.rho_spent, done(kernel))


def done(kernel: Kernel) -> float:
    """Return the fraction of the kernel's budget that is spent, from 0 to 1."""
    return min(1.0, kernel.rho_spent / kernel.rho_total)


def columns_of(domain: Domain) -> list[Clique]:
    """Return the cliques of single columns that no published table has."""
    return domain.unpublished((name,) for name in domain.names)


def measure_columns(kernel: Kernel, rho: float) -> Generator[Measured, None, list[Measurement]]:
    """Measure every column without a published table for an equal part of `rho`, and return the measurements.

    The steps are yielded (by `yield from`). If all columns have published tables, the number of people is
    measured for 1 % (TOTAL_SHARE) of the kernel's whole budget if it is secret; if it is public, the result
    is [].

    Args:
        kernel: The kernel, which is charged.
        rho: Cost of all columns together, in rho.
    """
    columns = columns_of(kernel.domain)
    if columns:
        return (yield from measure(kernel, 0, columns, sigma_for(rho / len(columns), kernel.unit.marginal_l2)))
    return [] if kernel.unit.total_is_public else [(yield from count_people(kernel, TOTAL_SHARE))]


Division = Callable[[Domain, Mapping[Clique, float]], dict[Clique, float]]
"""Returns each marginal's share of rho, from the domain and the weights c_r; the shares add up to 1."""


def equal_shares(_domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return the same share of the budget for every marginal, by clique: a `Division`. There must be a marginal."""
    return dict.fromkeys(weights, 1 / len(weights))


def least_error_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return each marginal's share of rho, proportional to (c_r n_r)^(2/3): a `Division`.

    This minimises sum c_r n_r sigma_r, the expected weighted L1 error up to a constant, subject to
    sum 1/sigma_r^2 being fixed: the derivative is zero where c_r n_r is proportional to
    1/sigma_r^3.

    Args:
        domain: The domain, which gives the numbers of cells n_r.
        weights: Weight c_r of each marginal.

    Returns:
        The shares by clique, in the order of `weights`, adding up to 1; {} without marginals.
    """
    raw = {clique: (weight * domain.cells(clique)) ** (2 / 3) for clique, weight in weights.items()}
    whole = math.fsum(raw.values())
    return {clique: part / whole for clique, part in raw.items()}
