"""The code that the app shows for a plan with rows in order makes the same plan again."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.in_python import script
from tests.extensions.sequences.stays import MOST, WHOLE, files


def test_the_code_of_a_plan_makes_it_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    files(tmp_path, 50)
    options: dict[str, Any] = {"person": "patient", "rows_per_person": MOST, "order": "admitted", "constant": ["sex", "born"]}
    rules = [{"never": {"last row": ["no"], "alive": ["no"]}}]
    plan = dps.plan(tmp_path / "stays.csv", WHOLE, epsilon=4, gap="days_before", rules=rules, **options)
    there: dict[str, Any] = {}
    exec(script.script(plan.sealed.spec.model_dump(mode="json"), "mechanism", script.Table(str(tmp_path / "stays.csv"))), there)
    assert there["plan"].digest == plan.digest
