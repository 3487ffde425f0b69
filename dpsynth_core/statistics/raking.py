"""Weights of rows whose tables are what they should be, and what these should be after noise. Pure numerics.

Raking (Deming and Stephan 1940) within bounds on the factors (Deville and Saerndal 1992). One weight for a row and the members that it has
meets tables of both (integrative calibration, Lemaitre and Dufour 1987): in a table of members a row is raked by the geometric mean of what
its members would be raked by.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import scipy
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Codes = NDArray[np.integer]
Integers = NDArray[np.int64]
_BY_LUCK = 0.05
"""How often noise alone moves weights: it explains all of a difference but its largest twentieth. With its mean in place of that, half of
the tables that were nearly right were moved, and ended further off (`benchmarks.weights`)."""
MOST_FACTOR = 4.0
"""Raking makes no weight more than so many times as large, or as small, relative to all others."""
_STEEPEST = 50.0
_ROUNDS = 100
_MET = 1e-9


def raked(cells: Sequence[Codes], base: Floats, targets: Sequence[Floats], owners: Sequence[Integers | None] | None = None) -> Floats:
    """Return the weights, shape (rows,), with which weighted tables of the rows meet the targets.

    A weight changes by a factor of `MOST_FACTOR` (4) at most, relative to all others, so targets may be met only approximately.
    Cells without weighted rows stay empty, and the other cells share their sum. The weights add up to the sum of the first
    target. If all initial weights are 0, they are returned.

    Args:
        cells: For each table, the cell of each row, shape (rows,); or of each member, shape (members,), with its row in `owners`.
        base: The initial weights, at least 0, shape (rows,).
        targets: For each table, the sum of weights in each cell, shape (cells,). The tables of rows have equal sums.
        owners: For each table, the row of each member, from 0, or None for tables of rows; None if all tables are of rows.
    """
    if not base.any():
        return base
    whose = owners or [None] * len(cells)
    total = float(targets[0].sum())
    base = base * (total / base.sum())
    tables = list(zip(cells, whose, [_reached(*each, base) for each in zip(cells, whose, targets, strict=True)], strict=True))
    weights = base
    for _ in range(_ROUNDS):
        before = weights
        for codes, owner, target in tables:
            there = _sums(codes, owner, weights, len(target))
            factors = np.divide(target, there, out=np.ones_like(target), where=there > 0)[codes]
            weights = weights * (factors if owner is None else _together(factors, owner, len(weights)))
        weights = np.clip(weights, base / MOST_FACTOR, base * MOST_FACTOR)
        if np.abs(weights - before).max() <= _MET * weights.max():
            break
    return np.asarray(weights * (total / weights.sum()))


def _sums(codes: Codes, owner: Integers | None, weights: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(codes, weights if owner is None else weights[owner], size), np.float64)


def _reached(codes: Codes, owner: Integers | None, target: Floats, base: Floats) -> Floats:
    """Return the target with zero in cells that no row of positive weight is in, scaled to its old sum.

    Args:
        codes: The cell of each row, shape (rows,), or of each member, shape (members,).
        owner: The row of each member; None if `codes` are of rows.
        target: The wanted sum of weights in each cell.
        base: The weight of each row, shape (rows,).
    """
    reached = np.where(_sums(codes, owner, base, len(target)) > 0, target, 0.0)
    return np.asarray(reached * (target.sum() / reached.sum()) if reached.any() else reached)


def _together(factors: Floats, owner: Integers, rows: int) -> Floats:
    """Return, for each row, the geometric mean of its members' factors; 1 for a row without members.

    Args:
        factors: Factor of each member, shape (members,).
        owner: The row of each member.
        rows: Number of rows.
    """
    with np.errstate(divide="ignore"):
        logs = np.bincount(owner, np.log(factors), rows)
    return np.asarray(np.exp(logs / np.maximum(np.bincount(owner, minlength=rows), 1)))


def tilted(table: Floats, total: float) -> Floats:
    """Return a table over the numbers 0, 1, 2, ... changed so that the sum of number times cell is `total`.

    Cells are multiplied by factors that rise or fall exponentially with their number; the sum of
    the cells stays. If no such factors exist, the table is returned unchanged.

    Args:
        table: The cells, not negative.
        total: The wanted sum of number times cell.
    """
    numbers = np.arange(len(table))

    def leaning(by: float) -> Floats:
        leaned = table * np.exp(by * (numbers - numbers[table > 0].mean()) / len(table))
        return np.asarray(leaned * (table.sum() / leaned.sum()))

    def off(by: float) -> float:
        return float(leaning(by) @ numbers) - total

    if (table > 0).sum() < 2 or off(-_STEEPEST) >= 0 or off(_STEEPEST) <= 0:
        return table
    return leaning(scipy.optimize.brentq(off, -_STEEPEST, _STEEPEST))


def nearest_table(noisy: Floats, total: float) -> Floats:
    """Return the table with the sum `total` and no negative cells that is nearest in L2 norm, shape (cells,).

    The algorithm is from Held, Wolfe and Crowder (1974).

    Args:
        noisy: The cells, shape (cells,), at least one.
        total: The sum, above 0.
    """
    falling = np.sort(noisy)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    return np.maximum(noisy - lowered[np.flatnonzero(falling > lowered)[-1]], 0.0)


def believed(rows: Floats, measured: Floats, sigma: float) -> Floats:
    """Return values between the rows' values and the measured values, by shrinkage (James and Stein 1961).

    The rows' values move towards the measured ones only as far as noise does not explain the
    difference; if it explains all, they are returned.

    Args:
        rows: The values of the rows, shape (k,).
        measured: The measured values, shape (k,).
        sigma: Standard deviation of the noise of each measured value.
    """
    apart = measured - rows
    explained = float(scipy.special.chdtri(len(rows), _BY_LUCK)) * sigma**2
    return rows + apart * max(0.0, 1 - explained / max(float(apart @ apart), explained))
