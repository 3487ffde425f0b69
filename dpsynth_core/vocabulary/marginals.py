"""Tables over a clique: project to a smaller clique, expand to a larger one, count from codes, combine noisy measurements.

A marginal is a plain array with one axis per column of its clique, in the order of the clique. Columns may be names or numbers. Does
not know where a table comes from or whether it is private. (`project` and `expand` as in mbi's `Factor`.)
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Sequence
from itertools import combinations
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Scalar = TypeVar("Scalar", bound=np.generic)
Float = NDArray[np.float64]


def summed_axes(clique: Sequence[Hashable], onto: Collection[Hashable]) -> tuple[int, ...]:
    """Return the axes of a table over `clique`, from 0, whose columns are not in `onto`: a projection sums over them."""
    return tuple(axis for axis, column in enumerate(clique) if column not in onto)


def project(values: NDArray[Scalar], clique: Sequence[Hashable], onto: Sequence[Hashable]) -> NDArray[Scalar]:
    """Sum a table over `clique` down to the columns `onto`, with axes in that order.

    If no axis is summed over, the result is `values` itself or a view. For no columns it is the total, an array
    without axes.

    Args:
        values: The table, one axis per column of `clique`.
        clique: The table's columns.
        onto: The columns to keep.

    Raises:
        ValueError: `onto` has a column that the clique lacks, or one twice.
    """
    axes = summed_axes(clique, onto)
    summed = np.asarray(values.sum(axis=axes)) if axes else values
    kept = [column for column in clique if column in onto]
    if len(kept) == len(onto) and all(a == b for a, b in zip(kept, onto, strict=True)):
        return summed
    return summed.transpose([kept.index(column) for column in onto])


def expand(values: NDArray[Scalar], clique: Sequence[Hashable], over: Sequence[Hashable]) -> NDArray[Scalar]:
    """Return a view of a table over `clique` with an axis for each column of `over`, in that order.

    The axis of a column that the clique lacks has length 1.

    Raises:
        ValueError: `over` lacks a column of the clique.
    """
    view = values.transpose([clique.index(column) for column in over if column in clique])
    if view.ndim == len(over):
        return view
    shape = iter(view.shape)
    return view.reshape([next(shape) if column in clique else 1 for column in over])


def largest_run(table: NDArray[Any], axis: int, cells: Sequence[int]) -> Any:
    """Return the largest absolute sum of a run of neighbouring cells along one axis.

    All runs along this axis are compared, at all cells of the other axes. The result is the largest of the cumulative
    sums less the smallest, the empty sum included, so at least 0. It is exact for integers.

    Args:
        table: The table.
        axis: The number of the axis, from 0.
        cells: The codes of this axis that count, in their order.
    """
    return np.ptp(np.insert(table.take(cells, axis).cumsum(axis), 0, 0, axis), axis).max()


def at_least(marginal: NDArray[Any], threshold: int) -> NDArray[Any]:
    """Return, for each cell y of a marginal, how many records agree with y in at least `threshold` columns, shaped like the marginal.

    With e_j(y) the records that agree with y in some set of j columns, summed over the sets, inclusion and exclusion gives
    sum over j >= threshold of (-1)^(j - threshold) C(j - 1, threshold - 1) e_j(y). Exact for integers.

    Args:
        marginal: Counts, one axis per column.
        threshold: From 1 to the number of columns; with the number of columns the marginal itself is returned.
    """
    columns = range(marginal.ndim)
    if threshold == len(columns):
        return marginal
    total = np.zeros_like(marginal)
    for size in range(threshold, len(columns) + 1):
        factor = (-1) ** (size - threshold) * math.comb(size - 1, threshold - 1)
        for kept in combinations(columns, size):
            total += factor * expand(project(marginal, columns, kept), kept, columns)
    return total
