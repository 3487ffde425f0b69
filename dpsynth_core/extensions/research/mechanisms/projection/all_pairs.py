"""All pairs: every pair of columns measured once, denoised jointly, and rows moved towards them.

For tables of so many columns that no model holds their dependence. The pairs share the budget equally, so that the noise of the whole
matrix of pairs is the same in every cell and the signal above it is known (`inference.all_pairs`); columns need no share, because each is
in all its pairs. Knows no workload. Reads the private table only through the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.inference import all_pairs
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.mechanism import CHOSEN, Card, Forecast, Split
from dpsynth_core.mechanisms.steps import Finished, Step, Unmoved
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.released import by_column, combined
from dpsynth_core.vocabulary.workload import Workload

MOST_CELLS = 10_000_000
"""Largest number of cells of all pairs; each takes noise of its own."""
MOST_BYTES, _PAIR_BYTES, _CELL_BYTES = 200_000_000, 850, 5
"""Largest size of release.json, above which `bundle.unpack` does not read it and the bundle cannot be checked; bytes of a pair and of a
cell.
"""
MOST_VALUES = 10_000
"""Largest number of values of all columns together: the matrix of all pairs has their square of cells, and its patterns take their cube of
steps.
"""
_USUAL_TOTAL = 50_000
_PAIR, _CELL, _MOVE = 7.8e-4, 1.3e-5, 7e-11
"""Seconds of a pair, of a cell of a pair, and of one row per squared value, from one run each with 100 and 300 columns
(benchmarks/wide.py).
"""
_PATTERN, _CROSSING_MB = 6e-10, 4.5e-5
"""Seconds for each cubed value and megabytes for each squared one, from runs with columns of 1,000 and 3,000 codes."""


@dataclass(frozen=True)
class AllPairs:
    """Every pair of columns, measured once and denoised jointly."""

    card: Card = Card(
        "all_pairs", "All pairs", GDP,
        summary=(
            "Measures every pair of columns once, tells what people have in common from noise, and moves rows towards all pairs. For "
            "tables of fifty columns and more; ignores the workload."
        ),
        paper=(
            "Ours; eigenvalues are shrunk as in Gavish and Donoho: Optimal Shrinkage of Singular Values (IEEE Transactions on Information "
            "Theory 2017)"
        ),
        privacy=(
            "Measures every pair of columns with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2) each), the same sigma for all; "
            "the costs add up under Gaussian differential privacy."
        ),
    )

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Each cell of each pair of columns gets noise, and rows are moved towards all pairs; the budget does
        not matter. Refused are a single column, impossible combinations, more than 10 million cells of pairs,
        more than 10,000 values of all columns together, and so many pairs or cells that the release would
        exceed 200 MB.
        """
        domain = workload.domain
        sizes = domain.sizes(domain.names)
        pairs, cells = math.comb(len(sizes), 2), rounds.cells_of_pairs(domain)
        impossible = "it does not keep to impossible combinations; use AIM" if domain.zeros else ""
        large = _PAIR_BYTES * pairs + _CELL_BYTES * cells > MOST_BYTES
        many = f"what it says of {pairs:,} pairs would be too long to be checked; use fewer columns" if large else ""
        values = sum(sizes)
        wide = f"the columns have {values:,} values together, more than {MOST_VALUES:,}; merge values or drop columns"
        reason = rounds.without_pairs(domain) or impossible or rounds.too_many_in_pairs(cells, MOST_CELLS) or many
        reason = reason or (wide if values > MOST_VALUES else "")
        moves = min(all_pairs.MOST_WORK, all_pairs.PASSES * _USUAL_TOTAL * values**2)
        seconds = 2.0 + _PAIR * pairs + _CELL * cells + _MOVE * moves + _PATTERN * values**3
        return Forecast(not reason, seconds, 300.0 + 0.011 * pairs + 1.5e-4 * cells + _CROSSING_MB * values**2, reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return one stage with the share 1: the whole budget measures pairs."""
        return ((CHOSEN, 1.0),)

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Run the mechanism with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each pair, a Fitted for the patterns and one for the rows, then a Finished.
        """
        domain = kernel.domain
        pairs = list(combinations(domain.names, 2))
        kernel.prepare(pairs)
        sigma = rounds.sigma_for(kernel.rho_total / len(pairs), kernel.unit.marginal_l2)
        measurements = yield from rounds.measure(kernel, 0, pairs, sigma)
        total = max(1.0, rounds.total_from(kernel, measurements))
        known = all_pairs.likely(_columns(domain, measurements), [m.values for m in measurements], measurements[0].deviation, total)
        yield rounds.fitted(kernel, 1, f"found {known.patterns.shape[1]} patterns in {len(pairs):,} pairs")
        codes = all_pairs.rows(known, rounds.rows_moved(total), np.random.default_rng(kernel.seed()))
        yield rounds.fitted(kernel, 1, f"moved {len(codes):,} rows towards all pairs")
        records = WeightedRecords(domain, codes, np.full(len(codes), total / len(codes)))
        yield Finished(Unmoved(records), total, {"patterns": known.patterns.shape[1], "rows_moved": len(codes)})


def _columns(domain: Domain, pairs: Sequence[Measurement]) -> list[NDArray[np.float64]]:
    """Return the smoothed counts of each column, estimated from all measured pairs that contain it."""
    holders = by_column(pairs)
    means = [mean for name in domain.names if (mean := combined(holders[name], (name,))) is not None]
    return [column.values for column in smooth_columns(domain, means).instead(means)]
