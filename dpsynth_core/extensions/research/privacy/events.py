"""The events of the extension's operations, in addition to `privacy.events`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from typing_extensions import override

from dpsynth_core.privacy.events import NEAR, Event, check_positive


class _Pure(Event):
    """An event that costs rho = eps^2 / 2 for an epsilon of its own; each subclass names its proposition."""

    eps: float

    @property
    def exact_epsilon(self) -> Fraction:
        return Fraction(self.eps)

    @property
    def cost(self) -> Fraction:
        return self.exact_epsilon**2 / 2

    @property
    def epsilon(self) -> float:
        return float(self.exact_epsilon)


@dataclass(frozen=True)
class PermuteAndFlip(_Pure):
    """One draw of permute-and-flip at `eps`, which is eps-differentially private: rho = eps^2 / 2, and no less (Proposition 10)."""

    eps: float

    def __post_init__(self) -> None:
        check_positive(eps=self.eps)


@dataclass(frozen=True)
class Laplace(_Pure):
    """Discrete Laplace noise of parameter `scale` on counts of L1 sensitivity `l1`, both in counts.

    It is pure (l1 / scale)-DP and costs rho = (l1 / scale)^2 / 2 (Proposition 6). The privacy loss
    has a range of twice l1 / scale.
    """

    scale: float
    l1: float

    def __post_init__(self) -> None:
        check_positive(scale=self.scale, l1=self.l1)

    @property
    @override
    def exact_epsilon(self) -> Fraction:
        """The epsilon of the event, l1 / scale, as an exact fraction."""
        return Fraction(self.l1) / Fraction(self.scale)


@dataclass(frozen=True)
class Retention(Event):
    """Random bits that decide which queries are kept (`operations.keep_queries`). DQRS pays for old samples with it.

    Each of `count` bits is True with a probability p <= exp(-gamma), and ln p is a constant minus
    or plus eta times the count of a query over `records`. That count changes by at most `rows` with
    one unit of privacy. The privacy loss of a bit has range r = u * (1 + 1/(e^gamma - 1)) with u =
    eta * rows / records, and rho = count * r^2 / 8 (Proposition 11).
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
    @override
    def cost(self) -> Fraction:
        """The rho of the event, never rounded down."""
        slope = Fraction(-1 / math.expm1(-self.gamma)) * (1 + Fraction(1, 2**48))  # 1 + 1/(e^gamma - 1), never rounded down
        return self.count * (Fraction(self.eta) * self.rows / Fraction(self.records) * slope) ** 2 / 8


@dataclass(frozen=True)
class PerturbedMinimum(Laplace):
    """The noise of RSPM: discrete Laplace noise on a fine grid, added to m separators before an exact minimum.

    It costs as much as Laplace noise with l1 = (change + step) * m, one person's influence measured
    in noise (Proposition 13).
    """

    def pays(self, needed: Event) -> bool:
        """Return whether this event costs as much as the event that is due, up to rounding; False for an event of another kind.

        Unlike for other events, scale and l1 are not compared: both grow with the number of
        separators, which a transcript does not name. The cost depends on eps = l1 / scale alone.

        Args:
            needed: The event that is due.
        """
        return type(self) is type(needed) and math.isclose(self.rho, needed.rho, rel_tol=NEAR)


@dataclass(frozen=True)
class Approximate(_Pure):
    """A step with a direct proof of (eps, delta)-DP: Gaussian RSPM or PRSMA. It costs rho = eps^2/2 and delta (Proposition 16)."""

    eps: float
    delta: float

    def __post_init__(self) -> None:
        check_positive(eps=self.eps, delta=self.delta)
