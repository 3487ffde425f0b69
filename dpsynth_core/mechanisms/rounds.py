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
DEARER = 2.0
"""Largest factor by which a round costs more after an uninformative one; in the papers four, for half the noise."""
LEAST_ROWS, MOST_ROWS = 1_000, 100_000
"""Bounds of the number of rows that are moved towards tables."""


def too_many_cells(cells: int, most: int = MAX_CELLS, whose: str = "the workload has", remedy: str = "use fewer or smaller tables") -> str:
    """Return why that many cells are refused, or ""."""
    return f"{whose} {cells:,} cells, more than {most:,}; {remedy}" if cells > most else ""


def too_many_in_pairs(cells: int, most: int = MAX_CELLS) -> str:
    """Return why pairs of columns with that many cells are refused, or ""."""
    return too_many_cells(cells, most, whose="the pairs of columns have", remedy="merge values or drop columns")


def cells_of_pairs(domain: Domain) -> int:
    """Return the number of cells of all pairs of columns together."""
    sizes = domain.sizes(domain.names)
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def without_pairs(domain: Domain) -> str:
    """Return why a domain without a pair of columns is refused, or ""."""
    return "it needs two columns; use Independent" if len(domain) < 2 else ""


def rows_moved(total: float) -> int:
    """Return how many rows are moved towards measured tables: the number of people, within bounds."""
    return int(min(max(total, LEAST_ROWS), MOST_ROWS))


@dataclass(frozen=True)
class RoundBudget:
    """The budget of one round.

    Attributes:
        sigma: Noise of the measurement, in counts.
        eps: Parameter of the selection.
        rho: Cost of both together.
    """

    sigma: float
    eps: float
    rho: float

    @staticmethod
    def spending(rho: float, measure_share: float, l2: float, price: float) -> RoundBudget:
        """Return a round that costs rho, a share `measure_share` for measuring. `price` is `Kernel.selection_price`."""
        return RoundBudget(sigma_for(measure_share * rho, l2), eps_for((1.0 - measure_share) * rho, price), rho)

    def sharper(self, factor: float) -> RoundBudget:
        """Return the round with `factor` times the eps and sigma divided by it: factor^2 times the cost."""
        return RoundBudget(self.sigma / factor, self.eps * factor, self.rho * factor**2)

    def affordable(self, kernel: Kernel, measure_share: float) -> tuple[RoundBudget, bool]:
        """Return the round to run, and whether it is the last.

        The last round takes the remaining budget if that covers at most two such rounds.

        This is the end of AIM's Algorithm 3.
        """
        if kernel.rho_left > 2.0 * self.rho:
            return self, False
        return self.spending(kernel.rho_left, measure_share, kernel.unit.marginal_l2, kernel.selection_price), True

    def annealed(self, rho_left: float, reserve: float, most: float) -> RoundBudget:
        """Return the round that follows an uninformative one (`dearer`)."""
        return self.sharper(math.sqrt(dearer(self.rho, rho_left, reserve, most)))


def dearer(rho: float, rho_left: float, reserve: float, most: float) -> float:
    """Return the factor by which a round costs more than rho after an uninformative one.

    It is `most`, or the factor that leaves `reserve` rounds (AIM, Algorithm 3, where `most` is 4 and the reserve 1).
    """
    return min(most, max(1.0, rho_left / rho / reserve))


def sigma_for(rho: float, l2: float) -> float:
    """Return the noise of a measurement of sensitivity l2 that costs rho."""
    return l2 / math.sqrt(2.0 * rho)


def distance_sigma(unit: Unit, rho: float, tables: int) -> float:
    """Return the noise of each of that many L1 distances between tables and answers that cost rho together."""
    return unit.marginal_l1 * math.sqrt(tables / (2 * rho))


def eps_for(rho: float, price: float) -> float:
    """Return eps of a selection that costs rho. `price` is `Kernel.selection_price`."""
    return math.sqrt(rho / price)


