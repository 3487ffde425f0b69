"""Normal noise in whole numbers, and how far it is from a continuous normal: what Gaussian DP, which is proved for continuous noise, needs.

A draw of parameter sigma is round(Z / 2^b), Z being discrete Gaussian of parameter s = 2^b sigma on the whole numbers (drawn exactly, in
`noise`). b is such that s lies between 2^57 and 2^58: nearly a continuum. Rounding is floor(Z / 2^b + 1/2), in integers, so that it
commutes with adding whole numbers: count + round(Z / 2^b) = round((2^b count + Z) / 2^b).

zCDP. So the noisy count is a map of 2^b count + Z, and costs what that costs: shifting discrete Gaussian noise of parameter s by 2^b l2
costs l2^2 / (2 sigma^2) (Canonne, Kamath, Steinke 2020, Theorem 14). Exact.

Gaussian DP. Let X be normal with standard deviation s. *Proposition.* For s >= 1 the total variation between Z and X rounded to whole
numbers is below 1 / (16 s^2).

*Proof.* Let f be the density of X, P(k) its integral over [k - 1/2, k + 1/2]. Integrating by parts twice, P(k) - f(k) is the integral of
(1/2 - |x - k|)^2 / 2 * f''(x), a weight of at most 1/8. Summed over k, |P(k) - f(k)| is at most 1/8 of the integral of |f''|, which is 4
max |f'| = 4 / (s^2 sqrt(2 pi e)): below 0.121 / s^2. And Pr[Z = k] = f(k) / F with F = sum f(k) = 1 + 2 sum over j >= 1 of exp(-2 pi^2 s^2
j^2) (Poisson), so that the sum of |f(k) - f(k) / F| is F - 1, below 10^-8 / s^2. Together less than 1 / (8 s^2), of which total variation
is half. QED

Rounding X to whole numbers, adding 2^b count and rounding again is a map of 2^b count + X: of the Gaussian mechanism. So whatever is
computed from n draws is within n / (16 s^2) of what would be computed from the answers of Gaussian mechanisms, in every world and however
later questions depend on earlier answers. One source of noise draws `MOST_DRAWS` numbers and no more; `DISTANCE` is what that comes to.

The edges. Below sigma = 2^-5, b stays 62 and s is smaller; then rounded noise is 0 for Z and for X alike, but for a probability below
2^-180. Z beyond 24 s, where 64-bit integers may end, has a probability below 2^-400. DISTANCE is larger than what this adds by a factor of
2^30.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

MOST_DRAWS = 2**36
DISTANCE = 2.0**-82
"""Total variation between all that one source of noise draws and rounded continuous normal noise, at most: 2^36 / (16 * 2^114)."""

_FINEST = 58
_MOST_BITS = 62


def bits(sigma: float, finest: int = _FINEST, most: int = _MOST_BITS) -> int:
    """The largest b, `most` at most, with 2^b sigma below 2^finest. ValueError unless sigma itself is positive and below it."""
    if not 0 < sigma < 2.0**finest:
        raise ValueError(f"sigma must be a positive number below 2^{finest}")
    return min(most, finest - math.frexp(sigma)[1])


def rounded(noise: NDArray[np.int64], b: int) -> NDArray[np.int64]:
    """floor(noise / 2^b + 1/2)."""
    return (noise + ((1 << b) >> 1)) >> b
