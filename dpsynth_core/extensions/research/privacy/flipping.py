"""Permute-and-flip (McKenna and Sheldon 2020) over groups of queries with equal scores, exactly and without touching each query.

Queries are visited in random order; a query of score s, in whole steps, is released with probability exp(-(best - s) / b), else the next
query is visited. Equivalently, every query has a coin of its own, and one of the queries with heads is released, each equally likely.
A query's coin shows heads if its uniform number from [0, 1) is below exp(-gap / b), gap = best - s. Numbers are drawn digit by digit:
- A number below exp(-gap / b) <= 2^-m begins with m binary zeros. Tossing fair coins for all queries of a group, then for those that are
  left, m times, counts the queries with such numbers. The others are done with.
- One of the remaining queries is taken at random, and more of its digits are drawn until it is clear on which side of exp(-gap / b) its
  number is; if it is not below, the next query is taken. As m is nearly as large as possible, two or three are enough on average.
Queries of a group are alike until one is released, which is then drawn among them. Only b is rounded, upwards.

With b >= 2 change / eps the query is eps-differentially private (Proposition 10).
"""

from __future__ import annotations

import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

import numpy as np

from dpsynth_core.extensions.research.privacy.groups import ScoreGroups
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Noise

_PER_NAT = 1.4426
"""Binary zeros per unit of gap / b: a little less than 1 / ln 2, so that 2^-m stays above exp(-gap / b) when floats round."""
_DIGITS = 32
_LARGEST_SCALE = 2**40


def scale(eps: float, rows: int) -> int:
    """Return b, the scale of permute-and-flip at `eps`, in whole steps of 1/COUNT_STEPS of a person.

    Args:
        eps: Parameter of the selection.
        rows: Largest change of a score by one unit of privacy, in people.

    Raises:
        ValueError: eps is not positive and finite, or too small for exact scores.
    """
    if not 0 < eps < math.inf:
        raise ValueError("eps must be a positive number")
    b = math.ceil(2 * rows * COUNT_STEPS / Fraction(eps))
    if b > _LARGEST_SCALE:
        raise ValueError("eps is too small for exact scores")
    return b


def worst(groups: ScoreGroups, b: int, noise: Noise) -> int:
    """Select one query by permute-and-flip with score |score of its group|, and return its number in the class.

    Args:
        groups: The queries in groups of equal score, with at least one query.
        b: Scale of the selection, in steps (`scale`).
        noise: The source of randomness.
    """
    scores = np.abs(groups.scores)
    gaps = scores.max() - scores
    zeros = np.floor(gaps * (_PER_NAT / b)).astype(np.int64)
    left, drawn, tossing = groups.sizes.copy(), 0, np.flatnonzero(zeros)
    while len(tossing):  # those whose numbers begin with so many binary zeros survive
        left[tossing], drawn = noise.halved(left[tossing]), drawn + 1
        tossing = tossing[(left[tossing] > 0) & (zeros[tossing] > drawn)]
    while True:  # a query of the largest score survives, and shows heads
        group = int(np.searchsorted(np.cumsum(left), noise.uniform(int(left.sum())), side="right"))
        if is_below(Fraction(int(gaps[group]), b), int(zeros[group]), noise):
            return groups.member(group, noise.uniform(int(groups.sizes[group])))
        left[group] -= 1


def is_below(x: Fraction, zeros: int, noise: Noise) -> bool:
    """Draw whether a uniform number from [0, 1) is below exp(-x), given how its binary digits begin.

    The result is True with probability 2^zeros * exp(-x).

    Args:
        x: A number >= 0 with exp(-x) <= 2^-zeros.
        zeros: Number of binary zeros with which the number is known to begin.
        noise: The source of randomness.
    """
    number, digits = 0, zeros
    while True:
        number, digits = (number << _DIGITS) + noise.uniform(2**_DIGITS), digits + _DIGITS
        least, most = _exp_between(x, digits - zeros)
        if number + 1 <= least * 2**digits:
            return True
        if number >= most * 2**digits:
            return False


def _exp_between(x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Return a lower and an upper bound of exp(-x), which differ by about 2^-bits of its value.

    `Decimal.exp` is rounded correctly; one step outwards makes the bounds safe.
    """
    precision = 10 + bits * 3 // 10 + len(str(x.numerator // x.denominator))
    up, down = (Context(precision, rounding, MIN_EMIN, MAX_EMAX) for rounding in (ROUND_CEILING, ROUND_FLOOR))
    numerator, denominator = Decimal(x.numerator), Decimal(x.denominator)
    least = up.divide(numerator, denominator).copy_negate().exp(up).next_minus(up)
    most = down.divide(numerator, denominator).copy_negate().exp(up).next_plus(up)
    return max(Fraction(0), Fraction(least)), Fraction(most)
