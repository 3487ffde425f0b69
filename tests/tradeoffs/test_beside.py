"""A finished release stands beside the curves only where both are about the same; else it is said why not."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.tradeoffs import curves
from tests.tradeoffs.plans import plan, sweep


@pytest.fixture(scope="module")
def made() -> tuple[Release, Headline]:
    """A release of the swept plan, with its headline."""
    spec = plan(budget={"epsilon": 2.0, "delta": 1e-9, "certificate": 0.1}, output={"seed": 1})
    ready = synthesis.plan(spec)
    release = synthesis.synthesize(ready, synthesis.open_source(ready), synthesis.noise_for(spec), lambda _: None)
    return release, report.quality_of(release).value.headline


def test_a_release_of_the_same_tables_is_a_point_with_its_interval(made: tuple[Release, Headline]) -> None:
    release, headline = made
    assert curves.obstacle(sweep(), release, headline) == ""
    point = curves.release_point("Last year", release, headline)
    assert point.epsilon == 2.0
    assert point.low <= point.error <= point.high
    table = curves.release_points([point])
    assert table.zone is Zone.RELEASED
    assert table.value.iloc[0].to_dict() == vars(point)


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"domain": {"a": 2, "b": 3, "c": 5}}, "columns or their values"),
        ({"workload": {"kind": "all", "k": 1}}, "other tables"),
        ({"workload": {"kind": "marginals", "marginals": [{"attributes": ["a", "b"], "weight": 2.0}]}}, "other tables"),
        ({"unit": {"relation": "replace"}}, "hides something else"),
    ],
)
def test_another_question_is_not_compared(made: tuple[Release, Headline], fields: dict[str, Any], why: str) -> None:
    other = sweep(plan(**fields), sizes=(1,))
    assert why in curves.obstacle(other, *made)


def test_what_was_not_measured_is_not_compared(made: tuple[Release, Headline]) -> None:
    release, headline = made
    assert "no certificate" in curves.obstacle(sweep(), release, replace(headline, certified=False))
