"""What benchmarks of releases count is what they say: intervals, rules for several tables, models, and what reports state of trials."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest

from benchmarks import usefulness
from benchmarks.questions import DOMAIN, Outcome, questions, summary
from benchmarks.several_tables import rules
from dpsynth_core.claims.models import training_time
from dpsynth_core.report.facts import PICKED
from dpsynth_core.report.verdict import ENOUGH


def test_an_interval_that_is_twice_as_wide_as_needed_is_found() -> None:
    told = summary([Outcome("", off=i / 100, half=1.9) for i in range(101)])
    assert told["coverage"] == 1
    assert told["excess"] == pytest.approx(2)


def test_the_questions_can_be_asked() -> None:
    asked = [question.checked(DOMAIN) for _, question in questions(40)]
    assert len({question.statistic for question in asked}) == 5


def test_rules_are_their_formulas() -> None:
    """Two tables of four numbers with means 0.5 and 0.75: b = 1/32, v = (1/3 + 1/4) / 2 / 4; t with one degree of freedom is 12.706."""
    told = rules([np.array([0.0, 0.0, 1.0, 1.0]), np.array([0.0, 1.0, 1.0, 1.0])])
    b, v = 1 / 32, (1 / 3 + 1 / 4) / 8
    assert {middle for middle, _ in told.values()} == {0.625}
    assert told["spread: b / m"][1] == pytest.approx(12.7062 * math.sqrt(b / 2), rel=1e-4)
    assert told["redrawn: v / m"][1] == pytest.approx(1.95996 * math.sqrt(v / 2), rel=1e-4)
    assert told["RND16: v (k / n + 1 / m)"][1] == pytest.approx(1.95996 * math.sqrt(1.5 * v), rel=1e-4)
    assert told["RRR03: (1 + 1 / m) b - v"][1] == told["redrawn: v / m"][1]  # 3 b / 2 < v


RESULTS = Path(__file__).resolve().parents[2] / "benchmarks" / "results" / "naming.md"


def test_reports_state_the_trials_that_were_made() -> None:
    tables = RESULTS.read_text(encoding="utf-8").split("\n\n")
    heads, _, *lines = next(table for table in tables if table.startswith("| table | mechanism | epsilon | releases |")).splitlines()
    columns, at_1 = [name.strip() for name in heads.strip("|").split("|")], [line for line in lines if line.split("|")[3].strip() == "1.0"]

    def counted(name: str) -> int:
        place = columns.index(name)
        found = (re.match(r"(\d+) of ", line.strip("|").split("|")[place].strip()) for line in at_1)
        return sum(int(one[1]) for one in found if one)

    named, wrong, failed = map(counted, ("named good", "of these wrong", "bound fails there"))
    assert f"{wrong} of {named} tables called so were not" in ENOUGH
    assert f"of {named} tables that were called good enough in trials at epsilon 1, {failed} were above theirs" in PICKED


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
