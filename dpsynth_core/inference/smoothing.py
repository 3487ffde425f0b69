"""What noisy counts of a column say of each of its cells when many are small, or neighbours are alike, as far as the counts show that.

Four priors are weighed by how likely each makes the noisy counts, and so are the settings of each:
- alone: cells have nothing in common but the sizes of their counts, which are exponential with means of many sizes, whose shares are fitted
  (empirical Bayes): where most cells are nearly empty, counts within the noise are. Of columns without an order, this alone.
- runs: neighbouring cells have equal counts, but for jumps, of any size, at a rate that is not known. All divisions into runs are summed up
  exactly by a recursion over the cells (Fearnhead 2006, Exact and efficient Bayesian inference for multiple changepoint problems). The
  counts of runs are as those of cells above.
- walks: the differences of neighbours are normal, or the differences of these are (Whittaker 1923): a shape without jumps.
Nothing but what was released is looked at, so it costs no privacy."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement
from dpsynth_core.vocabulary.released import with_known

Floats = NDArray[np.float64]
Places = NDArray[np.intp]

FEWEST, FEWEST_UNORDERED, MOST_ORDERED = 6, 12, 200
"""Cells of a column that is smoothed: fewer say little of each other; with more in an order, neighbours would take too long."""
LARGEST = 1e5
"""Deviations of the noise: a column with a larger count stays as measured, for noise hardly matters there."""
RATES = np.array([0.03, 0.1, 0.3, 0.6, 0.85, 0.97])
"""How likely a cell begins a run."""
RUN_MEANS = 2.0 ** np.arange(-6, 13)
"""Of the counts of runs, as multiples of the deviation of the noise."""
FITS_OF_SHARES, LEAST_WEIGHT = 4, 0.3
"""How often the shares of these means are fitted, and how many runs of each are counted besides what is seen."""
WALK_VARIANCES = 10.0 ** np.arange(-2, 5.1, 0.5)
"""Of differences, as multiples of the variance of the noise."""
LEAST_LEFT = 0.01
"""Of the variance of the noise, at least so much is taken to be left: fits cannot weigh cells that differ more."""
FREE = 1e5
"""The variance, likewise, of what differences say nothing of: the level of a walk, and its slope."""


@dataclass(frozen=True, eq=False)
class _Belief:
    """Means and variances of the counts, and the logarithm of how likely the noisy counts are, all in units of the noise."""

    evidence: float
    means: Floats
    variances: Floats


@dataclass(frozen=True, eq=False)
class Columns:
    """What is believed of columns, in place of what it follows from: measurements of them, and what was known before."""

    believed: tuple[MarginalCounts, ...] = ()
    measured: tuple[Measurement, ...] = ()
    known: tuple[MarginalCounts, ...] = ()

    def instead(self, measurements: Sequence[Measurement]) -> list[Measurement]:
        """These measurements, one of each column, with the believed ones in their places as if they had been measured with the root mean
        square of their deviations: for callers that know one deviation of a table only."""
        believed = {c.clique: Measurement(c.clique, c.values, math.sqrt(float(c.variances.mean()))) for c in self.believed}
        return [believed.get(m.clique, m) for m in measurements]


MEASURED = Columns()
"""Nothing is believed but what was measured."""


def as_measured(_domain: Domain, _measurements: Sequence[Measurement], _known: Sequence[MarginalCounts] = ()) -> Columns:
    return MEASURED


def smooth_columns(domain: Domain, measurements: Sequence[Measurement], known: Sequence[MarginalCounts] = ()) -> Columns:
    """What is believed of columns of many values. measurements: of single columns. known: counts of such, of any precision. Only listed
    values are looked at together; cells for missing and for other values stay as measured. Errors of neighbours are alike then. To take
    them for independent would be to trust them too much, so the variances stated are between those of the noise and those of what is left
    of it: the product of both deviations. Cells of different precision are taken to have nothing in common but the sizes of their counts,
    in units of the noise of each."""
    believed, before = [], {one.clique: one for one in known}
    for column in with_known(measurements, known):
        (name,), values, deviation = column.clique, column.values, np.sqrt(column.variances)
        attribute = domain[name]
        ordered = KINDS[attribute.kind].ordered and attribute.values <= MOST_ORDERED
        if attribute.values < (FEWEST if ordered else FEWEST_UNORDERED):
            continue
        listed, noise = values[: attribute.values], deviation[: attribute.values]
        if np.abs(listed / noise).max() <= LARGEST:
            means, deviations = smoothed(listed, noise, ordered and column.clique not in before)
            variances = np.concatenate([deviations, deviation[attribute.values :]]) * deviation
            believed.append(MarginalCounts((name,), np.concatenate([means, values[attribute.values :]]), variances))
    cliques = {column.clique for column in believed}
    measured = tuple(one for one in measurements if one.clique in cliques)
    return Columns(tuple(believed), measured, tuple(one for one in known if one.clique in cliques))


def smoothed(values: Floats, deviation: float | Floats, ordered: bool = True) -> tuple[Floats, Floats]:
    """Means and standard deviations of the counts behind noisy ones. values: shape (cells,), three at least, of neighbouring cells where
    they are ordered, none beyond `LARGEST`. deviation: of the noise of each, independent and normal."""
    noisy = values / deviation
    belief = _weighed([_alone(noisy), *([_runs(noisy), _walk(noisy, 1), _walk(noisy, 2)] if ordered else [])])
    return belief.means * deviation, np.sqrt(np.maximum(belief.variances, LEAST_LEFT)) * deviation


def _weighed(beliefs: Sequence[_Belief]) -> _Belief:
    """The mixture of beliefs that were equally likely before."""
    evidence = np.array([belief.evidence for belief in beliefs])
    shares = np.exp(evidence - evidence.max())
    means = np.average([belief.means for belief in beliefs], axis=0, weights=shares)
    squares = np.average([belief.variances + belief.means**2 for belief in beliefs], axis=0, weights=shares)
    return _Belief(float(evidence.max() + np.log(shares.mean())), means, np.maximum(squares - means**2, 0.0))


def _alone(noisy: Floats) -> _Belief:
    """Of noise of variance one, as are the other two: every cell is a run."""
    start = np.arange(len(noisy))
    return _of_runs(noisy, start, start + 1, lambda likely: (float(likely.sum()), np.ones(len(noisy))))


def _runs(noisy: Floats) -> _Belief:
    start, end = np.triu_indices(len(noisy) + 1, 1)
    return _of_runs(noisy, start, end, lambda likely: _divided(likely, start, end, len(noisy)))


def _of_runs(noisy: Floats, start: Places, end: Places, divided: Callable[[Floats], tuple[float, Floats]]) -> _Belief:
    """Of runs from `start` up to `end`. divided: how likely the counts are, and each run, by how likely the runs make them (logarithms)."""
    sums = np.cumsum([0.0, *noisy])
    likely, means, variances = _counts_of_runs(end - start, sums[end] - sums[start])
    shares = np.full(len(RUN_MEANS), 1 / len(RUN_MEANS))
    for _ in range(FITS_OF_SHARES):
        weighed = likely + np.log(shares)[:, None]
        together = np.logaddexp.reduce(weighed, axis=0)
        evidence, posterior = divided(together)
        of_mean = np.exp(weighed - together)
        shares = (of_mean @ posterior) + LEAST_WEIGHT
        shares /= shares.sum()
    first = _spread(posterior * (of_mean * means).sum(axis=0), start, end, len(noisy))
    second = _spread(posterior * (of_mean * (variances + means**2)).sum(axis=0), start, end, len(noisy))
    return _Belief(evidence - 0.5 * float(noisy @ noisy), first, np.maximum(second - first**2, 0.0))


def _counts_of_runs(cells: Places, sums: Floats) -> tuple[Floats, Floats, Floats]:
    """For each mean of `RUN_MEANS`, an exponential prior, and each run: how likely its noisy counts are (logarithm, against a count of
    zero), and mean and variance of its count, which is a normal variable cut off at zero. Shape (means, runs)."""
    rate, root = 1 / RUN_MEANS[:, None], np.sqrt(cells)
    middle = (sums - rate) / cells
    above = log_ndtr(middle * root)
    hazard = np.exp(-0.5 * (middle * root) ** 2 - above) / math.sqrt(2 * math.pi)
    likely = np.log(rate * math.sqrt(2 * math.pi) / root) + 0.5 * cells * middle**2 + above
    means = np.maximum(middle + hazard / root, 0.0)
    return likely, means, np.maximum(1 - hazard * (middle * root + hazard), 0.0) / cells


def _divided(likely: Floats, start: Places, end: Places, cells: int) -> tuple[float, Floats]:
    """The logarithm of how likely the counts are over all divisions into runs and all rates, and how likely each run is one of them.
    likely: logarithms, of each run."""
    tables = np.full((len(RATES), cells + 1, cells + 1), -np.inf)
    rates = RATES[:, None]
    tables[:, start, end] = likely + (end - start - 1) * np.log1p(-rates) + np.where(start > 0, np.log(rates), 0.0)
    before, after = np.full((2, len(RATES), cells + 1), -np.inf)
    before[:, 0] = after[:, cells] = 0.0
    for cell in range(1, cells + 1):
        before[:, cell] = np.logaddexp.reduce(before[:, :cell] + tables[:, :cell, cell], axis=1)
        back = cells - cell
        after[:, back] = np.logaddexp.reduce(tables[:, back, back + 1 :] + after[:, back + 1 :], axis=1)
    evidence = before[:, cells]
    shares = np.exp(evidence - evidence.max())
    posterior = np.exp(before[:, start] + tables[:, start, end] + after[:, end] - evidence[:, None])
    return float(evidence.max() + np.log(shares.mean())), np.average(posterior, axis=0, weights=shares)


def _spread(of_runs: Floats, start: Places, end: Places, cells: int) -> Floats:
    steps = np.bincount(start, of_runs, cells + 1) - np.bincount(end, of_runs, cells + 1)
    return np.cumsum(steps)[:cells]


def _walk(noisy: Floats, order: int) -> _Belief:
    """With normal differences of this order."""
    differences = np.diff(np.eye(len(noisy)), order, axis=0)
    scales, axes = np.linalg.eigh(differences.T @ differences)
    scales[:order] = 0.0  # what no difference sees, but for rounding
    along = axes.T @ noisy
    beliefs = []
    for variance in WALK_VARIANCES:
        prior = np.divide(variance, scales, where=scales > 0, out=np.full(len(scales), FREE))
        kept = prior / (1 + prior)
        evidence = -0.5 * float(np.log1p(prior).sum() + (along**2 / (1 + prior)).sum())
        beliefs.append(_Belief(evidence, axes @ (kept * along), axes**2 @ kept))
    return _weighed(beliefs)
