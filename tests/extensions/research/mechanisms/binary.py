"""Invented tables of two-valued columns, for the tests of mechanisms that learn rules."""

from __future__ import annotations

import numpy as np

from dpsynth_core.vocabulary.domain import Domain
from tests.privacy.tables import ArraySource

_TWO = {"kind": "categorical", "categories": ["no", "yes"], "other": False, "missing": False}


def binary_domain(columns: int) -> Domain:
    """Columns c0, c1, ... with the values no and yes; the last is y."""
    names = [*(f"c{i}" for i in range(columns - 1)), "y"]
    return Domain.from_json({"version": 1, "attributes": [{"name": name, **_TWO} for name in names]})


def binary_people(rows: int = 4000, columns: int = 6, seed: int = 50) -> ArraySource:
    """y is c0 and c1, wrong for one in ten; the other columns are rare, or follow the one before."""
    rng = np.random.default_rng(seed)
    codes = (rng.random((rows, columns)) < np.linspace(0.7, 0.2, columns)).astype(np.int32)
    follows = rng.random((rows, columns)) < 0.5
    for i in range(3, columns - 1):
        codes[:, i] = np.where(follows[:, i], codes[:, i - 1], codes[:, i])
    codes[:, -1] = (codes[:, 0] & codes[:, 1]) ^ (rng.random(rows) < 0.1)
    return ArraySource(binary_domain(columns), codes)
