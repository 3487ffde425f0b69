"""The cost of an operation, as data. The kernel records one event for every operation it charges; zCDP and GDP read the same list.

`cost` is that under zCDP, exact (a fraction of the very floats the noise was drawn with), so that adding up thousands of rounds loses
nothing; `rho` is the same as a float. For anything but Gaussian noise it is the number of draws times r^2/8, r being the range of the
privacy loss of each: that is what `accountant` relies on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from fractions import Fraction


class _Charged(ABC):
    """What every event has."""

    @property
    @abstractmethod
    def cost(self) -> Fraction:
        """rho under zCDP, exact."""

    @property
    def rho(self) -> float:
        return float(self.cost)


@dataclass(frozen=True)
class Gaussian(_Charged):
    """Rounded normal noise of `sigma` per cell on counts of L2 sensitivity `l2`.

    rho = l2^2 / (2 sigma^2) in every accountant: `lattice`.
    """

    sigma: float
    l2: float

    def __post_init__(self) -> None:
        _check_positive(sigma=self.sigma, l2=self.l2)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.l2) ** 2 / (2 * Fraction(self.sigma) ** 2)


@dataclass(frozen=True)
class Residual(Gaussian):
    """Rounded normal noise of `sigma` people per cell on a fine lattice, of which only the residual is released.

    The cost is Gaussian noise's; l2 is the sensitivity of the residual, smaller than the marginal's: `privacy.residuals`, Proposition.
    """


@dataclass(frozen=True)
class Thresholded(Gaussian):
    """Rounded normal noise on counts by key, of which those that reach a threshold are released: `privacy.thresholds`, Proposition.

    The cost is Gaussian noise's, and delta on top, in both accountants.
    """

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        _check_positive(delta=self.delta)


@dataclass(frozen=True)
class Selection(_Charged):
    """`count` draws of the exponential mechanism, each at `eps`: Pr proportional to exp(eps * score / (2 sensitivity)).

    rho = count * eps^2 / 8, because the privacy loss of each has range eps: Cesar and Rogers 2021, Lemma 3.4 with Proposition 3.3.
    """

    eps: float
    count: int = 1

    def __post_init__(self) -> None:
        _check_positive(eps=self.eps, count=self.count)

    @property
    def cost(self) -> Fraction:
        return self.count * Fraction(self.eps) ** 2 / 8


@dataclass(frozen=True)
class PermuteAndFlip(_Charged):
    """One draw of permute-and-flip at `eps`: `research.privacy.flipping`, Proposition.

    rho = eps^2 / 2, as for everything that is eps-differentially private: Bun and Steinke 2016, Proposition 1.4. It is not less, but for
    terms of order eps^3: of two queries whose scores differ by the sensitivity, one way or, for a neighbour, the other, the worse is drawn
    with probability exp(-eps / 2) / 2, and the two distributions' Kullback-Leibler divergence is eps^2 / 2 - eps^3 / 4 + ... So the
    exponential mechanism at twice the eps costs the same.
    """

    eps: float

    def __post_init__(self) -> None:
        _check_positive(eps=self.eps)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.eps) ** 2 / 2


@dataclass(frozen=True)
class Laplace(_Charged):
    """Discrete Laplace noise of parameter `scale` on counts of L1 sensitivity `l1`: pure (l1/scale)-DP.

    rho = (l1/scale)^2 / 2: Bun and Steinke 2016, Proposition 1.4. (The privacy loss has a range of twice l1/scale.)
    """

    scale: float
    l1: float

    def __post_init__(self) -> None:
        _check_positive(scale=self.scale, l1=self.l1)

    @property
    def cost(self) -> Fraction:
        return (Fraction(self.l1) / Fraction(self.scale)) ** 2 / 2


@dataclass(frozen=True)
class Retention(_Charged):
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
        _check_positive(eta=self.eta, gamma=self.gamma, rows=self.rows, count=self.count)
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


@dataclass(frozen=True)
class Approximate(_Charged):
    """A step that has its own proof of (eps, delta)-differential privacy: Gaussian RSPM, PRSMA.

    For neighbours there are distributions within e^eps of each other that its answers follow except with probability delta (Kairouz, Oh,
    Viswanath 2015, Theorem 3.3), and eps-DP costs rho = eps^2/2 (Bun and Steinke 2016, Proposition 1.4): it is delta-approximate
    (eps^2/2)-zCDP (their Definition 8.1). Costs and deltas add up (Lemma 8.2).
    """

    eps: float
    delta: float

    def __post_init__(self) -> None:
        _check_positive(eps=self.eps, delta=self.delta)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.eps) ** 2 / 2


Event = Gaussian | Residual | Thresholded | Selection | PermuteAndFlip | Retention | Laplace | PerturbedMinimum | Approximate


def delta_of(event: Event) -> Fraction:
    """The probability with which the event's cost may not hold; 0 for most."""
    return Fraction(event.delta) if isinstance(event, Approximate | Thresholded) else Fraction(0)


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number")
