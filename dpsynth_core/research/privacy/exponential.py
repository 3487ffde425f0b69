"""The exponential mechanism over groups of queries with equal scores: the same distribution as over single queries, computing none.

A query of score s, in whole steps, is to be drawn with probability proportional to exp(s / b). Two noisy maxima and one uniform draw do
that. Groups are laid side by side in buckets. A group of n queries has the value v = s + round(b ln n), a bucket the value
V = round(b ln(sum of exp(v / b))). The noisy max of scale b (`Noise.noisy_max`, exact) draws a bucket by its value, then one of
its groups by theirs; then one of the group's queries is drawn, all alike.

*Proposition.* The query drawn has probability proportional to exp((s + d) / b) with |d| <= 2 steps, where d depends on the table and the
query alone. If a person changes every score by at most `change` steps, then each draw with b >= 2 (change + 4) / eps is an exponential
mechanism at eps: its privacy loss has a range of eps and it is eps^2/8-zCDP (Cesar and Rogers 2021, Lemma 3.4).

*Proof.* Given the bucket, its groups have probabilities exp(v / b) / Z exactly, where Z sums exp(v / b) over the bucket. So the query has
probability exp(V / b) / W * exp(v / b) / Z * 1/n, where W sums over buckets, and that is exp((s + d) / b) / W with
d = (v - s - b ln n) + (V - b ln Z). Neither is a random quantity: both follow from the groups, which follow from the table. Rounding to
whole numbers moves each by 1/2, and floating point by less than another 1/2: b <= 2^40, a bucket has 2^11 groups at most and a group
2^40 queries, so that b ln n < 2^45 and b ln(Z) minus the largest v are computed to a relative 2^-52 and an absolute 2^40 (2^11 + 8) 2^-53.
For two neighbouring tables s differs by at most `change` and d by at most 4, so s + d is a score of sensitivity change + 4 at most, and
drawing in proportion to exp(eps * score / (2 sensitivity)), or less sharply, is the mechanism that the Lemma is about. QED

That group sizes and buckets depend on the table is therefore no leak: they only help to compute d. The four steps cost a relative
4 / COUNT_STEPS = 0.02 % of accuracy. Draws without replacement are a composition: each is this mechanism over what is left, which the
draws before it have revealed.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Noise
from dpsynth_core.research.privacy.groups import Integers, ScoreGroups

SLACK = 4
"""Steps by which rounding may add to what one person changes a score by; see the Proposition."""
_LARGEST_SCALE = 2.0**40
_WIDEST = 2**11


def scale(eps: float, rows: int) -> float:
    """b for scores of which one person changes none by more than `rows` people, in steps. ValueError for an eps that is out of range."""
    if not 0 < eps < math.inf:
        raise ValueError("eps must be a positive number")
    b = math.nextafter(2 * (rows * COUNT_STEPS + SLACK) / eps, math.inf)
    if b > _LARGEST_SCALE:
        raise ValueError("eps is too small for exact scores")
    return b


def signed(groups: ScoreGroups, count: int, b: float, noise: Noise) -> tuple[Integers, NDArray[np.int8]]:
    """`count` independent draws over queries and their negations, whose scores are the opposite. Numbers and signs, in order of drawing."""
    draws = Draws(np.concatenate([groups.scores, -groups.scores]), np.tile(groups.sizes, 2), b, noise)
    drawn = [draws.draw() for _ in range(count)]
    half = len(groups.scores)
    numbers = [groups.member(group % half, place) for group, place in drawn]
    return np.array(numbers, dtype=np.int64), np.array([1 if group < half else -1 for group, _ in drawn], dtype=np.int8)


def worst(groups: ScoreGroups, count: int, b: float, noise: Noise) -> Integers:
    """`count` different queries, drawn one after the other by the size of their scores. There must be so many. In order of drawing."""
    draws = Draws(np.abs(groups.scores), groups.sizes, b, noise)
    return np.array([groups.member(*draws.draw_and_remove()) for _ in range(count)], dtype=np.int64)


class Draws:
    """Draws places among groups of given scores (steps) and sizes, (group, place within it), in proportion to exp(score / b)."""

    def __init__(self, scores: Integers, sizes: Integers, b: float, noise: Noise) -> None:
        self._scores, self._sizes, self._b, self._noise = scores, sizes.copy(), b, noise
        self._removed: dict[int, list[int]] = {}
        self._values = scores + _times_log(b, sizes)
        self._width = min(_WIDEST, math.isqrt(len(scores) - 1) + 1)
        starts = np.arange(0, len(scores), self._width)
        tops = np.maximum.reduceat(self._values, starts)
        gaps = self._values - np.repeat(tops, np.diff(np.append(starts, len(scores))))
        self._buckets = tops + _times_log(b, np.add.reduceat(np.exp(gaps / b), starts))

    def draw(self) -> tuple[int, int]:
        """One draw, with replacement."""
        group = self._group()
        place = self._noise.uniform(int(self._sizes[group]))
        for before in self._removed.get(group, ()):
            place += place >= before
        return group, place

    def draw_and_remove(self) -> tuple[int, int]:
        """One draw of what has not been removed yet. There must be something left."""
        group, place = self.draw()
        self._removed[group] = sorted([*self._removed.get(group, ()), place])
        self._sizes[group] -= 1
        self._revalue(group)
        return group, place

    def _group(self) -> int:
        bucket = self._noisy_max(self._buckets, np.flatnonzero(self._buckets > _NEVER))
        groups = np.arange(bucket * self._width, min((bucket + 1) * self._width, len(self._values)))
        return self._noisy_max(self._values, groups[self._sizes[groups] > 0])

    def _noisy_max(self, values: Integers, among: Integers) -> int:
        return int(among[self._noise.noisy_max(values[among], self._b)])

    def _revalue(self, group: int) -> None:
        """Compute a group's value and that of its bucket anew."""
        start = group // self._width * self._width
        bucket = slice(start, start + self._width)
        left = self._sizes[bucket] > 0
        if left.any():
            values = self._scores[bucket][left] + _times_log(self._b, self._sizes[bucket][left])
            self._values[bucket][left] = values
            sums = np.exp((values - values.max()) / self._b).sum(keepdims=True)
            self._buckets[start // self._width] = values.max() + _times_log(self._b, sums)[0]
        else:
            self._buckets[start // self._width] = _NEVER


_NEVER = -(2**62)
"""The value of a bucket with nothing left in it; values of others are far above."""


def _times_log(b: float, positive: NDArray[np.int64] | NDArray[np.float64]) -> Integers:
    return np.rint(b * np.log(positive)).astype(np.int64)
