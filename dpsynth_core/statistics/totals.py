"""The number of records as far as a release knows it: exact where it is public, otherwise an estimate with known noise.

Errors are published as fractions of the records, so that every bound depends on this number. With p a published marginal as fractions, N
the number of records and T its estimate, a bound b on ||M_r(D) - T p||_1 is measured or proved; what is stated is a bound on e = ||M_r(D) /
N - p||_1. As ||(T - N) p||_1 = |T - N| * ||p||_1,

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
"""Share of a budget that measures the number of records where no other measurement does."""


@dataclass(frozen=True)
class Total:
    """The number of records N, exact or estimated.

    Attributes:
        value: T, a released or public number.
        sigma: Standard deviation of the noise of T; 0 if T is exact.
    """

    value: float
    sigma: float

    def doubt(self, confidence: float) -> float:
        """Return the half width of the two-sided confidence interval of N around T, in records.

        It is 0 if T is exact.
        """
        return normal((1 + confidence) / 2) * self.sigma if self.sigma else 0.0

    def at_least(self, confidence: float) -> float:
        """Return a one-sided lower bound of N with this confidence.

        It is T if T is exact, never above T, and below 0 where the noise exceeds T.
        """
        return self.value - normal(confidence) * self.sigma if self.sigma else self.value


def known_total(measurements: Sequence[Measurement], public: float | None) -> Total | None:
    """Return the number of records: the public number if there is one, else an estimate from the measurements, else None.

    The estimate is the minimum-variance combination of the totals of the noisy marginals, each of variance n_r deviation^2, and at least 1.
    Which marginals a mechanism measures may depend on earlier noise, and the weights then do too: "normal with this deviation" is exact
    for planned measurements and an approximation for the whole (a test measures the coverage).

    Args:
        measurements: The noisy marginals.
        public: The number of records where it is public, else None.
    """
    if public is not None:
        return Total(public, 0.0)
    counted = combined(measurements, ())
    return None if counted is None else Total(max(1.0, float(counted.values)), counted.deviation)


def measured_total(kernel: Kernel) -> Total:
    """Return the number of records: exact if it is public, otherwise measured with noise, and at least 1.

    The measurement costs at most a tenth of the kernel's remaining budget (in rho): its noise is scaled to
    marginal_l2, which is at least the sensitivity of the total. A public number costs nothing.

    Args:
        kernel: The kernel, which is charged.
    """
    if kernel.unit.total_is_public:
        return Total(kernel.measure_total(1.0), 0.0)
    sigma = kernel.unit.marginal_l2 / math.sqrt(2 * _TOTAL_BUDGET * kernel.rho_left)
    return Total(max(1.0, kernel.measure_total(sigma)), math.sqrt(sigma**2 + ROUNDING))
