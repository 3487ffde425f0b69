"""Conclusions from how often an attack works: nothing seen, seen and allowed by epsilon, or more than epsilon allows.

An attack that works with probability b on a person who does not take part works with probability T(b) at most if they do, with T the
trade-off curve of the run (`privacy.meaning.power`). T is concave, so the same holds for means over people. Two tests compare the shares
that were seen: one with equal shares, one with T. Both take for granted that the two groups differ by who took part alone, and that the
attack works on each person independently of others once the rows are given. Their levels hold under these assumptions.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.typing import NDArray

Float = NDArray[np.float64]
Ceiling = Callable[[Float], Float]
"""Largest share of people on whom an attack works who take part, by the share of the others."""

NOTHING, ALLOWED, ABOVE = "nothing seen", "seen, and allowed by epsilon", "more than epsilon allows"
FALSE_ALARM = 0.001
"""Probability of a false outcome, over all attacks of a comparison: "seen" where chance alone is at work, ABOVE where epsilon is kept."""
CONFIDENCE = 0.95
_RATES = 33
"""Shares of others that are tried within their confidence interval."""
_TAIL = 1e-12
"""Probability of numbers of people that are left out of a sum, which is added to the result."""


@dataclass(frozen=True)
class Count:
    """The number of people on whom an attack worked.

    Attributes:
        hits: People on whom it worked.
        people: People on whom it was tried, 1 or more.
    """

    hits: int
    people: int

    @property
    def share(self) -> float:
        """The share of the people on whom it worked."""
        return self.hits / self.people


def outcome(inside: Count, outside: Count, ceiling: Ceiling, attacks: int) -> str:
    """Return NOTHING, ALLOWED or ABOVE.

    NOTHING is a difference that chance may make, ALLOWED one that chance hardly makes and epsilon allows, and
    ABOVE one that epsilon does not allow.

    Args:
        inside: People of the table.
        outside: People who did not take part.
        ceiling: What epsilon allows.
        attacks: Number of attacks in the comparison; together they give a false outcome with probability 0.001 at
            most (`FALSE_ALARM`).
    """
    level = FALSE_ALARM / attacks
    if excess(inside, outside, ceiling, level / 10) <= level:
        return ABOVE
    return ALLOWED if difference_by_chance(inside, outside) <= level else NOTHING


def difference_by_chance(inside: Count, outside: Count) -> float:
    """Return Fisher's two-sided p-value that the attack works equally often on both groups."""
    table = [[one.hits, one.people - one.hits] for one in (inside, outside)]
    return float(scipy.stats.fisher_exact(table).pvalue)


def excess(inside: Count, outside: Count, ceiling: Ceiling, left: float) -> float:
    """Return a p-value that the attack works on people of the table as often as the ceiling allows, or more rarely.

    The share of others is unknown. So 33 shares (`_RATES`) in its Clopper-Pearson interval of confidence 1 - `left` are tried. For each the
    exact probability is computed that the numbers are at least as far above the ceiling as those seen. The largest of these probabilities
    plus `left` is a p-value (Berger and Boos 1994). The distance from the ceiling is measured along its slope at that share.

    Args:
        inside: People of the table.
        outside: People who did not take part.
        ceiling: What epsilon allows.
        left: Probability that the interval misses the share.

    Returns:
        The p-value, from `left` to 1; 1 if the share seen inside is not above the ceiling.
    """
    if inside.share <= ceiling(np.array([outside.share]))[0]:
        return 1.0
    low, high = interval(outside, 1 - left)
    rates = np.linspace(low, high, _RATES)
    step = np.maximum(1, np.sqrt(rates * (1 - rates) * outside.people)) / outside.people
    both = np.concatenate([rates, np.minimum(1.0, rates + step)])
    most, ends = np.split(np.minimum(1.0, np.maximum(both, ceiling(both))), 2)
    slopes = (ends - most) / step
    found = max(_probability(inside, outside, *one) for one in zip(rates.tolist(), most.tolist(), slopes.tolist(), strict=True))
    return min(1.0, found + left)


def _probability(inside: Count, outside: Count, rate: float, most: float, slope: float) -> float:
    """Return the probability of numbers X and Y with X / n - slope Y / m as large as seen, for shares `most` and `rate`."""
    n, m = inside.people, outside.people
    binomial = scipy.stats.binom
    others = np.arange(binomial.ppf(_TAIL, m, rate), binomial.isf(_TAIL, m, rate) + 1)
    needed = np.ceil(n * (inside.share + slope * (others - outside.hits) / m) - 1e-9)
    return float((binomial.pmf(others, m, rate) * binomial.sf(needed - 1, n, most)).sum()) + 2 * _TAIL


def interval(count: Count, confidence: float = CONFIDENCE) -> tuple[float, float]:
    """Return the two ends of the Clopper-Pearson interval of a share, from 0 to 1."""
    tail = (1 - confidence) / 2
    hits, misses = count.hits, count.people - count.hits
    low = float(scipy.special.betaincinv(hits, misses + 1, tail)) if hits else 0.0
    high = float(scipy.special.betaincinv(hits + 1, misses, 1 - tail)) if misses else 1.0
    return low, high


def difference(inside: Count, outside: Count) -> tuple[float, float]:
    """Return the two ends of an interval of the share inside minus that outside, of confidence 95 %.

    It is Newcombe's interval (1998), made of two Clopper-Pearson intervals. With these in place of his it is
    wider, and holds at least as often.
    """
    (low, high), (lowest, highest), gap = interval(inside), interval(outside), inside.share - outside.share
    below = np.hypot(inside.share - low, highest - outside.share)
    above = np.hypot(high - inside.share, outside.share - lowest)
    return float(gap - below), float(gap + above)
