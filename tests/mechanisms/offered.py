"""Which mechanisms the tests that go through all of them are about."""

from __future__ import annotations

from dpsynth_core.mechanisms.mechanism import Learner
from dpsynth_core.mechanisms.registry import MECHANISMS

TABLES = [name for name, mechanism in MECHANISMS.items() if not isinstance(mechanism, Learner)]
"""Those for tables of any kind. Mechanisms that learn rules take two-valued columns only, and have tests of their own."""
