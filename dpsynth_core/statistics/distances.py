"""How far one set of marginals is from another. Knows nothing of zones: a result is as restricted as what went in (zones.combine)."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

IN_WRONG_CELL = 0.5
"""Errors of marginals are told as the share of people in a wrong cell: those who would have to move for two tables of fractions to agree.
Of the L1 distance of the two, this much. release.json and the paper's formulas state the distance itself."""

Marginals = Mapping[Clique, NDArray[np.float64] | NDArray[np.int64]]
"""Counts by clique, one axis per attribute."""


def workload_error(workload: Workload, true: Marginals, estimate: Marginals, n: float) -> float:
    """sum over the marginals r of c_r ||true_r - estimate_r||_1 / (n sum c_r), in counts: 0 to 2 between tables of n records, whatever the
    weights. It is AIM's Definition 2, whose k are the sum of the weights where each is 1 and where marginals are drawn: one that is drawn
    twice is two of the k. A curator's weights make it a weighted mean.

    n: number of records. Both are taken as they are: scale the marginals of a table of another size first (`scaled`).
    """
    if not n > 0:
        raise ValueError("n must be positive")
    weighted = (weight * float(np.abs(true[r] - estimate[r]).sum()) for r, weight in workload.weights.items())
    return math.fsum(weighted) / (math.fsum(workload.weights.values()) * n)


def in_wrong_cell(true: NDArray[np.float64], estimate: NDArray[np.float64]) -> float:
    """The share of people in a wrong cell of a table of fractions: 0 for equal distributions, 1 for disjoint ones."""
    return IN_WRONG_CELL * float(np.abs(true - estimate).sum())


def marginal_errors(true: Marginals, estimate: Marginals) -> dict[Clique, float]:
    """`in_wrong_cell` of true_r/N and estimate_r/N', for every r of `true`."""
    return {r: in_wrong_cell(_fractions(true[r]), _fractions(estimate[r])) for r in true}


def largest_error(true: Marginals, estimate: Marginals, threshold: int | None = None) -> float:
    """max over queries of |q(D)/N - q(Dhat)/N'|: the papers' max error. The queries are the cells of every r of `true`, or, with a
    threshold, "at least so many columns of r agree" (see `queries.at_least`)."""
    return largest_gap({r: _fractions(t) for r, t in true.items()}, {r: _fractions(estimate[r]) for r in true}, threshold)


def largest_gap(true: Marginals, estimate: Marginals, threshold: int | None = None) -> float:
    """`largest_error` of what is in fractions already, taken as it is."""
    return max(float(np.abs(at_least(true[r] - estimate[r], threshold or len(r))).max()) for r in true)


def scaled(marginals: Marginals, total: float) -> dict[Clique, NDArray[np.float64]]:
    return {r: _fractions(table) * total for r, table in marginals.items()}


def possible(share: float, least: float = 0.0) -> float:
    """The part of an estimate of a share that can be; least: -1 of a difference."""
    return min(1.0, max(least, share))


def percent(share: float) -> str:
    """A share for reading; small ones with two digits after the point."""
    return f"{share:.1%}" if share >= 0.00995 or share == 0 else f"{share:.2%}"


def _fractions(table: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """The table divided by its sum; an empty table stays zero."""
    total = float(table.sum())
    return np.asarray(table / total if total > 0 else np.zeros(table.shape))
