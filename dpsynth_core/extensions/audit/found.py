"""The trade-off curve of an audit: how well its best known test tells two neighbouring tables apart, beside the promised curve.

Unlike a finding (`evidence`), which contradicts a promise with a stated error probability, the curve is an estimate with a 95 % interval.
Intervals of rates are resampled, and hold less often with few draws: at a rate of 1 %, in 93 % of trials
with 750 held-out draws, and in 66 % with 75.
It says how much of the promise the audit's test uses up: a curve close to the promised one shows a tight audit and a tight account, a curve
far below it shows that the audit or the account is loose.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr, ndtri
from scipy.stats import rankdata

from dpsynth_core.extensions.audit.evidence import Accounted
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.accountant import GDP

Floats = NDArray[np.float64]

RATES = np.array([0.01, 0.05, 0.1, 0.2, 0.5])
"""False-positive rates at which a curve is stated."""
_TIMES, _SEED = 400, 0
"""Number of resamples for the interval of a rate, and their seed: the same draws give the same interval."""
_TWO_SIDED = 1.959964


@dataclass(frozen=True, eq=False)
class Found:
    """A trade-off curve that was found, with 95 % intervals, and the promised one. All rates are fractions.

    Attributes:
        rates: False-positive rates, shape (rates,).
        power: True-positive rate found at each false-positive rate, shape (rates,).
        low: Lower ends of the intervals of `power`, shape (rates,).
        high: Upper ends, shape (rates,).
        promised: Largest true-positive rate that the promise allows at each rate, shape (rates,).
        mu: The mu whose Gaussian trade-off curve has the area that was found; 0 means that the tables were not told apart.
        mu_low: Lower end of the interval of `mu`, which may be negative.
        mu_high: Upper end of the interval of `mu`.
        mu_charged: The mu of Gaussian noise that spends exactly the charge. Under GDP it is the promise, which `mu`
            cannot exceed but by chance.
        is_promise: Whether `mu_charged` is the promise, and not only a yardstick.
    """

    rates: Floats
    power: Floats
    low: Floats
    high: Floats
    promised: Floats
    mu: float
    mu_low: float
    mu_high: float
    mu_charged: float
    is_promise: bool

    @property
    def share(self) -> float:
        """The mu that was found, divided by the charged one; it may be negative."""
        return self.mu / self.mu_charged

    @classmethod
    def of(cls, claim: Accounted, without: Floats, with_person: Floats) -> Found:
        """Estimate the curve of the test that accuses answers with a high score.

        The same scores give the same intervals, whose resamples have a fixed seed.

        Args:
            claim: The promise.
            without: Scores of answers drawn without the person, at least one, independent of how the score was chosen.
            with_person: Scores of answers drawn with the person, at least one.
        """
        rng = np.random.default_rng(_SEED)
        tries = np.array([_power(rng.choice(without, len(without)), rng.choice(with_person, len(with_person))) for _ in range(_TIMES)])
        low, high = np.quantile(tries, [0.025, 0.975], axis=0)
        area, error = _area(without, with_person)
        mu, mu_low, mu_high = (_mu(value) for value in (area, area - _TWO_SIDED * error, area + _TWO_SIDED * error))
        promised = meaning.power(claim.accountant, claim.rho, RATES, claim.slack)
        charged, gdp = math.sqrt(2 * claim.rho), claim.accountant is GDP
        return cls(RATES, _power(without, with_person), low, high, promised, mu, mu_low, mu_high, charged, gdp)

    def lines(self) -> Iterator[str]:
        """Yield the curve as lines of text: one sentence on mu, then one line per false-positive rate."""
        charge = "promised" if self.is_promise else "that of Gaussian noise with the same charge"
        spread = f"{self.mu_low:.3f} to {self.mu_high:.3f}"
        yield f"  mu found {self.mu:.3f} ({spread}), {charge} {self.mu_charged:.3f}: {self.share:.2f} of it"
        yield "  of people who are in the table, a test that wrongly accuses so many of the others finds:"
        for rate, found, low, high, most in zip(self.rates, self.power, self.low, self.high, self.promised, strict=True):
            yield f"    {rate:4.0%} of others: {found:6.1%} ({low:.1%} to {high:.1%}), promised at most {most:.1%}"


def _power(without: Floats, with_person: Floats) -> Floats:
    """Return the true-positive rates at `RATES` of the test "the score is above a threshold", which flips a coin where scores are equal.

    The curve through the rates of all thresholds is interpolated, as a coin does it.
    """
    scores = np.unique(np.concatenate([without, with_person]))[::-1]
    low, high = np.sort(without), np.sort(with_person)
    fpr, tpr = ((len(side) - np.searchsorted(side, scores, side="left")) / len(side) for side in (low, high))
    fpr, tpr = np.append(0.0, fpr), np.append(0.0, tpr)
    last = np.append(fpr[1:] != fpr[:-1], True)  # of thresholds with one false-positive rate, the lowest accuses most people
    return np.interp(RATES, fpr[last], tpr[last])


def _area(without: Floats, with_person: Floats) -> tuple[float, float]:
    """Return the area under the curve and its standard error (DeLong, DeLong and Clarke-Pearson 1988)."""
    m, n = len(without), len(with_person)
    ranks = rankdata(np.concatenate([without, with_person]))
    below = (ranks[m:] - rankdata(with_person)) / m  # for each answer with the person, the share of the others with a lower score
    above = 1 - (ranks[:m] - rankdata(without)) / n
    variance = sum(side.var(ddof=1) / len(side) if len(side) > 1 else 0.25 for side in (below, above))
    return float(below.mean()), math.sqrt(variance)


def _mu(area: float) -> float:
    """Return the mu of the Gaussian curve with this area; an area of 1, or nearly, is read as 1 - 1e-6."""
    return float(math.sqrt(2) * ndtri(min(max(area, 1e-6), 1 - 1e-6)))


def gaussian_area(mu: float) -> float:
    """Return the area under mu-GDP's trade-off curve: the probability that a random member's score is above a random other's."""
    return float(ndtr(mu / math.sqrt(2)))
