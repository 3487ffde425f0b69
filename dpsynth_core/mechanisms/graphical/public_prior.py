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


@dataclass(eq=False)
class PublicPrior:
    """A weighted public table and its chosen marginals.

    Attributes:
        domain: The domain.
        codes: Distinct rows, shape (rows, attributes).
        weights: Weights of these rows, adding up to 1.
        people: n_eff, the effective number of public people.
        total: Number of private people.
        measured: Measurements of the private table.
        fit: Private-PGM.
        without_public: A model of the measurements without the public table.
        cliques: The chosen marginals.
        room: Share of the capacity that the model may take up however little of the budget is
            spent.
    """

    domain: Domain
    codes: Codes
    weights: Float
    people: float
    total: float
    measured: list[Measurement]
    fit: Fit
    without_public: GraphicalModel
    cliques: list[Clique] = field(default_factory=list)
    room: float = ROOM
    _shares: dict[Clique, Float] = field(default_factory=dict)
    _ratios: list[tuple[float, float]] = field(default_factory=list)
    _behind: float = 0.0

    @classmethod
    def of(
        cls, public: PublicTable, kernel: Kernel, columns: Sequence[Measurement], candidates: Candidates, capacity: Capacity, fit: Fit
    ) -> PublicPrior:
        """Return the prior from a public table: weigh its rows by the noisy columns, and choose its marginals.

        At most 30 marginals are chosen (`MAX_MARGINALS`). None is chosen if the public table is too unlike the
        private one: its columns are no nearer to the noisy ones than uniform columns are, or they stay hopelessly far
        from them (`HOPELESS`) even when weighted.

        Args:
            public: The public table.
            kernel: The kernel, for its domain and a public number of rows.
            columns: The measurements of the private columns.
            candidates: The tables that may be measured.
            capacity: The largest size of a model.
            fit: Private-PGM.
        """
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
        """The public table's estimates of private counts, for a fit; empty if no marginal is chosen or the table was dropped.

        Variances are at least 1, even for a large table.
        """
        sharing, inflation = _sharing(self.cliques), self.inflation
        variances = {r: np.maximum(1.0, sharing[r] * inflation * self._variances(r)) for r in self.cliques}
        return [MarginalCounts(r, self.total * self.shares(r), variances[r]) for r in self.cliques]

    @property
    def inflation(self) -> float:
        """The variance of the public table's marginals as a multiple of their sampling variance v, at least 1.

        Every private measurement y since the columns estimates it by (||y - N q||^2 - cells
        sigma^2) / v, for N private people and public shares q. The columns do not count, because
        the weights follow them.
        """
        return max(1.0, _average(self._ratios))

    def learn(self, measurement: Measurement, model: GraphicalModel, /) -> bool:
        """Compare a private measurement with the public table, and with the earlier models with and without it.

        Args:
            measurement: The measurement.
            model: The model with the table, before the measurement.

        Returns:
            False if the table is dropped, because the model without it makes all measurements so
            far `CLOSER` (10) times as likely. True otherwise, and, without any comparison, if no marginal is
            chosen.
        """
        if not self.cliques:
            return True
        self._ratios.append(self._compared(measurement))
        self._behind += _misfit(model, measurement) - _misfit(self.without_public, measurement)
        if self._behind >= math.log(CLOSER):
            self.cliques, self.room = [], 0.0
            return False
        self.measured.append(measurement)
        self.without_public = self.fit(self.measured, self.without_public)
        return True

    def _compared(self, measurement: Measurement) -> tuple[float, float]:
        """Return a measurement's estimate of the inflation, and the variance of the noise in this estimate."""
        q, cells = self.shares(measurement.clique), measurement.values.size
        variance = float(self._variances(measurement.clique).sum())
        excess = float(((measurement.values - self.total * q) ** 2).sum()) - cells * measurement.deviation**2
        noise = math.sqrt(2 * cells) * measurement.deviation**2 / variance  # of the ratio
        return excess / variance, noise**2

    def shares(self, clique: Clique) -> Float:
        """Return the marginal of the weighted public rows as shares, one axis per attribute.

        The array is cached, so the caller must not change it.
        """
        if clique not in self._shares:
            self._shares[clique] = of_codes(self.domain, self.codes, clique, self.weights)
        return self._shares[clique]

    def details(self) -> dict[str, float]:
        """Return the number of distinct rows, the number of chosen marginals, n_eff and the inflation, for the report."""
        facts = {"public_people": self.people, "public_tables": len(self.cliques), "public_inflation": self.inflation}
        return {"public_rows": len(self.codes)} | facts

    def _variances(self, clique: Clique) -> Float:
        """Return the sampling variance of each cell of a public marginal, in counts^2: q_i (1 - q_i) / n_eff as shares.

        An empty cell has a variance as if one person were in it.
        """
        q = self.shares(clique)
        return self.total**2 * np.maximum(q * (1 - q), 1.0 / self.people) / self.people

    def _choose(self, capacity: Capacity, weights: Mapping[Clique, float]) -> None:
        """Choose public marginals as AIM would without noise, up to `PER_FIT` before each fit, until no other helps.

        Args:
            capacity: The largest size of a model, of which public marginals may take the share
                `PART`.
            weights: The weight of each table.
        """
        single, model = [measurement.clique for measurement in self.measured], self.without_public
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
        """Return how much closer the public marginal is to the private one than the model's answer is, in L1 counts.

        It is an estimate: the model's distance from the public marginal beyond chance, less the
        effect of chance on the public marginal. For n_eff people drawn from the model, a cell is
        off by 2 p where it is nearly empty, and never more than its deviation.

        Args:
            clique: The marginal.
            model: The model.
        """
        p = model.marginal(clique) / self.total
        shown = float(np.abs(self.shares(clique) - p).sum())
        chance = float(np.minimum(HALF_NORMAL * np.sqrt(p * (1 - p) / self.people), 2 * p).sum())
        return self.total * (math.sqrt(max(0.0, shown**2 - chance**2)) - chance)


