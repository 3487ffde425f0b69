"""An audit of counts of those who take part: one person in, and one left out, is added on the system's noise."""

from __future__ import annotations

import pytest

from dpsynth_core.extensions.audit.evidence import Accounted, Draw, from_draws
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.unit import Unit
from tests.extensions.holdout.test_coin import CELLS, HALF, IN, OUT, source


@pytest.mark.parametrize("name", [IN[3], OUT[3]], ids=["in", "out"])
def test_an_audit_finds_no_more_than_is_charged_in_either_group(name: str) -> None:
    """2,000 draws with and without a person, on the real noise. Where the person is in, a fifth of what is charged is found.

    With 2,000 draws 0.35 of it is found, with a deviation of 0.02 (150 audits of rounded normal noise).
    """
    unit, people = Unit("add-remove", 1, True), {IN[0]: (CELLS[0],), OUT[0]: (CELLS[0],)}
    event = None
    drawn = []
    for table in (people, people | {name: (CELLS[0],)}):
        counted, noise, draws = source(table, 1, HALF), OpenDPNoise(), []
        for _ in range(2_000):
            kernel = PrivacyKernel(counted, unit, 1e3, noise)
            value = kernel.measure_marginals([("a", "b")], 0.5)[0].values[0, 0]
            draws.append(Draw(float(value), None))
            (event,) = kernel.events
        drawn.append(draws)
    assert event is not None
    finding = from_draws(Accounted(ZCDP, event.cost), (drawn[0], drawn[1]), 1e-9)
    assert finding.least <= event.cost
    assert (finding.least > 0.2 * event.cost) == HALF(name)
