"""The numbers of PRSMA, the Private Robust Subsampling Meta Algorithm (Neel, Roth, Wu 2019): Proposition 15.

The records are divided at random into K parts of s, with N - K s left out. On each part a learner is run R times; the part survives if no
run failed. T survivors pass if T + z > tau, z being a whole number with Pr[z] proportional to exp(-eps1 |z|), and then one answer of a
random survivor is released. The algorithm is the paper's; K, R, eps', eps1 and tau follow from the proposition, which needs 20,000 times
fewer calls of the oracle than the paper's Theorem 8. A part of delta each goes to its three terms, `_SHARES`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

FAILURE_WITH_A_PERFECT_ORACLE = 0.01

_SHARES = (0.1, 0.1, 0.8)
_TEST_SHARE = 0.9
_SPREAD = 1.0
_MOST_INNER_EPS = 1 / 16
_KAPPA = math.exp(2 * _SPREAD + _MOST_INNER_EPS)
_UP = 1 + 1e-9
"""Covers the rounding of a line: what is rounded up to a whole number is rounded up after this."""


@dataclass(frozen=True)
class Prsma:
    """eps, delta: the guarantee of the whole."""

    eps: float
    delta: float

    def __post_init__(self) -> None:
        if not (self.eps > 0 and 0 < self.delta < 1):
            raise ValueError("the theorem needs an eps above 0 and a delta between 0 and 1")

    @property
    def test_eps(self) -> float:
        """eps1."""
        return _TEST_SHARE * self.eps

    @property
    def least(self) -> int:
        """Survivors with fewer of which the test passes hardly ever."""
        rest = (1 - _TEST_SHARE) * self.eps
        first = (_KAPPA * math.exp(-rest) - 1) / -math.expm1(-rest)
        second = (1 + _KAPPA) * math.exp(-self.eps) / -math.expm1(-self.eps)
        return max(1, math.ceil(max(first, second) * _UP))

    @property
    def threshold(self) -> int:
        """tau."""
        return self.least - 1 + self._reached(_SHARES[0] * self.delta)

    @property
    def parts(self) -> int:
        """K."""
        return self.threshold + self._reached(FAILURE_WITH_A_PERFECT_ORACLE)

    @property
    def runs(self) -> int:
        """R, on each part."""
        others = _KAPPA * (self.parts - 1) / (self.least * (self.least + 1))
        return math.ceil(others / (math.e * _SHARES[2] * self.delta) * _UP)

    @property
    def calls(self) -> int:
        """Of the oracle, in all."""
        return self.parts * self.runs

    def size(self, records: int) -> int:
        """Records in each part; the rest of the table is left out. 0: there are too few."""
        return records // self.parts

    def inner_eps(self, records: int) -> float:
        """eps' of each run."""
        extreme = math.log(self.parts / ((self.least + 1) * _SHARES[1] * self.delta)) + _MOST_INNER_EPS
        sigma = _SPREAD / math.sqrt(2 * (extreme + _SPREAD)) / _UP
        return min(_MOST_INNER_EPS, 2 * sigma / math.sqrt(self.size(records)))

    def _reached(self, chance: float) -> int:
        """The least whole number that the test's noise reaches with this probability at most."""
        return max(1, math.ceil(-math.log(chance * (1 + math.exp(-self.test_eps))) / self.test_eps * _UP))
