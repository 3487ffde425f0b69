"""Noisy columns whose neighbours are alike: against sums over all divisions, dense linear algebra, and on columns of many shapes."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.special import logsumexp
from scipy.stats import multivariate_normal

from dpsynth_core.inference import smoothing
from dpsynth_core.inference.smoothing import (
    FREE,
    RATES,
    RUN_MEANS,
    _alone,
    _counts_of_runs,
    _divided,
    _runs,
    _walk,
    smooth_columns,
    smoothed,
)
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement


def _divisions(cells: int):
    for jumps in range(cells):
        for places in combinations(range(1, cells), jumps):
            borders = (0, *places, cells)
            yield list(pairwise(borders))


@pytest.mark.parametrize("cells", [2, 3, 6])
def test_divisions_are_summed_up_exactly(cells: int) -> None:
    start, end = np.triu_indices(cells + 1, 1)
    likely = np.random.default_rng(cells).normal(0.0, 2.0, len(start))
    of_run = dict(zip(zip(start.tolist(), end.tolist(), strict=True), likely, strict=True))
    logs, runs = [], []
    for rate in RATES:
        for division in _divisions(cells):
            jumps = len(division) - 1
            prior = jumps * np.log(rate) + (cells - 1 - jumps) * np.log1p(-rate) - np.log(len(RATES))
            logs.append(prior + sum(of_run[run] for run in division))
            runs.append(division)
    shares = np.exp(np.array(logs) - logsumexp(logs))
    evidence, posterior = _divided(likely, start, end, cells)
    assert evidence == pytest.approx(logsumexp(logs))
    for number, run in enumerate(of_run):
        assert posterior[number] == pytest.approx(sum(share for share, division in zip(shares, runs, strict=True) if run in division))


def test_the_count_of_a_run_is_what_its_prior_and_its_noisy_counts_say() -> None:
    """Against sums over a fine grid of counts."""
    noisy, count = np.array([2.0, -1.5, 0.4]), np.linspace(0.0, 60.0**0.5, 600_001) ** 2  # closest where small means decide
    likely, means, variances = _counts_of_runs(np.array([1, 3]), np.array([noisy[0], noisy.sum()]))
    for number, prior in enumerate(RUN_MEANS[RUN_MEANS <= 4]):
        for run, of_run in enumerate((noisy[:1], noisy)):
            against_zero = np.exp(count * of_run.sum() - len(of_run) * count**2 / 2)
            density = against_zero * np.exp(-count / prior) / prior
            whole = np.trapezoid(density, count)
            mean = np.trapezoid(density * count, count) / whole
            assert likely[number, run] == pytest.approx(np.log(whole), abs=1e-6)
            assert means[number, run] == pytest.approx(mean, rel=1e-6)
            assert variances[number, run] == pytest.approx(np.trapezoid(density * (count - mean) ** 2, count) / whole, rel=1e-5)


def test_counts_far_below_zero_and_far_above_are_no_trouble() -> None:
    likely, means, variances = _counts_of_runs(np.array([1, 1, 50]), np.array([-1e3, 1e6, -1e5]))
    assert np.isfinite(likely).all()
    assert (variances >= 0).all()
    assert (means[:, [0, 2]] < 0.01).all()
    assert means[-1, 1] == pytest.approx(1e6, rel=1e-6)


@pytest.mark.parametrize("people", [0.0, 1e3, 1.99e5])
@pytest.mark.parametrize("ordered", [True, False])
def test_deviations_are_never_nothing(people: float, ordered: bool) -> None:
    noisy = people * np.linspace(0.5, 1.0, 30) + np.random.default_rng(8).normal(0.0, 2.0, 30)
    means, deviations = smoothed(noisy, 2.0, ordered)
    assert np.abs(means - noisy).max() <= 12.0
    assert np.isfinite(deviations).all()
    assert (deviations >= 0.2).all()


def test_a_column_whose_noise_hardly_matters_stays_as_measured() -> None:
    domain = Domain((Attribute.coded("visits", 30),))
    counts = np.linspace(0.0, 1e10, 30)
    assert smooth_columns(domain, [Measurement(("visits",), counts, 2.0)]).believed == ()


def test_runs_are_what_their_prior_makes_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    """With one mean there are no shares to fit, and every division is a product of its runs."""
    monkeypatch.setattr(smoothing, "RUN_MEANS", np.array([3.0]))
    noisy, cells = np.array([4.0, 3.5, -1.0, 0.5, 6.0]), 5
    logs, means, squares = [], [], []
    for rate in RATES:
        for division in _divisions(cells):
            lengths = np.array([end - start for start, end in division])
            likely, mean, variance = _counts_of_runs(lengths, np.array([noisy[start:end].sum() for start, end in division]))
            jumps = len(division) - 1
            logs.append(likely.sum() + jumps * np.log(rate) + (cells - 1 - jumps) * np.log1p(-rate) - np.log(len(RATES)))
            means.append(np.repeat(mean[0], lengths))
            squares.append(np.repeat(variance[0] + mean[0] ** 2, lengths))
    shares = np.exp(np.array(logs) - logsumexp(logs))
    belief, alone = _runs(noisy), _alone(noisy)
    assert belief.evidence + 0.5 * noisy @ noisy == pytest.approx(logsumexp(logs))
    assert belief.means == pytest.approx(shares @ np.array(means))
    assert belief.variances == pytest.approx(shares @ np.array(squares) - (shares @ np.array(means)) ** 2)
    likely, mean, variance = _counts_of_runs(np.ones(cells, dtype=int), noisy)
    assert alone.evidence + 0.5 * noisy @ noisy == pytest.approx(likely.sum())
    assert alone.means == pytest.approx(mean[0])
    assert alone.variances == pytest.approx(variance[0])


@pytest.mark.parametrize("order", [1, 2])
def test_walks_are_what_dense_linear_algebra_says(order: int, monkeypatch: pytest.MonkeyPatch) -> None:
    variance, cells = 3.0, 7
    monkeypatch.setattr(smoothing, "WALK_VARIANCES", np.array([variance]))
    noisy = np.random.default_rng(1).normal(5.0, 3.0, cells)
    differences = np.diff(np.eye(cells), order, axis=0)
    _, _, rows = np.linalg.svd(differences)
    unseen = rows[cells - order :]  # levels, and slopes
    prior = variance * np.linalg.pinv(differences.T @ differences) + FREE * unseen.T @ unseen
    belief = _walk(noisy, order)
    posterior = np.linalg.inv(np.eye(cells) + np.linalg.inv(prior))
    expected = multivariate_normal(np.zeros(cells), np.eye(cells) + prior).logpdf(noisy)
    assert belief.evidence + 0.5 * cells * -np.log(2 * np.pi) == pytest.approx(expected)
    assert belief.means == pytest.approx(posterior @ noisy)
    assert belief.variances == pytest.approx(np.diag(posterior))


SHAPES = {
    "flat": np.full(32, 400.0),
    "two levels": np.repeat([900.0, 100.0], 16),
    "slope": np.linspace(100.0, 1500.0, 32),
    "hump": 1500 * np.exp(-(((np.arange(32) - 12) / 7) ** 2)),
    "one spike": np.where(np.arange(32) == 20, 20_000.0, 0.0),
    "spikes": np.where(np.arange(32) % 5 == 0, 2_000.0, 100.0),
    "nothing in common": np.random.default_rng(0).exponential(1500.0, 32),
}
MOST_LEFT = {"flat": 0.3, "two levels": 0.4, "slope": 0.5, "hump": 0.6, "one spike": 0.5, "spikes": 0.6, "nothing in common": 1.0}
"""Of the mean absolute noise. With three seeds: 0.17 to 0.23, 0.24 to 0.29, 0.40, 0.50 to 0.53, 0.40 to 0.43, 0.51 to 0.53 and 0.95."""


@pytest.mark.parametrize("shape", SHAPES)
def test_less_noise_is_left_where_neighbours_are_alike_and_no_more_where_they_are_not(shape: str) -> None:
    people, deviation = SHAPES[shape], 150.0
    rng = np.random.default_rng(2)
    noise = rng.normal(0.0, deviation, (40, len(people)))
    left = [np.abs(smoothed(people + one, deviation)[0] - people).mean() for one in noise]
    assert np.mean(left) <= MOST_LEFT[shape] * np.abs(noise).mean()


def test_the_stated_deviations_are_those_of_the_errors() -> None:
    """Counts drawn from the prior of runs: squared errors over stated variances are one on average (forty columns, within a fifth)."""
    rng = np.random.default_rng(3)
    ratios = []
    for _ in range(40):
        jumps = rng.random(30) < 0.15
        counts = rng.exponential(8.0, 31)[np.cumsum(jumps)]
        means, deviations = smoothed(counts + rng.normal(size=30), 1.0)
        ratios.append(np.mean((means - counts) ** 2 / deviations**2))
    assert np.mean(ratios) == pytest.approx(1.0, abs=0.2)


def test_units_do_not_matter() -> None:
    noisy = np.random.default_rng(4).normal(100.0, 30.0, 12)
    means, deviations = smoothed(noisy, 20.0)
    many, wide = smoothed(1000 * noisy, 20_000.0)
    assert many == pytest.approx(1000 * means)
    assert wide == pytest.approx(1000 * deviations)


def test_without_an_order_it_does_not_matter_which_cells_are_neighbours() -> None:
    rng = np.random.default_rng(6)
    noisy, order = rng.exponential(200.0, 40) + rng.normal(0.0, 50.0, 40), rng.permutation(40)
    means, deviations = smoothed(noisy, 50.0, ordered=False)
    moved = smoothed(noisy[order], 50.0, ordered=False)
    assert moved[0] == pytest.approx(means[order])
    assert moved[1] == pytest.approx(deviations[order])


def test_of_many_rare_values_less_noise_is_left() -> None:
    """Zipf's law over 300 values, of which fifty stand out: 0.44 of the noise."""
    people = 20_000 / np.arange(1, 301)
    noise = np.random.default_rng(7).normal(0.0, 400.0, (20, 300))
    left = [np.abs(smoothed(people + one, 400.0, ordered=False)[0] - people).mean() for one in noise]
    assert np.mean(left) <= 0.5 * np.abs(noise).mean()


