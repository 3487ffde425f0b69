"""Small private tables, statistics and a transparent noise source for the tests of the privacy room."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr
from scipy.stats import chisquare

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.occupied import Occupied, row_cells
from dpsynth_core.vocabulary.predictors import Predictor
from dpsynth_core.vocabulary.rows import right_counts, row_marginals

FALSE_ALARM = 1e-6
"""Chance that one statistical test fails although all is well. OpenDP's randomness cannot be seeded, so this is a real chance."""

Integers = NDArray[np.int64]


@dataclass
class ArraySource:
    """A counting source over rows of codes that remembers what was asked of it."""

    domain: Domain
    rows: NDArray[np.int32]
    passes: list[tuple[Clique, ...]] = field(default_factory=list)

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, Integers]:
        self.passes.append(tuple(cliques))
        return row_marginals(self.domain, self.rows, cliques)

    def occupied(self, clique: Clique) -> Occupied:
        self.passes.append((clique,))
        return row_cells(self.domain, self.rows, clique)

    def right(self, predictors: Sequence[Predictor]) -> Integers:
        return right_counts(self.domain, self.rows, predictors)


@dataclass
class GlassNoise:
    """Adds nothing and shows what it was handed: the exact values that would have been protected, and the scale."""

    private = False
    seen: list[tuple[Integers, float]] = field(default_factory=list)
    exponents: list[Fraction] = field(default_factory=list)

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        self.seen.append((values.copy(), sigma))
        return values

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        self.seen.append((values.copy(), scale))
        return values

    def noisy_max(self, scores: Integers, scale: float) -> int:
        self.seen.append((scores.copy(), scale))
        return int(np.argmax(scores))

    def uniform(self, size: int) -> int:
        self.seen.append((np.array([size]), 1.0))
        return 0

    def bernoulli_exp(self, exponents: Sequence[Fraction]) -> NDArray[np.bool_]:
        self.exponents.extend(exponents)
        return np.array([x < 1 for x in exponents], dtype=np.bool_)

    def halved(self, counts: Integers) -> Integers:
        return np.zeros_like(counts)


def table(domain: Domain, rows: Collection[tuple[int, ...]]) -> ArraySource:
    return ArraySource(domain, np.array(list(rows), dtype=np.int32).reshape(-1, len(domain)))


def occupied(counts: Integers) -> Occupied:
    """A table of counts without its empty cells."""
    return Occupied(counts.shape, np.flatnonzero(counts), counts[counts > 0])


def p_value(drawn: Integers, mass: Callable[[NDArray[np.float64]], NDArray[np.float64]], reach: int) -> float:
    """Chi-square p-value of integers against an unnormalised mass function on -reach..reach.

    Neighbouring values are merged from both ends until every bin expects 10 draws: enough for the chi-square limit.
    """
    support = np.arange(-reach, reach + 1)
    expected = mass(support.astype(float))
    expected *= drawn.size / expected.sum()
    observed = np.bincount(np.clip(drawn, -reach, reach) + reach, minlength=support.size)
    bins = np.minimum(np.floor(np.cumsum(expected) / 10), math.floor(drawn.size / 10) - 1).astype(int)
    _, bins = np.unique(bins, return_inverse=True)
    return float(chisquare(np.bincount(bins, observed), np.bincount(bins, expected)).pvalue)


def rounded_normal(sigma: float) -> Callable[[NDArray[np.float64]], NDArray[np.float64]]:
    """The mass function of normal noise rounded to whole numbers."""
    return lambda x: ndtr((0.5 - np.abs(x)) / sigma) - ndtr((-0.5 - np.abs(x)) / sigma)


def frequency_p_value(drawn: Collection[int], probabilities: NDArray[np.float64]) -> float:
    """Chi-square p-value of indices against their exact probabilities, each of which must expect at least 5 draws."""
    expected = probabilities * len(drawn)
    assert expected.min() >= 5
    return float(chisquare(np.bincount(np.array(drawn), minlength=expected.size), expected).pvalue)
