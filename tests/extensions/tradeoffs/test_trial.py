"""The errors of a trial are exact, repeat where the noise does, and say which plan cannot be tried."""

from __future__ import annotations

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from dpsynth_core import report
from dpsynth_core.extensions.tradeoffs import curves, trial
from dpsynth_core.extensions.tradeoffs.curves import METRICS, Setting
from dpsynth_core.extensions.tradeoffs.sweep import Swept
from dpsynth_core.extensions.tradeoffs.trial import Outcome, Trials
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.release import synthesis
from dpsynth_core.sources import demo, simulated
from dpsynth_core.vocabulary.rows import row_marginals
from tests.extensions.tradeoffs.plans import plan, sweep
from tests.refusals import refused


def test_errors_are_those_of_the_published_rows() -> None:
    tried = sweep()
    outcome = Trials(tried).run(1)
    spec = tried.spec(tried.points[1])
    made = synthesis.plan(spec)
    release = synthesis.synthesize(made, synthesis.open_source(made), synthesis.noise_for(spec), lambda _: None)
    true = row_marginals(made.domain, simulated.simulate(made.domain, 200, 0.6), made.workload.cliques)
    rows = row_marginals(made.domain, release.codes, made.workload.cliques)
    apart = [np.abs(rows[r] / release.rows - true[r] / 200) for r in made.workload.cliques]
    np.testing.assert_allclose(outcome.errors, [a.sum() / 2 for a in apart], atol=1e-6)
    assert outcome.workload_error == pytest.approx(2 * np.mean(outcome.errors), abs=1e-6)
    assert outcome.largest == pytest.approx(max(a.max() for a in apart))
    assert outcome.measured == 5  # three columns and the two edges of a tree
    assert outcome.seconds > 0


def test_bounds_are_those_that_the_release_states() -> None:
    tried = sweep(repeats=3)
    for number in range(6):
        spec = tried.spec(tried.points[number])
        made = synthesis.plan(spec)
        release = synthesis.synthesize(made, synthesis.open_source(made), synthesis.noise_for(spec), lambda _: None)
        stated = report.statements(release).value.bounds
        expected = [None if math.isinf(stated[r].tight) else pytest.approx(min(1.0, stated[r].tight), abs=1e-6) for r in tried.cliques(3)]
        outcome = Trials(tried).run(number)
        assert list(outcome.bounds) == expected
        measures_pairs = tried.points[number].mechanism == "mst"
        assert all((bound is not None) == measures_pairs for bound in outcome.bounds)
        pairs = zip(outcome.errors, outcome.bounds, strict=True)
        assert all(error <= bound for error, bound in pairs if bound is not None)  # seeds are fixed
        assert Outcome.from_json(json.loads(json.dumps(outcome.to_json()))) == outcome


def test_memory_is_of_the_trial_alone_where_the_system_says_it(monkeypatch: pytest.MonkeyPatch) -> None:
    if not trial._forget_peak():
        pytest.skip("the system does not say")
    before = trial._peak_mb()
    held = np.ones(20_000_000)  # 160 MB
    most = trial._peak_mb()
    assert before is not None
    assert most is not None
    assert 140 < most - before < 250
    del held
    assert trial._forget_peak()
    after = trial._peak_mb()
    assert after is not None
    assert after < most - 100
    assert Trials(sweep()).run(0).memory_mb is not None
    monkeypatch.setattr(trial, "_forget_peak", lambda: False)
    assert Trials(sweep()).run(0).memory_mb is None


def test_outcomes_of_earlier_versions_are_read() -> None:
    """They have neither bounds nor memory."""
    kept = {name: value for name, value in outcome(0.1, 0.2, 0.3).to_json().items() if name not in ("bounds", "memory_mb")}
    read = Outcome.from_json(kept)
    frame = curves.bands(curves.outcomes(sweep(mechanisms=("mst",)), {0: read}), METRICS[0]).value
    assert frame["memory_mb"].isna().all()
    assert curves.of_tables(sweep(mechanisms=("mst",)), {0: read}, Setting("MST", 1.0, 3)).value["bound"].isna().all()


def test_the_same_point_gives_the_same_errors() -> None:
    tried = sweep()
    first, second = (Trials(tried).run(0) for _ in range(2))
    assert (first.errors, first.largest) == (second.errors, second.largest)
    assert Trials(sweep(repeats=2)).run(2).errors != first.errors


@pytest.mark.parametrize("name", ["gaussian", "residual_planner"])
def test_answers_without_rows_are_judged_as_they_are(name: str) -> None:
    """At epsilon 100 noise is below one person in 200, whatever the mechanism."""
    outcome = Trials(sweep(mechanisms=(name,), epsilons=(100.0,))).run(0)
    assert max(outcome.errors) < 0.05


