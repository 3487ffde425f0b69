"""Confidence bounds on an error that was measured with noise beside an uncertain number of people. Pure numerics.

Each bound holds with `CONFIDENCE`, for itself. So an outcome is wrong with a probability of 5 % at most: the true error is either within
the limit or above it, and only one of the two bounds can then lead to the wrong one.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace

import scipy

from dpsynth_core.privacy.scores import SUM_STEPS
from dpsynth_core.statistics.intervals import CONFIDENCE, LUCKY, Interval, Noisy, fraction

_NEXT_TO_NOTHING = 1e-4


@dataclass(frozen=True)
class Ratio:
    """A noisy difference of two sums over people, divided by the noisy number of people.

    Attributes:
        difference: The measured difference, in steps of `scale`.
        people: The measured number of people, above 0.
        scale: Value of one step of the difference.
    """

    difference: Noisy
    people: Noisy
    scale: float = 1.0

    @property
    def rounding(self) -> float:
        """The largest change of `value` that rounding to SUM_STEPS steps per person can cause."""
        return self.scale / SUM_STEPS

    @property
    def value(self) -> float:
        """The measured ratio: the difference, times `scale`, divided by the number of people."""
        return self.scale * self.difference.value / self.people.value

    def at_most(self) -> float:
        """Return the upper confidence bound (95%) of |difference| / people; infinite if the number of people does not exceed its noise.

        With d the difference and b the people, it is the t at which |d| - t b is 1.645 of its standard deviations below 0
        (Fieller 1954). For the true t, d - t b is normal around 0 with the variance used here, so the bound is exact.
        """
        _, most = fraction(replace(self.difference, value=abs(self.difference.value)), self.people, float(scipy.special.ndtri(CONFIDENCE)))
        return self.scale * most

    def deviation(self, limit: float) -> float:
        """Return the standard deviation of `value` due to noise, if the true ratio is `limit`."""
        own = self.scale * self.difference.sigma
        return math.hypot(own, limit * self.people.sigma) / self.people.value


def absolute(parts: Sequence[Ratio]) -> Interval:
    """Return the error |sum of the ratios in `parts`|, with a lower and an upper 95 % bound.

    Each bound holds by itself, exact to first order in the noise of the numbers of people.

    The upper bound t follows the CLs rule (`statistics.naming`). Let x be the measured error. A
    true error of t yields a measurement of x or less with a twentieth of the probability that a
    true error of 0 does. So the bound fails in at most 5 % of cases, and it is never below 2.45
    standard deviations of the noise: no lucky draw of the noise makes it smaller.

    If a number of people does not exceed its noise, nothing is known: the error is NaN and the
    bounds are 0 and infinity.
    """
    limits = [part.at_most() for part in parts]
    if not all(map(math.isfinite, limits)):
        return Interval(math.nan, 0.0, math.inf)
    error = abs(math.fsum(part.value for part in parts))
    deviation = math.hypot(*(part.deviation(limit) for part, limit in zip(parts, limits, strict=True)))
    rounding = math.fsum(part.rounding for part in parts)
    at_least = deviation * _least_size(error / deviation) if deviation else error
    at_most = deviation * _largest_size(error / deviation) if deviation else error
    return Interval(error, max(0.0, at_least - rounding), at_most + rounding)


def _largest_size(measured: float) -> float:
    """Return the upper CLs bound of the mean |t| of a normal number with deviation 1 that was measured as `measured`.

    It is the t for which a normal number around t with deviation 1 is as near 0 as `measured`, or nearer, with 1 - `CONFIDENCE` times the
    probability that a normal number around 0 has.
    """
    if measured < _NEXT_TO_NOTHING:
        return LUCKY

    def beyond(t: float) -> float:
        within = scipy.special.ndtr(measured - t) - scipy.special.ndtr(-measured - t)
        return float(within - (1 - CONFIDENCE) * (2 * scipy.special.ndtr(measured) - 1))

    from scipy.optimize import brentq  # a quarter of a second, which reading a spec need not wait for

    return float(brentq(beyond, measured, measured + LUCKY + 1))


def _least_size(measured: float) -> float:
    """Return the lower bound of the mean |t| of a normal number with deviation 1 that was measured as `measured`.

    It is the smallest t for which a normal number around t with deviation 1 is as far from 0 as `measured` with probability 1 -
    `CONFIDENCE`. Noise of either sign makes a t near 0 look large; a t far from 0 looks large by noise of its own sign alone.
    """

    def beyond(t: float) -> float:
        return float(scipy.special.ndtr(t - measured) + scipy.special.ndtr(-t - measured)) - (1 - CONFIDENCE)

    from scipy.optimize import brentq  # a quarter of a second, which reading a spec need not wait for

    return float(brentq(beyond, 0.0, measured)) if beyond(0.0) < 0 else 0.0


def largest(distances: Sequence[float], sigma: float, people: Noisy, mass: float = 1.0) -> Interval:
    """Return the interval of the largest of k errors, in shares of people in a wrong cell, with two 95 % bounds.

    An error is half of a distance divided by the number of people. Let E be the largest distance as
    a share of the N people, T the number taken for N, g = T - N. Then L, the distance of what was
    published for T people, is within |g| mass of N E = T E - g E. So T E - L is normal noise and
    one of (E + mass) g and (E - mass) g: with half of the failure probability for either, it
    exceeds z times the deviation at E + mass only so often, and E is not above the larger root of
    (T E - L)^2 = z^2 (sigma^2 + (E + mass)^2 people.sigma^2). In the same way it is not below the
    smaller root.

    The upper bound needs no allowance for k: the worst table in truth is among the k, and is
    measured like any other. It fails as much more rarely as k tables without error would look as
    good as these (CLs, `statistics.naming`), so luck satisfies no limit. The lower bound needs an
    allowance, because the largest of k noises can be anywhere; the noises are independent beside g,
    so that all k stay below z at least as often as independent ones would (Slepian 1962).

    If the number of people does not exceed its noise, the error is NaN and the bounds are 0 and infinity.

    Args:
        distances: Measured L1 distances, in records, each with noise `sigma`; at least one.
        sigma: Standard deviation of the noise of a distance, in records.
        people: The measured number of people, by which published shares were multiplied.
        mass: Sum of the published shares; 1 for rows.
    """
    failure = (1 - CONFIDENCE) / (2 if people.sigma else 1)
    worst = max(distances)
    lucky = len(distances) * float(scipy.special.log_ndtr(worst / sigma))
    at_most = _root(worst, sigma, people, mass, -float(scipy.special.ndtri_exp(math.log(failure) + lucky)), 1)
    at_least = _root(worst, sigma, people, mass, float(scipy.special.ndtri((1 - failure) ** (1 / len(distances)))), -1)
    if not math.isfinite(at_most):
        return Interval(math.nan, 0.0, math.inf)
    return Interval(worst / (2 * people.value), max(0.0, at_least) / 2, min(1 + mass, at_most) / 2)


def _root(distance: float, sigma: float, people: Noisy, mass: float, z: float, which: int) -> float:
    """Return the larger (which = 1) or smaller (which = -1) root E of the equation in `largest`.

    The root is infinite if the number of people does not exceed its noise.
    """
    doubt = (z * people.sigma) ** 2
    a = people.value**2 - doubt
    if people.value <= 0 or a <= 0:
        return which * math.inf
    b, c = distance * people.value + doubt * mass, distance**2 - (z * sigma) ** 2 - doubt * mass**2
    return (b + which * math.sqrt(b**2 - a * c)) / a
