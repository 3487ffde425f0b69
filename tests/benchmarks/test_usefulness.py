"""The benchmark of models: what it calls exact is what each person says, and its record has it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import usefulness
from dpsynth_core.claims.models import training_time


def test_intervals_are_compared_with_what_every_person_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(training_time, "ROUNDS", 5)
    given = ["invented", "--epsilon", "20", "--relation", "replace", "--runs", "1", "--results", str(tmp_path)]
    assert usefulness.main(given) == 0
    record = json.loads((tmp_path / "usefulness_invented_replace_eps20.json").read_text())
    people = usefulness.asked_of("invented").people()
    most = np.bincount(people[:, 0]).max() / len(people)
    assert [one["model"] for one in record["stated"]] == ["gradient boosting", "logistic regression", "majority"]
    assert record["stated"][-1]["exact"] in (most, 1 - most)  # always one of the two values
    for one in record["stated"]:
        assert abs(one["value"] - one["exact"]) < 5 / 1.96 * (one["high95"] - one["low95"]) / 2
    assert all(share > most for share in record["trained_on_real"].values())
