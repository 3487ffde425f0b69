"""The papers' figures: points are measured once, refusals are recorded, and the claims follow from the numbers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks import aim_figures, fem
from benchmarks.aim_figures import Point
from benchmarks.figures import LESS, MORE, UNDECIDED, by_epsilon, verdict
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, people

BEGAN = {"began": "2026-11-21T10:00:00+00:00", "load": 1.0, "seconds": 2.0, "cpu_seconds": 3.0}


def frame(*runs: tuple[str, float, float], figure: int = 1) -> pd.DataFrame:
    return pd.DataFrame(
        [{"figure": figure, "k": 3, "marginals": 64, "epsilon": epsilon, "program": name, "error": error} for name, epsilon, error in runs]
    )


def test_a_measured_point_is_not_measured_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[fem.Point] = []

    def measured(point: fem.Point) -> dict[str, Any]:
        asked.append(point)
        return BEGAN | {"error": 0.1}

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


def test_claims_are_judged_at_every_epsilon_and_by_the_noise_of_the_runs() -> None:
    runs = [("fem", 0.1, 0.2), ("fem", 0.1, 0.22), ("dualquery", 0.1, 0.3), ("dualquery", 0.1, 0.32)]
    runs += [("fem", 1.0, 0.10), ("fem", 1.0, 0.14), ("dualquery", 1.0, 0.11), ("dualquery", 1.0, 0.11)]
    runs += [("fem", 0.5, 0.30), ("fem", 0.5, 0.31), ("dualquery", 0.5, 0.11), ("dualquery", 0.5, 0.12)]
    text = fem.claims(frame(*runs))
    verdicts = "holds at epsilon 0.1; holds up to noise at epsilon 1; does not hold at epsilon 0.5."
    assert f"FEM is better than DualQuery (3-way): {verdicts}" in text
    assert "DQRS" not in text
    assert "naive" not in text


def test_growth_is_compared_with_gaussian_answers() -> None:
    runs = [("fem", 0.1, 0.3), ("fem", 1.0, 0.1), ("gaussian-even", 0.1, 0.5), ("gaussian-even", 1.0, 0.05)]
    assert "Gaussian answers as epsilon falls (3-way): holds, 3.0-fold against 10.0-fold." in fem.claims(frame(*runs))


def test_fem_is_compared_with_hdmm_as_in_its_paper() -> None:
    """Section 6 of Vietri et al. 2020: better in some regimes, and growing more slowly as epsilon falls."""
    runs = [("fem", 0.1, 0.3), ("fem", 0.1, 0.3), ("fem", 1.0, 0.1), ("fem", 1.0, 0.1)]
    runs += [("hdmm", 0.1, 0.2), ("hdmm", 0.1, 0.2), ("hdmm", 1.0, 0.15), ("hdmm", 1.0, 0.15)]
    text = fem.claims(frame(*runs))
    assert "FEM is better than HDMM (3-way): holds at epsilon 1; does not hold at epsilon 0.1." in text
    assert "that of HDMM as epsilon falls (3-way): does not hold, 3.0-fold against 1.3-fold." in text


def test_only_runs_that_do_not_overlap_decide() -> None:
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0, 5.0]) == LESS
    assert verdict([3.5, 4.0, 5.0], [1.0, 2.0, 3.0]) == MORE
    assert verdict([1.0, 2.0, 3.6], [3.5, 4.0, 5.0]) == UNDECIDED
    assert verdict([1.0, 1.0, 1.0], [1.0, 1.0, 1.0]) == UNDECIDED
    assert verdict([1.0, 2.0, 3.0], [3.5, 4.0]) == UNDECIDED


def test_verdicts_are_told_by_epsilon_and_only_where_both_were_measured() -> None:
    one = pd.DataFrame({"epsilon": [0.1] * 3 + [0.5] * 3 + [1.0] * 3, "error": [0.2, 0.3, 0.1, 0.0, 0.0, 0.0, 0.1, 0.1, 0.1]})
    other = pd.DataFrame({"epsilon": [0.1] * 3 + [1.0] * 3, "error": [0.4, 0.5, 0.4, 0.05, 0.2, 0.2]})
    assert by_epsilon(one, other) == "less at epsilon 0.1; undecided at epsilon 1"
    assert by_epsilon(one.head(0), other) == ""


WIDE = Domain.from_json({f"c{i}": 30 for i in range(8)})
ON_A_DAY = {"began": "2026-11-22T10:00:00+00:00"}
FAKE = {("aim", 1.0): 0.1, ("mst", 1.0): 0.3, ("aim", 0.1): 0.5, ("mst", 0.1): 0.4}


def measured(point: Point) -> dict[str, Any]:
    if point.mechanism == "hdmm_pgm":
        return ON_A_DAY | {"refused": "too large"}
    return ON_A_DAY | {"error": FAKE[point.mechanism, point.epsilon], "cpu_seconds": 2.0, "seconds": 3.0}


def test_points_are_measured_once_and_claims_are_judged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(aim_figures, "measure", measured)
    slice_of = ["--tables", "titanic", "--epsilons", "0.1", "1", "--runs", "1", "--results", str(tmp_path)]
    for _ in range(2):
        aim_figures.main([*slice_of, "--mechanisms", "aim", "mst", "hdmm_pgm"])
    assert len(json.loads((tmp_path / "aim_figures.json").read_text(encoding="utf-8"))["runs"]) == 6
    text = (tmp_path / "aim_figures.md").read_text(encoding="utf-8")
    assert "| HDMM+PGM | refused | refused |" in text
    assert "| AIM | 0.5000 (1), 2 s | 0.1000 (1), 2 s |" in text
    assert "best in 85% of settings or more: **does not hold** here (1 of 2)" in text
    assert "best in all settings with epsilon of 1 or more: **holds** here (1 of 1)" in text
    assert "MST errs more than AIM on average: **holds** here (1.9 on average, 0.80 to 3.0; the paper's mean" in text
    assert "Not AIM: titanic, all-3way, epsilon 0.1: mst 0.4000, AIM 0.5000" in text


def test_nothing_is_claimed_without_aim() -> None:
    frame = pd.DataFrame([{"table": "titanic", "workload": "target", "epsilon": 1.0, "mechanism": "mst", "error": 0.1}])
    assert list(aim_figures.claims(frame)) == ["- AIM and another mechanism were not measured in the same setting."]


@pytest.mark.parametrize("mechanism", ["independent", "hdmm", "gaussian"])
def test_a_point_is_the_error_of_rows_or_answers(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    source, workload = people(), all_kway(DOMAIN, 3)
    monkeypatch.setattr(aim_figures, "_question", lambda _table, _workload: (source, workload, source.counts(workload.cliques)))
    row = aim_figures.measure(Point("titanic", "all-3way", 10.0, mechanism))
    assert 0 < row["error"] < 0.6  # Independent errs 0.46, the others less than 0.1
    monkeypatch.setattr(aim_figures, "_question", lambda _table, _workload: (source, all_kway(WIDE, 2), {}))
    assert "capacity" in aim_figures.measure(Point("titanic", "all-3way", 10.0, "hdmm_pgm"))["refused"]
