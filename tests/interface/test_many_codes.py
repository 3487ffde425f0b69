"""Releases of a column of many codes: what the program makes, it calls consistent, it shows no error that is not known, and
it says where its model does not fit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core import report
from dpsynth_core.bundle.verdicts import CONSISTENT
from dpsynth_core.evaluation.verdict import MISFIT
from dpsynth_core.inference import estimation
from dpsynth_core.mechanisms.registry import MECHANISMS

LONGEST = 30.0
"""Seconds of a run, as forecast, that a test waits for."""


@pytest.mark.slow  # makes a release of each mechanism and width, and checks it in a process
@pytest.mark.parametrize("width", [200, 1000, 20_000])
@pytest.mark.parametrize("mechanism", MECHANISMS)
def test_a_release_is_consistent_and_its_limits_are_not_below_its_errors(mechanism: str, width: int, tmp_path: Path) -> None:
    rng, people = np.random.default_rng(width), 3000
    codes, shares = [f"I{number:05d}" for number in range(width)], 1 / np.arange(1, width + 1) ** 1.1
    drawn = rng.choice(width, people, p=shares / shares.sum())
    frame = pd.DataFrame({"code": np.array(codes)[drawn], "b": rng.choice(list("0123"), people), "c": rng.choice(["x", "y"], people)})
    columns = {"code": codes, "b": list("0123"), "c": ["x", "y"]}
    try:
        plan = dps.plan(frame, columns, epsilon=1, tables=2, people=people, mechanism=mechanism)
    except dps.InputError as refused:
        pytest.skip(f"refused before anything is spent: {refused}")
    if plan.forecast.seconds > LONGEST:
        pytest.skip("it takes too long for a test")
    release = plan.run(progress=False)
    release.save(tmp_path / "release.zip")
    checked = dps.verify(tmp_path / "release.zip", seconds=600)
    assert checked.verdict == CONSISTENT, [check.detail for check in checked.checks]
    known = release.errors.dropna(subset=["error", "limit"])
    assert (known.limit >= known.error - 1e-9).all()
    assert (known.limit > 0).all()


@pytest.mark.parametrize("mechanism", ["aim", "independent", "mst"])
def test_a_fit_that_ends_where_it_starts_is_an_alarm_in_warning_verdict_and_log(mechanism: str, monkeypatch: pytest.MonkeyPatch) -> None:
    rng, codes = np.random.default_rng(3), [f"I{number:03d}" for number in range(300)]
    shares = 1 / np.arange(1, 301) ** 1.1
    frame = pd.DataFrame({"code": np.array(codes)[rng.choice(300, 20_000, p=shares / shares.sum())], "sex": rng.choice(["f", "m"], 20_000)})
    columns = {"code": codes, "sex": ["f", "m"]}
    plan = dps.plan(frame, columns, epsilon=1, tables=2, people=20_000, mechanism=mechanism)
    sound = plan.run(progress=False)
    assert not any("does not fit" in warning for warning in sound.warnings)
    monkeypatch.setattr(estimation, "MANY_CELLS", 10**9)

    def unmoved(structure: Any, start: Any, terms: Any, pace: float, _stopping: Any) -> tuple[Any, float]:
        return estimation._started(structure, start, terms), pace

    monkeypatch.setattr(estimation, "_descend", unmoved)
    monkeypatch.setattr(estimation, "_raked", lambda _structure, potentials, *_more: tuple(potentials))
    made = dps.plan(frame, columns, epsilon=1, tables=2, people=20_001, mechanism=mechanism).run(progress=False)
    assert any("does not fit the noisy table 'code'" in warning for warning in made.warnings)
    verdict = report.quality_of(made.made).value.verdict
    assert verdict is not None
    assert MISFIT in verdict.causes
    assert "Try another mechanism" in report.reasons(verdict)
    assert any("does not fit" in step.message for step in made.made.history)
