"""An error as a size of sample: "as accurate as publishing a random K of the records" (AIM, appendix C).

Publishing a sample is not private; it is a measure that everybody has a feeling for. The expected error of a sample depends on the
marginals themselves. Given the synthetic rows' marginals and the certificate's mean error the reading is as released as they are;
given true marginals or true errors it is curator-only (`zones.combine`).
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy
from numpy.typing import NDArray

from dpsynth_core.statistics.distances import IN_WRONG_CELL

LARGEST_SAMPLE = 10**12

Array = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Cells:
    """The cells of several marginals, equal fractions together: each fraction in (0, 1], how many cells have it, how many marginals."""

    fractions: NDArray[np.float64]
    multiplicity: NDArray[np.int64]
    marginals: int


def gather(marginals: Collection[Array]) -> Cells:
    """marginals: fractions or counts, not negative, each with a positive sum."""
    cells = [np.unique(np.asarray(table / table.sum(), dtype=np.float64), return_counts=True) for table in marginals]
    fractions, where = np.unique(np.concatenate([values for values, _ in cells]), return_inverse=True)
    multiplicity = np.bincount(where, weights=np.concatenate([counts for _, counts in cells])).astype(np.int64)
    positive = fractions > 0  # no sample has anything in an empty cell
    return Cells(fractions[positive], multiplicity[positive], len(cells))


def expected_error(cells: Cells, records: int) -> float:
    """The expected share of people in a wrong cell, mean over the marginals, for K records drawn with replacement.

    E ||mu - sample / K||_1 is per cell (2/K) s C(K, s) mu^s (1 - mu)^(K - s + 1) with s = ceil(K mu) (AIM, appendix C, Theorem 1); computed
    in logarithms.
    """
    mu, k = cells.fractions, float(records)
    s = np.clip(np.ceil(k * mu), 1.0, k)
    log_choose = scipy.special.gammaln(k + 1) - scipy.special.gammaln(s + 1) - scipy.special.gammaln(k - s + 1)
    each = IN_WRONG_CELL * 2 / k * np.exp(np.log(s) + log_choose + scipy.special.xlogy(s, mu) + scipy.special.xlog1py(k - s + 1, -mu))
    return float(each @ cells.multiplicity) / cells.marginals


def sample_size(cells: Cells, error: float) -> float:
    """The fewest records whose random sample is expected to be as accurate as `error` on average; inf above `LARGEST_SAMPLE`.

    The expected error falls with the number of records, by about 1 / sqrt(K).
    """
    if not expected_error(cells, LARGEST_SAMPLE) <= error:
        return math.inf
    low, high = 0, LARGEST_SAMPLE  # a sample of `high` is accurate enough, one of `low` is not
    while high - low > 1:
        middle = (low + high) // 2
        if expected_error(cells, middle) <= error:
            high = middle
        else:
            low = middle
    return float(high)
