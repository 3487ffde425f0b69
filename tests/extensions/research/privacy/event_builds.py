"""How the extension's events are built. For `tests/privacy/test_meter.py`."""

from __future__ import annotations

from hypothesis import strategies as st

from dpsynth_core.extensions.research.privacy.events import Laplace
from dpsynth_core.privacy.events import Event

OF_ONE_NUMBER = [lambda x: Laplace(x, 1.0)]
"""From a number that must be positive."""


def drawn() -> st.SearchStrategy[Event]:
    return st.builds(Laplace, st.floats(0.1, 1e6), st.sampled_from([1.0, 2.0]))
