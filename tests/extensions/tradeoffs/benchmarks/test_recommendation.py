"""The program that fits recommendations: its tables, what it tries, and what is on record."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from benchmarks import recommendation
from benchmarks.recommendation import Scenario
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner
from dpsynth_core.planning.spec import MechanismSpec
from dpsynth_core.release import synthesis
from tests.additions import listed


@pytest.mark.parametrize("number", [1, 5, 60, 104])  # a stand-in, the demo's people, hidden classes and a tree
def test_a_public_table_is_of_people_more_or_less_alike(number: int, tmp_path: Path) -> None:
    scenario = Scenario.drawn(number)
    (spec, about), (plan, _) = scenario.beside_public(tmp_path), scenario.alone(tmp_path)
    assert (spec.domain, spec.workload, spec.budget) == (plan.domain, plan.workload, plan.budget)
    private, public = (pd.read_csv(tmp_path / f"{name}.csv", keep_default_na=False) for name in ("private", "public"))
    assert 300 <= len(public) == about["public_rows"] <= 10_000
    middle = private.iloc[:, 0].sort_values().iloc[len(private) // 2]
    shares = [(table.iloc[:, 0] <= middle).mean() for table in (private, public)]
    assert shares[1] > shares[0] - 0.05  # 300 rows or more: the share of either half is known to 3 %
    configured = synthesis.plan(spec.model_copy(update={"mechanism": MechanismSpec(name="aim_public")}))
    assert configured.public is not None
    assert configured.forecast.fits


def test_only_what_answers_tables_is_tried() -> None:
    assert all(not isinstance(registry.get(name), Learner) for name in recommendation.TRIED)
    assert {"aim", "aim_public", *listed("ON_SHORT_LISTS")} <= set(recommendation.TRIED)
    assert not {*listed("PUBLIC_CHECKS")} & set(recommendation.TRIED)


def test_a_scenario_is_judged_by_a_model_that_does_not_know_it(capsys: pytest.CaptureFixture[str]) -> None:
    """On record: choosing by the model is no worse than what is usual."""
    recommendation.judge(recommendation.TABLE)
    first, usual = (float(line.split(": ")[1].split()[0]) for line in capsys.readouterr().out.splitlines()[::2])
    assert 1.0 < first <= usual
    rows = recommendation._rows(recommendation.TABLE)
    part = recommendation.fitted([row for row in rows if row["scenario"] % recommendation.PARTS])
    whole = recommendation.fitted(rows)
    assert whole["scenarios"] == 161
    assert part["scenarios"] == 143
    assert whole["mechanisms"]["aim"]["trials"] == 161
