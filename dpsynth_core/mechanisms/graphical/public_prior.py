"""Priors from a public table for a graphical model that has measured single columns alone: marginals, weighed by their own error.

Public and released values only: it costs nothing, and everything fitted with it is post-processing.

1. The public rows get weights, those that change least while they agree with the noisy columns: a public table in which some people are too
   frequent is corrected as far as single columns show it (`raked`). 2. Marginals of the weighted rows are chosen as AIM chooses, without
   noise: those that are nearer the private ones than the model's answers are, as far as that many people can show it, within a small part
   of the capacity (`PublicPrior.of`). 3. Each enters the fit with a variance per cell, as for n_eff people drawn from the private ones;
   n_eff is 1 / sum w^2 over public people (Kish's effective sample size). Marginals that share two columns repeat the same information, so
   their variances are multiplied by the number of such marginals (`_sharing`); and by the factor that private measurements
   show: how much further from the table they are than their noise and its sampling error explain (`PublicPrior.inflation`). 4. A marginal
   that no measurement contradicts is believed, however large its sigma. So a second model is fitted without the table, and both are
   compared with each table that is measured, before they know it. The public table is dropped altogether as soon as the model without it
   makes all measurements `CLOSER` times as likely (`PublicPrior.learn`): the cost is that AIM measured, until then, where the table errs,
   not where AIM would. Where columns get the whole budget, no comparison is possible, and no public table is believed.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import Protocol

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.mechanisms.graphical.grouping import Candidates
from dpsynth_core.mechanisms.graphical.models import FINAL, Capacity, Fit
from dpsynth_core.mechanisms.rounds import total_from
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import HALF_NORMAL, Clique, MarginalCounts, Measurement
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.released import of_codes

PART, ROOM = 0.04, 0.1
"""Share of the model's capacity for public marginals, and the size that the model may have from the first round on."""
MAX_MARGINALS, PER_FIT = 30, 6
"""Largest number of public marginals altogether, and between two fits."""
HOPELESS = 50.0
"""Distance of a table from the noisy columns, in multiples of its sampling variance, from which on it is not used, despite its weights."""

CLOSER = 10.0
"""Likelihood ratio of all measurements, without and with the table, at which the table is dropped. If the model with the table is right,
that happens in one run of ten at most (Ville 1939).
"""
PASSES = 20
"""Iterations for the mean of ratios and its weights."""
_ITERATIONS, _CLOSE = 500, 1e-5
"""Largest number of iterations of raking, each a pass over the public rows, and precision of the columns' shares."""

Float = NDArray[np.float64]
Codes = NDArray[np.int32]


class Prior(Protocol):
    """Knowledge of a fit beyond its measurements. `room` is the share of the capacity that the model may have however little is spent."""

    room: float

    @property
    def marginals(self) -> Sequence[MarginalCounts]:
        """The chosen public marginals with their variances, for a fit."""

    def learn(self, measurement: Measurement, model: GraphicalModel, /) -> bool:
        """Compare a new private measurement with the prior, and with the model before. Return False if the prior was dropped.

        A fit then cannot start from that model.
        """

    def details(self) -> Mapping[str, float]:
        """Return public facts for the report."""


class NoPrior:
    """The prior without a public table."""

    room: float = 0.0
    marginals: Sequence[MarginalCounts] = ()

    def learn(self, _measurement: Measurement, _model: GraphicalModel, /) -> bool:
        """Return True; there is nothing to compare with."""
        return True

    def details(self) -> Mapping[str, float]:
        """Return no facts."""
        return {}


