"""Smoothing of noisy counts of a column whose cells are mostly small, or whose neighbours are alike, as far as the counts show that.

Four priors, and their settings, are weighed by the likelihood of the noisy counts:

- alone: cells share only the distribution of their counts, which are exponential with means of many sizes, whose shares are fitted
  (empirical Bayes): where most cells are nearly empty, so are counts within the noise. Unordered columns have this prior alone.
- runs: neighbouring cells have equal counts, except for jumps, of any size, at an unknown rate. A recursion over the cells sums up all
  divisions into runs exactly (Fearnhead 2006, Exact and efficient Bayesian inference for multiple changepoint problems). The counts of runs
  are treated like the counts of cells above.
- walks: the differences of neighbours are normal, or the differences of these are (Whittaker 1923): a shape without jumps.

Only released values are used, so it costs no privacy.
"""

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
"""Numbers of cells of a smoothed column: fewer are uninformative about each other; with more ordered ones, neighbours would take too long.
"""
LARGEST = 1e5
"""Deviations of the noise; a column with a larger count stays as measured, because noise hardly matters there."""
RATES = np.array([0.03, 0.1, 0.3, 0.6, 0.85, 0.97])
"""Probabilities that a cell begins a run."""
RUN_MEANS = 2.0 ** np.arange(-6, 13)
"""Means of the counts of runs, as multiples of the deviation of the noise."""
FITS_OF_SHARES, LEAST_WEIGHT = 4, 0.3
"""Number of fits of the shares of these means, and pseudo-count of runs of each."""
WALK_VARIANCES = 10.0 ** np.arange(-2, 5.1, 0.5)
"""Variances of differences, as multiples of the variance of the noise."""
LEAST_LEFT = 0.01
"""Smallest remaining share of the variance of the noise, because fits cannot weigh cells that differ more."""
FREE = 1e5
"""Variance, likewise, of quantities that differences leave open: the level of a walk, and its slope."""


@dataclass(frozen=True, eq=False)
class _Belief:
    """The counts behind noisy ones under one prior, all in units of the noise.

    Attributes:
        evidence: Log likelihood of the noisy counts, up to a constant that all priors share.
        means: Posterior means.
        variances: Posterior variances.
    """

    evidence: float
    means: Floats
    variances: Floats


@dataclass(frozen=True, eq=False)
class Columns:
    """Smoothed columns, and the data that they replace.

    Attributes:
        believed: The smoothed counts with their variances, one for each smoothed column.
        measured: The measurements that they replace.
        known: The earlier counts that they replace.
    """

    believed: tuple[MarginalCounts, ...] = ()
    measured: tuple[Measurement, ...] = ()
    known: tuple[MarginalCounts, ...] = ()

    def instead(self, measurements: Sequence[Measurement]) -> list[Measurement]:
        """Return the measurements, in order, with smoothed counts in place of each measurement of a smoothed column.

        The deviation of a replaced measurement is the root mean square of its cells' deviations, in records,
        for callers that know one deviation per table.
        """
        believed = {c.clique: Measurement(c.clique, c.values, math.sqrt(float(c.variances.mean()))) for c in self.believed}
        return [believed.get(m.clique, m) for m in measurements]


MEASURED = Columns()
"""No smoothing: the measurements stand as they are."""


def as_measured(_domain: Domain, _measurements: Sequence[Measurement], _known: Sequence[MarginalCounts] = ()) -> Columns:
    """Return `MEASURED`, which stands for no smoothing, for any arguments of `smooth_columns`."""
    return MEASURED


