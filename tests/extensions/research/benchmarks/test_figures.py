"""The figures of the AIM and the FEM paper: points are measured once, refusals are recorded, a run is worth a sample of the people."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import aim_figures, fem
from benchmarks.aim_figures import Point, Question
from dpsynth_core.statistics.distances import scaled, workload_error
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import Workload, all_kway
from tests.mechanisms.runs import DOMAIN, people

WIDE = Domain.from_json({f"c{i}": 30 for i in range(8)})
BEGAN = {"began": "2026-11-22T10:00:00+00:00"}
FAKE = {("aim", 1.0): 0.1, ("mst", 1.0): 0.3, ("aim", 0.1): 0.5, ("mst", 0.1): 0.4}


def measured(point: Point) -> dict[str, Any]:
    if point.mechanism == "hdmm_pgm":
        return BEGAN | {"refused": "too large"}
    return BEGAN | {"error": FAKE[point.mechanism, point.epsilon], "cpu_seconds": 2.0, "seconds": 3.0}


def test_points_are_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim_figures, "measure", measured)
    slice_of = ["--tables", "titanic", "--epsilons", "0.1", "1", "--runs", "1", "--results", str(tmp_path)]
    for _ in range(2):
        aim_figures.main([*slice_of, "--mechanisms", "aim", "mst", "hdmm_pgm"])
    assert len(json.loads((tmp_path / "aim_figures.json").read_text(encoding="utf-8"))["runs"]) == 6
    text = (tmp_path / "aim_figures.md").read_text(encoding="utf-8")
    assert "| HDMM+PGM | refused | refused |" in text
    assert "| AIM | 0.5000 (1), 2 s | 0.1000 (1), 2 s |" in text


@pytest.mark.parametrize("mechanism", ["independent", "hdmm", "gaussian", "mwem_rp"])
def test_a_point_is_the_error_of_rows_or_answers(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim_figures, "_question", lambda _table, _workload: question(all_kway(DOMAIN, 3)))
    row = aim_figures.measure(Point("titanic", "all-3way", 10.0, mechanism))
    assert 0 < row["error"] < 0.6  # Independent errs 0.46, the others less than 0.2
    monkeypatch.setattr(aim_figures, "_question", lambda _table, _workload: Question(people(), all_kway(WIDE, 2), {}))
    assert "capacity" in aim_figures.measure(Point("titanic", "all-3way", 10.0, "hdmm_pgm"))["refused"]


def test_bounds_are_kept_beside_errors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim_figures, "_question", lambda _table, _workload: question(all_kway(DOMAIN, 2)))
    kept = aim_figures.measure(Point("titanic", "all-3way", 10.0, "aim@paper"))["bounds"]
    assert {"supported"} <= set(kept) <= {"supported", "unsupported"}
    assert sum(len(of["error"]) for of in kept.values()) <= len(all_kway(DOMAIN, 2).closure())
    assert all(len(of["error"]) == len(of["paper"]) == len(of["tight"]) for of in kept.values())


def test_a_sample_of_so_many_people_errs_as_much_as_theorem_1_of_appendix_c_says() -> None:
    """200 samples of a tenth of 4,000 people: their mean error has a relative standard error below 1 %."""
    asked, rng = question(all_kway(DOMAIN, 2)), np.random.default_rng(3)
    codes = people().rows
    errors = []
    for _ in range(200):
        drawn = row_marginals(DOMAIN, codes[rng.integers(0, len(codes), len(codes) // 10)], asked.workload.cliques)
        errors.append(workload_error(asked.workload, asked.true, scaled(drawn, len(codes)), len(codes)))
    assert asked.sample(float(np.mean(errors))) == pytest.approx(0.1, rel=0.1)  # a share goes with the square of an error


def question(workload: Workload) -> Question:
    return Question(people(), workload, people().counts(workload.closure()))  # type: ignore[arg-type]


FEM_BEGAN = {"began": "2026-11-21T10:00:00+00:00", "load": 1.0, "seconds": 2.0, "cpu_seconds": 3.0}


def test_a_measured_point_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[fem.Point] = []

    def measured(point: fem.Point) -> dict[str, Any]:
        asked.append(point)
        return FEM_BEGAN | {"error": 0.1}

    monkeypatch.setattr(fem, "measure", measured)
    slices = ["--figures", "1", "--programs", "zero", "fem", "--results", str(tmp_path)]
    fem.main([*slices, "--epsilons", "0.1", "--runs", "2"])
    assert len(asked) == 4
    fem.main([*slices, "--epsilons", "0.1", "1", "--runs", "2"])
    assert len(asked) == 8
    assert {point.epsilon for point in asked[4:]} == {1.0}
    fem.main(["--figures", "2", "--marginals", "16", "--programs", "fem", "--runs", "1", "--results", str(tmp_path)])
    assert asked[8:] == [fem.Point(2, 3, 16, 0.1, "fem")]
    assert len(json.loads((tmp_path / "fem.json").read_text(encoding="utf-8"))["runs"]) == 9
    text = (tmp_path / "fem.md").read_text(encoding="utf-8")
    assert "| FEM | 0.100 (2) | 0.100 (2) | 3 |" in text
    assert "Figure 2, 3-way marginals, by marginals:" in text