def test_part_of_a_workload_has_the_errors_of_its_own_tables() -> None:
    tried = sweep(sizes=(2, 3), mechanisms=("independent",))
    outcome = Trials(tried).run(0)
    assert len(outcome.errors) == len(tried.cliques(2)) == 2


def test_the_simulated_people_can_be_tried_on() -> None:
    domain = demo.demo_domain().keep(["age", "sex"])
    tried = sweep(plan(data={"kind": "demo"}, domain=domain.to_json()), table="public", sizes=(1,), mechanisms=("mst",), epsilons=(1.0,))
    assert Trials(tried).run(0).errors[0] < 0.05  # 50,000 people in 32 cells, measured at epsilon 1: noise of some 10 people a cell


def test_what_cannot_be_tried_is_said_by_mechanism() -> None:
    base = plan(mechanism={"name": "aim", "settings": {"max_size_mb": 0.1}}, domain={"a": 20_000, "b": 2, "c": 2})
    tried = sweep(base, mechanisms=("aim", "gaussian"))
    found = trial.expected(tried)
    assert set(found.refusals) == {"AIM"}
    assert {mechanism for mechanism, _, _, _ in found.forecasts} == {"gaussian"}
    refused(trial.checked, tried)


def test_forecasts_are_per_setting() -> None:
    assert set(trial.checked(sweep(epsilons=(0.5, 1.0))).forecasts) == {(m, None, e, 3) for m in ("independent", "mst") for e in (0.5, 1.0)}


def test_time_left_follows_the_pace_and_the_number_of_workers() -> None:
    forecast = {0: 1.0, 1: 2.0, 2: 3.0}
    assert trial.seconds_left(forecast, {}, 1) == 6.0
    assert trial.seconds_left(forecast, {0: 2.0}, 1) == 10.0
    assert trial.seconds_left(forecast, {0: 2.0}, 2) == 5.0
    assert trial.seconds_left(forecast, {0: 1.0, 1: 1.0, 2: 1.0}, 2) == 0.0


def outcome(*errors: float) -> Outcome:
    return Outcome(2 * float(np.mean(errors)), max(errors) / 2, errors, 4, 1.0, 0.5, tuple(error / 2 for error in errors))


def test_repeats_become_one_line_with_its_band() -> None:
    tried = sweep(mechanisms=("mst",), repeats=2)
    table = curves.outcomes(tried, {0: outcome(0.1, 0.2, 0.3), 1: outcome(0.3, 0.4, 0.5)})
    assert table.zone is Zone.PUBLIC
    band = curves.bands(table, METRICS[0]).value
    assert band[["error", "low", "high"]].iloc[0].tolist() == pytest.approx([0.3, 0.2, 0.4])
    assert band["repeats"].tolist() == [2]
    assert curves.settings(tried, [1, 0]) == [Setting("MST", 1.0, 3)]


@pytest.mark.parametrize("metric", METRICS)
def test_every_metric_is_a_column(metric: curves.Metric) -> None:
    table = curves.outcomes(sweep(), {0: outcome(0.1, 0.2, 0.3)})
    assert curves.bands(table, metric).value["error"].notna().all()


STRENGTHS = (0.2, 0.5, 0.9)


def test_stand_ins_from_weak_to_strong_are_the_band_around_the_middle_one() -> None:
    tried = sweep(mechanisms=("mst",), strengths=STRENGTHS)
    assert [point.strength for point in tried.points] == [0.5, 0.2, 0.9]
    band = curves.bands(curves.outcomes(tried, {0: outcome(0.3), 1: outcome(0.1), 2: outcome(0.8)}), METRICS[0]).value.iloc[0]
    assert (band["low"], band["error"], band["high"]) == pytest.approx((0.1, 0.3, 0.8))
    assert (band["weakest"], band["strongest"], band["repeats"]) == (0.2, 0.9, 1)
    without_middle = curves.bands(curves.outcomes(tried, {1: outcome(0.1), 2: outcome(0.8)}), METRICS[0]).value.iloc[0]
    assert without_middle["error"] == pytest.approx(0.45)


def test_tables_of_a_setting_have_the_errors_of_the_middle_stand_in() -> None:
    tried = sweep(mechanisms=("mst",), strengths=STRENGTHS)
    by_turn = {0: outcome(0.1, 0.2, 0.3), 1: outcome(0.0, 0.0, 0.0), 2: outcome(0.9, 0.9, 0.9)}
    table = curves.of_tables(tried, by_turn, Setting("MST", 1.0, 3)).value
    assert table["error"].tolist() == pytest.approx([0.3, 0.2, 0.1])
    assert set(table["low"]) == {0.0}
    assert set(table["high"]) == {0.9}


def test_each_strength_is_tried_on_a_table_of_its_own() -> None:
    """Independent columns are what the mechanism assumes, so that it errs less on the weaker stand-in."""
    tried = sweep(mechanisms=("independent",), epsilons=(100.0,), strengths=(0.0, 1.0))
    trials = Trials(tried)
    by_strength = {point.strength: trials.run(point.number) for point in tried.points}
    assert max(by_strength[0.0].errors) < min(by_strength[1.0].errors)
    assert by_strength[0.0].errors == Trials(tried).run(1).errors


