"""Rules for several synthetic tables are the formulas of their papers."""

from __future__ import annotations

import math

import numpy as np
import pytest

from benchmarks.several_tables import rules


def test_rules_are_their_formulas() -> None:
    """Two tables of four numbers with means 0.5 and 0.75: b = 1/32, v = (1/3 + 1/4) / 2 / 4; t with one degree of freedom is 12.706."""
    told = rules([np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])])
    b, v = 1 / 32, (1 / 3 + 1 / 4) / 8
    assert {middle for middle, _ in told.values()} == {0.625}
    assert told["spread: b / m"][1] == pytest.approx(12.7062 * math.sqrt(b / 2), rel=1e-4)
    assert told["redrawn: v / m"][1] == pytest.approx(1.95996 * math.sqrt(v / 2), rel=1e-4)
    assert told["RND16: v (k / n + 1 / m)"][1] == pytest.approx(1.95996 * math.sqrt(1.5 * v), rel=1e-4)
    assert told["RRR03: (1 + 1 / m) b - v"][1] == told["redrawn: v / m"][1]  # 3 b / 2 < v
