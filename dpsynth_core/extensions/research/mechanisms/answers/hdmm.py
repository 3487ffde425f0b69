"""HDMM for workloads of marginals: measure the marginals of an optimised strategy, answer by least squares. Answers only, no rows.

Source: McKenna, Miklau, Hay, Machanavajjhala 2018, "Optimizing error of high-dimensional statistical queries under differential privacy".

Of HDMM's four ways to find a strategy, OPT_M (`strategies`) is implemented, the one for workloads of marginals. OPT_0, for queries of one
column such as ranges, finds nothing to improve where a column is asked cell by cell or not at all; OPT_x and OPT_+ combine its strategies
to products and to unions of products, of which marginals are a special case.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.answers.residual_planner import ROWS, ResidualAnswers
from dpsynth_core.mechanisms.mechanism import Card, Forecast, Split, split_by_size
from dpsynth_core.mechanisms.steps import Finished, Measured, Step
from dpsynth_core.mechanisms.strategies import Strategy, best
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import project
from dpsynth_core.vocabulary.measurement import Clique, Measurement, Residual, subsets
from dpsynth_core.vocabulary.workload import Workload

_SECONDS_PER_CELL, _SECONDS_PER_MARGINAL, _BYTES_PER_CELL, _MAX_CELLS = 2e-5, 4e-3, 60, 20_000_000


@dataclass(frozen=True)
class Hdmm:
    """HDMM for tables of counts."""

    card: Card = Card(
        "hdmm", "HDMM", GDP, makes_rows=False,
        summary=(
            "Measures the tables from which all answers together follow with the least squared error. They agree with each other. Answers "
            "only, no rows; ResidualPlanner is at least as precise."
        ),
        paper="McKenna, Miklau, Hay, Machanavajjhala: Optimizing Error of High-Dimensional Queries (VLDB 2018), OPT_M and least squares",
        privacy=(
            "Measures each table of the strategy, and the number of rows where it is secret, with rounded Gaussian noise (rho = "
            "sensitivity^2 / (2 sigma^2) each); the costs add up under Gaussian differential privacy. Which tables, and how precisely, "
            "depends on the workload and the domain alone."
        ),
        differences=(
            "Of the paper's four ways to find a strategy, the one for tables of counts (OPT_M) is built; the others are for ranges.",
            "The paper searches with L-BFGS from random starts; here a convex search proves that it is within 0.01% of the best.",
            "The paper may measure any set of columns; here at most two columns more than your widest table, and only if that helps.",
            "Tables are left out that together would lower the squared error by 0.1% at most.",
            "The paper uses Laplace or Gaussian noise; here it is Gaussian. A public number of records is used and costs nothing.",
        ),
    )

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused: more than 20 million cells.

        Both grow with the number of cells of the workload's closure, since the strategy measures
        about as many. The time also grows with its number of marginals; the budget does not matter.
        """
        cells, marginals = workload.closure_cells, workload.closure_tables
        reason = rounds.too_many_cells(cells, _MAX_CELLS, "the tables have")
        seconds = 1.0 + _SECONDS_PER_CELL * cells + _SECONDS_PER_MARGINAL * marginals
        return Forecast(not reason, seconds, 150.0 + _BYTES_PER_CELL * cells / 1e6, reason)

    def split(self, workload: Workload, total_is_public: bool) -> Split:
        """Return the best strategy's shares of the budget by size of table: the count of records, single columns, larger tables.

        The shares add up to 1; a size with the share 0 is left out.
        """
        return split_by_size(best(workload, 0.0 if total_is_public else 1.0).shares)

    def steps(self, kernel: Kernel, workload: Workload) -> Iterator[Step]:
        """Run HDMM with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer and the last one, `Finished`, has the model.

        Yields:
            A Measured for each marginal of the strategy, then a Finished with least-squares answers in counts.
        """
        strategy = best(workload, rows_price(kernel.unit))
        measurements: list[Measurement] = []
        for step in measured(kernel, strategy):
            measurements.append(step.measurement)
            yield step
        exact = kernel.measure_total(1.0) if kernel.unit.total_is_public else None
        answers = least_squares(kernel.domain, measurements, workload.closure(), exact)
        details = {"marginals": len(measurements), "times_least_squared_error": round(strategy.above_least, 4)}
        yield Finished(answers, max(1.0, answers.total), details)


def rows_price(unit: Unit) -> float:
    """Return the cost (rho) of a count of all records, divided by the cost of a marginal with the same sigma.

    It is 0 where the number of records is public.
    """
    return (unit.total_l2 / unit.marginal_l2) ** 2


def measured(kernel: Kernel, strategy: Strategy) -> Iterator[Measured]:
    """Measure the tables of a strategy and yield a Measured for each; the empty clique is the count of records.

    Args:
        kernel: The kernel, which is charged; the strategy's shares are of its whole budget.
        strategy: The strategy.
    """
    kernel.prepare([clique for clique in strategy.shares if clique])
    for clique, share in strategy.shares.items():
        rho = share * kernel.rho_total
        if clique:
            measurement = kernel.measure_marginals([clique], rounds.sigma_for(rho, kernel.unit.marginal_l2))[0]
        else:
            measurement = rounds.count(kernel, rho, kernel.unit.total_l2)
        yield Measured(0, measurement, kernel.rho_spent, rounds.done(kernel))


def least_squares(domain: Domain, measurements: Sequence[Measurement], marginals: Sequence[Clique], exact: float | None) -> ResidualAnswers:
    """Return the weighted least-squares answers, in counts, that follow from the measurements.

    A measurement contains the residual of each of its subsets, and residuals are orthogonal, so
    least squares is one weighted mean per residual.

    Args:
        domain: The domain.
        measurements: The measurements, at least one.
        marginals: The marginals to answer, with all their subsets among them.
        exact: The number of rows if it is public, otherwise None.
    """
    wanted = {part for part in marginals if min(domain.sizes(part)) > 1} | ({ROWS} if exact is None else set())
    sums: dict[Clique, NDArray[np.float64]] = {}
    precisions: dict[Clique, float] = {}
    for m in measurements:
        for part in (q for q in subsets(m.clique) if q in wanted):
            precision = domain.cells(part) / (m.values.size * m.deviation**2)
            sums[part] = sums.get(part, 0.0) + precision * _centred(project(m.values, m.clique, part))
            precisions[part] = precisions.get(part, 0.0) + precision
    sigmas = {part: math.sqrt(1 / precision) for part, precision in precisions.items()}
    means = {part: sums[part] / precisions[part] for part in sums}
    total = exact if exact is not None else float(means.pop(ROWS))
    residuals: Mapping[Clique, Residual] = {part: Residual(part, mean, sigmas[part]) for part, mean in means.items()}
    return ResidualAnswers(domain, total, residuals, sigmas)


def _centred(table: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the component of a table that sums to zero along every axis."""
    for axis in range(table.ndim):
        table = table - table.mean(axis=axis, keepdims=True)
    return np.asarray(table, dtype=float)
