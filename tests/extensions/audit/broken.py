"""Kernels and noise with one mistake each, which an audit has to find."""

from __future__ import annotations

from typing import Any

import numpy as np

from dpsynth_core.extensions.audit.cases import Branch
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import ADD_REMOVE, Unit
from dpsynth_core.privacy.view import Integers


class HalfNoise(SeededNoise):
    """Half of the Gaussian noise that was asked for."""

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return super().gaussian(values, sigma / 2)


class HardlyAnyNoise(SeededNoise):
    """A fiftieth of all noise."""

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return super().gaussian(values, sigma / 50)

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        return super().discrete_laplace(values, scale / 50)

    def noisy_max(self, scores: Integers, scale: float) -> int:
        return super().noisy_max(scores, scale / 50)


class HalfLaplace(SeededNoise):
    """Half of the Laplace noise that was asked for."""

    def discrete_laplace(self, values: Integers, scale: float) -> Integers:
        return super().discrete_laplace(values, scale / 2)


class TwiceTheEpsilon(Branch):
    """An exponential mechanism at twice the eps that it is charged for."""

    def noisy_max(self, scores: Integers, scale: float) -> int:
        return super().noisy_max(scores, scale / 2)


class Shy(SeededNoise):
    """Gaussian noise that never makes a number larger."""

    def gaussian(self, values: Integers, sigma: float) -> Integers:
        return np.asarray(values - np.abs(super().gaussian(np.zeros_like(values), sigma)))


def priced_as_add_remove(source: Any, unit: Unit, *rest: Any) -> PrivacyKernel:
    """A kernel that takes a replaced person for one who is added or removed."""
    return PrivacyKernel(source, Unit(ADD_REMOVE, unit.max_rows_per_person), *rest)


def priced_for_one_row(source: Any, unit: Unit, *rest: Any) -> PrivacyKernel:
    """A kernel that takes a person with several rows for one with one row."""
    return PrivacyKernel(source, Unit(unit.relation, 1), *rest)


class OneKey:
    """A source that keeps one key only, the one that comes last: what a cap on distinct keys may come to."""

    def __init__(self, table: Any) -> None:
        self._table = table

    def __getattr__(self, name: str) -> Any:
        return getattr(self._table, name)

    def values(self, name: str) -> Any:
        for counts in self._table.values(name):
            yield dict([max(counts.items())])


def with_a_cap(source: Any, *rest: Any) -> PrivacyKernel:
    """A kernel whose source drops keys when there are too many."""
    return PrivacyKernel(OneKey(source), *rest)
