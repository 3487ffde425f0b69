"""The certificate: unbiased, above the truth as often as stated, paid for to the last bit, and nothing more."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpsynth_core.claims.certificate import ANSWERS, CERTIFICATE, CERTIFIED_LARGEST, ROWS, Largest, certify, state, table_bounds
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import in_wrong_cell, largest_error
from dpsynth_core.statistics.naming import LIMIT
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import ROUNDING, Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, people

PAIRS = all_kway(DOMAIN, 2).cliques
N = 4000
EVERY_UNIT = [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2)]
UNITS = pytest.mark.parametrize("unit", EVERY_UNIT, ids=str)
FALSE_ALARM = 1e-6
"""Chance that a sound bound fails a test of its coverage: the exact tail of a binomial."""


def rows() -> dict[Clique, np.ndarray]:
    """Marginals of 3,000 rows from other people, as fractions: what is published."""
    return {c: counts / 3000 for c, counts in row_marginals(DOMAIN, people(3000, seed=7).rows, PAIRS).items()}


def true_errors(published: dict[Clique, np.ndarray]) -> dict[Clique, float]:
    true = people(N).counts(PAIRS)
    return {c: in_wrong_cell(true[c] / N, published[c]) for c in PAIRS}


def kernel_for(unit: Unit, seed: int, rho: float = 1e-3) -> PrivacyKernel:
    return PrivacyKernel(people(N), unit, rho, SeededNoise(seed))


def estimated(unit: Unit, rng: np.random.Generator, sigma: float = 60.0) -> Total:
    """A released number of records: exact where it is public."""
    return Total(float(N), 0.0) if unit.total_is_public else Total(N + sigma * rng.standard_normal(), sigma)


@UNITS
def test_bounds_hold_in_95_percent_of_200_runs_and_hardly_more_where_the_total_is_public(unit: Unit) -> None:
    published, runs = rows(), 200
    true = true_errors(published)
    mean = sum(true.values()) / len(true)
    failed: Counter[str] = Counter()
    rng = np.random.default_rng(11)
    for seed in range(runs):
        made = certify(kernel_for(unit, seed, 1e-3 * unit.marginal_l1**2), published, estimated(unit, rng), ROWS)
        failed["each"] += sum(one.bound95 < true[one.attributes] for one in made.marginals)
        failed["all"] += any(one.simultaneous95 < true[one.attributes] for one in made.marginals)
        failed["mean"] += made.mean_bound95 < mean
    for kind, trials in {"all": runs, "mean": runs}.items():
        assert failed[kind] <= binom.isf(FALSE_ALARM, trials, 0.05)
    if unit.total_is_public:  # the noises of the marginals are independent, and nothing else is uncertain
        trials = runs * len(PAIRS)
        assert binom.ppf(FALSE_ALARM, trials, 0.05) <= failed["each"] <= binom.isf(FALSE_ALARM, trials, 0.05)
    else:  # one estimate of the total for all marginals of a run: no more failures than if they came in blocks
        assert failed["each"] <= len(PAIRS) * binom.isf(FALSE_ALARM, runs, 0.05)


@UNITS
def test_errors_are_unbiased_and_as_noisy_as_stated(unit: Unit) -> None:
    published, runs = rows(), 300
    true = true_errors(published)
    made = [certify(kernel_for(unit, seed), published, Total(float(N), 0.0), ROWS) for seed in range(runs)]
    gaps = np.array([[one.error - true[one.attributes] for one in m.marginals] for m in made]) / made[0].deviation
    # means of 300 and one chi-square of 1800 degrees of freedom: five standard errors
    assert np.abs(gaps.mean(axis=0)).max() < 5 / np.sqrt(runs)
    assert gaps.var() == pytest.approx(1, abs=5 * np.sqrt(2 / gaps.size))
    assert np.mean([m.mean_error for m in made]) == pytest.approx(np.mean([one.error for m in made for one in m.marginals]))


@UNITS
def test_it_spends_all_it_was_given_and_nothing_else(unit: Unit) -> None:
    kernel = kernel_for(unit, 1, rho=0.2)
    stage = kernel.part(0.01)
    made = certify(stage, rows(), Total(float(N), 0.0), ROWS)
    assert made.rho == stage.rho_spent == kernel.rho_spent == pytest.approx(0.01, rel=1e-6)
    assert kernel.events == (Gaussian(made.sigma, unit.errors_l2(len(PAIRS))), Gaussian(made.max_sigma, unit.query_l1))
    assert kernel.events[1].rho == pytest.approx(CERTIFIED_LARGEST * 0.01, rel=1e-6)


def test_a_secret_number_of_records_that_nothing_measured_is_measured_now() -> None:
    published, runs, failed = rows(), 200, 0
    true = true_errors(published)
    for seed in range(runs):
        stage = kernel_for(Unit(), seed, 0.01)
        made = certify(stage, published, None, ROWS)
        failed += any(one.simultaneous95 < true[one.attributes] for one in made.marginals)
        assert [type(event) for event in stage.events] == [Gaussian, Gaussian, Gaussian]
        assert made.total.sigma == math.sqrt(stage.events[0].sigma ** 2 + ROUNDING)
        assert made.rho == pytest.approx(0.01, rel=1e-6)
    assert failed <= binom.isf(FALSE_ALARM, runs, 0.05)


def test_a_public_number_of_records_costs_nothing_even_if_it_was_not_known() -> None:
    stage = kernel_for(Unit("replace"), 1)
    assert certify(stage, rows(), None, ROWS).total == Total(float(N), 0.0)
    assert len(stage.events) == 2


@pytest.mark.parametrize(("unit", "threshold"), [*((unit, None) for unit in EVERY_UNIT), (Unit(), 1)], ids=str)
def test_the_largest_error_is_unbiased_and_its_bound_holds_in_95_percent_of_200_runs(unit: Unit, threshold: int | None) -> None:
    published, runs, failed = rows(), 200, 0
    true = largest_error(people(N).counts(PAIRS), published, threshold)
    rng, gaps = np.random.default_rng(13), []
    for seed in range(runs):
        made = certify(kernel_for(unit, seed, 1e-3 * unit.query_l1**2), published, estimated(unit, rng), ROWS, threshold)
        failed += made.max_bound95 < true
        exact = certify(kernel_for(unit, seed), published, Total(float(N), 0.0), ROWS, threshold)
        gaps.append((exact.max_error - true) * N / exact.max_sigma)
    if unit.total_is_public:
        assert binom.ppf(FALSE_ALARM, runs, 0.05) <= failed <= binom.isf(FALSE_ALARM, runs, 0.05)
    else:
        assert failed <= binom.isf(FALSE_ALARM, runs, 0.05)
    # the mean of 200 and a chi-square of 200 degrees of freedom: five standard errors
    assert abs(np.mean(gaps)) < 5 / np.sqrt(runs)
    assert np.var(gaps) == pytest.approx(1, abs=5 * np.sqrt(2 / runs))


def test_a_share_of_rows_is_never_off_by_more_than_all_of_it() -> None:
    made = certify(kernel_for(Unit(), 3), rows(), Total(10.0, 4000.0), ROWS)
    assert made.max_bound95 == 1.0


def test_answers_that_do_not_sum_to_one_are_certified_as_they_are() -> None:
    rng, runs, failed = np.random.default_rng(12), 200, 0
    for seed in range(runs):
        noisy = {c: people(N).counts([c])[c] / N + 0.05 * rng.standard_normal(DOMAIN.sizes(c)) for c in PAIRS}
        true = true_errors(noisy)
        made = certify(kernel_for(Unit(), seed), noisy, estimated(Unit(), rng), ANSWERS)
        failed += any(one.simultaneous95 < true[one.attributes] for one in made.marginals)
    assert failed <= binom.isf(FALSE_ALARM, runs, 0.05)


def test_the_order_of_the_bounds() -> None:
    made = certify(kernel_for(Unit(), 3), rows(), Total(float(N), 20.0), ROWS)
    for one in made.marginals:
        assert max(0.0, one.error) < one.bound95 < one.simultaneous95 <= 1
    assert made.mean_error < made.mean_bound95 < np.mean([one.bound95 for one in made.marginals])


def test_a_secret_number_of_records_widens_every_bound() -> None:
    sharp, vague = (certify(kernel_for(Unit(), 3), rows(), Total(float(N), sigma), ROWS) for sigma in (0.0, 60.0))
    for one, other in zip(sharp.marginals, vague.marginals, strict=True):
        assert one.error == other.error
        assert one.bound95 < other.bound95
    assert sharp.mean_bound95 < vague.mean_bound95


def test_a_total_that_says_nothing_certifies_nothing() -> None:
    made = certify(kernel_for(Unit(), 3), rows(), Total(10.0, 4000.0), ROWS)
    assert {one.bound95 for one in made.marginals} == {one.simultaneous95 for one in made.marginals} == {1.0}
    assert made.mean_bound95 == 1.0


def test_bounds_of_tables_that_are_named_good_hold_although_these_were_chosen() -> None:
    """28 tables with noise of a quarter of the limit, few of them good: by their own numbers alone the luckiest would be believed."""
    seed, names, people_, sigma = 20261126, [(f"c{i}",) for i in range(28)], 3000.0, 150.0
    rng, published = np.random.default_rng(seed), {name: np.full(4, 0.25) for name in names}
    named = failed = alone = 0
    for _ in range(300):
        true = np.clip(np.exp(rng.normal(math.log(0.14), 0.3, len(names))), 0.0, 1.0)
        noisy = dict(zip(names, (2 * people_ * true + rng.normal(0.0, sigma, len(names))).tolist(), strict=True))
        made = state(noisy, published, Total(people_, 0.0), sigma, 0.1, ROWS, Largest(0.0, 1.0))
        by_itself = table_bounds(made, 0.95)
        for one, error in zip(made.marginals, true.tolist(), strict=True):
            assert one.bound95 >= by_itself[one.attributes] - 1e-12
            if one.bound95 <= LIMIT:
                named, failed, alone = named + 1, failed + (error > one.bound95), alone + (error > by_itself[one.attributes])
    told = f"of {named} named {failed} are above their bound, {alone} above one of their own number alone; seed {seed}"
    assert failed <= binom.isf(FALSE_ALARM, named, 0.05), told
    assert alone > binom.isf(FALSE_ALARM, named, 0.05), told


def test_where_all_tables_are_named_good_nothing_was_chosen() -> None:
    names = [(f"c{i}",) for i in range(6)]  # too few for what the others say
    noisy = dict(zip(names, np.linspace(60.0, 120.0, len(names)).tolist(), strict=True))
    made = state(noisy, {name: np.full(4, 0.25) for name in names}, Total(3000.0, 0.0), 60.0, 0.1, ROWS, Largest(0.0, 1.0))
    assert {one.attributes: one.bound95 for one in made.marginals} == pytest.approx(table_bounds(made, 0.95))


@pytest.mark.parametrize("wrong", [math.nan, math.inf])
def test_a_number_that_is_none_is_not_written(wrong: float) -> None:
    """JSON would say null, which no reader takes for a number: the release would be called damaged."""
    made = certify(kernel_for(Unit(), 3), rows(), Total(float(N), 20.0), ROWS)
    plan: Any = None  # the certificate's own document does not depend on it
    assert CERTIFICATE.from_json(plan, CERTIFICATE.to_json(plan, made)) == made
    damaged = replace(made, marginals=(replace(made.marginals[0], bound95=wrong), *made.marginals[1:]))
    with pytest.raises(ValueError, match="not finite"):
        CERTIFICATE.to_json(plan, damaged)
