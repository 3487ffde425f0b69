"""What a noisy table most likely is, seen from what a model said of it before: the mean of two answers, which err differently.

Patterns: each row of the difference is mostly a mixture of few shapes (one region is older, another richer), so that few singular values
stand above those of noise alone. Each is shrunk as is best for its size (Gavish and Donoho 2017, Optimal shrinkage of singular values,
section III.A, Frobenius loss); what is left below is noise.

Cells: each is empty, or what was expected, or off by a normal share of it, of one of several sizes. How many cells are of each kind is
fitted to the table itself (empirical Bayes: Robbins 1956), and each cell becomes its posterior mean.

What the sums of rows and of columns say is kept as it is: other tables say the same of them, and to shrink it would be to measure the
earlier answer again. Post-processing of released values: it costs no privacy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

SPREADS = 2.0 ** np.arange(-6, 4)
"""Deviations of a cell, as multiples of what was expected of it."""
FITS_OF_SHARES, LEAST_WEIGHT = 30, 0.3
"""How often the shares of the kinds of cells are fitted, and how many cells of each are counted besides what is seen."""


def shrunk(values: Floats, expected: Floats, sigma: float) -> Floats:
    """The table behind values with noise of deviation sigma in each cell. expected: what was said of it before, 0 or more. The two longest
    axes are a matrix, and every cell of the others has one of its own; a single column is its own sums, and stays."""
    if values.ndim < 2:
        return values
    axes = sorted(range(values.ndim), key=lambda axis: values.shape[axis])
    beyond = (values - expected).transpose(axes)
    found = (_patterns(beyond - _sums(beyond), sigma) + _cells(beyond, expected.transpose(axes), sigma)) / 2
    return expected + (found + _sums(beyond - found)).transpose(np.argsort(axes))


def _sums(matrices: Floats) -> Floats:
    """What the sums of rows and columns say of each cell, and nothing else."""
    return np.asarray(matrices.mean(-1, keepdims=True) + matrices.mean(-2, keepdims=True) - matrices.mean((-2, -1), keepdims=True))


def _patterns(matrices: Floats, sigma: float) -> Floats:
    left, singular, right = np.linalg.svd(matrices, full_matrices=False)
    short, long = matrices.shape[-2:]
    beta, unit = short / long, sigma * math.sqrt(long)
    y = np.maximum(singular / unit, 1 + math.sqrt(beta))  # from here down 0
    kept = unit * np.sqrt(np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0.0)) / y
    return np.asarray((left * kept[..., None, :]) @ right)


def _cells(beyond: Floats, expected: Floats, sigma: float) -> Floats:
    """beyond: what was measured, less what was expected. The kind with the largest cell's deviation has room for what nobody expected."""
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
