"""Queries on relaxed records: polynomials in columns of the one-hot space that agree with the counting queries on real records.

A cell of a marginal is the product of its columns. "At least t of k columns" is a polynomial of degree k in which every column occurs to
the first power (paper, appendix D), so it is also the expectation of the query under independent rounding, and linear in each column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.research.inference.relaxed.onehot import Columns

Factors = Sequence[NDArray[np.floating[Any]]]
"""The k columns of queries, each of shape (queries, relaxed rows)."""


def at_least(columns: Factors, threshold: int) -> Any:
    """For each query and row, the polynomial of "at least `threshold` of the columns are one"."""
    if threshold > len(columns):
        return 0.0
    if threshold <= 1:
        return 1.0 - exactly(columns, 0) if threshold == 1 else 1.0
    if threshold == len(columns):
        return exactly(columns, threshold)
    first, rest = columns[0], columns[1:]
    return first * at_least(rest, threshold - 1) + (1 - first) * at_least(rest, threshold)


def exactly(columns: Factors, count: int) -> Any:
    """The polynomial of "exactly `count` of the columns are one". A query's derivative in one column is that of the others, with t - 1."""
    if count == len(columns):
        return reduce(np.multiply, columns) if columns else 1.0
    if count == 0:
        return reduce(np.multiply, [1 - column for column in columns])
    first, rest = columns[0], columns[1:]
    return first * exactly(rest, count - 1) + (1 - first) * exactly(rest, count)


def cells(table: Columns, blocks: Sequence[slice]) -> Columns:
    """The product of one column of each block, for all combinations in C order (Khatri-Rao), shape (cells, rows); one for no blocks."""
    if not blocks:
        return np.ones((1, table.shape[1]), dtype=table.dtype)
    first, rest = table[blocks[0]], blocks[1:]
    if not rest:
        return first
    return np.asarray((first[:, None, :] * cells(table, rest)[None, :, :]).reshape(-1, table.shape[1]))


def add_slopes(gradient: Columns, table: Columns, blocks: Sequence[slice], slope: Columns) -> None:
    """Add to `gradient` what something has in the table whose derivative in `cells(table, blocks)` is `slope`."""
    if not blocks:
        return
    if len(blocks) == 1:
        gradient[blocks[0]] += slope
        return
    first, rest = table[blocks[0]], blocks[1:]
    shaped = slope.reshape(len(first), -1, table.shape[1])
    gradient[blocks[0]] += np.einsum("abn,bn->an", shaped, cells(table, rest))
    add_slopes(gradient, table, rest, np.einsum("abn,an->bn", shaped, first))


def halves(blocks: Sequence[slice]) -> tuple[tuple[slice, ...], tuple[slice, ...]]:
    """A marginal in two parts with as few cells as can be: its answers are the matrix product of the cells of both."""
    sizes = [block.stop - block.start for block in blocks]
    middle = min(range(1, len(sizes) + 1), key=lambda i: math.prod(sizes[:i]) + math.prod(sizes[i:]))
    return tuple(blocks[:middle]), tuple(blocks[middle:])


def marginal(table: Columns, blocks: Sequence[slice]) -> Columns:
    """All cells of a marginal in C order, flat, as fractions: means over the rows."""
    left, right = halves(blocks)
    return np.asarray((cells(table, left) @ cells(table, right).T).reshape(-1) / table.shape[1])
