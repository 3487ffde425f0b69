"""ResidualPlanner: consistent unbiased answers of the stated precision, at the least expected error, below what Gaussian noise gives."""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.mechanisms.answers.residual_planner import ROWS, least_noise, parts, saving
from dpsynth_core.mechanisms.mechanism import COUNTING, SINGLE
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.rounds import least_error_shares
from dpsynth_core.mechanisms.steps import Finished, Measured
from dpsynth_core.privacy.events import Residual
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.workload import Workload, all_kway, hand_picked
from tests.mechanisms.runs import DOMAIN, Run, run
from tests.privacy.tables import GlassNoise, table
from tests.tiers import examples

PAIRS = all_kway(DOMAIN, 2)
WORKLOAD = hand_picked(DOMAIN, {("a", "c"): 1.0, ("b", "d"): 4.0, ("a", "b", "d"): 1.0, ("d",): 2.5})
MIXED = Domain.from_json({"sex": 2, "age": 20, "income": 50, "state": 12, "smoker": 2, "size": 6})


def stated(done: Run) -> dict[Clique, Measurement]:
    return {e.measurement.clique: e.measurement for e in done.events if isinstance(e, Measured)}


def prices(workload: Workload) -> dict[Clique, float]:
    """rho of every residual at sigma = 1 for add-remove, as continuous noise would have it."""
    return {r: saving(workload.domain, r) / 2 for r in (ROWS, *workload.closure())}


def variance(domain: Domain, sigmas: Mapping[Clique, float], r: Clique) -> float:
    """Of a cell of M_r, from the paper's sum over subsets."""
    spread = (math.prod(1 / domain[name].size ** 2 for name in r if name not in q) for q in (ROWS, *parts(domain, r)))
    return sum(sigmas[q] ** 2 * saving(domain, q) * s for q, s in zip((ROWS, *parts(domain, r)), spread, strict=True))


def expected_error(workload: Workload, sigmas: Mapping[Clique, float]) -> float:
    """sum c_r E||noise of M_r||_1."""
    domain = workload.domain
    errors = (c * domain.cells(r) * math.sqrt(variance(domain, sigmas, r)) for r, c in workload.weights.items())
    return math.sqrt(2 / math.pi) * math.fsum(errors)


def gaussian_error(workload: Workload, rho: float) -> float:
    domain = workload.domain
    shares = least_error_shares(domain, workload.weights)
    errors = (c * domain.cells(r) / math.sqrt(2 * shares[r] * rho) for r, c in workload.weights.items())
    return math.sqrt(2 / math.pi) * math.fsum(errors)


@cache
def many_runs() -> tuple[Run, ...]:
    return tuple(run("residual_planner", WORKLOAD, 0.05, seed=seed) for seed in range(200))


# The plan


@pytest.mark.parametrize("workload", [WORKLOAD, PAIRS, all_kway(MIXED, 2), all_kway(MIXED, 3)], ids=["mixed", "pairs", "2-way", "3-way"])
def test_the_plan_costs_the_budget_and_beats_gaussian_noise(workload: Workload) -> None:
    price = prices(workload)
    sigmas = least_noise(workload, price, 0.1)
    assert math.fsum(price[q] / sigmas[q] ** 2 for q in sigmas) == pytest.approx(0.1)
    assert expected_error(workload, sigmas) < gaussian_error(workload, 0.1)


def test_on_all_pairs_of_a_mixed_domain_the_error_is_at_least_a_tenth_below_gaussian_noise() -> None:
    workload = all_kway(MIXED, 2)
    assert expected_error(workload, least_noise(workload, prices(workload), 0.1)) < 0.9 * gaussian_error(workload, 0.1)


