"""PrivSyn: many small tables, chosen once by noisy dependence, and rows moved towards them.

Source: Zhang, Wang, Li, Honorio, Backes, He, Chen, Zhang 2021, "PrivSyn: Differentially Private Data Synthesis".

A tenth of the budget measures every column. A tenth measures the distance of every pair from independence (InDif). DenseMarg then takes
pairs one by one, while the missed dependence exceeds the noise that one more table adds to all tables; pairs that form small cliques
become one table. The rest of the budget measures these tables, which are made consistent, and rows are moved towards them (both
`inference.gradual`). Knows no workload, and no model has to hold all tables.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpsynth_core.inference.gradual import consistent, updated
from dpsynth_core.inference.model import WeightedRecords
from dpsynth_core.inference.smoothing import smooth_columns
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split
from dpsynth_core.mechanisms.parameters import whole
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique
from dpsynth_core.vocabulary.workload import Workload

COLUMNS, PAIRS = 0.1, 0.1
"""Shares of the budget for the columns and for the dependence of pairs; the rest measures the chosen tables."""
_OVERLAP = 2
"""Largest number of columns that a clique of pairs may share with earlier tables to become one table."""
_MOST_CLIQUES = 50_000
_START_MB = 80.0
_USUAL_TOTAL = 50_000


@dataclass(frozen=True)
class PrivSyn:
    """PrivSyn, whose parameters are how often rows are moved (`passes`) and the cells of a merged table (`merged_cells`)."""

    card: Card = Card(
        "privsyn", "PrivSyn", GDP,
        summary=(
            "Measures many small tables of columns that depend on each other, and moves rows towards them step by step. Ignores the "
            "workload; no model has to hold all of it."
        ),
        paper="Zhang, Wang, Li, Honorio, Backes, He, Chen, Zhang: PrivSyn: Differentially Private Data Synthesis (USENIX Security 2021)",
        privacy=(
            "Measures each column with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)), then, for every pair, how far it is "
            "from the product of the noisy columns, then the chosen tables, likewise. The costs add up under Gaussian differential "
            "privacy. Which tables are measured depends on released values alone."
        ),
        differences=(
            "A pair's dependence is its distance from the product of the noisy columns, of sensitivity 1 (2 if a record is replaced), "
            "instead of from the product of the private ones, of sensitivity 4. Columns are measured first for that.",
            "The number of people is an estimate where it is secret; the paper takes it as known.",
            "Cliques of the same size are merged in the order of their dependence; the paper leaves the order open.",
            "Rows start as draws from the columns, and tables take turns in the order of their error. In every second pass half of the "
            "moved rows are copies, in the others all are; alpha is 0.84 to the power of the pass over 20.",
            "Values that few people have are not merged beforehand.",
            f"{models.COLUMNS_SMOOTHED} At epsilon 0.1 it errs 3% less on Titanic, 5% on 2,000 people, 11% on a column of 500 values. "
            "Dependence is still asked for against the columns as measured.",
        ),
    )
    passes: int = whole(50, least=1, most=500, text="How often every table has its turn when rows are moved.")
    merged_cells: int = whole(5000, least=8, most=1_000_000, text="Pairs that form a clique become one table of up to so many cells.")

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Every pair is compared once. Each pass goes over all rows for each chosen table, and there
        are at most as many tables as pairs. Refused are a single column, and columns or pairs of
        columns that are too large. The budget does not matter.
        """
        domain = workload.domain
        cells = rounds.cells_of_pairs(domain)
        reason = models.columns_too_large(domain, _START_MB, _START_MB) or rounds.without_pairs(domain) or rounds.too_many_in_pairs(cells)
        tables = min(math.comb(len(domain), 2), 5 * len(domain))
        seconds = 3.0 + 1e-7 * cells + self.passes * tables * (3e-3 + 1e-7 * _USUAL_TOTAL)
        return Forecast(not reason, seconds, 250.0 + 5e-5 * cells, reason)

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return three stages with their shares of the budget: 0.1 for columns, 0.1 for the choice, 0.8 for chosen tables."""
        return ((SINGLE, COLUMNS), (CHOOSING, PAIRS), (CHOSEN, 1 - COLUMNS - PAIRS))

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Run PrivSyn with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column, a Fitted for the choice, a Measured for each chosen
            table (for each column again if no pair is chosen), a Fitted for the rows, then a Finished.
        """
        domain = kernel.domain
        measurements = yield from rounds.measure_columns(kernel, COLUMNS * kernel.rho_total)
        product = models.fit(kernel, measurements)
        measurements = smooth_columns(domain, measurements).instead(measurements)

        pairs = list(combinations(domain.names, 2))
        kernel.prepare(pairs)
        answers = product.marginals(pairs)
        noise = rounds.sigma_for(PAIRS * kernel.rho_total, kernel.unit.errors_l2(len(pairs)))
        dependence = kernel.measure_errors(answers, noise)
        rho = kernel.rho_left
        dense = dense_pairs(domain, dependence, rho, kernel.unit.marginal_l2)
        chosen = merged(domain, dense, dependence, self.merged_cells)
        yield rounds.fitted(kernel, 0, f"chose {len(dense)} of {len(pairs)} pairs, in {len(chosen)} tables")

        tables = chosen or rounds.columns_of(domain)  # nothing stands out of the noise: the columns get what is left
        kernel.prepare(tables)
        for table, share in rounds.least_error_shares(domain, dict.fromkeys(tables, 1.0)).items():
            measurements += yield from rounds.measure(kernel, 1, [table], rounds.sigma_for(share * rho, kernel.unit.marginal_l2))
        start = models.fit(kernel, [m for m in measurements if len(m.clique) == 1], product)
        total = max(1.0, start.total)
        targets = consistent(domain, measurements, total)
        rng = np.random.default_rng(kernel.seed())
        first = start.rows(rounds.rows_moved(total), {}, rng)
        codes = updated(domain, first, targets, self.passes, rng)
        yield rounds.fitted(kernel, 1, f"moved {len(codes):,} rows towards {len(targets)} tables")
        records = WeightedRecords(domain, codes, np.full(len(codes), total / len(codes)))
        yield Finished(records, total, {"pairs": len(dense), "tables": len(chosen), "rows_moved": len(codes)})


