"""The largest error of a range: what is measured, how far the bound may be trusted, and that a recipient sees another number."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.bundle.verdicts import FAILED, PASSED
from dpsynth_core.claims.ranges import RANGES, RangeErrors, bound, columns_of, pairs_of
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.report import claim_facts
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.marginals import largest_run
from tests.bundle.bundles import run, spec
from tests.releases import found

BUDGET = {"epsilon": 2.0, "delta": 1e-9, "ranges": 0.1}


@cache
def made(**fields: Any) -> Release:
    return run(spec(workload={"kind": "ranges"}, budget=BUDGET, **fields))


def stated(release: Release) -> RangeErrors:
    claim = release.claims[RANGES.name]
    assert isinstance(claim, RangeErrors)
    return claim


def test_ranges_are_of_the_columns_that_are_asked_for_or_have_an_order() -> None:
    asked, pairs = Plan.of(spec(workload={"kind": "ranges"})), Plan.of(spec())
    assert columns_of(asked) == columns_of(pairs) == ("age",)
    assert pairs_of(asked) == pairs_of(pairs) == [("sex", "age"), ("age", "health"), ("age", "marital_status")]
    assert pairs_of(Plan.of(spec(workload={"kind": "all", "k": 1}))) == []


def test_a_share_for_ranges_that_there_are_not_is_refused_and_none_is_kept_where_there_are_no_rows() -> None:
    with pytest.raises(InputError, match="no column of the workload has an order") as caught:
        Plan.of(spec(workload={"kind": "marginals", "marginals": [{"attributes": ["sex", "health"]}]}, budget=BUDGET))
    assert caught.value.field == "budget.ranges"
    assert Plan.of(spec(budget=BUDGET, mechanism={"name": "gaussian"}, output={})).shares.of("ranges") == 0


def test_where_too_few_values_are_learnt_no_range_is_measured_and_the_release_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    learnt = dps.plan(pd.DataFrame({"n": [None] * 40}, dtype="Int64"), {"n": dps.discover("integer")}, epsilon=1, tables=1, ranges=0.1)
    release = learnt.run(progress=False)
    assert "there are no ranges; their share of the budget was not spent" in " ".join(text for _, text in claim_facts(release.made))
    assert release.made.rho_spent <= 0.91 * release.made.rho
    assert FAILED not in {check.verdict for check in release.verify().checks}


def test_ranges_that_are_asked_for_are_left_out_where_too_few_values_are_learnt(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    table = pd.DataFrame({"n": [None] * 40, "age": [30, 50] * 20}, dtype="Int64")
    known = {"n": dps.discover("integer"), "age": {"kind": "integer", "lower": 0, "upper": 99, "bins": 5}}
    release = dps.plan(table, known, epsilon=1, tables={"kind": "ranges"}).run(progress=False)
    assert release.made.plan.workload.ranges == ("age",)
    assert any("Ranges of “n” were asked for" in warning for warning in release.warnings)
    assert FAILED not in {check.verdict for check in release.verify().checks}


def test_what_is_measured_is_the_largest_error_of_a_range_up_to_its_noise() -> None:
    """Within five standard deviations, each: seeds are the system's own, one run in a million fails."""
    release = made()
    source, tables = synthesis.open_source(release.plan), [("age",), *pairs_of(release.plan)]
    true, people = source.counts([*tables, ()]), stated(release).people.value
    gaps = {r: true[r] - people * shares for r, shares in release.final.released.published(tables).items()}
    alone = largest_run(gaps["age",], 0, range(5))
    within = max(largest_run(gaps[r], r.index("age"), range(5)) for r in tables[1:])
    for one, exact in ((stated(release).alone, alone), (stated(release).within, within)):
        assert one is not None
        assert one.error * people == pytest.approx(exact, abs=5 * one.sigma)
        assert one.bound95 > one.error


