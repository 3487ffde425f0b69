"""What an operation costs, as data. The kernel records one of these for every operation it charges; zCDP is one reading of the list.

`cost` is exact (a fraction of the very floats the noise was drawn with), so that adding up thousands of rounds loses nothing;
`rho` is the same as a float, for showing.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True)
class Gaussian:
    """Discrete Gaussian noise of parameter `sigma` per cell on counts of L2 sensitivity `l2`.

    rho = l2^2 / (2 sigma^2): Canonne, Kamath and Steinke 2020, Theorem 14.
    """

    sigma: float
    l2: float

    def __post_init__(self) -> None:
        _check_positive(sigma=self.sigma, l2=self.l2)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.l2) ** 2 / (2 * Fraction(self.sigma) ** 2)

    @property
    def rho(self) -> float:
        return float(self.cost)


@dataclass(frozen=True)
class Residual(Gaussian):
    """Discrete Gaussian noise of `sigma` people per cell on a fine lattice, of which only the residual is released.

    The cost is Gaussian noise's; l2 is the sensitivity of the residual, smaller than the marginal's: `privacy.residuals`, Proposition.
    """


@dataclass(frozen=True)
class Selection:
    """The exponential mechanism at `eps`: Pr proportional to exp(eps * score / (2 sensitivity)).

    rho = eps^2 / 8, because its privacy loss has range eps: Cesar and Rogers 2021, Lemma 3.4 with Proposition 3.3.
    """

    eps: float

    def __post_init__(self) -> None:
        _check_positive(eps=self.eps)

    @property
    def cost(self) -> Fraction:
        return Fraction(self.eps) ** 2 / 8

    @property
    def rho(self) -> float:
        return float(self.cost)


@dataclass(frozen=True)
class Laplace:
    """Discrete Laplace noise of parameter `scale` on counts of L1 sensitivity `l1`: pure (l1/scale)-DP.

    rho = (l1/scale)^2 / 2: Bun and Steinke 2016, Proposition 1.4.
    """

    scale: float
    l1: float

    def __post_init__(self) -> None:
        _check_positive(scale=self.scale, l1=self.l1)

    @property
    def cost(self) -> Fraction:
        return (Fraction(self.l1) / Fraction(self.scale)) ** 2 / 2

    @property
    def rho(self) -> float:
        return float(self.cost)


Event = Gaussian | Residual | Selection | Laplace


def _check_positive(**values: float) -> None:
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number")
