"""Gaussian: the optimal split, all budget spent, unbiased answers of the stated precision, and no rows."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.mechanisms.answers.gaussian import NoisyAnswers
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.rounds import least_error_shares
from dpsynth_core.mechanisms.steps import Finished, Measured
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.workload import all_kway, hand_picked
from tests.mechanisms.runs import DOMAIN, run

WORKLOAD = hand_picked(DOMAIN, {("a", "c"): 1.0, ("b", "d"): 4.0, ("d",): 2.5})


def expected_error(shares: dict) -> float:
    """Expected weighted L1 error of the answers for rho = 1/2, up to the factor sqrt(2/pi)."""
    return math.fsum(c * DOMAIN.cells(r) / math.sqrt(shares[r]) for r, c in WORKLOAD.weights.items())


def test_shares_add_up_and_follow_the_two_thirds_rule() -> None:
    shares = least_error_shares(WORKLOAD.domain, WORKLOAD.weights)
    assert math.fsum(shares.values()) == pytest.approx(1, rel=1e-12)
    assert shares[("a", "c")] / shares[("d",)] == pytest.approx((24 / (2.5 * 2)) ** (2 / 3), rel=1e-12)


@given(st.lists(st.floats(0.01, 1), min_size=3, max_size=3))
def test_no_other_split_has_a_smaller_expected_error(raw: list[float]) -> None:
    other = {clique: part / sum(raw) for clique, part in zip(WORKLOAD.cliques, raw, strict=True)}
    ours = least_error_shares(WORKLOAD.domain, WORKLOAD.weights)
    assert expected_error(ours) <= expected_error(other) * (1 + 1e-12)  # rounding, where `other` is the optimum


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3])
def test_every_marginal_is_measured_once_and_all_budget_is_spent(relation: str, rows: int) -> None:
    done = run("gaussian", WORKLOAD, 0.02, relation, rows)
    assert [e.measurement.clique for e in done.events if isinstance(e, Measured)] == list(WORKLOAD.cliques)
    assert done.kernel.rho_spent == pytest.approx(0.02, rel=1e-8)  # the meter's headroom is a billionth
    for event, share in zip(done.kernel.events, least_error_shares(WORKLOAD.domain, WORKLOAD.weights).values(), strict=True):
        assert event.rho == pytest.approx(share * 0.02, rel=1e-8)


def test_answers_are_unbiased_and_as_noisy_as_stated() -> None:
    runs = [run("gaussian", WORKLOAD, 0.05, seed=seed) for seed in range(50)]
    exact = runs[0].source.counts([("a", "c")])[("a", "c")]
    sigma = next(e.measurement.sigma for e in runs[0].events if isinstance(e, Measured))
    errors = np.array([r.finished.model.marginal(("a", "c")) - exact for r in runs])
    assert abs(errors.mean()) < 5 * sigma / math.sqrt(errors.size)  # five standard errors
    assert errors.std() == pytest.approx(sigma, rel=0.1)  # 1,200 draws: relative error 2 %, five of them


def test_a_smaller_marginal_is_the_precision_weighted_mean_of_all_that_contain_it() -> None:
    wide = Measurement(("a", "d"), np.arange(8.0).reshape(4, 2), 2.0)  # sums over 4 cells: variance 16 per cell of d
    narrow = Measurement(("d",), np.array([100.0, 200.0]), 3.0)  # variance 9
    answers = NoisyAnswers(DOMAIN, (wide, narrow))
    expected = (wide.values.sum(axis=0) / 16 + narrow.values / 9) / (1 / 16 + 1 / 9)
    assert np.allclose(answers.marginal(("d",)), expected, rtol=1e-12)
    assert np.array_equal(answers.marginal(("a", "d")), wide.values)
    assert np.array_equal(answers.marginal(("a",)), wide.values.sum(axis=1))


def test_what_was_not_measured_cannot_be_answered() -> None:
    model = run("gaussian", WORKLOAD, 0.02).finished.model
    with pytest.raises(KeyError):
        model.marginal(("a", "b"))


def test_it_writes_no_rows_and_says_so() -> None:
    finished = run("gaussian", WORKLOAD, 0.02).finished
    assert isinstance(finished, Finished)
    assert not get("gaussian").card.makes_rows
    assert not hasattr(finished.model, "rows")


def test_the_total_is_estimated_when_secret_and_exact_when_public() -> None:
    secret = run("gaussian", WORKLOAD, 5.0).finished.total
    assert 0 < abs(secret - 4000) < 20  # sigma below 1 and few cells: an error of a few
    assert run("gaussian", WORKLOAD, 0.02, "replace").finished.total == 4000


def test_a_workload_of_too_many_cells_is_refused_with_the_reason() -> None:
    wide = type(DOMAIN).from_json({f"c{i}": 200 for i in range(12)})
    forecast = get("gaussian").forecast(all_kway(wide, 3), 0.01)
    assert not forecast.fits
    assert "1,760,000,000 cells" in forecast.reason
