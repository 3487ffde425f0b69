"""Fits that end early, for tests of the core that are about answers and not about fits."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

import pytest

from dpsynth_core.extensions.research.inference.relaxed.losses import Descent
from dpsynth_core.extensions.research.mechanisms.projection import gem, rap


@contextmanager
def fits_of_steps(steps: int) -> Iterator[None]:
    """Relaxed tables are fitted with so many steps."""
    with patch.object(rap, "DESCENT", Descent(steps=steps)):
        yield


def rough(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is fitted well."""
    trained = gem.train
    monkeypatch.setattr(rap, "DESCENT", Descent(steps=10))
    monkeypatch.setattr(gem, "train", lambda *known: trained(*known[:-1], steps=1))
