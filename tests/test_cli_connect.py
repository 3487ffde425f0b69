"""A plan that names another machine is run only by who says so: tables in stores, and what extensions connect to."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.cli.command_line import main
from tests.additions import added

ELSEWHERE: list[dict[str, Any]] = [
    {"kind": "csv", "path": "s3://bucket/people.csv"},
    *(data for module in added("lists") for data in getattr(module, "ELSEWHERE", ())),
]


@pytest.mark.parametrize("data", ELSEWHERE, ids=str)
def test_a_plan_of_somebody_else_connects_to_no_machine_by_itself(
    data: dict[str, Any], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A server would be given PGPASSWORD, a scheduler could run programs here."""
    public = {"population": "people", "domain": {"a": 2, "b": 3}, "workload": {"kind": "all", "k": 2}}
    plan = tmp_path / "plan.json"
    plan.write_text(json.dumps({**public, "budget": {"epsilon": 1.0, "delta": 1e-9}, "data": data}))
    assert main(["run", str(plan), "--out", str(tmp_path / "out")]) != 0
    assert "--connect" in capsys.readouterr().err
