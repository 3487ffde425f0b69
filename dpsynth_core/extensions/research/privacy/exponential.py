"""The exponential mechanism over groups of queries with equal scores: the same distribution as over single queries, computing none.

A query of score s, in whole steps, is to be drawn with probability proportional to exp(s / b). Two noisy maxima and one uniform draw do
that. Groups are laid side by side in buckets. A group of n queries has the value v = s + round(b ln n), a bucket the value
V = round(b ln(sum of exp(v / b))). The noisy max of scale b (`Noise.noisy_max`, exact) draws a bucket by its value, then one of
its groups by theirs; then one of the group's queries is drawn, all alike. Rounding moves a score by `SLACK` / 2 steps at most, so that
b >= 2 (change + SLACK) / eps is an exponential mechanism at eps (Proposition 9).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.research.privacy.groups import Integers, ScoreGroups
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.view import Noise

SLACK = 4
"""Steps that rounding may add to a person's change of a score: Proposition 9."""
_LARGEST_SCALE = 2.0**40
_WIDEST = 2**11


def scale(eps: float, rows: int) -> float:
    """Return b, the scale of a draw at `eps`, in steps of 1/COUNT_STEPS of a person.

    Args:
        eps: Parameter of the exponential mechanism.
        rows: Largest change of a score by one unit of privacy, in people.

    Raises:
        ValueError: eps is not positive and finite, or too small for exact scores.
    """
    if not 0 < eps < math.inf:
        raise ValueError("eps must be a positive number")
    b = math.nextafter(2 * (rows * COUNT_STEPS + SLACK) / eps, math.inf)
    if b > _LARGEST_SCALE:
        raise ValueError("eps is too small for exact scores")
    return b


def signed(groups: ScoreGroups, count: int, b: float, noise: Noise) -> tuple[Integers, NDArray[np.int8]]:
    """Draw `count` times, independently, among all queries and their negations, in proportion to exp(score / b).

    Args:
        groups: The queries in groups of equal score. A negation has the opposite score.
        count: Number of draws.
        b: Scale of the draw, in steps (`scale`).
        noise: The source of randomness.

    Returns:
        The numbers of the queries and their signs (-1 for a negation), in order of drawing, each of shape (count,).
    """
    draws = Draws(np.concatenate([groups.scores, -groups.scores]), np.tile(groups.sizes, 2), b, noise)
    drawn = [draws.draw() for _ in range(count)]
    half = len(groups.scores)
    numbers = [groups.member(group % half, place) for group, place in drawn]
    return np.array(numbers, dtype=np.int64), np.array([1 if group < half else -1 for group, _ in drawn], dtype=np.int8)


def worst(groups: ScoreGroups, count: int, b: float, noise: Noise) -> Integers:
    """Draw `count` different queries, one after the other, in proportion to exp(|score| / b).

    Args:
        groups: The queries in groups of equal score; there must be at least `count` queries.
        count: Number of draws.
        b: Scale of the draw, in steps (`scale`).
        noise: The source of randomness.

    Returns:
        The numbers of the queries, in order of drawing, shape (count,).
    """
    draws = Draws(np.abs(groups.scores), groups.sizes, b, noise)
    return np.array([groups.member(*draws.draw_and_remove()) for _ in range(count)], dtype=np.int64)


class Draws:
    """Draws of members of groups, each member in proportion to exp(score of its group / b).

    Args:
        scores: Score of each group, in whole steps; at least one group.
        sizes: Number of members of each group, at least 1.
        b: Scale of the draw, in steps.
        noise: The source of randomness.
    """

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
        """Draw a member, and return the index of its group and its place in the group, both counted from 0.

        Members that `draw_and_remove` removed are never drawn.
        """
        group = self._group()
        place = self._noise.uniform(int(self._sizes[group]))
        for before in self._removed.get(group, ()):
            place += place >= before
        return group, place

    def draw_and_remove(self) -> tuple[int, int]:
        """Draw a member, remove it from later draws, and return the index of its group and its place in the group, both from 0.

        At least one member must be left.
        """
        group, place = self.draw()
        self._removed[group] = sorted([*self._removed.get(group, ()), place])
        self._sizes[group] -= 1
        start = group // self._width * self._width
        bucket = slice(start, start + self._width)
        left = self._sizes[bucket] > 0
        self._buckets[start // self._width] = _NEVER
        if left.any():  # the group's value and that of its bucket anew
            values = self._scores[bucket][left] + _times_log(self._b, self._sizes[bucket][left])
            self._values[bucket][left] = values
            sums = np.exp((values - values.max()) / self._b).sum(keepdims=True)
            self._buckets[start // self._width] = values.max() + _times_log(self._b, sums)[0]
        return group, place

    def _group(self) -> int:
        bucket = self._noisy_max(self._buckets, np.flatnonzero(self._buckets > _NEVER))
        groups = np.arange(bucket * self._width, min((bucket + 1) * self._width, len(self._values)))
        return self._noisy_max(self._values, groups[self._sizes[groups] > 0])

    def _noisy_max(self, values: Integers, among: Integers) -> int:
        return int(among[self._noise.noisy_max(values[among], self._b)])


_NEVER = -(2**62)
"""Value of an empty bucket, far below all other values."""


def _times_log(b: float, positive: NDArray[np.int64] | NDArray[np.float64]) -> Integers:
    return np.rint(b * np.log(positive)).astype(np.int64)