def measure(kernel: Kernel, number: int, cliques: Collection[Clique], sigma: float) -> Generator[Measured, None, list[Measurement]]:
    """Measure each of `cliques` at sigma in round `number`. Yields a Measured event each, and returns the measurements."""
    taken = list[Measurement]()
    for some in _batches(kernel.domain, cliques):
        measurements = kernel.measure_marginals(some, sigma)
        for measurement in measurements:
            yield Measured(number, measurement, kernel.rho_spent, done(kernel))
        taken += measurements
    return taken


def _batches(domain: Domain, cliques: Collection[Clique]) -> Iterator[list[Clique]]:
    """Yield batches of about `TOGETHER` cells."""
    ends = accumulate(map(domain.cells, cliques))
    for _, some in groupby(zip(cliques, ends, strict=True), lambda pair: pair[1] // TOGETHER):
        yield [clique for clique, _ in some]


def count_people(kernel: Kernel, share: float) -> Generator[Measured, None, Measurement]:
    """Measure the number of people, as a measurement of the empty clique.

    Where it is secret, `share` of the budget pays for it, and the step is reported; where it is public, it is exact and free.
    """
    counted = count(kernel, share * kernel.rho_total, kernel.unit.query_l1)
    if not kernel.unit.total_is_public:
        yield Measured(0, counted, kernel.rho_spent, done(kernel))
    return counted


def total_from(kernel: Kernel, measurements: Sequence[Measurement]) -> float:
    """Return the number of rows: exact where it is public, else estimated from the measurements (at least 1)."""
    return kernel.measure_total(1.0) if kernel.unit.total_is_public else estimate_total(measurements)


def people(counted: Measurement) -> float:
    """Return the number of people to use everywhere: at least 1."""
    return max(1.0, float(counted.values))


def count(kernel: Kernel, rho: float, l2: float) -> Measurement:
    """Measure the number of rows, as a measurement of the empty clique: exact where it is public, else for rho, with noise for l2."""
    sigma = sigma_for(rho, l2)
    return Measurement((), np.array(kernel.measure_total(sigma)), sigma, rounding=ROUNDING)


def fitted(kernel: Kernel, number: int, message: str) -> Fitted:
    """Return the event that a model was fitted, with the budget spent so far."""
    return Fitted(number, message, kernel.rho_spent, done(kernel))


def done(kernel: Kernel) -> float:
    """Return the fraction of the budget that is spent, in [0, 1]."""
    return min(1.0, kernel.rho_spent / kernel.rho_total)


def columns_of(domain: Domain) -> list[Clique]:
    """Return the columns without a published table."""
    return domain.unpublished((name,) for name in domain.names)


def measure_columns(kernel: Kernel, rho: float) -> Generator[Measured, None, list[Measurement]]:
    """Measure every column without a published table, for an equal part of rho each.

    Without any, the number of people is measured if it is secret.
    """
    columns = columns_of(kernel.domain)
    if columns:
        return (yield from measure(kernel, 0, columns, sigma_for(rho / len(columns), kernel.unit.marginal_l2)))
    return [] if kernel.unit.total_is_public else [(yield from count_people(kernel, TOTAL_SHARE))]


Division = Callable[[Domain, Mapping[Clique, float]], dict[Clique, float]]
"""Returns each marginal's share of rho, from the domain and the weights c_r; the shares add up to 1."""


def equal_shares(_domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return the same share for every marginal; a `Division`."""
    return dict.fromkeys(weights, 1 / len(weights))


def least_error_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Return each marginal's share of rho, proportional to (c_r n_r)^(2/3); the shares add up to 1.

    This minimises sum c_r n_r sigma_r, the expected weighted L1 error up to a constant, subject to sum 1/sigma_r^2 being fixed: the
    derivative is zero where c_r n_r is proportional to 1/sigma_r^3.
    """
    raw = {clique: (weight * domain.cells(clique)) ** (2 / 3) for clique, weight in weights.items()}
    whole = math.fsum(raw.values())
    return {clique: part / whole for clique, part in raw.items()}
