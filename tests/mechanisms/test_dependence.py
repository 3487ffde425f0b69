"""How much columns depend on each other: the noisy number against the true one, which is known here."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.inference.smoothing import MEASURED
from dpsynth_core.mechanisms import rounds
from dpsynth_core.mechanisms.graphical import dependence, models
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway


@pytest.mark.parametrize("copied", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("sigma", [1.0, 40.0])
def test_it_is_near_what_independent_columns_would_get_wrong(copied: float, sigma: float) -> None:
    """2,000 people, eight columns of four values, of which a part is copied from the first: of a pair of columns with this share of copies
    in each of both, 3/4 of copied^2 is in another cell than independence has it. Seeds are fixed. The answer has a deviation of 0.01
    (`DOUBT`); a square root of differences makes sqrt(2 * 0.01 * 0.1) = 0.045 of it where noise shows 0.1 and nothing else is there."""
    rng, domain = np.random.default_rng(8), Domain.from_json({f"c{i}": 4 for i in range(8)})
    chance = rng.integers(4, size=(2_000, 8))
    codes = np.where(rng.random((2_000, 8)) < copied, rng.integers(4, size=(2_000, 1)), chance)
    kernel = PrivacyKernel(CodesSource(domain, codes), Unit(), 10.0, SeededNoise(8))
    columns = kernel.measure_marginals(rounds.columns_of(domain), sigma)
    model = models.fit(kernel, columns)
    found, _ = dependence.gap(kernel, all_kway(domain, 2).cliques, model, columns, MEASURED, noise=0.02)
    assert found == pytest.approx(0.75 * copied**2, abs=0.05)
