"""Structural zeros and the mechanisms of the extension that do not keep to them."""

from __future__ import annotations

from dpsynth_core.mechanisms.registry import get
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.extensions.research.lists import REFUSE_ZEROS
from tests.mechanisms.runs import DOMAIN


def test_what_does_not_keep_to_zeros_is_refused_before_the_run() -> None:
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0,), (0,)),)),))
    (refusing,) = REFUSE_ZEROS
    assert get(refusing).forecast(all_kway(DOMAIN, 2), 0.05).fits
    assert "impossible combinations" in get(refusing).forecast(all_kway(limited, 2), 0.05).reason
