"""The benchmark of all mechanisms measures rows where there are some, answers elsewhere, and writes down refusals."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from benchmarks import mechanisms


def test_rows_and_answers_are_measured_on_the_simulated_people(tmp_path: Path) -> None:
    options = ["--tables", "demo", "--workloads", "all-2way", "--mechanisms", "independent", "residual_planner", "--epsilon", "100"]
    assert mechanisms.main([*options, "--results", str(tmp_path)]) == 0
    runs = json.loads((tmp_path / "mechanisms.json").read_text(encoding="utf-8"))["runs"]
    assert [(run["mechanism"], run["of"]) for run in runs] == [("independent", "rows"), ("residual_planner", "answers")]
    # so much budget leaves answers nearly exact, and Independent without any dependence
    assert runs[1]["error"] < 0.05 < runs[0]["error"] < 1
    lines = (tmp_path / "mechanisms.md").read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4 + len(runs)
    assert {line.count("|") for line in lines[2:]} == {len(mechanisms.HEAD) + 1}


def test_a_crash_is_no_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(command: list[str]) -> None:
        raise RuntimeError(f"exit code 1 from {command[0]}\nout of memory")

    monkeypatch.setattr(mechanisms, "execute", crash)
    with pytest.raises(RuntimeError, match="out of memory"):
        mechanisms.main(["--tables", "demo", "--workloads", "all-2way", "--mechanisms", "mst", "--results", str(tmp_path)])


def test_a_refusal_is_a_result(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(command: list[str]) -> None:
        raise RuntimeError(f"exit code 2 from {command[0]}\nmechanism: it does not fit; use fewer columns")

    monkeypatch.setattr(mechanisms, "execute", refuse)
    assert mechanisms.main(["--tables", "demo", "--workloads", "all-2way", "--mechanisms", "mst", "--results", str(tmp_path)]) == 0
    assert "| refused | mechanism: it does not fit; use fewer columns |" in (tmp_path / "mechanisms.md").read_text(encoding="utf-8")
