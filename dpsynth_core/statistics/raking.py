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

    A weight changes by a factor of `MOST_FACTOR` at most, relative to all others, so targets may be met only approximately.

    Cells without weighted rows stay empty, and the other cells share their sum.

    Args:
        cells: For each table, the cell of each row, shape (rows,); or of each member, shape (members,), with its row in `owners`.
        base: The initial weights, at least 0.
        targets: For each table, the sum of weights in each cell. The tables of rows have equal sums.
        owners: For each table, the row of each member, or None for tables of rows.
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
    """Return the target without cells that no row is in, and with its sum."""
    reached = np.where(_sums(codes, owner, base, len(target)) > 0, target, 0.0)
    return np.asarray(reached * (target.sum() / reached.sum()) if reached.any() else reached)


def _together(factors: Floats, owner: Integers, rows: int) -> Floats:
    """Return for each row the geometric mean of its members' factors; 1 without members."""
    with np.errstate(divide="ignore"):
        logs = np.bincount(owner, np.log(factors), rows)
    return np.asarray(np.exp(logs / np.maximum(np.bincount(owner, minlength=rows), 1)))


def tilted(table: Floats, total: float) -> Floats:
    """Return the table over the numbers 0, 1, 2 and so on with the same sum, whose numbers add up to the total.

    Each cell is changed by a factor that rises or falls evenly with its number. The table is unchanged if no factor does that.
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
    """Return the table without negative cells and with this sum that is nearest in L2 norm (Held, Wolfe and Crowder 1974)."""
    falling = np.sort(noisy)[::-1]
    lowered = (np.cumsum(falling) - total) / np.arange(1, len(noisy) + 1)
    return np.maximum(noisy - lowered[np.flatnonzero(falling > lowered)[-1]], 0.0)


def believed(rows: Floats, measured: Floats, sigma: float) -> Floats:
    """Return the believed values, between the rows' values and those measured with noise sigma.

    They move by as much of the difference as noise does not explain (James and Stein 1961).
    """
    apart = measured - rows
    explained = float(scipy.special.chdtri(len(rows), _BY_LUCK)) * sigma**2
    return rows + apart * max(0.0, 1 - explained / max(float(apart @ apart), explained))