def test_both_numbers_take_the_whole_share_and_one_alone_does_too() -> None:
    for workload in ({"kind": "ranges"}, {"kind": "all", "k": 1}):
        release = made() if workload["kind"] == "ranges" else run(spec(workload=workload, budget=BUDGET))
        assert release.rho_spent == pytest.approx(release.rho, rel=1e-6)
        assert (stated(release).within is None) == (workload["kind"] == "all")


@pytest.mark.parametrize("confidence", [0.95, 0.99])
@pytest.mark.parametrize("total_sigma", [0.0, 40.0])
def test_the_bound_holds_as_often_as_it_says(confidence: float, total_sigma: float) -> None:
    """The published share of the range is 0.9, so that a wrong number of records counts nearly in full. Of 20,000 tries, that many more
    fail with a probability below one in a million."""
    rng, people, share, true, sigma, tries = np.random.default_rng(5), 1000, 0.9, 0.87, 30.0, 20_000
    totals = np.round(people + total_sigma * rng.normal(size=tries))
    noisy = np.abs(people * true - totals * share) + sigma * rng.normal(size=tries)
    bounds = [bound(error / total, sigma, Total(total, total_sigma), confidence) for error, total in zip(noisy, totals, strict=True)]
    failed = np.mean(np.array(bounds) < share - true)
    print(f"seed 5: {failed:.4f} fail")
    assert failed <= (1 - confidence) + 5 * np.sqrt(confidence * (1 - confidence) / tries)


def test_a_bound_from_nothing_says_nothing() -> None:
    assert bound(0.01, 1e6, Total(1000.0, 0.0)) == 1.0
    assert bound(0.01, 1.0, Total(10.0, 1e6)) == 1.0


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_a_recipient_sees_that_it_follows(relation: str) -> None:
    made = run(spec(workload={"kind": "ranges"}, budget=BUDGET, unit={"relation": relation}))
    assert found(made)[RANGES.question] == PASSED


def test_it_follows_beside_a_certificate_and_criteria_too() -> None:
    criterion = {"kind": "mean", "column": "age", "tolerance": 20, "importance": "must"}
    budget = BUDGET | {"certificate": 0.1, "criteria": 0.1}
    release = run(spec(workload={"kind": "ranges"}, budget=budget, criteria=[criterion]))
    verdicts = found(release)
    assert [verdicts[question] for question in (RANGES.question, "Does the certificate add up?", "Are the criteria decided rightly?")] == [
        PASSED
    ] * 3


@pytest.mark.parametrize(
    "forged",
    [
        lambda one: replace(one, alone=replace(one.alone, error=one.alone.error / 2)),
        lambda one: replace(one, alone=replace(one.alone, bound95=one.alone.bound95 / 2)),
        lambda one: replace(one, within=replace(one.within, sigma=one.within.sigma / 2)),
        lambda one: replace(one, within=None),
        lambda one: replace(one, columns=("sex", "age")),
        lambda one: replace(one, people=Total(one.people.value * 2, one.people.sigma)),
        lambda one: replace(one, counted=not one.counted),
        lambda _: None,
    ],
)
def test_another_number_is_seen(forged: Any) -> None:
    release = made()
    assert found(replace(release, claims=release.claims | {RANGES.name: forged(stated(release))}))[RANGES.question] == FAILED


def test_it_reads_back_and_says_its_numbers() -> None:
    release = made()
    plan, claim = release.plan, stated(release)
    assert RANGES.from_json(plan, json.loads(releases.document(release))[RANGES.part]) == claim
    alone, within = RANGES.sentences(plan, claim, release.final)
    assert alone.startswith("Of all ranges of age, the worst is off by")
    assert f"by {claim.alone.bound95:.1%} at most" in alone
    assert "within a group of another column" in within
    (silent, *_) = RANGES.sentences(plan, replace(claim, alone=replace(claim.alone, bound95=1.0)), release.final)
    assert silent == "Of all ranges of age, nothing is known of how far off the worst is: it may be all people."
