"""Exact scores for private selection: weight * (||counts - answer||_1 - offset), in whole numbers (Proposition 7).

A sensitivity proved for real numbers does not survive rounding (Mironov 2012). So everything public is rounded to a fixed grid first:
counts, answers and offsets are whole multiples of 1/COUNT_STEPS, weights of 1/WEIGHT_STEPS of the largest one. One person who changes the
counts by at most l1 in L1 norm then changes a score by at most `sensitivity(weights, l1)`, exactly.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

COUNT_STEPS = 2**14
"""Steps per person. Rounding an answer moves a score by at most 1/32768 of a person per cell."""
WEIGHT_STEPS = 2**16
SUM_STEPS = 2**20
"""Steps of a record's weight in a sum: a whole sum of up to 2^42 people fits into 64 bits."""
SCORE_LIMIT = 2**62
"""Scores are clamped to OpenDP's 64-bit integers. Clamping brings two scores closer together, never further apart."""
_EXACT = 2.0**52
"""float64 adds whole numbers exactly, in any order, as long as the sum of their sizes stays below this (here: 2^38 people)."""
_TOGETHER = 2**15
"""Number of cells of many small tables processed at a time: as many as a processor's nearest caches hold."""


def check_answers(answers: Sequence[NDArray[np.floating]], shapes: Sequence[tuple[int, ...]]) -> None:
    """Check public answers in people: each has its shape and finite cells, whose absolute values add up to less than 2^37.

    Raises:
        ValueError: An answer fails the check, or there are not as many answers as shapes.
    """
    if any(answer.shape != shape for answer, shape in zip(answers, shapes, strict=True)):
        raise ValueError("an answer has the wrong shape for its marginal")
    for block in _blocks(answers):
        sizes = np.add.reduceat(np.abs(_flat(answers[block])), _starts(answers[block]))
        if not bool((sizes < _EXACT / COUNT_STEPS / 2).all()):
            raise ValueError("an answer is not finite, or too large")


def steps(answers: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return public answers in people as whole steps of 1/COUNT_STEPS."""
    return np.rint(answers * COUNT_STEPS).astype(np.int64)


def distances(counts: Sequence[NDArray[np.int64]], answers: Sequence[NDArray[np.floating]]) -> list[int]:
    """Return ||counts - answer||_1 of each table, in steps of 1/COUNT_STEPS, with answers rounded to whole steps.

    The result is exact in any order of summing (see `_EXACT`), because steps are a power of two.
    All passes but the first work in place, and small tables are processed together, because a
    selection spends most of its time here.

    Args:
        counts: Exact counts of each table.
        answers: Public answers to each table, in counts, of the same shapes.

    Returns:
        One whole number per table, in order; [] without tables.
    """
    steps: list[int] = []
    for block in _blocks(answers):
        gaps = _flat(answers[block])
        gaps *= COUNT_STEPS
        np.rint(gaps, out=gaps)
        gaps *= 1 / COUNT_STEPS
        gaps -= _flat(counts[block])
        np.abs(gaps, out=gaps)
        steps += (np.add.reduceat(gaps, _starts(answers[block])) * COUNT_STEPS).astype(np.int64).tolist()
    return steps


def _blocks(tables: Sequence[NDArray[Any]]) -> Iterator[slice]:
    """Yield slices of consecutive tables that are processed together: up to `_TOGETHER` cells, or one table."""
    start, cells = 0, 0
    for number, table in enumerate(tables):
        if cells and cells + table.size > _TOGETHER:
            yield slice(start, number)
            start, cells = number, 0
        cells += table.size
    if cells:
        yield slice(start, len(tables))


def _flat(tables: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return a copy of all cells, one table after the other."""
    return np.concatenate([table.ravel() for table in tables], dtype=np.float64)


def _starts(tables: Sequence[NDArray[Any]]) -> NDArray[np.intp]:
    return np.cumsum([0, *(table.size for table in tables[:-1])])


def weight_steps(weights: Collection[float]) -> NDArray[np.int64]:
    """Return weights as numbers of steps of (largest weight) / WEIGHT_STEPS, rounded up so that no weight becomes 0.

    Raises:
        ValueError: There are no weights, or one is not positive and finite.
    """
    stated = np.array(weights, dtype=np.float64)
    if not stated.size or not bool(((stated > 0) & (stated < math.inf)).all()):
        raise ValueError("every candidate needs a weight that is a positive number, and there must be one")
    return np.minimum(WEIGHT_STEPS, np.ceil(stated / stated.max() * WEIGHT_STEPS)).astype(np.int64)


def offset_steps(offsets: Collection[float]) -> NDArray[np.int64]:
    """Return offsets in people as whole steps of 1/COUNT_STEPS, clipped far beyond all distances.

    Raises:
        ValueError: An offset is not finite.
    """
    stated = np.array(offsets, dtype=np.float64)
    if not bool(np.isfinite(stated).all()):
        raise ValueError("offsets must be finite numbers")
    return np.rint(np.clip(stated * COUNT_STEPS, -SCORE_LIMIT / 2, SCORE_LIMIT / 2)).astype(np.int64)


@dataclass(frozen=True, eq=False, init=False)
class Offered:
    """The marginals that selections draw among, with the public parts of their scores.

    An offer is made once for any number of draws. Its arrays are views of immutable bytes.

    Args:
        answers: By clique, the public answer to each marginal, in counts; `cliques` follows this order.
        weights: By clique, the positive weight of each marginal.
        offsets: By clique, the number in people that is subtracted from each marginal's distance.

    Attributes:
        cliques: The marginals.
        tables: Public answer to each marginal, in counts.
        weights: Weight of each marginal, in steps (`weight_steps`).
        offsets: Number subtracted from each marginal's distance, in steps (`offset_steps`).

    Raises:
        ValueError: There are no answers, a weight is not positive and finite, or an offset not finite.
        KeyError: A marginal lacks a weight or an offset.
    """

    cliques: tuple[Any, ...]
    tables: tuple[NDArray[np.float64], ...]
    weights: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def __init__(self, answers: Mapping[Any, NDArray[Any]], weights: Mapping[Any, float], offsets: Mapping[Any, float]) -> None:
        rounded = weight_steps([weights[r] for r in answers]), offset_steps([offsets[r] for r in answers])
        given = (*(np.asarray(table, dtype=np.float64) for table in answers.values()), *rounded)
        *tables, heavy, off = (np.frombuffer(array.tobytes(), array.dtype).reshape(array.shape) for array in given)
        vars(self).update(cliques=tuple(answers), tables=tuple(tables), weights=heavy, offsets=off)


def scores(weights: NDArray[np.int64], distance_steps: NDArray[np.int64], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return weights * (distances - offsets), in units of (largest weight) / (COUNT_STEPS * WEIGHT_STEPS).

    Scores are clamped to +-SCORE_LIMIT. All arrays have the shape (candidates,).

    Args:
        weights: Weights in steps (`weight_steps`).
        distance_steps: Distances in steps (`distances`).
        offsets: Offsets in steps (`offset_steps`).
    """
    most = SCORE_LIMIT // weights
    return weights * np.clip(distance_steps - offsets, -most, most)


def sensitivity(weights: NDArray[np.int64], l1: int) -> int:
    """Return the largest change of any score by one person, in the units of `scores`.

    Args:
        weights: Weights in steps (`weight_steps`).
        l1: L1 sensitivity of a marginal, in rows.
    """
    return int(weights.max()) * l1 * COUNT_STEPS