def smooth_columns(domain: Domain, measurements: Sequence[Measurement], known: Sequence[MarginalCounts] = ()) -> Columns:
    """Return smoothed counts of the measured columns that have enough values, with what they replace.

    These are columns with an order and at least 6 values, and others with at least 12. Neighbours are smoothed together
    in columns of at most 200 ordered values that have no `known` counts. A column with a count above 100,000 deviations
    of its noise is left out. Only listed values are smoothed together; cells for missing and for other values stay as
    measured. Cells of different precision share only the distribution of their counts, in units of
    the noise of each.

    Errors of neighbouring cells are correlated afterwards, and treating them as independent would
    overstate their precision. So each stated variance is the product of two standard deviations:
    the noise's and the remaining error's.

    Args:
        domain: The domain.
        measurements: Measurements; only measurements of single columns are smoothed.
        known: Further counts of single columns, of any precision.
    """
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
    """Return the posterior means and standard deviations of the counts behind noisy counts of one column.

    Both are in records and have shape (cells,).

    Args:
        values: Noisy counts, three at least, none beyond 100,000 deviations (`LARGEST`), shape (cells,).
        deviation: Standard deviation of the noise, independent and normal, of all cells or of each.
        ordered: Whether cells are ordered, so that neighbours tend to be alike.
    """
    noisy = values / deviation
    belief = _weighed([_alone(noisy), *([_runs(noisy), _walk(noisy, 1), _walk(noisy, 2)] if ordered else [])])
    return belief.means * deviation, np.sqrt(np.maximum(belief.variances, LEAST_LEFT)) * deviation


def _weighed(beliefs: Sequence[_Belief]) -> _Belief:
    """Return the posterior over several priors that are equally likely beforehand: the mixture of beliefs."""
    evidence = np.array([belief.evidence for belief in beliefs])
    shares = np.exp(evidence - evidence.max())
    means = np.average([belief.means for belief in beliefs], axis=0, weights=shares)
    squares = np.average([belief.variances + belief.means**2 for belief in beliefs], axis=0, weights=shares)
    return _Belief(float(evidence.max() + np.log(shares.mean())), means, np.maximum(squares - means**2, 0.0))


def _alone(noisy: Floats) -> _Belief:
    """Return the belief in which cells share only the distribution of their counts: each cell is a run.

    `noisy` has noise of variance one, here and in `_runs` and `_walk`.
    """
    start = np.arange(len(noisy))
    return _of_runs(noisy, start, start + 1, lambda likely: (float(likely.sum()), np.ones(len(noisy))))


def _runs(noisy: Floats) -> _Belief:
    start, end = np.triu_indices(len(noisy) + 1, 1)
    return _of_runs(noisy, start, end, lambda likely: _divided(likely, start, end, len(noisy)))


def _of_runs(noisy: Floats, start: Places, end: Places, divided: Callable[[Floats], tuple[float, Floats]]) -> _Belief:
    """Return the belief under which the counts are equal within runs of neighbouring cells.

    Args:
        noisy: Noisy counts with noise of variance one.
        start: First cell of each possible run.
        end: The cell after the last of each possible run.
        divided: Returns, from the log likelihoods of the runs, the log likelihood of all counts and
            the posterior probability of each run.
    """
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
    """Return the log likelihood of each run, and the posterior mean and variance of its count.

    The count has an exponential prior with a mean from `RUN_MEANS`; its posterior is a normal
    variable truncated at zero. A log likelihood is relative to a count of zero.

    Args:
        cells: Number of cells of each run.
        sums: Sum of the noisy counts of each run.

    Returns:
        Three arrays of shape (means, runs).
    """
    rate, root = 1 / RUN_MEANS[:, None], np.sqrt(cells)
    middle = (sums - rate) / cells
    above = log_ndtr(middle * root)
    hazard = np.exp(-0.5 * (middle * root) ** 2 - above) / math.sqrt(2 * math.pi)
    likely = np.log(rate * math.sqrt(2 * math.pi) / root) + 0.5 * cells * middle**2 + above
    means = np.maximum(middle + hazard / root, 0.0)
    return likely, means, np.maximum(1 - hazard * (middle * root + hazard), 0.0) / cells


def _divided(likely: Floats, start: Places, end: Places, cells: int) -> tuple[float, Floats]:
    """Return the log likelihood of all counts over all divisions into runs, and each run's probability.

    Divisions are weighed by the probability that a cell begins a run, and averaged over `RATES`.

    Args:
        likely: Log likelihood of each run.
        start: First cell of each run.
        end: The cell after the last of each run.
        cells: Number of cells.
    """
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
    """Return the belief under which differences of neighbours, of the given order, are independent normal.

    Order 1 is a level that drifts, order 2 a slope that drifts; variances are averaged over
    `WALK_VARIANCES`.
    """
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
