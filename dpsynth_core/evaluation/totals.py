"""How many records there are, as far as a release knows: exact where it is public, an estimate with a known noise elsewhere.

Errors are published as fractions of the records, so that every bound depends on this number. With p a published marginal as
fractions, N the number of records and T its estimate, a bound b on ||M_r(D) - T p||_1 is measured or proved; what is stated is a bound on
e = ||M_r(D) / N - p||_1. As ||(T - N) p||_1 = |T - N| * ||p||_1,

    N e <= b + |T - N| * ||p||_1,    and    N >= T - |T - N|.

Where the number of records is public, T = N and both are equalities.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from dpsynth_core.evaluation.quantiles import normal
from dpsynth_core.vocabulary.marginals import combined
from dpsynth_core.vocabulary.measurement import Measurement


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
