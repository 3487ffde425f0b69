"""A release with sets of rows and an analysis that was named beforehand. For `tests/bundle/test_from_answers.py`."""

from __future__ import annotations

from typing import Any

import dpsynth_core as dps
from tests.bundle.invented_people import COLUMNS, people


def sets_of_rows(seed: int) -> dps.Plan:
    asked: dict[str, Any] = {"plausible": 2, "analysis": ["income ~ age + sex"]}
    return dps.plan(people(seed), COLUMNS, epsilon=4, tables=2, **asked)


CASES = {"sets of rows": sets_of_rows}
ON_PAGES: dict[str, Any] = {"analysis": ["age ~ sex"]}
