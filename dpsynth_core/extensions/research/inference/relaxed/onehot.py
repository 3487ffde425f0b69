"""The one-hot space: every value of every attribute is a column, and a relaxed record is a distribution over the values of each attribute.

A relaxed table is an array of shape (columns, relaxed rows): a column of the table is contiguous, which is what products of columns want.
Knows the public domain only.

Queries on relaxed records are polynomials in these columns that agree with the counting queries on real records. A cell of a marginal is
the product of its columns. "At least t of k columns" is a polynomial of degree k in which every column occurs to the first power (paper,
appendix D), so it is also the expectation of the query under independent rounding, and linear in each column.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import accumulate
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique

Columns = NDArray[np.floating[Any]]
"""Shape (columns of the one-hot space, relaxed rows)."""


@dataclass(frozen=True)
class OneHot:
    """The one-hot columns of a domain: one column per value of every attribute, attribute by attribute."""

    domain: Domain

    @cached_property
    def starts(self) -> NDArray[np.int64]:
        """First column of each attribute, from 0, followed by the number of columns; shape (attributes + 1,)."""
        return np.array([0, *accumulate(self.domain.sizes(self.domain.names))])

    @property
    def columns(self) -> int:
        """The number of one-hot columns."""
        return int(self.starts[-1])

    def block(self, attribute: int) -> slice:
        """Return the slice of one-hot columns of the attribute at this position of the domain, counted from 0."""
        return slice(int(self.starts[attribute]), int(self.starts[attribute + 1]))

    def blocks(self, clique: Clique) -> list[slice]:
        """Return the slices of one-hot columns of the clique's attributes, in the clique's order.

        Raises:
            InputError: A name is not in the domain.
        """
        return [self.block(self.domain.position(name)) for name in clique]

    def random(self, rows: int, rng: np.random.Generator) -> NDArray[np.float32]:
        """Draw starting parameters, uniform in [-1, 1] (paper, section 5.1), as float32 of shape (columns, rows).

        Args:
            rows: Number of relaxed rows.
            rng: Source of randomness.
        """
        return (2 * rng.random((self.columns, rows), dtype=np.float32) - 1).astype(np.float32)

    def sparsemax(self, free: Columns) -> Columns:
        """Return the relaxed table nearest to the parameters, shape (columns, rows).

        Each block of each row is projected to the simplex: the nearest distribution over the values
        of the attribute (sparsemax).

        Args:
            free: The parameters, shape (columns, rows); not changed.
        """
        table = self.centred(free)
        return np.asarray(np.maximum(table, 0, out=table))

    def centred(self, free: Columns) -> Columns:
        """Return the parameters shifted so that their positive parts are their sparsemax.

        Each block of each row is shifted by a constant.

        Args:
            free: The parameters, shape (columns, rows); not changed.
        """
        shifted = np.empty_like(free)
        for attribute in range(len(self.domain)):
            block = self.block(attribute)
            np.subtract(free[block], _threshold(free[block]), out=shifted[block])
        return shifted


def _threshold(values: Columns) -> Columns:
    """Return tau with sum max(values - tau, 0) = 1 for each row.

    If the j largest values are the positive ones, tau is (their sum - 1) / j (Martins and Astudillo 2016, Algorithm 1). As a function of j
    this first rises, while the next value is above it, and then falls, so its maximum is tau.

    Args:
        values: Shape (values of an attribute, rows).
    """
    ordered = np.sort(values, axis=0)
    excess = ordered[-1] - 1
    tau = excess.copy()
    for j in range(2, len(values) + 1):
        excess += ordered[-j]
        mean = excess / j
        if (mean <= tau).all():
            break
        np.maximum(tau, mean, out=tau)
    return np.asarray(tau)


Factors = Sequence[NDArray[np.floating[Any]]]
"""The k columns of queries, each of shape (queries, relaxed rows)."""


def at_least(columns: Factors, threshold: int) -> Any:
    """Return the polynomial of "at least `threshold` of the columns are one" at relaxed values.

    It is the probability of the event if the columns are one independently, with their values as
    probabilities.

    Args:
        columns: The k columns of the queries, each of shape (queries, rows).
        threshold: Smallest number of columns that are one.

    Returns:
        The value for each query and row, shape (queries, rows); the number 1 for a threshold of 0 or less,
        and the number 0 for one above k.
    """
    if threshold > len(columns):
        return 0.0
    if threshold <= 1:
        return 1.0 - exactly(columns, 0) if threshold == 1 else 1.0
    if threshold == len(columns):
        return exactly(columns, threshold)
    first, rest = columns[0], columns[1:]
    return first * at_least(rest, threshold - 1) + (1 - first) * at_least(rest, threshold)


def exactly(columns: Factors, count: int) -> Any:
    """Return the polynomial of "exactly `count` of the columns are one" at relaxed values.

    The derivative of "at least `count`" in one column is this polynomial, with `count` - 1, of the
    other columns.

    Args:
        columns: The k columns of the queries, each of shape (queries, rows).
        count: Number of columns that are one, from 0 to k.

    Returns:
        The value for each query and row, shape (queries, rows); the number 1 if there are no
        columns.
    """
    if count == len(columns):
        return reduce(np.multiply, columns) if columns else 1.0
    if count == 0:
        return reduce(np.multiply, [1 - column for column in columns])
    first, rest = columns[0], columns[1:]
    return first * exactly(rest, count - 1) + (1 - first) * exactly(rest, count)


def cells(table: Columns, blocks: Sequence[slice]) -> Columns:
    """Return the products of one column of each block, for all combinations in C order (Khatri-Rao).

    Args:
        table: The relaxed table, shape (columns, rows).
        blocks: Blocks of columns; without any, the product is one.

    Returns:
        The products of each row, shape (cells, rows). For a single block it is a view of the table, which the
        caller must not change.
    """
    if not blocks:
        return np.ones((1, table.shape[1]), dtype=table.dtype)
    first, rest = table[blocks[0]], blocks[1:]
    if not rest:
        return first
    return np.asarray((first[:, None, :] * cells(table, rest)[None, :, :]).reshape(-1, table.shape[1]))


def add_slopes(gradient: Columns, table: Columns, blocks: Sequence[slice], slope: Columns) -> None:
    """Add the derivative of a function in the relaxed table to `gradient`, in place, by the chain rule.

    Args:
        gradient: The gradient, in the table's shape; changed.
        table: The relaxed table, shape (columns, rows).
        blocks: Blocks of columns; without any, nothing is added.
        slope: Derivative of the function in `cells(table, blocks)`, shape (cells, rows).
    """
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
    """Split the blocks of a marginal, in their order, into two parts that have as few cells together as possible.

    The marginal's answers are the matrix product of the `cells` of both parts. There must be a block; the
    second part may be empty.
    """
    sizes = [block.stop - block.start for block in blocks]
    middle = min(range(1, len(sizes) + 1), key=lambda i: math.prod(sizes[:i]) + math.prod(sizes[i:]))
    return tuple(blocks[:middle]), tuple(blocks[middle:])


def marginal(table: Columns, blocks: Sequence[slice]) -> Columns:
    """Return all cells of a marginal of a relaxed table as fractions of its rows, flat in C order.

    Args:
        table: The relaxed table, shape (columns, rows).
        blocks: Blocks of columns of the marginal's attributes, at least one.
    """
    left, right = halves(blocks)
    return np.asarray((cells(table, left) @ cells(table, right).T).reshape(-1) / table.shape[1])
