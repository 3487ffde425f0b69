"""The privacy meter: a filter that adds exact costs and refuses what would exceed the sealed budget.

Mechanisms may choose every cost adaptively, as long as the sum stays within a bound fixed beforehand (Proposition 17).

Floating point. Costs are added as whole multiples of 2^-256, each rounded up, and the sealed rho is rounded down, so that the meter
never allows more than it. What it *advertises* (`rho_total`, `rho_left`) is smaller than the sealed budget by a relative 2^-30: a
mechanism that computes a noise level from `rho_left` in floats and so misses it by a few units in the last place is still served.

Delta. Some steps keep their promise except with a small probability. Those probabilities add up too, exactly, to a sealed `delta`, which is
0 unless a budget sets some aside (Proposition 16).

Parts. `part(rho)` is a meter of its own for a stage of the work: it seals the stage's share, and everything it charges is charged here
too, so that a stage can overspend neither its share nor the whole. A stage that holds a part cannot reach the shares of others.
"""

from __future__ import annotations

import math
from fractions import Fraction

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy.accountant import ZCDP, Accountant
from dpsynth_core.privacy.events import Event, delta_of

_UNIT = 2**256
"""Costs are counted in units of 2^-256."""
_HEADROOM = Fraction(1, 2**30)


class Meter:
    """A counter of spent rho and delta that refuses charges beyond its budget.

    Args:
        rho: The budget.
        within: The meter that this one is a part of, which every charge is charged to as well.
        delta: Largest sum of the deltas of events.
        accountant: The accountant that turns events into rho.

    Raises:
        ValueError: rho is not positive, or delta no probability below 1.
    """

    def __init__(self, rho: float, within: Meter | None = None, delta: float = 0.0, accountant: Accountant = ZCDP) -> None:
        if not 0 < rho < math.inf or not 0 <= delta < 1:
            raise ValueError("rho must be a positive number, delta a probability below 1")
        self._delta, self._delta_spent = Fraction(delta), Fraction(0)
        self._sealed = math.floor(Fraction(rho) * _UNIT)
        self._advertised = math.floor(Fraction(rho) * (1 - _HEADROOM) * _UNIT)
        self._accountant = accountant
        self._within = within
        self._spent = 0
        self._events: list[Event] = []

    @property
    def events(self) -> tuple[Event, ...]:
        """The events of all charges so far, also of charges to parts, in order; () before the first."""
        return tuple(self._events)

    @property
    def rho_total(self) -> float:
        """The budget (rho) from which users of the meter compute their noise, a relative 2^-30 below the limit.

        `charge` refuses only what exceeds the limit itself, so noise that rounding made slightly dearer than
        planned is still charged.
        """
        return self._advertised / _UNIT

    @property
    def rho_spent(self) -> float:
        """The sum of the rho of all charges, also of charges to parts."""
        return self._spent / _UNIT

    @property
    def rho_left(self) -> float:
        """The part of `rho_total` that is left, at least 0."""
        return max(0, self._advertised - self._spent) / _UNIT

    @property
    def delta_total(self) -> float:
        """The delta that events may add up to, as users of the meter see it: slightly below the sealed one."""
        return float(self._delta * (1 - _HEADROOM))

    @property
    def selection_price(self) -> float:
        """The rho of one selection at eps = 1; at another eps, eps^2 times that."""
        return float(self._accountant.price)

    def part(self, rho: float) -> Meter:
        """Return a meter for one stage, with a budget of `rho` within this one and all of this one's delta.

        Its charges are charged here too. No rho is reserved: other charges may use up this meter
        first.

        Args:
            rho: Budget of the stage.

        Raises:
            ValueError: rho is not positive.
        """
        return Meter(rho, within=self, delta=float(self._delta), accountant=self._accountant)

    def charge(self, event: Event) -> None:
        """Charge an event: its rho and, if it has one, its delta.

        Raises:
            BudgetExceeded: This budget or the containing one does not suffice; nothing is charged.
            ValueError: The accountant cannot account for this kind of event.
        """
        price = self._accountant.cost(event)
        cost = math.ceil(price * _UNIT)
        if self._spent + cost > self._sealed:
            raise BudgetExceeded(f"this step would cost rho = {float(price):.6g}, but {self.rho_left:.6g} of {self.rho_total:.6g} is left")
        delta = delta_of(event)
        if self._delta_spent + delta > self._delta:
            raise BudgetExceeded(f"this step would cost delta = {float(delta):.6g} on its own, which was not set aside for it")
        if self._within is not None:
            self._within.charge(event)
        self._spent += cost
        self._delta_spent += delta
        self._events.append(event)
