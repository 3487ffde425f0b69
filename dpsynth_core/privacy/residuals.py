"""The residual of a marginal, what it costs to release it, and how its noise is drawn: whole numbers throughout (Proposition 4).

The residual is what a marginal x over columns of n_1, ..., n_k values says beyond all smaller marginals (Xiao, He, Zhang, Kifer 2023): R x,
with R the Kronecker product over the columns of the operator (w_0, ..., w_{n-1}) -> (w_0 - w_1, ..., w_0 - w_{n-1}). One row more in cell c
costs ||w_c||^2 / (2 sigma^2), w_c being the Kronecker product of e_{c_i} - r_i 1, for r_i near 1/n_i on a lattice of 2^-b people. Norms are
computed exactly. Wrapping around in 64 bits costs no privacy. No floating-point operation sees anything but R (s x + Z).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from fractions import Fraction
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy import lattice
from dpsynth_core.privacy.unit import Unit

MOST_BITS = 24
"""Largest number of bits for noise; counts have 39 bits: 2^38 people, as in `scores`."""
NOISE_BITS = 50
"""sigma * 2^b and sigma stay below 2^50."""
_KEPT = 4096
"""Number of cached norms, by the sizes of columns and the bits of the lattice: a planner asks for the same ones often, and fractions are
slow.
"""


def lattice_bits(sigma: float) -> int:
    """Return the b with which a residual's noise is drawn in steps of 2^-b people.

    Raises:
        ValueError: sigma is not positive, or leaves no room for the noise in 64 bits.
    """
    return lattice.bits(sigma, NOISE_BITS, MOST_BITS)


@lru_cache(maxsize=_KEPT)
def one_row(sizes: tuple[int, ...], bits: int) -> Fraction:
    """Return the squared L2 change ||w_c||^2 of a residual by one row more or less; it is the same in every cell.

    It is about prod (1 - 1/n_i), and never above 1.

    Args:
        sizes: Number of values n_i of each column.
        bits: The noise is on a lattice of 2^-bits people.

    Raises:
        ValueError: `sizes` is empty, or a column has fewer than two values.
    """
    return math.prod((equal for equal, _ in _factors(sizes, bits)), start=Fraction(1))


@lru_cache(maxsize=_KEPT)
def one_row_elsewhere(sizes: tuple[int, ...], bits: int) -> Fraction:
    """Return the largest squared L2 change ||w_c - w_d||^2 of a residual by one row that moves to another cell.

    It is from twice `one_row` to 2. It is 2 ||w_c||^2 - 2 <w_c, w_d>, and <w_c, w_d> is a product
    over the columns of one of two factors: where c and d agree, and where they differ. Tracking the
    smallest and the largest product of the columns so far finds its smallest value.

    Args:
        sizes: Number of values of each column.
        bits: The noise is on a lattice of 2^-bits people.

    Raises:
        ValueError: `sizes` is empty, or a column has fewer than two values.
    """
    smallest = largest = Fraction(1)
    for equal, different in _factors(sizes, bits):
        reached = [product * factor for product in (smallest, largest) for factor in (equal, different)]
        smallest, largest = min(reached), max(reached)
    return 2 * (one_row(sizes, bits) - smallest)


def sensitivity(unit: Unit, sizes: tuple[int, ...], sigma: float) -> float:
    """Return the L2 sensitivity of a residual, in rows; without columns, of the number of rows.

    Args:
        unit: The unit of privacy.
        sizes: Number of values of each column.
        sigma: Standard deviation of the noise of each cell, in records, which determines the lattice.

    Raises:
        ValueError: A column has fewer than two values, or sigma is out of range (`lattice_bits`).
    """
    if not sizes:
        return float(unit.total_l2)
    bits = lattice_bits(sigma)
    return unit.residual_l2(one_row(sizes, bits), one_row_elsewhere(sizes, bits))


def _factors(sizes: Sequence[int], bits: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield for each column ||e_c - r 1||^2 and <e_c - r 1, e_d - r 1> for c != d: 1 - 2r + n r^2 > 0 and -2r + n r^2 <= 0.

    Every column gets the same share of the bits. r is at most 2/n: 1/n is rounded to 0, or to a
    step that is at most twice as large.

    Args:
        sizes: Number of values n of each column.
        bits: The noise is on a lattice of 2^-bits people.

    Raises:
        ValueError: There are no columns, or one has fewer than two values.
    """
    if not sizes or min(sizes) < 2:
        raise ValueError("a residual needs one or more columns, each of two values or more")
    steps = 2 ** (bits // len(sizes))
    for size in sizes:
        r = Fraction(round(Fraction(steps, size)), steps)
        yield 1 - 2 * r + size * r**2, -2 * r + size * r**2


def differences(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return R x for a table x: along every axis, the first entry minus each other entry.

    Each axis of the result is shorter by one. It is exact modulo 2^64, also where it wraps around.
    """
    for axis in range(table.ndim):
        first, others = np.split(table, [1], axis=axis)
        table = first - others
    return table


def centred(released: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the table w with R w = `released` that sums to zero along every axis.

    Each axis of the result is longer by one. For released = R x, it is the projection of x on what R
    keeps: the residual.
    """
    table = released
    for axis in range(released.ndim):
        first = table.sum(axis=axis, keepdims=True) / (table.shape[axis] + 1)
        table = np.concatenate([first, first - table], axis=axis)
    return table