@dataclass(eq=False)
class PublicPrior:
    """A weighted public table and its chosen marginals.

    Attributes:
        domain: The domain.
        codes: Distinct rows, shape (rows, attributes).
        weights: Weights of these rows, adding up to 1.
        people: n_eff.
        total: Number of private people.
        measured: Measurements of the private table.
        fit: Private-PGM.
        alone: Its model of the measurements, without the public table.
        cliques: The chosen marginals.
        room: Share of the model's capacity.
    """

    domain: Domain
    codes: Codes
    weights: Float
    people: float
    total: float
    measured: list[Measurement]
    fit: Fit
    alone: GraphicalModel
    cliques: list[Clique] = field(default_factory=list)
    room: float = ROOM
    _shares: dict[Clique, Float] = field(default_factory=dict)
    _ratios: list[tuple[float, float]] = field(default_factory=list)
    _behind: float = 0.0

    @classmethod
    def of(
        cls, public: PublicTable, kernel: Kernel, columns: Sequence[Measurement], candidates: Candidates, capacity: Capacity, fit: Fit
    ) -> PublicPrior:
        """Weigh the table and choose its marginals: none if its columns stay hopelessly far from the noisy ones."""
        rows, counts = public.support()
        groups = candidates.groups.values()
        rows = np.column_stack([rows, *(one.codes(rows[:, kernel.domain.position(one.column)]) for one in groups)])
        total = max(1.0, total_from(kernel, columns))
        weighted = raked(kernel.domain, rows, counts, columns, total)
        people = 1.0 / float((weighted**2 / counts).sum())
        prior = cls(kernel.domain, rows, weighted, people, total, [*columns], fit, fit(columns, stopping=FINAL))
        # whether the public columns, as they are, are nearer the noisy ones than columns whose values are all as frequent
        nearer, shares = 0.0, counts / counts.sum()
        for m in columns:
            guesses = of_codes(kernel.domain, rows, m.clique, shares), np.full(m.values.shape, 1 / m.values.size)
            distances = [float(((m.values - total * guess) ** 2).sum()) for guess in guesses]
            nearer += (distances[1] - distances[0]) / m.deviation**2
        if nearer > 0 and _average([prior._compared(measurement) for measurement in columns]) <= HOPELESS:
            prior._choose(capacity, {r: weight for r, weight in candidates.weights.items() if r not in candidates.finer})
        return prior

    @property
    def marginals(self) -> list[MarginalCounts]:
        """The table's estimates of the private counts, each to one person at best, however large the table is."""
        sharing, inflation = _sharing(self.cliques), self.inflation
        variances = {r: np.maximum(1.0, sharing[r] * inflation * self._variances(r)) for r in self.cliques}
        return [MarginalCounts(r, self.total * self.shares(r), variances[r]) for r in self.cliques]

    @property
    def inflation(self) -> float:
        """Variance of the table's marginals as a multiple of their sampling variance v, at least 1, from the measurements since.

        Every private measurement estimates it by (||y - N q||^2 - cells sigma^2) / v. The columns do not count, because the weights follow
        them.
        """
        return max(1.0, _average(self._ratios))

    def learn(self, measurement: Measurement, model: GraphicalModel, /) -> bool:
        """Compare a private measurement with the table, and with two models that did not know it, with the table and without.

        Returns:
            False if the table is dropped: the model without it makes all measurements so far `CLOSER` times as likely.
        """
        if not self.cliques:
            return True
        self._ratios.append(self._compared(measurement))
        self._behind += _misfit(model, measurement) - _misfit(self.alone, measurement)
        if self._behind >= math.log(CLOSER):
            self.cliques, self.room = [], 0.0
            return False
        self.measured.append(measurement)
        self.alone = self.fit(self.measured, self.alone)
        return True

    def _compared(self, measurement: Measurement) -> tuple[float, float]:
        """Return the ratio that `inflation` averages, and the variance of its noise."""
        q, cells = self.shares(measurement.clique), measurement.values.size
        variance = float(self._variances(measurement.clique).sum())
        excess = float(((measurement.values - self.total * q) ** 2).sum()) - cells * measurement.deviation**2
        noise = math.sqrt(2 * cells) * measurement.deviation**2 / variance  # of the ratio
        return excess / variance, noise**2

    def shares(self, clique: Clique) -> Float:
        """Return the share of each cell among the weighted public rows, one axis per attribute; computed once per clique."""
        if clique not in self._shares:
            self._shares[clique] = of_codes(self.domain, self.codes, clique, self.weights)
        return self._shares[clique]

    def details(self) -> dict[str, float]:
        """Return the number of rows and chosen tables, n_eff and the inflation."""
        facts = {"public_people": self.people, "public_tables": len(self.cliques), "public_inflation": self.inflation}
        return {"public_rows": len(self.codes)} | facts

    def _variances(self, clique: Clique) -> Float:
        """Return the variance of each cell, in counts^2: q_i (1 - q_i) / n_eff for q_i, and for an empty cell as if one person were in it.
        """
        q = self.shares(clique)
        return self.total**2 * np.maximum(q * (1 - q), 1.0 / self.people) / self.people

    def _choose(self, capacity: Capacity, weights: Mapping[Clique, float]) -> None:
        """Make AIM's choice without noise, a few marginals before each fit, until none is worth it."""
        single, model = [measurement.clique for measurement in self.measured], self.alone
        while len(self.cliques) < MAX_MARGINALS:
            scores = {
                r: weight * self._gain(r, model)
                for r, weight in weights.items()
                if len(r) > 1 and not any(set(r) <= set(taken) for taken in self.cliques)
            }
            before = len(self.cliques)
            for r in sorted((r for r in scores if scores[r] > 0), key=lambda r: -scores[r])[:PER_FIT]:
                if capacity.allows([*single, *self.cliques], r, PART):
                    self.cliques.append(r)
            if len(self.cliques) == before:
                break
            model = self.fit(self.measured, model, assumed=self.marginals)

    def _gain(self, clique: Clique, model: GraphicalModel) -> float:
        """Return how much nearer the private marginal the table's is than the model's, in L1 counts.

        It is the model's distance from the table beyond chance, less the effect of chance on the table. For n_eff people drawn from the
        model, a cell is off by 2 p where it is nearly empty, and never more than its deviation.
        """
        p = model.marginal(clique) / self.total
        shown = float(np.abs(self.shares(clique) - p).sum())
        chance = float(np.minimum(HALF_NORMAL * np.sqrt(p * (1 - p) / self.people), 2 * p).sum())
        return self.total * (math.sqrt(max(0.0, shown**2 - chance**2)) - chance)


