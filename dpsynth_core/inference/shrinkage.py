"""Shrinkage of a noisy table towards a model's earlier answer: the mean of two answers with different errors.

Patterns: each row of the difference is mostly a mixture of few shapes (one region is older, another richer), so that few singular values
exceed the singular values of noise. Each is shrunk as is best for its size (Gavish and Donoho 2017, Optimal shrinkage of singular values,
section III.A, Frobenius loss); the rest below is noise.

Cells: each is empty, or as expected, or off by a normal share of its expectation, of one of several sizes. The shares of these kinds are
fitted to the table itself (empirical Bayes: Robbins 1956), and each cell becomes its posterior mean.

The sums of rows and of columns are kept: other tables determine them too, and shrinking them would count the earlier answer twice.
Post-processing of released values: it costs no privacy.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SPREADS = 2.0 ** np.arange(-6, 4)
"""Deviations of a cell, as multiples of its expectation."""
FITS_OF_SHARES, LEAST_WEIGHT = 30, 0.3
"""Number of fits of the shares of the kinds of cells, and pseudo-count of cells of each kind."""


def shrunk(values: Floats, expected: Floats, sigma: float) -> Floats:
    """Return the estimated table behind noisy values, shrunk towards an expected table.

    The two longest axes form a matrix for each cell of the other axes. Sums of rows and columns of
    these matrices are kept, so that a table of one column is returned unchanged.

    Args:
        values: Noisy counts.
        expected: Counts that an earlier model expects, 0 or more, of the same shape.
        sigma: Standard deviation of the noise of each cell.
    """
    if values.ndim < 2:
        return values
    axes = sorted(range(values.ndim), key=lambda axis: values.shape[axis])
    beyond = (values - expected).transpose(axes)
    found = (_patterns(beyond - _sums(beyond), sigma) + _cells(beyond, expected.transpose(axes), sigma)) / 2
    return expected + (found + _sums(beyond - found)).transpose(np.argsort(axes))


def _sums(matrices: Floats) -> Floats:
    """Return the matrices with the same sums of rows and of columns that spread these evenly over cells."""
    return np.asarray(matrices.mean(-1, keepdims=True) + matrices.mean(-2, keepdims=True) - matrices.mean((-2, -1), keepdims=True))


def _patterns(matrices: Floats, sigma: float) -> Floats:
    left, singular, right = np.linalg.svd(matrices, full_matrices=False)
    short, long = matrices.shape[-2:]
    beta, unit = short / long, sigma * math.sqrt(long)
    y = np.maximum(singular / unit, 1 + math.sqrt(beta))  # from here down 0
    kept = unit * np.sqrt(np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0.0)) / y
    return np.asarray((left * kept[..., None, :]) @ right)


def _cells(beyond: Floats, expected: Floats, sigma: float) -> Floats:
    """Return each cell's posterior mean excess over its expectation (empirical Bayes).

    The kind of cell with the largest deviation leaves room for entirely unexpected cells.

    Args:
        beyond: Noisy excess over the expectation.
        expected: The expectation, 0 or more.
        sigma: Standard deviation of the noise of each cell.
    """
    off, usual = beyond.ravel(), expected.ravel()
    prior = np.stack([0 * usual, 0 * usual, *np.multiply.outer(SPREADS, usual), np.full(len(usual), usual.max())]) ** 2
    centre = np.zeros((len(prior), 1)) * usual
    centre[0] = -usual
    variance = prior + sigma**2
    evidence = -0.5 * (np.log(variance) + (off - centre) ** 2 / variance)
    likely, shares = np.exp(evidence - evidence.max(axis=0)), np.full(len(prior), 1 / len(prior))
    for _ in range(FITS_OF_SHARES):
        shares = shares * (likely @ (1 / (shares @ likely))) + LEAST_WEIGHT
        shares /= shares.sum()
    means = centre + prior / variance * (off - centre)
    return np.asarray((shares @ (likely * means) / (shares @ likely)).reshape(expected.shape))
