"""AIM for households and their members: what is believed of a table that is measured more than once."""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import one_each
from dpsynth_core.mechanisms.graphical import households
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from tests.claims.test_weighted_linked import MOST, source, spec, survey

Floats = NDArray[np.float64]


def test_a_table_that_is_measured_again_is_seen_from_before_it_was_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    """All its measurements count as one, beside the answer of a model that had seen none of them. With this seed 9 of 17 were measured
    before."""
    seen, shrunk = list[tuple[Floats, Floats]](), households.shrunk

    def watched(values: Floats, expected: Floats, sigma: float) -> Floats:
        seen.append((values, expected))
        return shrunk(values, expected, sigma)

    monkeypatch.setattr(households, "shrunk", watched)
    plan = Plan.of(spec(Path(), weight=None, budget={"epsilon": 2.0, "delta": 1e-9}))
    kernel = PrivacyKernel(source(survey(2000), MOST), plan.unit, plan.shares.rho, SeededNoise(3), 0.0, plan.shares.accountant)
    measured = [step.measurement for step in plan.mechanism.steps(kernel, plan.workload) if isinstance(step, Measured)]
    assert plan.link is not None
    alike = {plan.link.alike(name) for name in plan.link.members.names}
    tables = [one for one in measured if len(one.clique) > 1 and not alike & set(one.clique)]
    earlier, again = defaultdict[tuple[str, ...], list[int]](list), 0
    for place, (one, (values, expected)) in enumerate(zip(tables, seen, strict=True)):
        if before := earlier[one.clique]:
            again += 1
            assert (expected == seen[before[0]][1]).all()
        earlier[one.clique].append(place)
        if not set(one.clique) & set(map(plan.link.other, plan.link.members.names)):  # of two members, tables are made symmetric
            (together,) = one_each(tables[i] for i in earlier[one.clique])
            assert values == pytest.approx(together.values)
    assert again > 5
