"""How many records there are, as far as a release knows: exact where it is public, an estimate with a known noise elsewhere.

Errors are published as fractions of the records, so that every bound depends on this number. With p a published marginal as
fractions, N the number of records and T its estimate, a bound b on ||M_r(D) - T p||_1 is measured or proved; what is stated is a bound on
e = ||M_r(D) / N - p||_1. As ||(T - N) p||_1 = |T - N| * ||p||_1,

    N e <= b + |T - N| * ||p||_1,    and    N >= T - |T - N|.

Where the number of records is public, T = N and both are equalities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.statistics.quantiles import normal
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement
from dpsynth_core.vocabulary.released import combined

_TOTAL_BUDGET = 0.1
"""Share of a budget that measures the number of records where nothing else does."""


@dataclass(frozen=True)
class Total:
    """value: T, a released or public number. sigma: standard deviation of its noise; 0 where it is exact."""

    value: float
    sigma: float

    def doubt(self, confidence: float) -> float:
        """How far N may be from T, in records, with this confidence; 0 where T is exact."""
        return normal((1 + confidence) / 2) * self.sigma if self.sigma else 0.0

    def at_least(self, confidence: float) -> float:
        """A lower bound of N with this confidence; never above T, and below 0 where T says nothing."""
        return self.value - normal(confidence) * self.sigma if self.sigma else self.value


def known_total(measurements: Sequence[Measurement], public: float | None) -> Total | None:
    """The public number where there is one, else the estimate that the measurements give; None where there are none.

    The estimate is the minimum-variance combination of the totals of the noisy marginals, each of variance n_r deviation^2. Which marginals
    a mechanism measures may depend on earlier noise; the weights then do too, and "normal with this deviation" is exact for what was
    planned beforehand and an approximation for the whole (coverage is tested).
    """
    if public is not None:
        return Total(public, 0.0)
    counted = combined(measurements, ())
    return None if counted is None else Total(max(1.0, float(counted.values)), counted.deviation)


def measured_total(kernel: Kernel) -> Total:
    """The number of records, measured now with a tenth of what the kernel has left, or read where it is public; marginal_l2 is at least
    the sensitivity of the total."""
    if kernel.unit.total_is_public:
        return Total(kernel.measure_total(1.0), 0.0)
    sigma = kernel.unit.marginal_l2 / math.sqrt(2 * _TOTAL_BUDGET * kernel.rho_left)
    return Total(max(1.0, kernel.measure_total(sigma)), math.sqrt(sigma**2 + ROUNDING))
