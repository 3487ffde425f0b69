"""The extension's events under the core's accountants."""

from __future__ import annotations

from dpsynth_core.extensions.research.privacy.events import Approximate
from dpsynth_core.privacy.accountant import GDP
from tests.refusals import refused


def test_a_step_with_a_delta_of_its_own_is_not_accounted_under_gdp() -> None:
    refused(GDP.cost, Approximate(1.0, 1e-6), kind=ValueError, saying="Approximate")
