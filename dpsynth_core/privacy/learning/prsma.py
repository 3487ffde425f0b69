"""The numbers of PRSMA, the Private Robust Subsampling Meta Algorithm (Neel, Roth, Wu 2019): what it costs and how often it asks an oracle.

It turns a private algorithm that may fail into one whose guarantee holds even if the oracle fails in the worst way, as long as it says when
it fails. Run with (eps*, delta*) it is (62 eps*, 11 delta*)-differentially private, if eps* and delta* are at most 1/2, for tables that
differ in one replaced record (Theorem 8). So a guarantee of (eps, delta) runs it with eps/62 and delta/11:

    K     = (1/eps*) (1 + ln(2/delta*))          parts of the table, of n/K records each
    runs  = ln(K/delta*) / delta*                of the algorithm on each part
    eps'  = 1 / sqrt(8 (n/K) ln(2K/delta*))      what each of them may spend
    pass  : survivors + Lap(1/eps*) > (1/eps*) (1 + ln(1/delta*))

K and runs are rounded up; eps' uses the rounded K.

Two things to know before using it. The number of oracle calls grows like 1/delta: with a delta small enough to mean anything for a large
table it cannot finish. And even a perfect oracle does not always pass: then K parts survive, (1/eps*) ln 2 above the threshold, and the
noise eats that with probability 1/4 (rounding K up changes it by little). Theorem 9 of the paper says that it passes except with
probability delta; that does not follow from these constants, and we keep to those that the privacy theorem is about.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

EPS_FACTOR, DELTA_FACTOR = 62, 11
"""Theorem 8."""
FAILURE_WITH_A_PERFECT_ORACLE = 0.25


@dataclass(frozen=True)
class Prsma:
    """eps, delta: the guarantee of the whole. eps_star, delta_star: what the algorithm is run with."""

    eps: float
    delta: float

    def __post_init__(self) -> None:
        if not (0 < self.eps_star <= 0.5 and 0 < self.delta_star <= 0.5):
            raise ValueError("the theorem needs eps up to 31 and delta up to 1")

    @property
    def eps_star(self) -> float:
        return self.eps / EPS_FACTOR

    @property
    def delta_star(self) -> float:
        return self.delta / DELTA_FACTOR

    @property
    def parts(self) -> int:
        """K."""
        return math.ceil((1 + math.log(2 / self.delta_star)) / self.eps_star)

    @property
    def runs(self) -> int:
        """On each part."""
        return math.ceil(math.log(self.parts / self.delta_star) / self.delta_star)

    @property
    def calls(self) -> int:
        """Of the oracle, in all."""
        return self.parts * self.runs

    @property
    def threshold(self) -> float:
        """Parts that must survive, noise included."""
        return (1 + math.log(1 / self.delta_star)) / self.eps_star

    def size(self, records: int) -> int:
        """Records in each part; the rest of the table is left out. 0: there are too few."""
        return records // self.parts

    def inner_eps(self, records: int) -> float:
        """eps' of each run."""
        return 1 / math.sqrt(8 * self.size(records) * math.log(2 * self.parts / self.delta_star))
