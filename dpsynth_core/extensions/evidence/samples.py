"""The expected errors of random samples: of some of the people drawn without replacement, and of a second sample of as many people.

Errors are shares of people in a wrong cell (total variation distances) of tables of counts. Formulas ask how often each count occurs and
not where, so `Cells` holds each count once, and thousands of tables cost little more than one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of several tables of the same people.

    Attributes:
        counts: Different counts of cells, in people; empty cells and cells of all people are left out.
        often: Number of cells with each count, per table (the total over the tables, divided by the number of tables).
        people: Number of people in each table.
    """

    counts: Array
    often: Array
    people: int

    @classmethod
    def of(cls, shares: Iterable[Array], people: int) -> Cells:
        """Return the cells of tables of shares, with counts rounded to whole people.

        Args:
            shares: Tables as fractions of the people.
            people: Number of people, 1 or more.
        """
        tables = [np.rint(table.ravel() * people) for table in shares]
        counts, often = np.unique(np.concatenate(tables), return_counts=True)
        inside = (counts > 0) & (counts < people)
        return cls(counts[inside], often[inside] / len(tables), people)


def error_of_sample(cells: Cells, size: int) -> float:
    """Return the expected mean error of a random sample of `size` people, drawn without replacement: a share of people in a wrong cell.

    A cell of n of N people holds X of K drawn ones, X hypergeometric, and E|X - K n / N| = 2 s (N - n - K + s) P(X = s) / N with s the
    least whole number above K n / N (Ramasubban 1958, "The mean difference and the mean deviation of some discontinuous distributions").
    Half of the sum over cells, divided by K, is the expected error. It falls as K grows.

    Args:
        cells: The cells of the tables.
        size: Number K of people drawn, from 1 to N.
    """
    people, n = cells.people, cells.counts
    s = np.floor(size * n / people) + 1
    possible = (s <= np.minimum(n, size)) & (people - n - size + s >= 0)
    n, s, often = n[possible], s[possible], cells.often[possible]
    likely = np.exp(_log_choose(n, s) + _log_choose(people - n, size - s) - _log_choose(people, size))
    return float((often * s * (people - n - size + s) * likely).sum() / people / size)


def error_of_second_sample(cells: Cells) -> float:
    """Return the expected mean error between two independent samples of `cells.people` people each from one population, a share of people.

    With shares p of the population, both counts of a cell are binomial. Their difference is taken for the difference of two Poisson numbers
    of variance N p (1 - p), whose mean size is 2 m e^(-2m) (I0(2m) + I1(2m)), with m the variance and I the modified Bessel functions. That
    is the limit for rare cells and, as both then are normal, for frequent ones (a test looks at those between).
    """
    variance = cells.counts * (1 - cells.counts / cells.people)
    size = 2 * variance * (scipy.special.ive(0, 2 * variance) + scipy.special.ive(1, 2 * variance))
    return float((cells.often * size).sum() / (2 * cells.people))


def share_as_good(cells: Cells, error: float) -> float:
    """Return the share p of the people whose random sample is expected to err by `error`.

    Between whole numbers of people the error is interpolated, so that the share follows the error without steps.

    Args:
        cells: The cells of the tables.
        error: Mean error of the tables, as a share of people in a wrong cell.

    Returns:
        From 0, if even one person drawn at random is expected to err less, to 1, for an error of 0.
    """
    low, high = 1, cells.people
    if error <= 0:
        return 1.0
    if high <= low or (least := error_of_sample(cells, low)) < error:
        return 0.0
    most = 0.0
    while high - low > 1:
        middle = (low + high) // 2
        found = error_of_sample(cells, middle)
        if found <= error:
            high, most = middle, found
        else:
            low, least = middle, found
    return (low + (least - error) / (least - most)) / cells.people


def _log_choose(n: Array | float, k: Array | float) -> Array:
    gammaln = scipy.special.gammaln
    return np.asarray(gammaln(np.add(n, 1)) - gammaln(np.add(k, 1)) - gammaln(np.subtract(n, k) + 1))
