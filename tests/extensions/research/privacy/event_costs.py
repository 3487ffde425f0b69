"""What the extension's events cost: rho under zCDP, and how many times that under GDP. For `tests/privacy/test_accountant.py`."""

from __future__ import annotations

import math

from dpsynth_core.extensions.research.privacy.events import Laplace, PermuteAndFlip, PerturbedMinimum, Retention

_HALF_PI = math.pi / 2

COSTS = [
    (PermuteAndFlip(0.25), 1 / 32, _HALF_PI),
    (Laplace(4.0, 1.0), 1 / 32, _HALF_PI),
    (PerturbedMinimum(4.0, 1.0), 1 / 32, _HALF_PI),
    (Retention(0.5, 2.0, 100.0, 1, 3), 3 * (0.005 * (1 + 1 / math.expm1(2))) ** 2 / 8, _HALF_PI),
]
