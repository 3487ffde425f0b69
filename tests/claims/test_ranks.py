"""Where single errors are too noisy: how far off most tables are, measured, bounded, and not changed unseen."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

from dpsynth_core.bundle.verdicts import CONSISTENT
from dpsynth_core.claims.certificate import CERTIFIED_LARGEST, ROWS, Largest, certify, state, with_groups
from dpsynth_core.claims.ranks import PRECISE, RANKED, Group, at_ranks, groups, rank_of, tables_of
from dpsynth_core.mechanisms.rounds import distance_sigma
from dpsynth_core.privacy.events import Gaussian
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.statistics.naming import LIMIT, surely_below
from dpsynth_core.statistics.totals import Total
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.bundle import pack
from tests.bundle.bundles import failed, run, spec, stating, verified
from tests.mechanisms.runs import DOMAIN, people

PAIRS = all_kway(DOMAIN, 2).cliques
N = 4000
UNITS = pytest.mark.parametrize("unit", [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2)], ids=str)
NOISY = 4e-6
"""rho with which each of six errors has noise of about 15 points, and most of them together 6."""


def rows() -> dict[Clique, np.ndarray]:
    return {c: counts / 3000 for c, counts in row_marginals(DOMAIN, people(3000, seed=7).rows, PAIRS).items()}


def kernel(unit: Unit, seed: int, rho: float = NOISY) -> PrivacyKernel:
    return PrivacyKernel(people(N), unit, rho * unit.marginal_l1**2, SeededNoise(seed))


def test_most_are_four_of_five_rounded_up() -> None:
    assert [rank_of(number) for number in (1, 2, 5, 6, 15, 28, 45)] == [1, 2, 4, 5, 12, 23, 36]


@pytest.mark.parametrize("unit", [Unit(), Unit("replace", 2)], ids=str)
def test_single_tables_are_named_up_to_a_third_of_the_limit_and_groups_measured_beyond(unit: Unit) -> None:
    exact = len(PAIRS) / 2 * (unit.marginal_l1 / (2 * PRECISE * N)) ** 2  # with which each of them has a noise of PRECISE
    assert groups(unit, exact * 1.01, N, PAIRS) == ()
    assert groups(unit, exact * 0.99, N, PAIRS) == (Group(2),)  # five groups with half of it are no more precise than six tables
    assert groups(unit, exact * 0.99, N, [*PAIRS, *((name,) for name in "abcd")])[:2] == (Group(1), Group(2))  # ten of two sizes


def test_columns_are_groups_where_they_are_measured_precisely_enough() -> None:
    many = [(a, b) for a in "abcdefghij" for b in "abcdefghij" if a < b]
    rho = next(rho for rho in np.geomspace(1e-2, 1e-8, 400) if groups(Unit(), rho, N, many))  # just too noisy for 45 tables
    chosen = groups(Unit(), rho, N, many)
    assert chosen == (Group(2), *(Group(name=name) for name in "abcdefghij"))
    assert distance_sigma(Unit(), RANKED * rho, len(chosen)) / 2 <= PRECISE * N
    assert len(tables_of(chosen, many)[chosen[1]]) == 9


@pytest.mark.parametrize("cliques", [PAIRS[:1], PAIRS[:4], [("a",), ("a", "b"), ("a", "b", "c")]], ids=len)
def test_groups_of_few_tables_say_no_more_than_their_tables(cliques: list[Clique]) -> None:
    assert groups(Unit(), 1e-9, N, cliques) == ()


@UNITS
def test_it_spends_what_it_was_given_half_of_the_errors_on_groups(unit: Unit) -> None:
    stage = kernel(unit, 1)
    made = certify(stage, rows(), Total(float(N), 0.0), ROWS)
    assert [one.group for one in made.most] == [Group(2)]
    errors, most, largest = stage.events
    assert errors == Gaussian(made.sigma, unit.errors_l2(len(PAIRS)))
    assert most == Gaussian(made.most_sigma, float(unit.marginal_l1))
    assert errors.rho == pytest.approx(most.rho)
    assert largest.rho == pytest.approx(CERTIFIED_LARGEST * stage.rho_spent)
    assert stage.rho_spent == pytest.approx(NOISY * unit.marginal_l1**2, rel=1e-6)


@UNITS
def test_it_is_the_error_of_the_table_at_that_place_and_its_bound_holds_in_95_of_100_runs(unit: Unit) -> None:
    published, true = rows(), people(N).counts(PAIRS)
    place = sorted(in_wrong_cell(true[c] / N, published[c]) for c in PAIRS)[rank_of(len(PAIRS)) - 1]
    rng, runs, gaps, fails = np.random.default_rng(5), 200, [], 0
    doubt = 0.0 if unit.total_is_public else 60.0
    for seed in range(runs):
        made = certify(kernel(unit, seed), published, Total(N + doubt * rng.standard_normal(), doubt), ROWS)
        fails += made.most[0].bound95 < place
        gaps.append((made.most[0].error - place) * 2 * N / made.most_sigma)
    assert fails <= binom.isf(1e-6, runs, 0.05)
    if unit.total_is_public:  # the mean of 200 and a chi-square of 200 degrees of freedom: five standard errors
        assert abs(np.mean(gaps)) < 5 / math.sqrt(runs)
        assert np.var(gaps) == pytest.approx(1, abs=5 * math.sqrt(2 / runs))


def test_single_tables_have_bounds_that_hold_for_all_at_once_and_so_luck_names_none() -> None:
    for seed in range(50):
        made = certify(kernel(Unit(), seed), rows(), Total(float(N), 0.0), ROWS)
        assert all(one.bound95 == one.simultaneous95 > 0.1 for one in made.marginals)


@cache
def noisy() -> Release:
    """50,000 simulated people at an epsilon that leaves each of six tables a noise of more than a third of the limit."""
    return run(spec(budget={"epsilon": 0.01, "delta": 1e-9, "certificate": 0.1}))


def test_a_recipient_finds_it_consistent_and_no_number_of_it_can_be_changed() -> None:
    """By a forger who writes all other files anew."""
    stated = noisy().certificate
    assert stated is not None
    assert verified(pack.pack(noisy())).verdict == CONSISTENT
    (most,) = stated.most
    forged = [replace(most, error=most.error / 2), replace(most, bound95=most.bound95 / 2), replace(most, rank=6), replace(most, tables=7)]
    changes: list[dict[str, Any]] = [*({"most": (one,)} for one in forged), {"most": ()}, {"most_sigma": stated.most_sigma / 2}]
    for change in changes:
        assert "Does the certificate add up?" in failed(pack.pack(stating(noisy(), certificate=replace(stated, **change)))), change


def test_groups_that_are_called_good_hold_although_they_were_chosen() -> None:
    """28 tables, in a group of each column, often beyond the limit, so that luck would decide about many; single errors have a say."""
    seed, size, sigma, most_sigma = 20261127, 1000.0, 130.0, 45.0
    cliques = [(a, b) for a in "abcdefgh" for b in "abcdefgh" if a < b]
    rng, published = np.random.default_rng(seed), {r: np.full(4, 0.25) for r in cliques}
    every = [Group(name=name) for name in "abcdefgh"]
    said = wrong = failed = alone = alone_failed = 0
    for _ in range(400):
        true = dict(zip(cliques, np.exp(rng.normal(math.log(rng.uniform(0.05, 0.15)), 0.2, len(cliques))).tolist(), strict=True))
        noisy = {r: 2 * size * error + sigma * rng.standard_normal() for r, error in true.items()}
        single = state(noisy, published, Total(size, 0.0), sigma, 0.1, ROWS, Largest(0.0, 1.0))
        measured = {one: 2 * size * at_ranks(every, true)[one] + most_sigma * rng.standard_normal() for one in every}
        for one in with_groups(single, published, measured, most_sigma).most:
            error = at_ranks(every, true)[one.group]
            before = float(surely_below(np.array([measured[one.group]]), most_sigma, 0.0, 0.05)[0]) / (2 * size)
            if before <= LIMIT:
                alone, alone_failed = alone + 1, alone_failed + (error > before)
            if one.bound95 <= LIMIT:
                said, wrong, failed = said + 1, wrong + (error > LIMIT), failed + (error > one.bound95)
    told = f"of {said} that are called good {wrong} are not and {failed} above their bound; alone {alone_failed} of {alone}; seed {seed}"
    assert failed <= binom.isf(1e-6, said, 0.05), told
    assert alone_failed > binom.isf(1e-6, alone, 0.05), told
