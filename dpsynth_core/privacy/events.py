"""The cost of an operation, as data. The kernel records one event for every operation it charges; zCDP and GDP read the same list.

`cost` is that under zCDP, exact (a fraction of the very floats the noise was drawn with), so that adding up thousands of rounds loses
nothing; `rho` is the same as a float. For anything but Gaussian noise it is the number of draws times r^2/8, r being the range of the
privacy loss of each: that is what `accountant` relies on.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any, cast

NEAR = 1e-9
"""Relative difference below which two numbers count as the same."""


class Event(ABC):
    """The base of all events: frozen dataclasses of numbers. A field `delta` adds up on its own (`delta_of`)."""

    @property
    @abstractmethod
    def cost(self) -> Fraction:
        """The exact rho of the event under zCDP."""

    @property
    def rho(self) -> float:
        """The rho of the event under zCDP, as the float nearest to `cost`."""
        return float(self.cost)

    @property
    def epsilon(self) -> float | None:
        """The epsilon of an event that is proved (epsilon, delta)-DP directly; None for any other event."""
        return None

    def pays(self, needed: Event) -> bool:
        """Return whether this event equals the event that is due, up to rounding on another machine.

        Both must be of the same kind, with equal fields (such as noise and sensitivity) within a relative
        difference of 1e-9 (`NEAR`).

        Args:
            needed: The event that is due.
        """
        return type(self) is type(needed) and all(
            math.isclose(getattr(self, f.name), getattr(needed, f.name), rel_tol=NEAR) for f in fields(cast(Any, self))
        )


@dataclass(frozen=True)
class Gaussian(Event):
    """Rounded normal noise of standard deviation `sigma` per cell on counts of L2 sensitivity `l2`, both in records.

    rho = l2^2 / (2 sigma^2) in every accountant: Proposition 1.

    Raises:
        ValueError: A number is not positive and finite.
    """

    sigma: float
    l2: float

    def __post_init__(self) -> None:
        check_positive(sigma=self.sigma, l2=self.l2)

    @property
    def cost(self) -> Fraction:
        """The exact rho of the event under zCDP."""
        return Fraction(self.l2) ** 2 / (2 * Fraction(self.sigma) ** 2)


@dataclass(frozen=True)
class Residual(Gaussian):
    """Rounded normal noise on a fine lattice, `sigma` people per cell, on a marginal whose residual alone is released.

    The cost is Gaussian noise's; l2 is the sensitivity of the residual, smaller than the marginal's: Proposition 4.
    """


@dataclass(frozen=True)
class Thresholded(Gaussian):
    """Rounded normal noise on counts by key; only the counts that reach a threshold are released: Proposition 5.

    The cost is Gaussian noise's, and delta on top, in both accountants.
    """

    delta: float

    def __post_init__(self) -> None:
        super().__post_init__()
        check_positive(delta=self.delta)


@dataclass(frozen=True)
class Selection(Event):
    """`count` draws of the exponential mechanism, each at `eps`: Pr proportional to exp(eps * score / (2 sensitivity)).

    rho = count * eps^2 / 8, because the privacy loss of each has range eps: Proposition 6.

    Raises:
        ValueError: A number is not positive and finite.
    """

    eps: float
    count: int = 1

    def __post_init__(self) -> None:
        check_positive(eps=self.eps, count=self.count)

    @property
    def cost(self) -> Fraction:
        """The exact rho of the event under zCDP."""
        return self.count * Fraction(self.eps) ** 2 / 8

    @property
    def epsilon(self) -> float:
        """The epsilon of all `count` draws together, which satisfy (eps * count)-DP."""
        return self.eps * self.count


def delta_of(event: Event) -> Fraction:
    """Return the probability with which the guarantee of an event may fail: its field `delta`, or 0 without one."""
    return Fraction(getattr(event, "delta", 0))


def check_positive(**values: float) -> None:
    """Check that all values are positive and finite.

    Args:
        values: The numbers, by the name that the message shows.

    Raises:
        ValueError: A value is not.
    """
    for name, value in values.items():
        if not 0 < value < math.inf:
            raise ValueError(f"{name} must be a positive number")