def dense_pairs(domain: Domain, dependence: Mapping[Clique, float], rho: float, l2: float) -> list[Clique]:
    """Run DenseMarg: return the pairs that are worth measuring, in the order of choice; [] if none is.

    With the best division of rho, the expected noise of the pairs X together is (sum of
    c_i^(2/3))^(3/2) * sqrt(2/pi) * l2 / sqrt(2 rho), c_i being their cells. Every step takes the
    pair that lowers the sum of noise and missed dependence most, until no pair lowers it.

    Args:
        domain: The domain.
        dependence: Noisy distance of each pair from independence, in counts (L1).
        rho: Budget of all chosen pairs, in rho.
        l2: L2 sensitivity of a marginal, in counts.
    """
    unit = HALF_NORMAL * rounds.sigma_for(rho, l2)
    powers = {pair: domain.cells(pair) ** (2 / 3) for pair in dependence}
    chosen: list[Clique] = []
    used, left = 0.0, {pair: error for pair, error in dependence.items() if error > 0}
    while left:
        change = {pair: unit * ((used + powers[pair]) ** 1.5 - used**1.5) - error for pair, error in left.items()}
        best = min(change, key=lambda pair: change[pair])
        if change[best] >= 0:
            break
        chosen.append(best)
        used += powers[best]
        del left[best]
    return chosen


def merged(domain: Domain, pairs: Sequence[Clique], dependence: Mapping[Clique, float], most_cells: int) -> list[Clique]:
    """Return tables that contain all given pairs, of which some are merged into larger tables.

    Cliques of three columns or more are taken, the widest first, if at most two of their columns
    are in a table taken before. If the pairs form more than 50,000 cliques, wider ones are not looked for.
    Pairs that lie in no such table stay tables of their own, and come last.

    Args:
        domain: The domain.
        pairs: The pairs; without any, the result is [].
        dependence: Distance of each pair from independence, in counts; it orders cliques of the
            same width.
        most_cells: Largest number of cells of a merged table.
    """
    tables: list[Clique] = []
    taken: set[str] = set()
    for clique in _cliques(domain, pairs, dependence, most_cells):
        if len(taken & set(clique)) <= _OVERLAP:
            tables.append(clique)
            taken |= set(clique)
    return [*tables, *(pair for pair in pairs if not any(set(pair) <= set(table) for table in tables))]


def _cliques(domain: Domain, pairs: Sequence[Clique], dependence: Mapping[Clique, float], most_cells: int) -> list[Clique]:
    """Return the cliques of three columns or more in the graph of the pairs, the widest first, then by dependence.

    If there are too many, only narrower ones are returned. Arguments are as in `merged`.
    """
    linked, levels = set(pairs), [list(pairs)]
    while levels[-1] and sum(map(len, levels)) <= _MOST_CLIQUES:
        levels.append(_wider(domain, levels[-1], linked, most_cells))
    together = {clique: math.fsum(dependence[pair] for pair in combinations(clique, 2)) for level in levels[1:] for clique in level}
    return sorted(together, key=lambda clique: (-len(clique), -together[clique]))


def _wider(domain: Domain, cliques: Sequence[Clique], linked: set[Clique], most_cells: int) -> list[Clique]:
    """Return every clique with one more column, which comes later in the domain and is linked to all of its columns.

    Args:
        domain: The domain.
        cliques: Cliques of the same width.
        linked: The pairs.
        most_cells: Largest number of cells of a clique.
    """
    wider: list[Clique] = []
    for clique in cliques:
        for name in domain.names[domain.position(clique[-1]) + 1 :]:
            if all((other, name) in linked for other in clique) and domain.cells((*clique, name)) <= most_cells:
                wider.append((*clique, name))
    return wider
