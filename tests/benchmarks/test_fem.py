"""The FEM paper's figures: points are measured once, and the paragraph on the paper's claims says what the numbers say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from benchmarks import fem

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
