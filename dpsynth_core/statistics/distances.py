"""Distances between sets of marginals. A result is as restricted as its inputs (`zones.combine`); this module knows no zones."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import Workload

IN_WRONG_CELL = 0.5
"""Factor from the L1 distance of two tables of fractions to the share of people in a wrong cell: those who would have to move for the
tables to agree. Errors are shown as that share; release.json and the paper's formulas state the L1 distance.
"""

Marginals = Mapping[Clique, NDArray[np.float64] | NDArray[np.int64]]
"""Counts by clique, one axis per attribute."""


def workload_error(workload: Workload, true: Marginals, estimate: Marginals, n: float) -> float:
    """Return the weighted mean L1 distance of the marginals: sum_r c_r ||true_r - estimate_r||_1 / (n sum_r c_r).

    This is AIM's Definition 2, whose k is the sum of the weights: a marginal drawn twice counts
    twice. Between tables of n records the error is between 0 and 2 for all weights.

    Args:
        workload: The cliques with their weights c_r.
        true: True marginals, in counts.
        estimate: Estimated marginals, in counts; scale marginals of a table of another size first
            (`scaled`).
        n: Number of records.

    Raises:
        ValueError: n is not positive.
    """
    if not n > 0:
        raise ValueError("n must be positive")
    weighted = (weight * float(np.abs(true[r] - estimate[r]).sum()) for r, weight in workload.weights.items())
    return math.fsum(weighted) / (math.fsum(workload.weights.values()) * n)


def in_wrong_cell(true: NDArray[np.float64], estimate: NDArray[np.float64]) -> float:
    """Return the share of people in a wrong cell, from 0 to 1: half the L1 distance of two tables of fractions.

    It is 0 for equal distributions and 1 for disjoint ones.

    Args:
        true: A table of fractions that add up to 1.
        estimate: Another one of the same shape.
    """
    return IN_WRONG_CELL * float(np.abs(true - estimate).sum())


def marginal_errors(true: Marginals, estimate: Marginals) -> dict[Clique, float]:
    """Return, for every clique of `true`, the share of people in a wrong cell, from 0 to 1.

    Each marginal is divided by its own sum first; a marginal of zeros stays zero.

    Args:
        true: True marginals, in counts.
        estimate: Estimated marginals, in counts, for the same cliques.
    """
    return {r: in_wrong_cell(_fractions(true[r]), _fractions(estimate[r])) for r in true}


def largest_error(true: Marginals, estimate: Marginals, threshold: int | None = None) -> float:
    """Return the largest error of a query, from 0 to 1, as a share of records: max |q(D) / N - q(Dhat) / N'|.

    This is the max error of the papers on query release. N and N' are the sums of the marginals.

    Args:
        true: True marginals, in counts, at least one.
        estimate: Estimated marginals, in counts, for the same cliques.
        threshold: None if a query counts the records in a cell; otherwise it counts the records
            that agree with the cell in at least `threshold` columns (`marginals.at_least`).
    """
    return largest_gap({r: _fractions(t) for r, t in true.items()}, {r: _fractions(estimate[r]) for r in true}, threshold)


def largest_gap(true: Marginals, estimate: Marginals, threshold: int | None = None) -> float:
    """Return the largest error of a query as a share, max |q(D) - q(Dhat)|, for given fractions.

    Args:
        true: True marginals, as fractions, at least one.
        estimate: Estimated marginals, as fractions, for the same cliques.
        threshold: None if a query asks for the share of records in a cell; otherwise it asks for the share that agrees
            with the cell in at least `threshold` columns (`marginals.at_least`).
    """
    return max(float(np.abs(at_least(true[r] - estimate[r], threshold or len(r))).max()) for r in true)


def scaled(marginals: Marginals, total: float) -> dict[Clique, NDArray[np.float64]]:
    """Return the marginals, each scaled to the sum `total`; a marginal of zeros stays zero."""
    return {r: _fractions(table) * total for r, table in marginals.items()}


def possible(share: float, least: float = 0.0) -> float:
    """Return the estimate of a share clipped to `least` and 1; NaN stays NaN.

    Args:
        share: The estimate.
        least: The smallest possible share; -1 for a difference of shares.
    """
    return min(max(share, least), 1.0)  # in this order: max(least, NaN) would be `least`


def percent(share: float) -> str:
    """Return a share of at least 0 (0.123) as text in percent ("12.3%").

    It has one decimal, or two if the share is below 0.995%; 0 is "0.0%".
    """
    return f"{share:.1%}" if share >= 0.00995 or share == 0 else f"{share:.2%}"


def _fractions(table: NDArray[np.float64] | NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the table divided by its sum; an empty table stays zero."""
    total = float(table.sum())
    return np.asarray(table / total if total > 0 else np.zeros(table.shape))