@given(st.lists(st.floats(0.2, 5), min_size=10, max_size=10))
@examples(50)
def test_no_other_plan_of_the_same_cost_has_a_smaller_expected_error(factors: list[float]) -> None:
    price = prices(WORKLOAD)
    sigmas = least_noise(WORKLOAD, price, 0.1)
    other = {q: sigma * factor for (q, sigma), factor in zip(sigmas.items(), factors, strict=True)}
    cost = math.fsum(price[q] / other[q] ** 2 for q in other)
    other = {q: sigma * math.sqrt(cost / 0.1) for q, sigma in other.items()}
    assert expected_error(WORKLOAD, sigmas) <= expected_error(WORKLOAD, other) * (1 + 1e-9)  # the plan is solved to a relative 1e-10


def test_the_plan_is_a_minimum_to_the_last_digits() -> None:
    price = prices(WORKLOAD)
    sigmas = least_noise(WORKLOAD, price, 0.1)
    for q in sigmas:  # first-order condition: d error / d (1/sigma_q^2) is the same per price for every residual
        gains = []
        for p in (q, ROWS):
            nudged = {**sigmas, p: sigmas[p] * (1 + 1e-5)}
            saved = price[p] / sigmas[p] ** 2 - price[p] / nudged[p] ** 2
            gains.append((expected_error(WORKLOAD, nudged) - expected_error(WORKLOAD, sigmas)) / saved)
        assert gains[0] == pytest.approx(gains[1], rel=1e-3)  # finite differences of relative step 1e-5, and the solver's 1e-10


def test_a_single_marginal_alone_is_measured_as_well_as_possible() -> None:
    """For one marginal, all directions count alike: every residual gets the sigma of plain Gaussian noise, for the same error."""
    workload = hand_picked(DOMAIN, {("a", "c"): 1.0})
    price = prices(workload)
    sigmas = least_noise(workload, price, 0.1)
    assert expected_error(workload, sigmas) == pytest.approx(gaussian_error(workload, 0.1))
    scaled = [sigma * math.sqrt(DOMAIN.cells(q) / 24) for q, sigma in sigmas.items()]  # the noise in its directions of M_r
    assert scaled == pytest.approx([math.sqrt(1 / 0.2)] * len(scaled), rel=1e-4)


# A run


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("rho", [1e-16, 1e-8, 0.05])
def test_the_whole_budget_is_spent_on_each_residual_once(relation: str, rows: int, rho: float) -> None:
    done = run("residual_planner", PAIRS, rho, relation, rows)
    assert sum((event.cost for event in done.kernel.events), Fraction(0)) <= Fraction(rho)
    assert done.kernel.rho_spent == pytest.approx(rho, rel=1e-8)  # the meter's headroom is a billionth
    assert sum(isinstance(event, Residual) for event in done.kernel.events) == len(PAIRS.closure())
    assert len(done.kernel.events) == len(PAIRS.closure()) + (not done.kernel.unit.total_is_public)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_every_marginal_of_the_closure_is_reported_as_soon_as_it_is_known(relation: str) -> None:
    done = run("residual_planner", WORKLOAD, 0.05, relation)
    expected = [() for _ in range(relation == "add-remove")] + list(WORKLOAD.closure())
    assert [e.measurement.clique for e in done.events if isinstance(e, Measured)] == expected
    assert all(np.array_equal(m.values, done.finished.model.marginal(clique)) for clique, m in stated(done).items())


def test_answers_agree_with_each_other() -> None:
    model = many_runs()[0].finished.model
    assert np.allclose(model.marginal(("a", "b", "d")).sum(axis=1), model.marginal(("a", "d")), atol=1e-6)
    assert np.allclose(model.marginal(("a", "c")).sum(axis=1), model.marginal(("a", "b")).sum(axis=1), atol=1e-6)
    assert model.marginal(("c",)).sum() == pytest.approx(model.marginal(()).item())


