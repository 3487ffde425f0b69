"""The ratio of the noise to what was charged, for the curator: near 1 for sound noise, in its range as often as said, and curator-only."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.noise_check.ratio import CONFIDENCE, ratio
from dpsynth_core.foundation.zones import ZoneError, curator_only, publishable
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique, Measurement

COUNTS: dict[Clique, np.ndarray] = {("a",): np.arange(40), ("a", "b"): np.ones((40, 6), dtype=np.int64)}


def measured(rng: np.random.Generator, scale: float, sigma: float) -> list[Measurement]:
    noisy = {clique: counts + np.rint(rng.normal(0, scale * sigma, counts.shape)) for clique, counts in COUNTS.items()}
    return [Measurement(clique, values, sigma, None, ROUNDING) for clique, values in noisy.items()]


@pytest.mark.parametrize("sigma", [1.0, 20.0])
def test_the_range_holds_as_often_as_it_says(sigma: float) -> None:
    """Of 600, the share differs from 95 % by more than 3.6 points with a probability of 5e-5."""
    rng = np.random.default_rng(4)
    found = [ratio(measured(rng, 1.0, sigma), curator_only(COUNTS)).value for _ in range(600)]
    assert abs(sum(one.usual for one in found) / 600 - CONFIDENCE) < 0.036
    assert {one.cells for one in found} == {280}


def test_half_of_the_noise_is_half_the_ratio() -> None:
    found = ratio(measured(np.random.default_rng(1), 0.5, 20.0), curator_only(COUNTS)).value
    assert abs(found.estimate - 0.5) < 0.1
    assert not found.usual


def test_the_ratio_cannot_be_published() -> None:
    with pytest.raises(ZoneError):
        publishable(ratio(measured(np.random.default_rng(1), 1.0, 20.0), curator_only(COUNTS)), "the ratio")
