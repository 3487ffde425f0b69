"""What rounds of all kinds share: what a round costs, measuring, counting people, how far a run is.

Released values only: the private table is reached through the kernel that is handed in."""

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
"""A mechanism that compares its model with many marginals keeps both answers: 16 bytes a cell, and it refuses more cells than this."""
TOGETHER = 250_000
"""Cells that take noise at once: for seconds, in which nothing is shown and nobody can stop a run."""
TOTAL_SHARE = 0.01
"""Share of rho for the number of people where it is secret and no table tells it; the papers take it as known. At eps = 1, delta = 1e-9:
sigma = 58."""
DEARER = 2.0
"""So many times as much as a round that taught little the next one costs, at most; in the papers four times, for half the noise."""
LEAST_ROWS, MOST_ROWS = 1_000, 100_000
"""That are moved towards tables."""


def too_many_cells(cells: int, most: int = MAX_CELLS, whose: str = "the workload has", remedy: str = "use fewer or smaller tables") -> str:
    """Why so many cells are refused, or ""."""
    return f"{whose} {cells:,} cells, more than {most:,}; {remedy}" if cells > most else ""


def too_many_in_pairs(cells: int, most: int = MAX_CELLS) -> str:
    """Why pairs of columns with so many cells are refused, or ""."""
    return too_many_cells(cells, most, whose="the pairs of columns have", remedy="merge values or drop columns")


def cells_of_pairs(domain: Domain) -> int:
    """Of all pairs of columns together."""
    sizes = domain.sizes(domain.names)
    return (sum(sizes) ** 2 - sum(size**2 for size in sizes)) // 2


def without_pairs(domain: Domain) -> str:
    """Why a domain without a pair of columns is refused, or ""."""
    return "it needs two columns; use Independent" if len(domain) < 2 else ""


def rows_moved(total: float) -> int:
    """How many rows are moved towards measured tables: as many as there are people, within bounds."""
    return int(min(max(total, LEAST_ROWS), MOST_ROWS))


@dataclass(frozen=True)
class RoundBudget:
    """One round's noise: sigma (counts) for the measurement, eps for the selection. rho: what both cost together."""

    sigma: float
    eps: float
    rho: float

    @staticmethod
    def spending(rho: float, measure_share: float, l2: float, price: float) -> RoundBudget:
        """A round that costs rho, `measure_share` of it for measuring. price: `Kernel.selection_price`."""
        return RoundBudget(sigma_for(measure_share * rho, l2), eps_for((1.0 - measure_share) * rho, price), rho)

    def sharper(self, factor: float) -> RoundBudget:
        """`factor` times the eps, sigma divided by it: factor^2 times the cost."""
        return RoundBudget(self.sigma / factor, self.eps * factor, self.rho * factor**2)

    def affordable(self, kernel: Kernel, measure_share: float) -> tuple[RoundBudget, bool]:
        """AIM's Algorithm 3, its end: when what is left is at most two such rounds, this one takes all of it and is the last."""
        if kernel.rho_left > 2.0 * self.rho:
            return self, False
        return self.spending(kernel.rho_left, measure_share, kernel.unit.marginal_l2, kernel.selection_price), True

    def annealed(self, rho_left: float, reserve: float, most: float) -> RoundBudget:
        """After a round that taught little (`dearer`)."""
        return self.sharper(math.sqrt(dearer(self.rho, rho_left, reserve, most)))


def dearer(rho: float, rho_left: float, reserve: float, most: float) -> float:
    """How many times as much as rho a round costs after one that taught little: `most`, or as much as leaves `reserve` rounds (AIM,
    Algorithm 3, where `most` is 4 and the reserve 1)."""
    return min(most, max(1.0, rho_left / rho / reserve))


def sigma_for(rho: float, l2: float) -> float:
    """Noise of a measurement of sensitivity l2 that costs rho."""
    return l2 / math.sqrt(2.0 * rho)


def distance_sigma(unit: Unit, rho: float, tables: int) -> float:
    """Noise of each of so many L1 distances between tables and answers that cost rho together."""
    return unit.marginal_l1 * math.sqrt(tables / (2 * rho))


