"""From which epsilon on a mechanism stays within the limit, in numbers and in words."""

from __future__ import annotations

import math

import pandas as pd
import pytest

from dpsynth_core.foundation.zones import Zoned, public
from dpsynth_core.tradeoffs import curves


def curve(**errors_by_mechanism: list[float]) -> Zoned[pd.DataFrame]:
    """Bands over the epsilons 0.1, 1 and 10."""
    rows = [(name, e, 3, error) for name, errors in errors_by_mechanism.items() for e, error in zip((0.1, 1.0, 10.0), errors, strict=True)]
    return public(pd.DataFrame(rows, columns=["mechanism", "epsilon", "tables", "error"]))


def test_a_curve_crosses_the_limit_where_it_does_by_hand() -> None:
    bands = curve(law=[1.0, 0.1, 0.01], flat=[0.5, 0.5, 0.5], fine=[0.01, 0.01, 0.0], late=[0.01, 0.4, 0.1])
    crossings = curves.crossings(bands, 0.2, 3).value
    assert crossings["law"] == pytest.approx(0.5)  # error = 0.1 / epsilon
    assert math.isinf(crossings["flat"])
    assert crossings["fine"] == 0
    assert crossings["late"] == pytest.approx(10**0.5)  # half of the way from 0.4 to 0.1; what was good before does not count
    assert curves.crossings(bands, 0.2, 4).value == {}


def test_crossings_are_said_in_words() -> None:
    assert curves.crossing_words("AIM", 0.3, 5.0) == "AIM: within 5% from about ε 0.3 on."
    assert curves.crossing_words("AIM", 0.0, 5.0) == "AIM: within 5% at every ε that was tried."
    assert curves.crossing_words("AIM", math.inf, 5.0) == "AIM: above 5% at every ε that was tried."
