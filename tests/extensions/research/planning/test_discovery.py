"""The shares of a plan that learns values, with a mechanism that is accounted under zCDP."""

from __future__ import annotations

from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.conversions import rho_from
from tests.planning.test_discovery import spec


def test_shares_add_up_and_the_thresholds_delta_is_part_of_delta() -> None:
    shares = Plan.of(spec()).shares
    alone = Plan.of(spec(mechanism={"name": "fem"})).shares
    assert alone.rho == rho_from(1.0, 1e-9 - shares.delta)