def test_columns_of_many_values_are_smoothed_and_their_further_cells_stay() -> None:
    domain = Domain(
        (
            Attribute.coded("visits", 8),
            Attribute.categorical("region", [f"r{number}" for number in range(8)]),
            Attribute.categorical("town", [f"t{number}" for number in range(20)], other=True),
            Attribute.coded("sex", 2),
        )
    )
    rng = np.random.default_rng(5)
    names = (*domain.names, "visits")
    taken = [Measurement((name,), rng.normal(50.0, 10.0, domain[name].size), 10.0) for name in names]
    columns = smooth_columns(domain, taken)
    assert columns.measured == (taken[0], taken[2], taken[4])
    visits, town = columns.believed
    assert (visits.clique, town.clique) == (("visits",), ("town",))
    means, deviations = smoothed((taken[0].values + taken[4].values) / 2, np.sqrt(50.0))
    assert visits.values == pytest.approx(means)
    assert visits.variances == pytest.approx(deviations * np.sqrt(50.0))
    means, deviations = smoothed(taken[2].values[:20], 10.0, ordered=False)
    assert town.values == pytest.approx([*means, taken[2].values[20]])
    assert town.variances == pytest.approx([*(deviations * 10.0), 100.0])

    standing = columns.instead(taken[:4])
    assert [m.clique for m in standing] == [m.clique for m in taken[:4]]
    assert (standing[1], standing[3]) == (taken[1], taken[3])
    assert standing[0].values is visits.values
    assert standing[2].deviation == pytest.approx(np.sqrt(town.variances.mean()))
