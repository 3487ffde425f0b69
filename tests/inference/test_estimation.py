"""Private-PGM estimates: exact where the answer is known, optimal by brute force elsewhere."""

from __future__ import annotations

import math
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import minimize

from dpsynth_core.inference import structure
from dpsynth_core.inference.estimation import Stopping, estimate, estimate_total, one_each
from dpsynth_core.inference.structure import Structure
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import MarginalCounts, Measurement
from tests.inference.brute_force import coded_domain, marginal

SIZES = (3, 2, 4)
DOMAIN = coded_domain(SIZES)
THOROUGH = Stopping(iterations=3000, tolerance=0.0)


def measured(labels, values, sigma) -> Measurement:
    return Measurement(tuple(DOMAIN.names[a] for a in labels), np.asarray(values, dtype=float), sigma)


def random_counts(seed: int) -> np.ndarray:
    return 1000 * np.random.default_rng(seed).dirichlet(np.ones(24)).reshape(SIZES)


def test_consistent_marginals_are_reproduced() -> None:
    counts = random_counts(1)
    measurements = [measured(r, marginal(counts, r), 1.0) for r in [(0, 1), (1, 2), (0, 2)]]
    model = estimate(DOMAIN, measurements, 1000.0, stopping=THOROUGH)
    for m in measurements:
        # Mirror descent to convergence; one part in a thousand of the total is well below any noise it is used with.
        np.testing.assert_allclose(model.marginal(m.clique), m.values, atol=1.0)


def test_unmeasured_dependence_is_not_invented() -> None:
    counts = random_counts(2)
    model = estimate(DOMAIN, [measured((a,), marginal(counts, (a,)), 1.0) for a in range(3)], 1000.0, stopping=THOROUGH)
    independent = np.multiply.outer(marginal(counts, (0,)), marginal(counts, (2,))) / 1000.0
    np.testing.assert_allclose(model.marginal((DOMAIN.names[0], DOMAIN.names[2])), independent, atol=1.0)


def test_where_only_the_number_of_rows_is_known_all_cells_are_alike() -> None:
    """As HDMM+PGM at an epsilon that leaves nothing for any table."""
    np.testing.assert_allclose(estimate(DOMAIN, [], 24.0).marginal(DOMAIN.names[:2]), np.full(SIZES[:2], 24.0 / 6))


def test_the_loss_reaches_the_optimum_over_all_distributions() -> None:
    rng = np.random.default_rng(3)
    counts = random_counts(3)
    sigmas = {(0, 1): 20.0, (1, 2): 40.0}
    measurements = [measured(r, rng.normal(marginal(counts, r), sigma), sigma) for r, sigma in sigmas.items()]

    def misfit(p: np.ndarray, m: Measurement) -> float:
        answer = marginal(p.reshape(SIZES), tuple(DOMAIN.names.index(name) for name in m.clique))
        return float((((answer - m.values) / m.sigma) ** 2).sum()) / 2

    def loss(p: np.ndarray) -> float:
        return sum(misfit(p, m) for m in measurements)

    best = minimize(
        loss,
        np.full(24, 1000 / 24),
        bounds=[(0, None)] * 24,
        constraints={"type": "eq", "fun": lambda p: p.sum() - 1000},
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-12},
    )
    model = estimate(DOMAIN, measurements, 1000.0, stopping=THOROUGH)
    # Within one part in a hundred of the optimum found by a generic solver, plus its own tolerance.
    assert loss(model.marginal(DOMAIN.names)) <= best.fun * 1.01 + 1e-3


def test_a_warm_start_keeps_what_was_learnt() -> None:
    counts = random_counts(4)
    first = [measured((0, 1), marginal(counts, (0, 1)), 1.0), measured((2,), marginal(counts, (2,)), 1.0)]
    model = estimate(DOMAIN, first, 1000.0, stopping=THOROUGH)
    untouched = estimate(DOMAIN, [*first, measured((0, 1, 2), counts, 1e6)], 1000.0, warm_start=model, stopping=Stopping(iterations=0))
    np.testing.assert_allclose(untouched.marginal(DOMAIN.names), model.marginal(DOMAIN.names), atol=1e-9)


