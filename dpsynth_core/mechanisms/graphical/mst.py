"""MST: one-way marginals and the two-way marginals of one maximum spanning tree (McKenna, Miklau, Sheldon 2021).

It won NIST's 2018 challenge.

A third of the budget measures every column; a third selects a tree of pairs, edge by edge as Kruskal does, each by the exponential
mechanism among the pairs that join two components; a third measures the tree. Knows no workload. As with the authors, the model does not
tell rare values apart (`inference.rare_values`); unlike with them, pairs are still measured over all their cells, and added up afterwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import models
from dpsynth_core.mechanisms.graphical.models import FITTED_AS_PRINTED, Capacity, Fitting
from dpsynth_core.mechanisms.mechanism import CHOOSING, CHOSEN, SINGLE, Card, Forecast, Split, printed
from dpsynth_core.mechanisms.steps import Finished, Step
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

THIRD = 1 / 3
_KEPT = ("Rare values are merged after pairs were measured over all their cells; the paper merges before.",)


@dataclass(frozen=True)
class Mst:
    """MST, whose parameters are the capacity of its model (MB) and the count below which values are merged."""

    card: Card = Card(
        "mst", "MST", ZCDP, keeps_published=True,
        summary="Measures every column and the strongest tree of pairs. Robust with little budget; ignores the workload.",
        paper="McKenna, Miklau, Sheldon: Winning the NIST Contest (Journal of Privacy and Confidentiality 2021), section 3",
        privacy=(
            "Measures each column with rounded Gaussian noise (rho = sensitivity^2 / (2 sigma^2)), selects each edge of the tree with the "
            "exponential mechanism (rho = eps^2/8), and measures each edge with rounded Gaussian noise; a third of rho for each of the "
            "three. The costs add up under zero-concentrated differential privacy."
        ),
        differences=(
            "Fits end early, as soon as they would follow noise, and finished rows are moved towards the model; the paper has neither.",
            models.COLUMNS_SMOOTHED,
            *_KEPT,
            "All together: about 0.92 times the published one's error, in 18 settings of Titanic and the demo.",
        ),
    )
    max_size_mb: float = models.capacity_mb()
    merge_below: float = models.merge_below()
    fitting: Fitting = Fitting()

    def forecast(self, workload: Workload, _rho: float) -> Forecast:
        """Return the expected time (seconds) and memory (MB) of a run, or why it is refused.

        Each selection compares all pairs of columns that fit the capacity; the budget does not
        matter. The run is refused if columns are too large, no pair fits the capacity or is left
        to measure, or the pairs have too many cells.
        """
        domain = workload.domain
        every = domain.unpublished(combinations(domain.names, 2))
        pairs = [domain.cells(pair) for pair in Capacity(domain, self.max_size_mb).allowed((), every)]
        cells, edges = sum(pairs), len(domain) - 1
        none = "" if pairs else self._none_fits(domain, every)
        if domain.published and not every:
            none = "published tables have every pair of columns; use AIM, and ask for larger tables"
        reason = models.columns_too_large(domain, self.max_size_mb) or rounds.without_pairs(domain) or none
        reason = reason or rounds.too_many_in_pairs(cells)
        seconds = 2.0 + edges * (0.1 + 1e-8 * cells + 4e-4 * len(pairs))
        return Forecast(not reason, seconds, 200.0 + 3e-5 * cells + 2 * self.max_size_mb, reason)

    def _none_fits(self, domain: Domain, pairs: list[Clique]) -> str:
        """Return why no pair of columns fits the capacity, with remedies.

        Raising the capacity is not named if all pairs together have too many cells, because the run
        would then be refused.

        Args:
            domain: The domain.
            pairs: The pairs without a published table.
        """
        most_mb = 0.0 if rounds.too_many_in_pairs(rounds.cells_of_pairs(domain)) else models.MOST_MB
        remedies = models.room_for(models.least_mb(domain, pairs), "merge values, or use Independent", most_mb=most_mb)
        return f"no pair of columns fits the model's capacity; {remedies}"

    def split(self, _workload: Workload, _total_is_public: bool) -> Split:
        """Return three planned stages with a third of the budget each: columns, selections, selected pairs.

        A run in which all columns have published tables spends almost all on selections and pairs.
        """
        return ((SINGLE, THIRD), (CHOOSING, THIRD), (CHOSEN, THIRD))

    def steps(self, kernel: Kernel, _workload: Workload) -> Iterator[Step]:
        """Run MST with the kernel's whole budget.

        Of the steps, a `Measured` has a noisy answer, a `Fitted` reports progress in words, and the last one,
        `Finished`, has the model.

        Yields:
            A Measured for each column and a Fitted, a Measured for each edge and a Fitted, then a Finished.
        """
        domain = kernel.domain
        measurements = yield from rounds.measure_columns(kernel, THIRD * kernel.rho_total)
        folding = Folding.of(kernel.domain, measurements, self.merge_below, kernel.known)
        believed = self.fitting.columns(domain, measurements, kernel.known)
        model = models.fit(kernel, measurements, stopping=self.fitting.between, folding=folding, columns=believed)
        yield rounds.fitted(kernel, 0, "product of the one-way marginals")

        capacity = Capacity(domain, self.max_size_mb)
        choices = _tree(kernel, model, capacity, THIRD * kernel.rho_total if rounds.columns_of(domain) else kernel.rho_left / 2)
        sigma = rounds.sigma_for(kernel.rho_left / max(1, len(choices)), kernel.unit.marginal_l2)
        tree = yield from rounds.measure(kernel, 1, [choice.clique for choice in choices], sigma)
        model = models.fit(kernel, [*measurements, *tree], model, self.fitting.final, folding=folding, columns=believed)
        yield rounds.fitted(kernel, 1, f"measured a tree of {len(tree)} pairs")
        record = models.Selections()
        for choice, measurement in zip(choices, tree, strict=True):
            record.add(choice, measurement)
        details = {"edges": len(tree), "model_size_mb": capacity.used_mb(m.clique for m in tree)}
        yield Finished(self.fitting.finish(model), model.total, details, tuple(record.selections), record.considered)


def _pairs(domain: Domain, capacity: Capacity) -> list[Clique]:
    return capacity.allowed((), domain.unpublished(combinations(domain.names, 2)))


def _tree(kernel: Kernel, model: GraphicalModel, capacity: Capacity, rho: float) -> list[models.Choice]:
    """Select a maximum spanning tree of pairs, by Kruskal's algorithm with the exponential mechanism.

    The score of a pair is ||M_ij(D) - M_ij(model)||_1, its distance from independent columns. Where
    the capacity is too small, the result is a forest.

    Args:
        kernel: The kernel, which is charged.
        model: Model of independent columns.
        capacity: The largest size of a model.
        rho: The budget of all selections together.
    """
    pool, component = capacity.pool(_pairs(kernel.domain, capacity)), np.arange(len(kernel.domain))
    for table in kernel.domain.published:  # whose columns are joined already
        joined = [pool.places[name] for name in table.columns]
        component[np.isin(component, component[joined])] = component[joined[0]]
    if not pool.tables:
        return []
    answers = model.marginals(pool.tables)
    ends = pool.columns.T
    if (component[ends[0]] == component[ends[1]]).all():
        component = np.arange(len(component))  # they leave no pair that joins: a tree of those beside them
    edges = len(np.unique(component)) - 1
    among, choices = component[ends[0]] != component[ends[1]], list[models.Choice]()
    same, none = dict.fromkeys(answers, 1.0), dict.fromkeys(answers, 0.0)
    selecting = models.Selecting(kernel, answers, same, none, rounds.eps_for(rho / edges, kernel.selection_price))
    while among.any():
        choices.append(selecting.draw(among))
        a, b = (component[pool.places[name]] for name in choices[-1].clique)
        component[component == a] = b
        among &= (component[ends[0]] != component[ends[1]]) & capacity.fitting([choice.clique for choice in choices], pool)
    return choices


PUBLISHED = Mst(card=printed(Mst.card, models.FITS_CHOSEN, *_KEPT), merge_below=3.0, fitting=FITTED_AS_PRINTED)
"""A third of rho for each step, values below three standard deviations merged (McKenna, Miklau and Sheldon 2021, section 3)."""
