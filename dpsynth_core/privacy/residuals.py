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
    """Return b: noise is drawn in steps of 2^-b people. ValueError unless sigma is a positive number that leaves room for the noise."""
    return lattice.bits(sigma, NOISE_BITS, MOST_BITS)


@lru_cache(maxsize=_KEPT)
def one_row(sizes: tuple[int, ...], bits: int) -> Fraction:
    """Return ||w_c||^2, the same for every cell: the charge for one row more or less. About prod (1 - 1/n_i), and never above 1."""
    return math.prod((equal for equal, _ in _factors(sizes, bits)), start=Fraction(1))


@lru_cache(maxsize=_KEPT)
def one_row_elsewhere(sizes: tuple[int, ...], bits: int) -> Fraction:
    """Return the largest ||w_c - w_d||^2 over two cells: the charge for one row that moves. At least twice `one_row`, at most 2.

    It is 2 ||w_c||^2 - 2 <w_c, w_d>, and <w_c, w_d> is a product over the columns of one of two factors: where c and d agree, and where
    they differ. Tracking the smallest and the largest product of the columns so far finds its smallest value.
    """
    smallest = largest = Fraction(1)
    for equal, different in _factors(sizes, bits):
        reached = [product * factor for product in (smallest, largest) for factor in (equal, different)]
        smallest, largest = min(reached), max(reached)
    return 2 * (one_row(sizes, bits) - smallest)


def sensitivity(unit: Unit, sizes: tuple[int, ...], sigma: float) -> float:
    """Return the L2 sensitivity of the residual over columns of `sizes` measured at sigma; without columns, of the number of rows."""
    if not sizes:
        return float(unit.total_l2)
    bits = lattice_bits(sigma)
    return unit.residual_l2(one_row(sizes, bits), one_row_elsewhere(sizes, bits))


def _factors(sizes: Sequence[int], bits: int) -> Iterator[tuple[Fraction, Fraction]]:
    """Yield ||e_c - r 1||^2 and <e_c - r 1, e_d - r 1> for c != d, per column: 1 - 2r + n r^2 > 0 and -2r + n r^2 <= 0.

    Every column gets the same share of the bits. r is at most 2/n: 1/n is rounded to 0, or to a step that is at most twice as large.
    """
    if not sizes or min(sizes) < 2:
        raise ValueError("a residual needs one or more columns, each of two values or more")
    steps = 2 ** (bits // len(sizes))
    for size in sizes:
        r = Fraction(round(Fraction(steps, size)), steps)
        yield 1 - 2 * r + size * r**2, -2 * r + size * r**2


def differences(table: NDArray[np.int64]) -> NDArray[np.int64]:
    """Apply R: along every axis, subtract each of the other entries from the first. Exact, also where it wraps around."""
    for axis in range(table.ndim):
        first, others = np.split(table, [1], axis=axis)
        table = first - others
    return table


def centred(released: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the table w with R w = `released` that sums to zero along every axis: for R x, the projection of x on what R keeps."""
    table = released
    for axis in range(released.ndim):
        first = table.sum(axis=axis, keepdims=True) / (table.shape[axis] + 1)
        table = np.concatenate([first, first - table], axis=axis)
    return table