def _sharing(cliques: Sequence[Clique]) -> dict[Clique, int]:
    """Return, for each clique, how many cliques contain the pair of its columns that is in most cliques."""
    held = Counter(pair for clique in cliques for pair in combinations(clique, 2))
    return {clique: max(held[pair] for pair in combinations(clique, 2)) for clique in cliques}


def _misfit(model: GraphicalModel, measurement: Measurement) -> float:
    """Return minus the log likelihood of a measurement under a model, up to a constant common to all models."""
    return float(((measurement.values - model.marginal(measurement.clique)) ** 2).sum()) / (2 * measurement.deviation**2)


def _average(ratios: Sequence[tuple[float, float]]) -> float:
    """Return the weighted mean of ratios, together with an assumed ratio of 1 without noise.

    A ratio is taken to vary by about the mean itself in addition to its noise, so that noise in the
    evidence does not rescue a table that is far off.

    Args:
        ratios: Ratios, each with the variance of its noise.
    """
    mean = 1.0
    for _ in range(PASSES):
        precisions = [1.0 / (max(mean, 1.0) ** 2 + noise) for _, noise in ratios]
        assumed = 1.0 / max(mean, 1.0) ** 2
        mean = (assumed + sum(ratio * w for (ratio, _), w in zip(ratios, precisions, strict=True))) / (assumed + sum(precisions))
    return mean


def raked(domain: Domain, rows: Codes, counts: NDArray[np.int64], columns: Sequence[Measurement], total: float) -> Float:
    """Return weights of distinct public rows that agree with the noisy columns and change the rows' shares least.

    The weights w, shape (distinct rows,), add up to 1 and minimise sum_j ||A_j w - y_j||^2 / (2 sigma_j^2) + n KL(w, counts
    / n), in shares of the total. n = sum of counts is the weight of the public table against the
    noise of the columns. The dual has a parameter per cell of each column and is smooth: at the
    minimum w is proportional to counts * exp(sum of the parameters of a row's cells).

    Args:
        domain: The domain.
        rows: The distinct public rows, shape (distinct rows, attributes).
        counts: Number of public people with each row.
        columns: The measurements y_j of the private columns.
        total: Number of private people.
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