@pytest.mark.parametrize("seed", range(8))
def test_a_fit_that_cannot_get_better_does_not_slow_down_the_next(seed: int) -> None:
    """Noisy columns alone are fitted within a few steps, and then losses differ by rounding only. A pace that was halved at each of these
    rounding errors once let whole runs learn nothing more."""
    rng, domain = np.random.default_rng(seed), coded_domain((2,) * 16)
    columns = [Measurement((name,), rng.normal(10_000.0, 50.0, 2), 50.0) for name in domain.names]
    first = estimate(domain, columns, 20_000.0, stopping=Stopping(tolerance=1e-2))
    dependent = Measurement(domain.names[:3], 5_000.0 * np.indices((2, 2, 2)).sum(axis=0) % 10_000.0, 50.0)
    model = estimate(domain, [*columns, dependent], 20_000.0, first, Stopping(iterations=100))
    # The values leave at most rounding and the columns' noise (50 a cell) to differ; what the first model says is 2,500 away.
    assert np.abs(model.marginal(dependent.clique) - dependent.values).max() < 250


def test_repeated_measurements_are_averaged_by_precision() -> None:
    (merged,) = one_each([measured((0,), [0, 0, 0], 1.0), measured((0,), [5, 5, 5], 2.0)])
    np.testing.assert_allclose(merged.values, [1, 1, 1])
    assert np.isclose(merged.sigma, np.sqrt(1 / (1 + 1 / 4)))


def test_the_total_is_the_precision_weighted_mean_and_never_below_one() -> None:
    assert np.isclose(estimate_total([measured((1,), [60, 40], 1.0), measured((0,), [30, 30, 40], 1.0)]), 100.0)
    assert estimate_total([measured((1,), [-60, -40], 1.0)]) == 1.0


def test_a_fit_stops_at_the_noise_level() -> None:
    counts = random_counts(5)
    m = [measured((0, 1), marginal(counts, (0, 1)), 10.0)]
    stopped = estimate(DOMAIN, m, 1000.0, stopping=Stopping(iterations=500, noise_level=1.0))
    thorough = estimate(DOMAIN, m, 1000.0, stopping=THOROUGH)

    def misfit(model) -> float:
        return float((((model.marginal(m[0].clique) - m[0].values) / 10.0) ** 2).sum()) / 2

    assert misfit(thorough) < misfit(stopped) <= m[0].values.size / 2


@pytest.mark.parametrize("least", [0, 1, 7])
def test_a_fit_as_good_as_the_noise_from_the_start_goes_on_for_as_long_as_it_has_to(monkeypatch: pytest.MonkeyPatch, least: int) -> None:
    nearly_even = measured((0, 1), [[150, 170], [160, 180], [190, 150]], 100.0)
    steps: list[int] = []
    calibrate = Structure.calibrate
    monkeypatch.setattr(Structure, "calibrate", lambda *given: steps.append(0) or calibrate(*given))
    estimate(DOMAIN, [nearly_even], 1000.0, stopping=Stopping(iterations=50, noise_level=1.0, tolerance=1.0, window=1, least=least))
    assert len(steps) == 1 + least


def test_known_counts_of_a_column_are_averaged_with_measured_ones_cell_by_cell() -> None:
    """A column of 3 cells that sum to the total: the fit is the minimum-variance mean, and where nothing is known the measured count."""
    first = DOMAIN.names[0]
    cells = DOMAIN.cells((first,))
    values = np.arange(1.0, cells + 1) * 100
    known = MarginalCounts((first,), values + 20, np.array([4.0] * (cells - 1) + [math.inf]))
    measured_column = Measurement((first,), values - 10, 4.0)
    mean = np.append((0.25 * (values + 20) + (values - 10) / 16)[:-1] / (0.25 + 1 / 16), values[-1] - 10)
    model = estimate(DOMAIN, [measured_column], float(mean.sum()), stopping=THOROUGH, known=[known])
    assert model.marginal((first,)) == pytest.approx(mean, rel=1e-4)


