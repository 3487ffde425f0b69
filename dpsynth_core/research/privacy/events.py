"""The events of the wing's operations, beside those of `privacy.events`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from dpsynth_core.privacy.events import NEAR, Event, check_positive


@dataclass(frozen=True)
class PermuteAndFlip(Event):
    """One draw of permute-and-flip at `eps`: `research.privacy.flipping`, Proposition.

    rho = eps^2 / 2, as for everything that is eps-differentially private: Bun and Steinke 2016, Proposition 1.4. It is not less, but for
    terms of order eps^3: of two queries whose scores differ by the sensitivity, one way or, for a neighbour, the other, the worse is drawn
    with probability exp(-eps / 2) / 2, and the two distributions' Kullback-Leibler divergence is eps^2 / 2 - eps^3 / 4 + ... So the
    exponential mechanism at twice the eps costs the same.
    """

    eps: float

    def __post_init__(self) -> None:
        check_positive(eps=self.eps)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.eps) ** 2 / 2

    @property
    def epsilon(self) -> float:
        return self.eps


@dataclass(frozen=True)
class Laplace(Event):
    """Discrete Laplace noise of parameter `scale` on counts of L1 sensitivity `l1`: pure (l1/scale)-DP.

    rho = (l1/scale)^2 / 2: Bun and Steinke 2016, Proposition 1.4. (The privacy loss has a range of twice l1/scale.)
    """

    scale: float
    l1: float

    def __post_init__(self) -> None:
        check_positive(scale=self.scale, l1=self.l1)

    @property
    def cost(self) -> Fraction:
        return (Fraction(self.l1) / Fraction(self.scale)) ** 2 / 2

    @property
    def epsilon(self) -> float:
        return self.l1 / self.scale


@dataclass(frozen=True)
class Retention(Event):
    """`count` bits, each True with a probability p <= exp(-gamma), ln p being -eta * (a count / records) and a constant.

    A person with `rows` rows moves ln p by eta * rows / records =: u at most, and ln(1 - p) the other way by at most u / (e^gamma - 1), the
    largest slope of ln(1 - e^x) for x <= -gamma. So the privacy loss of a bit has range r = u * (1 + 1/(e^gamma - 1)), and
    rho = count * r^2 / 8: Cesar and Rogers 2021, Proposition 3.3. (What DQRS pays for old samples; Vietri et al. 2020, Lemma 9, has a
    bound in place of the range.)
    """

    eta: float
    gamma: float
    records: float
    rows: int
    count: int

    def __post_init__(self) -> None:
        check_positive(eta=self.eta, gamma=self.gamma, rows=self.rows, count=self.count)
        if not 1 <= self.records < math.inf:
            raise ValueError("records must be a number from 1 up")

    @property
    def cost(self) -> Fraction:
        slope = Fraction(-1 / math.expm1(-self.gamma)) * (1 + Fraction(1, 2**48))  # 1 + 1/(e^gamma - 1), never rounded down
        return self.count * (Fraction(self.eta) * self.rows / Fraction(self.records) * slope) ** 2 / 8


@dataclass(frozen=True)
class PerturbedMinimum(Laplace):
    """RSPM: the exact minimum after discrete Laplace noise on a fine grid was put on each of m separators.

    The cost is Laplace noise's: l1 = (change + step) * m is what one person's influence amounts to in noise (`research.privacy.rspm`).
    """

    def pays(self, needed: Event) -> bool:
        """Noise and sensitivity grow with the class of rules, which a transcript does not name: what counts is eps = l1 / scale."""
        return type(self) is type(needed) and math.isclose(self.rho, needed.rho, rel_tol=NEAR)


@dataclass(frozen=True)
class Approximate(Event):
    """A step that has its own proof of (eps, delta)-differential privacy: Gaussian RSPM, PRSMA.

    For neighbours there are distributions within e^eps of each other that its answers follow except with probability delta (Kairouz, Oh,
    Viswanath 2015, Theorem 3.3), and eps-DP costs rho = eps^2/2 (Bun and Steinke 2016, Proposition 1.4): it is delta-approximate
    (eps^2/2)-zCDP (their Definition 8.1). Costs and deltas add up (Lemma 8.2).
    """

    eps: float
    delta: float

    def __post_init__(self) -> None:
        check_positive(eps=self.eps, delta=self.delta)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.eps) ** 2 / 2

    @property
    def epsilon(self) -> float:
        return self.eps
