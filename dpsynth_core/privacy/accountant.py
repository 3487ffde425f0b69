"""Accountants: the costs of operations, and the conversion of their sum to (epsilon, delta). `meaning` says what a guarantee means.

The currency of both accountants is rho. Gaussian noise of sigma on answers of L2 sensitivity l2 costs l2^2 / (2 sigma^2), and costs add up,
chosen adaptively as long as their sum stays within a bound fixed beforehand (Proposition 17).

`ZCDP`: rho-zCDP. Its conversion to (epsilon, delta) holds for everything that satisfies zCDP, and is therefore loose for Gaussian noise.
`GDP`: mu-GDP with mu^2 = 2 rho (Dong, Roth and Su 2022), whose conversion is exact for Gaussian noise: at epsilon 1 and delta 1e-9 rho is
larger by a factor of 1.106. Every other operation costs pi/2 times as much as under zCDP (Proposition 6), and a 1024th of delta is reserved
because noise is in whole numbers (Proposition 8). GDP suits mechanisms that spend nearly all of their budget on Gaussian noise. Where it
does not cover a budget, zCDP is in force. Runs of both add up under zCDP, within delta and not 2 delta (Proposition 18).
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from fractions import Fraction
from functools import lru_cache
from typing import ClassVar

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.privacy import conversions, lattice
from dpsynth_core.privacy.events import Event, Gaussian, delta_of

RUNS = 2**10
"""Largest number of runs that can be added up under GDP."""
DISTANCE = RUNS * lattice.DISTANCE
"""Total variation between all noise of RUNS runs and continuous noise."""
_KEPT = 2.0**-10
"""Share of delta that pays for the distance from continuous noise."""


class Accountant(ABC):
    """An accountant: the rho that operations cost, and the conversion of a sum of rho to (epsilon, delta).

    Attributes:
        name: Name in releases.
        price: rho of one selection (exponential mechanism) at eps = 1, never rounded down; at
            another eps it costs eps^2 times that.
    """

    name: ClassVar[str]
    price: ClassVar[Fraction]

    def __repr__(self) -> str:
        return self.name

    def __reduce__(self) -> tuple[Callable[[str], Accountant], tuple[str]]:
        """Pickle and copy the name, because callers compare accountants by identity."""
        return named, (self.name,)

    def cost(self, event: Event) -> Fraction:
        """Return the rho of an operation under this accountant, as an exact fraction.

        Raises:
            ValueError: The accountant cannot account for this kind of event.
        """
        return event.cost if isinstance(event, Gaussian) else event.cost * self.price * 8

    @abstractmethod
    def covers(self, epsilon: float, delta: float) -> bool:
        """Return whether the accountant's own conversion is proved for this (epsilon, delta): always under zCDP.

        Where it is not, `rho_from` and `epsilon_from` of GDP convert as zCDP does.
        """

    @abstractmethod
    def rho_from(self, epsilon: float, delta: float) -> float:
        """Return the largest known rho that implies (epsilon, delta)-DP: the budget of a kernel, rounded down.

        Raises:
            ValueError: epsilon is not positive, or delta not between 0 and 1.
        """

    @abstractmethod
    def epsilon_from(self, rho: float, delta: float) -> float:
        """Return the smallest known epsilon such that rho under this accountant implies (epsilon, delta)-DP, rounded up.

        Raises:
            ValueError: rho is not positive, or delta not between 0 and 1.
        """


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
    """355/113 exceeds pi by less than a ten-millionth part."""

    def cost(self, event: Event) -> Fraction:
        """Return the exact rho of an operation under GDP.

        Raises:
            ValueError: The event has a delta of its own, costs rho and is not Gaussian noise (`events`).
        """
        if delta_of(event) and event.cost and not isinstance(event, Gaussian):
            raise ValueError(f"a {type(event).__name__} is not accounted under GDP")
        return super().cost(event)

    def covers(self, epsilon: float, delta: float) -> bool:
        """Return whether delta is large enough to pay for the distance from continuous noise.

        That is (1 + e^epsilon) * DISTANCE; it may take up half of the reserved share of delta
        (`_KEPT`), so that rounding here does not matter.
        """
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
    """Return the accountant with this name in releases.

    Raises:
        InputError: The name is unknown.
    """
    if name not in _KNOWN:
        raise InputError("budget.accountant", f"{name[:40]!r} is unknown", f"use one of {', '.join(_KNOWN)}")
    return _KNOWN[name]


def in_force(wanted: Accountant, epsilon: float, delta: float) -> Accountant:
    """Return the accountant of a run: `wanted`, or zCDP if `wanted` does not cover the budget (`Accountant.covers`)."""
    return wanted if wanted.covers(epsilon, delta) else ZCDP


def common(accountants: list[Accountant]) -> Accountant:
    """Return the accountant under which the costs of several runs may be added up.

    It is GDP if all runs are accounted by GDP and there are at most `RUNS`, and also without any run;
    otherwise zCDP, which holds for both kinds of runs (Proposition 18).
    """
    return GDP if all(accountant is GDP for accountant in accountants) and len(accountants) <= RUNS else ZCDP


def mu_of(rho: float) -> float:
    """Return the mu of mu-GDP that corresponds to rho, sqrt(2 rho), rounded up."""
    return math.nextafter(math.sqrt(2 * rho), math.inf)


@lru_cache(maxsize=4096)
def _rho_from(epsilon: float, delta: float) -> float:
    mu = conversions.gdp_mu_from(epsilon, delta * (1 - _KEPT))
    return math.nextafter(mu * mu / 2, 0.0)


@lru_cache(maxsize=4096)
def _epsilon_from(rho: float, delta: float) -> float:
    return conversions.gdp_epsilon_from(mu_of(rho), delta * (1 - _KEPT))
