"""Normal noise in whole numbers: on which lattice it is drawn, and how far that is from a continuous normal.

A draw of parameter sigma is round(Z / 2^b), Z being discrete Gaussian of parameter s = 2^b sigma on the whole numbers (drawn exactly, in
`noise`). b is such that s lies between 2^57 and 2^58: nearly a continuum. Exact under zCDP (Proposition 1); under GDP, which is proved for
continuous noise, all that one source of noise draws is within `DISTANCE` of continuous noise (Proposition 8).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_DRAWS = 2**36
DISTANCE = 2.0**-82
"""Largest total variation between all that one source of noise draws and rounded continuous normal noise: 2^36 / (16 * 2^114)."""

_FINEST = 58
_MOST_BITS = 62


def bits(sigma: float, finest: int = _FINEST, most: int = _MOST_BITS) -> int:
    """Return the largest b with 2^b * sigma below 2^finest, but at most `most`.

    Noise of parameter sigma is drawn in steps of 2^-b.

    Raises:
        ValueError: sigma is not positive, or not below 2^finest.
    """
    if not 0 < sigma < 2.0**finest:
        raise ValueError(f"sigma must be a positive number below 2^{finest}")
    return min(most, finest - math.frexp(sigma)[1])


def rounded(noise: NDArray[np.int64], b: int) -> NDArray[np.int64]:
    """Return noise / 2^b rounded to the nearest whole numbers, halves up: floor(noise / 2^b + 1/2)."""
    return (noise + ((1 << b) >> 1)) >> b
