"""Sums, products and scales of tables of numbers that are 0 or more: of the numbers themselves, or of their logarithms.

Numbers are multiplied as matrices, which is fast. Their products underflow where tables contradict each other, each small where the
other is large: a sum of nothing but such products is 0, or has lost its digits. Logarithms do not underflow and take about fifty times as
long. So numbers are used where every message and marginal has a sum above `LEAST`, and logarithms elsewhere.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Table = NDArray[np.float64]

LEAST = 1e-100
"""Smallest maximum of a message, and smallest sum of a marginal, in numbers, where the tables that are multiplied have maxima of 1. What
underflows is below 1e-308, and below 1e-208 of such a maximum: for it to matter, three messages in a row would have to contradict each
other. Fits of the tables in the benchmarks stay above 1e-80."""
TERMS = 2**20
"""Largest number of terms of logarithms that are added up together."""


class Arithmetic(Protocol):
    """A representation of numbers of 0 or more in tables. Axes and shapes are as in NumPy.

    Attributes:
        one: The representation of the number 1.
    """

    one: float

    def product(self, left: Table, right: Table) -> Table:
        """Return the product of stacks of matrices, shapes (b, l, k) and (b, k, r), summed over k: shape (b, l, r)."""

    def sum(self, table: Table, axes: tuple[int, ...]) -> Table:
        """Return the table summed over axes."""

    def times(self, one: Table, other: Table, out: Table | None = None) -> Table:
        """Return the product cell by cell, broadcast, in `out` if that is given."""

    def levelled(self, table: Table, least: float = 0.0) -> Table:
        """Return the table divided by its maximum, in the same representation.

        Raises:
            FloatingPointError: The maximum is 0 or not finite or, in numbers, below `least`.
        """

    def shares(self, table: Table, least: float = 0.0) -> Table:
        """Return the table divided by its sum, as numbers.

        Raises:
            FloatingPointError: The sum is 0 or not finite or, in numbers, below `least`.
        """

    def shares_of_rows(self, table: Table) -> Table:
        """Return each row of a matrix divided by its sum, as numbers. No row may be 0 everywhere."""


class Numbers:
    """An arithmetic of tables that hold the numbers themselves, without any change."""

    one = 1.0

    def product(self, left: Table, right: Table) -> Table:
        """Return the product of stacks of matrices (b, l, k) and (b, k, r): shape (b, l, r) (`Arithmetic.product`)."""
        if left.shape[2] == 1:
            return left * right
        if left.shape[1] == 1 and right.shape[2] == 1:
            return np.einsum("bij,bji->b", left, right)[:, None, None]
        return np.matmul(left, right)

    def sum(self, table: Table, axes: tuple[int, ...]) -> Table:
        """Return the table summed over axes (`Arithmetic.sum`)."""
        return np.asarray(table.sum(axis=axes))

    def times(self, one: Table, other: Table, out: Table | None = None) -> Table:
        """Return the product cell by cell, in `out` if that is given (`Arithmetic.times`)."""
        return np.multiply(one, other, out=out)

    def levelled(self, table: Table, least: float = 0.0) -> Table:
        """Return the table divided by its maximum (`Arithmetic.levelled`).

        Raises:
            FloatingPointError: The maximum is 0, not finite or below `least`.
        """
        return np.asarray(table / _checked(float(table.max()), least))

    def shares(self, table: Table, least: float = 0.0) -> Table:
        """Return the table divided by its sum (`Arithmetic.shares`).

        Raises:
            FloatingPointError: The sum is 0, not finite or below `least`.
        """
        return np.asarray(table / _checked(float(table.sum()), least))

    def shares_of_rows(self, table: Table) -> Table:
        """Return each row of a matrix divided by its sum, which must not be 0 (`Arithmetic.shares_of_rows`)."""
        return np.asarray(table / table.sum(axis=1, keepdims=True))


class Logarithms:
    """An arithmetic of tables that hold the natural logarithms of numbers; 0 is held as minus infinity."""

    one = 0.0

    def product(self, left: Table, right: Table) -> Table:
        """Return the logarithms of the product of stacks (b, l, k) and (b, k, r): shape (b, l, r) (`Arithmetic.product`).

        At most `TERMS` terms are held at a time, or one term of each cell.
        """
        if left.shape[2] == 1:
            return left + right
        step = max(1, TERMS // (left.shape[0] * left.shape[1] * right.shape[2]))
        whole = np.full((*left.shape[:2], right.shape[2]), -np.inf)
        for start in range(0, left.shape[2], step):
            some = slice(start, start + step)
            whole = np.logaddexp(whole, self.sum(left[:, :, some, None] + right[:, None, some], (2,)))
        return whole

    def sum(self, table: Table, axes: tuple[int, ...]) -> Table:
        """Return the logarithms of the sums over axes; minus infinity for a sum of 0 (`Arithmetic.sum`)."""
        top = table.max(axis=axes, keepdims=True)
        top = np.where(top > -np.inf, top, 0.0)
        with np.errstate(divide="ignore"):
            whole = np.log(np.exp(table - top).sum(axis=axes, keepdims=True)) + top
        return np.asarray(whole.squeeze(axes))

    def times(self, one: Table, other: Table, out: Table | None = None) -> Table:
        """Return the logarithms of the product cell by cell, in `out` if that is given (`Arithmetic.times`)."""
        return np.add(one, other, out=out)

    def levelled(self, table: Table, least: float = 0.0) -> Table:  # noqa: ARG002 (no logarithm is too small)
        """Return the logarithms minus their maximum (`Arithmetic.levelled`); `least` is ignored.

        Raises:
            FloatingPointError: The maximum is not finite: no cell is possible, or one is infinite.
        """
        top = float(table.max())
        if not math.isfinite(top):
            raise FloatingPointError("potentials are too extreme: no cell is possible, or one is not finite")
        return np.asarray(table - top)

    def shares(self, table: Table, least: float = 0.0) -> Table:  # noqa: ARG002
        """Return the numbers divided by their sum, as numbers (`Arithmetic.shares`); `least` is ignored.

        Raises:
            FloatingPointError: No cell is possible, or one is infinite.
        """
        cells = np.exp(self.levelled(table))
        return np.asarray(cells / cells.sum())

    def shares_of_rows(self, table: Table) -> Table:
        """Return each row of a matrix divided by its sum, as numbers (`Arithmetic.shares_of_rows`)."""
        cells = np.exp(table - table.max(axis=1, keepdims=True))
        return np.asarray(cells / cells.sum(axis=1, keepdims=True))


NUMBERS, LOGARITHMS = Numbers(), Logarithms()


def logarithms(tables: Sequence[Table]) -> list[Table]:
    """Return the natural logarithms of tables of numbers of 0 or more, in order; 0 becomes minus infinity."""
    with np.errstate(divide="ignore"):
        return [np.log(table) for table in tables]


def _checked(size: float, least: float) -> float:
    if not least <= size < math.inf or size == 0.0:
        raise FloatingPointError("potentials are too extreme: a message or marginal vanished or overflowed")
    return size