@pytest.mark.parametrize("clique", [(), ("d",), ("a",), ("a", "c"), ("b", "d"), ("a", "b", "d")], ids=str)
def test_answers_are_unbiased_and_as_noisy_as_stated(clique: Clique) -> None:
    exact = many_runs()[0].source.counts([clique])[clique]
    errors = np.array([r.finished.model.marginal(clique) - exact for r in many_runs()]).reshape(len(many_runs()), -1)
    measurement = stated(many_runs()[0])[clique]
    draws, cells = errors.shape
    assert np.abs(errors.mean(axis=0)).max() < 5 * measurement.sigma / math.sqrt(draws)  # five standard errors
    mean_square = (errors**2).mean(axis=0)
    assert np.abs(mean_square / measurement.sigma**2 - 1).max() < 6 * math.sqrt(2 / draws)  # a chi-square of 200 degrees: six of its sd
    covariance = errors.T @ errors / draws
    # the largest eigenvalue of a sample covariance is about (1 + sqrt(cells / draws))^2 times the true one: 1.8 for 24 cells
    assert measurement.spread is not None
    assert 0.7 < np.linalg.eigvalsh(covariance)[-1] / measurement.spread**2 < 1.3 * (1 + math.sqrt(cells / draws)) ** 2


def test_the_error_is_the_one_that_was_planned() -> None:
    sigmas = least_noise(WORKLOAD, prices(WORKLOAD), 0.05)
    exact = many_runs()[0].source.counts(WORKLOAD.cliques)
    errors = [
        math.fsum(c * np.abs(r.finished.model.marginal(q) - exact[q]).sum() for q, c in WORKLOAD.weights.items()) for r in many_runs()
    ]
    assert np.mean(errors) == pytest.approx(expected_error(WORKLOAD, sigmas), rel=0.04)  # a run varies by a tenth; 200 runs, five of 0.7 %


def test_it_is_exact_without_noise() -> None:
    source = table(DOMAIN, [(0, 1, 2, 0), (3, 2, 5, 1), (0, 1, 5, 1)])
    kernel = PrivacyKernel(source, Unit(), 0.05, GlassNoise())
    *_, last = get("residual_planner").steps(kernel, WORKLOAD)
    assert isinstance(last, Finished)
    for clique, counts in source.counts(WORKLOAD.closure()).items():
        assert np.allclose(last.model.marginal(clique), counts, atol=1e-6)


def test_columns_of_one_value_need_no_noise_of_their_own() -> None:
    domain = Domain.from_json({"a": 4, "one": 1, "b": 3})
    kernel = PrivacyKernel(table(domain, [(1, 0, 2)] * 10), Unit(), 0.05, SeededNoise(3))
    *_, last = get("residual_planner").steps(kernel, all_kway(domain, 2))
    assert isinstance(last, Finished)
    assert {event.l2 < 1 for event in kernel.events[1:]} == {True}
    assert len(kernel.events) == 1 + 3  # rows, a, b, a x b
    assert np.allclose(last.model.marginal(("a", "one"))[:, 0], last.model.marginal(("a",)))
    assert last.model.marginal(("one",)).item() == pytest.approx(last.model.marginal(()).item())


def test_what_no_marginal_of_the_workload_contains_cannot_be_answered() -> None:
    with pytest.raises(KeyError):
        many_runs()[0].finished.model.marginal(("b", "c"))


def test_a_public_number_of_rows_costs_nothing_and_is_exact() -> None:
    done = run("residual_planner", WORKLOAD, 0.05, "replace")
    assert done.finished.total == 4000
    assert done.finished.model.marginal(("a", "b", "d")).sum() == pytest.approx(4000)
    assert all(isinstance(event, Residual) for event in done.kernel.events)


def test_the_planned_split_is_what_a_run_is_charged() -> None:
    done = run("residual_planner", PAIRS, 1.0)
    planned = dict(get("residual_planner").split(PAIRS, False))
    assert done.kernel.events[0].rho == pytest.approx(planned[COUNTING], rel=1e-3)  # the lattice rounds prices by up to 1e-4
    assert sum(event.rho for event in done.kernel.events[1 : 1 + len(DOMAIN)]) == pytest.approx(planned[SINGLE], rel=1e-3)


def test_tables_of_too_many_cells_are_refused_with_the_reason() -> None:
    wide = Domain.from_json({f"c{i}": 100 for i in range(12)})
    forecast = get("residual_planner").forecast(all_kway(wide, 3), 0.01)
    assert not forecast.fits
    assert "220,661,200 cells" in forecast.reason
