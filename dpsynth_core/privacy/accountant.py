"""Accountants: what operations cost, and how costs add up to (epsilon, delta). There are two. What that means is in `meaning`.

The currency of both is rho. Gaussian noise of sigma on answers of L2 sensitivity l2 costs l2^2 / (2 sigma^2), and costs add up, chosen
adaptively as long as their sum stays within a bound fixed beforehand (Proposition 17).

`ZCDP`: rho-zCDP. Its conversion to (epsilon, delta) has to hold for everything that satisfies zCDP, and so is loose for Gaussian noise.
`GDP`: mu-GDP with mu^2 = 2 rho (Dong, Roth and Su 2022), whose conversion is exact for Gaussian noise: at epsilon 1 and delta 1e-9 rho is
larger by a factor of 1.106. Everything else costs pi/2 times as much as under zCDP (Proposition 6), and a 1024th of delta is set aside
because noise is in whole numbers (Proposition 8). It is for mechanisms that spend nearly all on Gaussian noise. Where it does not cover a
budget, zCDP is in force. Runs of both add up under zCDP, within delta and not 2 delta (Proposition 18).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy import conversions, lattice
from dpsynth_core.privacy.events import Event, Gaussian, delta_of

RUNS = 2**10
"""The largest number of runs that may be added up under GDP."""
DISTANCE = RUNS * lattice.DISTANCE
"""How far all noise of as many runs is from continuous noise, in total variation."""
_KEPT = 2.0**-10
"""Share of delta that pays for the distance from continuous noise."""


class Accountant(ABC):
    """name: as releases state it. price: rho of one selection at eps = 1, never rounded down; at eps it is eps^2 times that."""

    name: ClassVar[str]
    price: ClassVar[Fraction]

    def __repr__(self) -> str:
        return self.name

    def cost(self, event: Event) -> Fraction:
        """rho of an operation. ValueError where it cannot be accounted in this way."""
        return event.cost if isinstance(event, Gaussian) else event.cost * self.price * 8

    @abstractmethod
    def covers(self, epsilon: float, delta: float) -> bool:
        """Whether it can account for a budget of this size."""

    @abstractmethod
    def rho_from(self, epsilon: float, delta: float) -> float:
        """Largest known rho that implies (epsilon, delta)-DP: the budget that a kernel is sealed with."""

    @abstractmethod
    def epsilon_from(self, rho: float, delta: float) -> float:
        """Smallest known epsilon such that rho implies (epsilon, delta)-DP."""


class _Zcdp(Accountant):
    name: ClassVar[str] = "zCDP"
    price: ClassVar[Fraction] = Fraction(1, 8)

    def covers(self, epsilon: float, delta: float) -> bool:  # noqa: ARG002
        return True

    def rho_from(self, epsilon: float, delta: float) -> float:
        return conversions.rho_from(epsilon, delta)

    def epsilon_from(self, rho: float, delta: float) -> float:
        return conversions.epsilon_from(rho, delta)


class _Gdp(Accountant):
    name: ClassVar[str] = "GDP"
    price: ClassVar[Fraction] = Fraction(355, 113) / 16
    """355/113 is above pi, by less than a ten-millionth of it."""

    def cost(self, event: Event) -> Fraction:
        """ValueError for a step that keeps its promise only up to a delta of its own, unless all of it but that is Gaussian noise
        (`thresholds`)."""
        if delta_of(event) and not isinstance(event, Gaussian):
            raise ValueError(f"a {type(event).__name__} is not accounted under GDP")
        return super().cost(event)

    def covers(self, epsilon: float, delta: float) -> bool:
        """(1 + e^epsilon) times the distance is at most half of what is kept of delta, so that rounding here does not matter."""
        return math.log1p(math.exp(-epsilon)) + epsilon + math.log(2 * DISTANCE / _KEPT) <= math.log(delta)

    def rho_from(self, epsilon: float, delta: float) -> float:
        return _rho_from(epsilon, delta) if self.covers(epsilon, delta) else conversions.rho_from(epsilon, delta)

    def epsilon_from(self, rho: float, delta: float) -> float:
        epsilon = _epsilon_from(rho, delta)
        return epsilon if self.covers(epsilon, delta) else conversions.epsilon_from(rho, delta)


ZCDP: Accountant = _Zcdp()
GDP: Accountant = _Gdp()
_KNOWN = {accountant.name: accountant for accountant in (ZCDP, GDP)}


def named(name: str) -> Accountant:
    """InputError for a name that is unknown."""
    if name not in _KNOWN:
        raise InputError("budget.accountant", f"{name[:40]!r} is unknown", f"use one of {', '.join(_KNOWN)}")
    return _KNOWN[name]


def in_force(wanted: Accountant, epsilon: float, delta: float) -> Accountant:
    """The accountant `wanted`, or zCDP where that does not cover the budget."""
    return wanted if wanted.covers(epsilon, delta) else ZCDP


def common(accountants: list[Accountant]) -> Accountant:
    """What runs with these accountants add up in: GDP if all have it and they are not too many, or else zCDP, which holds for all."""
    return GDP if all(accountant is GDP for accountant in accountants) and len(accountants) <= RUNS else ZCDP


def mu_of(rho: float) -> float:
    """sqrt(2 rho), not rounded down."""
    return math.nextafter(math.sqrt(2 * rho), math.inf)


@lru_cache(maxsize=4096)
def _rho_from(epsilon: float, delta: float) -> float:
    mu = conversions.gdp_mu_from(epsilon, delta * (1 - _KEPT))
    return math.nextafter(mu * mu / 2, 0.0)


@lru_cache(maxsize=4096)
def _epsilon_from(rho: float, delta: float) -> float:
    return conversions.gdp_epsilon_from(mu_of(rho), delta * (1 - _KEPT))
