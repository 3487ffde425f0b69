"""Measurements that already combine everything (ResidualPlanner): taken as they are, with the noise that they state."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.evaluation.bounds import SUPPORTED, bounds, supported
from dpsynth_core.evaluation.combination import Evidence
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.totals import Total, known_total
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement, final
from dpsynth_core.vocabulary.released import combined
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import people, run

DOMAIN = Domain.from_json({"a": 2, "b": 3})
ROWS = Measurement((), np.array(12.0), 4.0, 4.0)
COLUMN = Measurement(("a",), np.array([7.0, 5.0]), 3.0, 3.5)
PAIR = Measurement(("a", "b"), np.arange(6.0).reshape(2, 3), 2.0, 2.5)
ALL = [ROWS, COLUMN, PAIR]


def test_only_a_measurement_with_a_spread_is_final() -> None:
    plain = Measurement(("a",), np.array([7.0, 5.0]), 3.0)
    assert final([plain, PAIR], ("a",)) is None
    assert final([plain, PAIR, COLUMN], ("a",)) is COLUMN


def test_estimates_take_it_as_it_is() -> None:
    average, best = combined(ALL, ("a",)), Evidence(ALL).least_squares(("a",))
    assert average is not None
    assert best is not None
    assert np.array_equal(average.values, COLUMN.values)
    assert np.array_equal(best.values, COLUMN.values)
    assert average.deviation == best.deviation == 3.0
    assert best.spread == 3.5


def test_the_number_of_records_is_the_one_that_was_measured() -> None:
    assert known_total(ALL, None) == Total(12.0, 4.0)
    assert known_total(ALL, 10.0) == Total(10.0, 0.0)


def test_a_bound_is_the_mean_and_what_correlated_noise_may_exceed_it_by() -> None:
    answer = supported(DOMAIN, Evidence(ALL), ("a", "b"), PAIR.values + 1, 0.95, None)
    assert answer is not None
    assert answer[0] == answer[1] == pytest.approx(6 + math.sqrt(2 / math.pi) * 2.0 * 6 + 2.5 * math.sqrt(2 * 6 * math.log(20)))


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_bounds_of_residual_planner_hold_as_often_as_they_say(relation: str) -> None:
    workload = all_kway(people().domain, 2)
    exact = people().counts(workload.cliques)
    held = []
    for seed in range(100):
        kernel = PrivacyKernel(people(), Unit(relation), 0.05, SeededNoise(seed))
        *events, finished = get("residual_planner").steps(kernel, workload)
        measurements = [event.measurement for event in events]
        total = known_total(measurements, finished.total if relation == "replace" else None)
        published = {r: finished.model.marginal(r) / finished.total for r in workload.cliques}
        answer = bounds(workload.domain, published, total, measurements, rows=False)
        assert {bound.support for bound in answer.values()} == {SUPPORTED}
        held += [in_wrong_cell(published[r], exact[r] / 4000) <= answer[r].tight for r in workload.cliques]
    assert np.mean(held) >= 0.95  # the tail bound is generous: about 99 % hold, which leaves 600 bounds room


def test_the_results_of_a_run_use_it() -> None:
    done = run("residual_planner", all_kway(people().domain, 2), 0.05)
    measurements = [event.measurement for event in done.events[:-1]]
    for measurement in measurements:
        answer = combined(measurements, measurement.clique)
        assert answer is not None
        assert answer.sigma == measurement.sigma