def test_the_errors_of_a_setting_are_listed_by_table_worst_first() -> None:
    tried = sweep(repeats=2)
    by_turn = {0: outcome(0.1, 0.2, 0.3), 1: outcome(0.9, 0.9, 0.9), 2: outcome(0.3, 0.2, 0.1)}
    table = curves.of_tables(tried, by_turn, Setting("Independent", 1.0, 3)).value
    assert table["error"].tolist() == pytest.approx([0.2, 0.2, 0.2])
    assert dict(zip(table["marginal"], table["high"], strict=True)) == {"a × b": 0.3, "a × c": 0.2, "b × c": 0.3}


def test_on_the_private_table_all_of_it_is_curator_only() -> None:
    private = sweep(plan(data={"path": "people.csv"}), table="private")
    by_turn = {0: outcome(0.1, 0.2, 0.3)}
    table = curves.outcomes(private, by_turn)
    assert {table.zone, curves.bands(table, METRICS[0]).zone, curves.of_tables(private, by_turn, Setting("Independent", 1.0, 3)).zone} == {
        Zone.CURATOR
    }


def test_tables_can_be_judged_by_their_largest_count() -> None:
    tried = sweep(mechanisms=("mst",))
    by_turn = {0: replace(outcome(0.1, 0.2, 0.3), largests=(0.05, 0.01, 0.02))}
    assert curves.of_each(curves.LARGEST) is curves.LARGEST
    table = curves.of_tables(tried, by_turn, Setting("MST", 1.0, 3), curves.LARGEST).value
    assert dict(zip(table["marginal"], table["error"], strict=True)) == {"a × b": 0.05, "a × c": 0.01, "b × c": 0.02}


def test_bounds_of_a_table_are_means_where_all_trials_have_one() -> None:
    tried = sweep(mechanisms=("mst",), repeats=2)
    one, other = (replace(outcome(0.1, 0.2, 0.3), bounds=bounds) for bounds in ((0.2, 0.4, None), (0.4, 0.4, 0.5)))
    table = curves.of_tables(tried, {0: one, 1: other}, Setting("MST", 1.0, 3)).value.set_index("marginal")["bound"]
    assert table["a × b"] == pytest.approx(0.3)
    assert table["a × c"] == pytest.approx(0.4)
    assert np.isnan(table["b × c"])


def test_every_table_of_every_setting_is_a_row() -> None:
    tried = sweep(epsilons=(0.5, 1.0), sizes=(2, 3))
    by_turn = {point.number: outcome(*(0.1 * (1 + i + point.number) for i in range(point.size))) for point in tried.points}
    table = curves.of_every_setting(tried, by_turn, 3)
    assert table.zone is Zone.PUBLIC
    frame = table.value
    assert len(frame) == 2 * 2 * 3
    for setting in (one for one in curves.settings(tried, by_turn) if one.tables == 3):
        alone = curves.of_tables(tried, by_turn, setting).value
        part = frame[(frame["mechanism"] == setting.mechanism) & (frame["epsilon"] == setting.epsilon)]
        assert part[alone.columns].reset_index(drop=True).equals(alone)
    private = sweep(plan(data={"path": "people.csv"}), table="private")
    assert curves.of_every_setting(private, {0: outcome(0.1, 0.2, 0.3)}, 3).zone is Zone.CURATOR


def test_a_swept_setting_reaches_the_mechanism_and_the_frames() -> None:
    """AIM with no room for a table of three columns of 24 values errs more (AIM paper, Figure 4 a)."""
    domain = dict.fromkeys("abc", 24)
    standin = {"kind": "standin", "standin": {"rows": 5_000, "strength": 0.9}}
    base = plan(domain=domain, data=standin, workload={"kind": "all", "k": 3})
    tried = sweep(base, mechanisms=("aim",), epsilons=(100.0,), sizes=(1,), swept=Swept("aim", "max_size_mb", (0.1, 50.0)))
    trials = Trials(tried)
    small, large = (trials.run(point.number) for point in tried.points)
    assert [point.value for point in tried.points] == [0.1, 50.0]
    frame = curves.outcomes(tried, {0: small, 1: large}).value
    assert frame["mechanism"].tolist() == ["AIM, max_size_mb 0.1", "AIM, max_size_mb 50"]
    assert frame["setting"].tolist() == ["max_size_mb"] * 2
    band = curves.bands(curves.outcomes(tried, {0: small, 1: large}), METRICS[0]).value
    assert band["value"].tolist() == [0.1, 50.0]
    assert band["error"][0] > 1.2 * band["error"][1]
    assert band["cpu_seconds"].tolist() == [small.cpu_seconds, large.cpu_seconds]