def _sharing(cliques: Sequence[Clique]) -> dict[Clique, int]:
    """Return, for each clique of two columns or more, how many cliques contain the most frequent pair of its columns."""
    held = Counter(pair for clique in cliques for pair in combinations(clique, 2))
    return {clique: max(held[pair] for pair in combinations(clique, 2)) for clique in cliques}


def _misfit(model: GraphicalModel, measurement: Measurement) -> float:
    """Return -log of the measurement's likelihood under the model, up to a constant common to all models."""
    return float(((measurement.values - model.marginal(measurement.clique)) ** 2).sum()) / (2 * measurement.deviation**2)


def _average(ratios: Sequence[tuple[float, float]]) -> float:
    """Return the weighted mean of ratios with known noise, and of an assumed ratio of 1 without noise.

    A ratio also varies by about their mean, so that noise in the evidence does not rescue a table that is far off.
    """
    mean = 1.0
    for _ in range(PASSES):
        precisions = [1.0 / (max(mean, 1.0) ** 2 + noise) for _, noise in ratios]
        assumed = 1.0 / max(mean, 1.0) ** 2
        mean = (assumed + sum(ratio * w for (ratio, _), w in zip(ratios, precisions, strict=True))) / (assumed + sum(precisions))
    return mean


def raked(domain: Domain, rows: Codes, counts: NDArray[np.int64], columns: Sequence[Measurement], total: float) -> Float:
    """Return weights w on distinct rows that minimise sum_j ||A_j w - y_j||^2 / (2 sigma_j^2) + n KL(w, counts / n).

    The weights are shares of the total.

    n = sum of counts is the weight of the public table against the noise of the columns. The dual has a parameter per cell of each column
    and is smooth: at the minimum w is proportional to counts * exp(sum of the parameters of a row's cells).
    """
    starts = np.cumsum([0, *(m.values.size for m in columns)])
    places = np.stack([rows[:, domain.position(m.clique[0])] + start for m, start in zip(columns, starts[:-1], strict=True)])
    noisy = np.concatenate([m.values for m in columns]) / total
    precision = np.repeat([(total / m.deviation) ** 2 / counts.sum() for m in columns], np.diff(starts))

    def weigh(free: Float) -> tuple[Float, float]:
        log = np.log(counts) + free[places].sum(axis=0)
        weights = np.exp(log - log.max())
        return weights / weights.sum(), float(log.max() + math.log(weights.sum()))

    def dual(free: Float) -> tuple[float, Float]:
        weights, size = weigh(free)
        now = np.bincount(places.ravel(), np.tile(weights, len(columns)), len(free))
        return size - float(free @ noisy) + float((free**2 / precision).sum()) / 2, now - noisy + free / precision

    options = {"maxiter": _ITERATIONS, "gtol": _CLOSE}
    solution = scipy.optimize.minimize(dual, np.zeros(len(noisy)), jac=True, method="L-BFGS-B", options=options)
    return weigh(solution.x)[0]
