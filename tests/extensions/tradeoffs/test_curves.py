"""Beside the curves: releases only where both are about the same, and from which epsilon on a mechanism stays within the limit."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pandas as pd
import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.quality import Headline
from dpsynth_core.extensions.tradeoffs import curves
from dpsynth_core.extensions.tradeoffs.curves import Crossing
from dpsynth_core.foundation.zones import Zone, Zoned, combine, public
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from tests.extensions.tradeoffs.plans import plan, sweep


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


def curve(**errors_by_mechanism: list[float]) -> Zoned[pd.DataFrame]:
    """Bands over the epsilons 0.1, 1 and 10."""
    rows = [(name, e, 3, error) for name, errors in errors_by_mechanism.items() for e, error in zip((0.1, 1.0, 10.0), errors, strict=True)]
    return public(pd.DataFrame(rows, columns=["mechanism", "epsilon", "tables", "error"]))


def test_a_curve_crosses_the_limit_where_it_does_by_hand() -> None:
    bands = curve(law=[1.0, 0.1, 0.01], flat=[0.5, 0.5, 0.5], fine=[0.01, 0.01, 0.0], late=[0.01, 0.4, 0.1], rises=[0.5, 0.1, 0.4])
    crossings = curves.crossings(bands, 0.2, 3).value
    starts = {name: crossing.start for name, crossing in crossings.items()}
    assert starts["law"] == pytest.approx(0.5)  # error = 0.1 / epsilon
    assert math.isinf(starts["flat"])
    assert starts["fine"] == 0
    assert starts["late"] == pytest.approx(10**0.5)  # half of the way from 0.4 to 0.1; what was good before does not count
    assert math.isinf(starts["rises"])
    assert {name: crossing.within for name, crossing in crossings.items()} == {
        "law": (1.0, 10.0), "flat": (), "fine": (0.1, 1.0, 10.0), "late": (0.1, 10.0), "rises": (1.0,)
    }
    assert curves.crossings(bands, 0.2, 4).value == {}


def test_crossings_are_said_in_words() -> None:
    def said(start: float, *within: float) -> str:
        return curves.crossing_words("AIM", Crossing(start, within, 10.0), 5.0)

    assert said(0.3, 1.0, 10.0) == "AIM: within 5% from about ε 0.3 on."
    assert said(0.0, 0.1, 1.0, 10.0) == "AIM: within 5% at every ε that was tried."
    assert said(math.inf) == "AIM: above 5% at every ε that was tried."


@pytest.mark.parametrize("errors", [[0.5, 0.1, 0.4], [0.1, 0.1, 0.4], [0.1, 0.4, 0.4]])
def test_a_curve_that_was_within_the_limit_is_never_called_above_it_everywhere(errors: list[float]) -> None:
    (crossing,) = curves.crossings(curve(it=errors), 0.2, 3).value.values()
    words = curves.crossing_words("it", crossing, 20.0)
    assert "every" not in words
    within = [epsilon for epsilon, error in zip((0.1, 1.0, 10.0), errors, strict=True) if error <= 0.2]
    assert all(f"{epsilon:g}" in words for epsilon in within)


def test_tables_of_a_release_are_points_with_their_intervals(made: tuple[Release, Headline]) -> None:
    release, headline = made
    points = curves.release_tables("Last year", release, combine(lambda quality: quality.table, report.quality_of(release)))
    assert points.zone is Zone.RELEASED
    frame = points.value
    assert len(frame) == 3
    assert (frame["low"] <= frame["error"]).all()
    assert (frame["error"] <= frame["high"]).all()
    assert set(frame["epsilon"]) == {2.0}
    assert frame["error"].mean() == pytest.approx(headline.mean, rel=0.5)  # the mean of best estimates is not the best estimate of the mean