def test_a_column_may_be_known_that_nobody_measured() -> None:
    first, second = DOMAIN.names[:2]
    values = np.arange(1.0, DOMAIN.cells((first,)) + 1)
    other = Measurement((second,), np.full(DOMAIN.cells((second,)), values.sum() / DOMAIN.cells((second,))), 1.0)
    known = MarginalCounts((first,), values, np.ones(len(values)))
    model = estimate(DOMAIN, [other], float(values.sum()), stopping=THOROUGH, known=[known])
    assert model.marginal((first,)) == pytest.approx(values, rel=1e-4)


@pytest.mark.parametrize("log_work", [0.0, structure.LOG_WORK])
def test_potentials_that_vanish_together_are_no_end(log_work: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether or not the model is small enough for logarithms."""
    monkeypatch.setattr(structure, "LOG_WORK", log_work)
    domain = Domain.from_json({"a": 2, "b": 2, "c": 2})
    rng = np.random.default_rng(0)
    measured = [Measurement(r, rng.uniform(10.0, 20.0, (2, 2)), 1.0) for r in (("a", "b"), ("b", "c"))]
    earlier = estimate(domain, measured, 60.0)
    extreme = [np.zeros((2, 2)), np.zeros((2, 2))]
    extreme[0][:, 1] = extreme[1][0] = -1e4  # one leaves no b, the other nothing else
    with nullcontext() if log_work else pytest.raises(FloatingPointError):
        earlier.structure.calibrate(extreme)
    fitted = estimate(domain, measured, 60.0, replace(earlier, log_potentials=tuple(extreme)))
    for m in measured:
        np.testing.assert_allclose(fitted.marginal(m.clique), m.values, atol=4.0)


def test_a_fit_goes_on_after_one_whose_steps_became_too_small() -> None:
    """As steps do at potentials that nearly vanish: the next fit, of a model of other cliques, would end where it starts."""
    counts = random_counts(8)
    first, second = (measured(r, marginal(counts, r), 1.0) for r in [(0, 1), (1, 2)])
    earlier = replace(estimate(DOMAIN, [first], 1000.0), pace=1e-10)
    fitted = estimate(DOMAIN, [first, second], 1000.0, earlier, THOROUGH)
    np.testing.assert_allclose(fitted.marginal(second.clique), second.values, atol=1.0)


def test_no_fit_ends_by_slow_steps_far_above_what_noise_explains() -> None:
    """Weights of cells differ a thousandfold, and steps are as short as the largest asks for: the first ones change hardly anything."""
    rng = np.random.default_rng(7)
    domain = Domain.from_json({"code": 200, "a": 3})
    counts = 20_000 / np.arange(1, 201) ** 1.1
    variances = np.where(np.arange(200) < 100, 100.0, 0.01)
    noisy = MarginalCounts(("code",), rng.normal(counts, np.sqrt(variances)), variances)
    model = estimate(domain, [], float(counts.sum()), stopping=Stopping(tolerance=1e-2), known=[noisy])
    loss = float(((model.marginal(("code",)) - noisy.values) ** 2 / variances).sum())
    assert loss <= 2 * 200


@pytest.mark.parametrize("clique", [("code",), ("code", "a")])
def test_a_large_column_starts_as_it_was_counted(clique: tuple[str, ...]) -> None:
    domain = Domain.from_json({"code": 3000, "a": 3})
    counts = np.multiply.outer(20_000 / np.arange(1, 3001) ** 1.1, [0.5, 0.3, 0.2])
    values = counts if len(clique) == 2 else counts.sum(axis=1)
    known = MarginalCounts(clique, values, np.ones(values.shape))
    model = estimate(domain, [], float(counts.sum()), stopping=Stopping(iterations=0), known=[known])
    np.testing.assert_allclose(model.marginal(("code",)), counts.sum(axis=1), rtol=1e-9, atol=0.05)
