"""The values that rows name to somebody who knows some columns of a person, as a predictor whose guesses the kernel can count.

The rows name a value of the target to somebody who knows the keys if at least one row has these keys, and all such rows have the same
target. This is "disclosive in synthetic" of synthpop (Raab, Nowok and Dibben 2024); if the named value is the person's own it is DiSCO,
"disclosive in synthetic, correct in original".
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.disclosure.questions import Question
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.predictors import Forest, Predictor, Tree, Within

Whole = NDArray[np.int64]


def named(domain: Domain, codes: NDArray[np.integer], question: Question) -> Whole:
    """Return what the rows name for each combination of the keys' values: 1 + the target's code, or 0 for nothing; shaped like the keys.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        question: The target and the keys, which are the axes in this order.
    """
    shape = domain.sizes(question.keys)
    cells = np.zeros(len(codes), dtype=np.int64)
    for name, size in zip(question.keys, shape, strict=True):
        cells = cells * size + codes[:, domain.position(name)]
    target = codes[:, domain.position(question.target)].astype(np.int64)
    least, most = np.full(math.prod(shape), domain[question.target].size), np.full(math.prod(shape), -1)
    np.minimum.at(least, cells, target)
    np.maximum.at(most, cells, target)
    return np.where(least == most, most + 1, 0).astype(np.int64).reshape(shape)


def predictor(domain: Domain, codes: NDArray[np.integer], question: Question) -> Predictor:
    """Return a predictor that is right about each person whose own value the rows name; it is made of released rows alone.

    Its score is 0 where nothing is named, and else 1 + the code of the named value.

    Args:
        domain: The domain.
        codes: Codes of the rows, shape (rows, attributes of the domain).
        question: The target and the keys.
    """
    keys = tuple(sorted(question.keys, key=lambda name: domain[name].size))  # the widest last, so that there are few nodes
    size = domain[question.target].size
    scores = _forest(domain.sizes(keys), keys, named(domain, codes, Question(question.target, keys)), size)
    values = np.arange(1, size + 1)
    return Predictor(question.target, scores, Within(values, values))


def _forest(sizes: tuple[int, ...], keys: tuple[str, ...], names: Whole, values: int) -> Forest:
    """Return a table as one tree that looks at one key after the other; leaves, one for each value, are shared by the cells.

    Args:
        sizes: Number of values of each key.
        keys: The keys.
        names: The score of each cell, from 0 to `values`, shape `sizes`.
        values: Largest score.
    """
    before = [math.prod(sizes[:depth]) for depth in range(len(sizes))]
    starts = [0, *np.cumsum(before).tolist()]  # the nodes of each depth, then the leaves
    leaves = starts[-1]
    following = np.repeat(np.arange(leaves + values + 1)[:, None], max(sizes), axis=1)
    column, score = np.zeros(leaves + values + 1, dtype=np.int64), np.zeros(leaves + values + 1, dtype=np.int64)
    score[leaves:] = np.arange(values + 1)
    for depth, size in enumerate(sizes):
        here = slice(starts[depth], starts[depth + 1])
        column[here] = depth
        next_nodes = np.arange(before[depth] * size) if depth + 1 < len(sizes) else names.ravel()
        following[here, :size] = starts[depth + 1] + next_nodes.reshape(-1, size)
    groups = {name: np.arange(size) for name, size in zip(keys, sizes, strict=True)}
    return Forest(np.zeros(1, dtype=np.int64), groups, [Tree(0, column, following, score, len(sizes))])
