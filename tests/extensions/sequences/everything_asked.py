"""A release of rows in order. For `tests/bundle/test_from_answers.py`."""

from __future__ import annotations

from typing import Any

import dpsynth_core as dps
from tests.extensions.sequences.stays import MOST, WHOLE, stays


def in_order(seed: int) -> dps.Plan:
    asked: dict[str, Any] = {"order": "admitted", "constant": ["sex", "born"], "gap": "days_before"}
    return dps.plan(stays(400, seed), WHOLE, epsilon=4, person="patient", rows_per_person=MOST, **asked)


CASES = {"rows in order": in_order}
