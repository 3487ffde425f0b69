"""What a noisy table most likely is, where it differs from a model's answer in a few patterns only.

Each row of the difference between a table of two columns and what the model said of it before is mostly a mixture of few shapes (one region
is older, another richer), so that few singular values stand above those of noise alone. Each is shrunk as is best for its size (Gavish and
Donoho 2017, Optimal shrinkage of singular values, section III.A, Frobenius loss); what is left below is noise. What the sums of rows and of
columns say is kept as it is: other tables say the same of them, and to shrink it would be to measure the earlier answer again.
Post-processing of released values: it costs no privacy."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def shrunk(values: Floats, expected: Floats, sigma: float) -> Floats:
    """expected, plus what the values, with noise of deviation sigma in each cell, show beyond it. The two longest axes are a matrix, and
    every cell of the others has one of its own."""
    axes = sorted(range(values.ndim), key=lambda axis: values.shape[axis])
    matrices = (values - expected).transpose(axes)
    sums = matrices.mean(-1, keepdims=True) + matrices.mean(-2, keepdims=True) - matrices.mean((-2, -1), keepdims=True)
    left, singular, right = np.linalg.svd(matrices - sums, full_matrices=False)
    short, long = matrices.shape[-2:]
    beta, unit = short / long, sigma * math.sqrt(long)
    y = np.maximum(singular / unit, 1 + math.sqrt(beta))  # from here down 0
    kept = unit * np.sqrt(np.maximum((y**2 - beta - 1) ** 2 - 4 * beta, 0.0)) / y
    return expected + (sums + (left * kept[..., None, :]) @ right).transpose(np.argsort(axes))
