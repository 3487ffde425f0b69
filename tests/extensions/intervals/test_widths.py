"""The forecast of widths: the noise it assumes is the noise of the run, and it is stated before the charge."""

from __future__ import annotations

import math
from typing import Any

import pytest

import dpsynth_core as dps
from dpsynth_core.extensions.intervals import widths
from tests.extensions.intervals.releases import codes
from tests.extensions.intervals.test_named import COLUMNS, NAMED, plan, released
from tests.refusals import refused


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_the_noise_of_the_forecast_is_the_noise_of_the_run(epsilon: float) -> None:
    asked = plan(NAMED, epsilon)
    tables, columns = widths.noise(asked)
    made = released(asked, codes(2000))
    measured = {one.clique: one.sigma for one in reversed(made.measurements) if not one.groups}
    assert tables.keys() == set(asked.workload.first)
    assert {clique: measured[clique] for clique in (*tables, *columns)} == pytest.approx({**tables, **columns}, rel=1e-6)


def test_intervals_grow_narrower_with_people_and_budget_down_to_those_without_noise() -> None:
    for few, many in zip(widths.forecast(plan(NAMED), 1000), widths.forecast(plan(NAMED), 1e9), strict=True):
        assert few.low < few.width < few.high
        assert 1 < many.width < 1.02 < few.width
        assert many.low == 1
    loud, quiet = (widths.forecast(plan(NAMED, epsilon), 1000) for epsilon in (0.1, 10.0))
    assert all(one.width > other.width for one, other in zip(loud, quiet, strict=True))


def test_more_analyses_share_the_budget() -> None:
    (alone,) = widths.forecast(plan(NAMED[:1]), 1000)
    assert alone.width < widths.forecast(plan([*NAMED, "visits ~ age:sex:sick"]), 1000)[0].width


def test_an_analysis_of_one_column_rests_on_every_table_of_it() -> None:
    (alone,), (beside, _) = widths.forecast(plan(["mean(visits)"]), 1000), widths.forecast(plan(["mean(visits)", NAMED[0]]), 1000)
    assert beside.width < alone.width


def test_sentences_state_the_width_of_each_analysis() -> None:
    for text, sentence in zip(NAMED, widths.sentences(plan(NAMED)), strict=True):
        assert sentence.startswith(text)
        assert "times as wide as without noise for 5,000 people" in sentence
    other: dict[str, Any] = {"plausible": 2}
    assert widths.sentences(dps.plan("demo", COLUMNS, epsilon=1, tables=2, **other).sealed) == []


def test_programs_ask_for_widths() -> None:
    named: dict[str, Any] = {"analysis": "difference(age, sex == 'male')"}
    asked = dps.plan("demo", COLUMNS, epsilon=1, tables=2, **named)
    (found,) = dps.interval_widths(asked, 5000)
    assert "times as wide as without noise" in str(found)
    for wrong in (0, math.nan, math.inf):
        refused(dps.interval_widths, asked, wrong, saying="number of people")
    mst = dps.plan("demo", COLUMNS, epsilon=1, tables=2, mechanism="mst")
    refused(dps.interval_widths, mst, 5000, saying="MST does not measure")
