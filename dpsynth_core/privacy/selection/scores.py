"""Exact scores for private selection: weight * (||counts - answer||_1 - offset), in whole numbers.

A sensitivity proved for real numbers does not survive rounding (Mironov 2012). So everything public is rounded to a fixed grid
first; from there on no operation rounds: counts, answers and offsets are whole multiples of 1/COUNT_STEPS, weights of
1/WEIGHT_STEPS of the largest one. One person who changes the counts by at most l1 in L1 norm then changes a score by at most
`sensitivity(weights, l1)`, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np
from numpy.typing import NDArray

COUNT_STEPS = 2**14
"""Steps per person. Rounding an answer moves a score by at most 1/32768 of a person per cell."""
WEIGHT_STEPS = 2**16
SCORE_LIMIT = 2**62
"""Scores are clamped to OpenDP's 64-bit integers. Clamping brings two scores closer together, never further apart."""
_EXACT = 2.0**52
"""float64 adds whole numbers exactly, in any order, as long as the sum of their sizes stays below this (here: 2^38 people)."""


def check_answer(answer: NDArray[np.floating], shape: tuple[int, ...]) -> None:
    """ValueError unless the answer has this shape and is finite and small enough for exact sums. Looks at public values only."""
    if np.shape(answer) != shape:
        raise ValueError("an answer has the wrong shape for its marginal")
    if not float(np.abs(answer).sum(dtype=np.float64)) < _EXACT / COUNT_STEPS / 2:
        raise ValueError("an answer is not finite, or too large")


def distance(counts: NDArray[np.int64], answer: NDArray[np.floating]) -> int:
    """||counts - answer||_1 in steps, with the answer rounded to whole steps. Exact: see `_EXACT`; steps are a power of two.

    All passes but the first work in place: this is what a selection spends its time on.
    """
    gaps = np.multiply(answer, COUNT_STEPS, dtype=np.float64)
    np.rint(gaps, out=gaps)
    gaps *= 1 / COUNT_STEPS
    gaps -= counts
    np.abs(gaps, out=gaps)
    return int(gaps.sum() * COUNT_STEPS)


def weight_steps(weights: Collection[float]) -> list[int]:
    """Weights as whole multiples of the largest / WEIGHT_STEPS, rounded up so that none becomes 0. ValueError unless positive."""
    if not weights or not all(0 < weight < math.inf for weight in weights):
        raise ValueError("every candidate needs a weight that is a positive number, and there must be one")
    largest = max(weights)
    return [min(WEIGHT_STEPS, math.ceil(weight / largest * WEIGHT_STEPS)) for weight in weights]


def offset_steps(offset: float) -> int:
    """An offset in steps. ValueError unless finite."""
    if not math.isfinite(offset):
        raise ValueError("offsets must be finite numbers")
    return round(offset * COUNT_STEPS)


def score(weight: int, distance_steps: int, offset: int) -> int:
    """In units of 1 / (COUNT_STEPS * WEIGHT_STEPS) of the largest weight; clamped to +-SCORE_LIMIT."""
    return max(-SCORE_LIMIT, min(SCORE_LIMIT, weight * (distance_steps - offset)))


def sensitivity(weights: Collection[int], l1: int) -> int:
    """The most by which one person changes any score, in the units of `score`; l1: L1 sensitivity of a marginal."""
    return max(weights) * l1 * COUNT_STEPS