def eps_for(rho: float, price: float) -> float:
    """eps of a selection that costs rho. price: `Kernel.selection_price`."""
    return math.sqrt(rho / price)


def measure(kernel: Kernel, number: int, cliques: Collection[Clique], sigma: float) -> Generator[Measured, None, list[Measurement]]:
    """Measure each of `cliques` at sigma, as part of round `number`. Yields a Measured event each; returns the measurements."""
    taken = list[Measurement]()
    for some in _batches(kernel.domain, cliques):
        measurements = kernel.measure_marginals(some, sigma)
        for measurement in measurements:
            yield Measured(number, measurement, kernel.rho_spent, done(kernel))
        taken += measurements
    return taken


def _batches(domain: Domain, cliques: Collection[Clique]) -> Iterator[list[Clique]]:
    """Of about `TOGETHER` cells."""
    ends = accumulate(map(domain.cells, cliques))
    for _, some in groupby(zip(cliques, ends, strict=True), lambda pair: pair[1] // TOGETHER):
        yield [clique for clique, _ in some]


def count_people(kernel: Kernel, share: float) -> Generator[Measured, None, Measurement]:
    """The number of people, as a measurement of the empty clique. Where it is secret, `share` of the budget pays for it, and the step is
    reported; where it is public, it is exact and free."""
    counted = count(kernel, share * kernel.rho_total, kernel.unit.query_l1)
    if not kernel.unit.total_is_public:
        yield Measured(0, counted, kernel.rho_spent, done(kernel))
    return counted


def total_from(kernel: Kernel, measurements: Sequence[Measurement]) -> float:
    """The number of rows: exact where it is public, else what the measurements say of it (at least 1)."""
    return kernel.measure_total(1.0) if kernel.unit.total_is_public else estimate_total(measurements)


def people(counted: Measurement) -> float:
    """What stands for the number of people everywhere: one at least."""
    return max(1.0, float(counted.values))


def count(kernel: Kernel, rho: float, l2: float) -> Measurement:
    """The number of rows, as a measurement of the empty clique: exact where it is public, else for rho, with noise for l2."""
    sigma = sigma_for(rho, l2)
    return Measurement((), np.array(kernel.measure_total(sigma)), sigma, rounding=ROUNDING)


def fitted(kernel: Kernel, number: int, message: str) -> Fitted:
    return Fitted(number, message, kernel.rho_spent, done(kernel))


def done(kernel: Kernel) -> float:
    return min(1.0, kernel.rho_spent / kernel.rho_total)


def columns_of(domain: Domain) -> list[Clique]:
    """Those that nobody published."""
    return domain.unpublished((name,) for name in domain.names)


def measure_columns(kernel: Kernel, rho: float) -> Generator[Measured, None, list[Measurement]]:
    """Every column that nobody published, for an equal part of rho each. Where there is none and the number of people is secret, that."""
    columns = columns_of(kernel.domain)
    if columns:
        return (yield from measure(kernel, 0, columns, sigma_for(rho / len(columns), kernel.unit.marginal_l2)))
    return [] if kernel.unit.total_is_public else [(yield from count_people(kernel, TOTAL_SHARE))]


Division = Callable[[Domain, Mapping[Clique, float]], dict[Clique, float]]
"""Each marginal's share of rho, from the domain and the weights c_r; they add up to 1."""


def equal_shares(_domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    return dict.fromkeys(weights, 1 / len(weights))


def least_error_shares(domain: Domain, weights: Mapping[Clique, float]) -> dict[Clique, float]:
    """Each marginal's share of rho, proportional to (c_r n_r)^(2/3); they add up to 1. Minimises sum c_r n_r sigma_r, the expected weighted
    L1 error up to a constant, subject to sum 1/sigma_r^2 being fixed: the derivative is zero where c_r n_r is proportional to
    1/sigma_r^3."""
    raw = {clique: (weight * domain.cells(clique)) ** (2 / 3) for clique, weight in weights.items()}
    whole = math.fsum(raw.values())
    return {clique: part / whole for clique, part in raw.items()}
