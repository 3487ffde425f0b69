"""AIM from a public table: weights that agree with the columns, what a table is worth by its own error, and what the whole comes to."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import Folding
from dpsynth_core.mechanisms.graphical.aim import Aim
from dpsynth_core.mechanisms.graphical.aim_public import AimPublic
from dpsynth_core.mechanisms.graphical.grouping import Candidates
from dpsynth_core.mechanisms.graphical.models import Capacity, fit
from dpsynth_core.mechanisms.graphical.public_prior import PublicPrior, _sharing, raked
from dpsynth_core.mechanisms.mechanism import Mechanism
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import all_kway
from tests.mechanisms.runs import DOMAIN, people

PAIRS = all_kway(DOMAIN, 2)
COLUMNS = [(name,) for name in DOMAIN.names]
ALIKE = people(400, seed=6).rows


def noisy_columns(sigma: float) -> list[Measurement]:
    rng, counts = np.random.default_rng(7), people().counts(COLUMNS)
    return [Measurement(r, counts[r] + rng.normal(0, sigma, counts[r].shape), sigma) for r in COLUMNS]


def with_few_of_the_first(codes: np.ndarray) -> np.ndarray:
    """People whose a is 0, half of them all, become rare."""
    kept = (codes[:, 0] != 0) | (np.random.default_rng(8).random(len(codes)) < 0.2)
    return codes[kept]


def shuffled(codes: np.ndarray) -> np.ndarray:
    """The same columns, nothing depending on anything, but d, which now says whether c is 0."""
    mixed = np.stack([np.random.default_rng(i).permutation(column) for i, column in enumerate(codes.T)], axis=1)
    mixed[:, 3] = mixed[:, 2] == 0
    return mixed


def noisy(clique: tuple[str, ...]) -> Measurement:
    """A pair as it is measured."""
    counts = people().counts([clique])[clique]
    return Measurement(clique, counts + np.random.default_rng(10).normal(0, 20, counts.shape), 20.0)


def informed(one: PublicPrior) -> GraphicalModel:
    """The model of the columns and the public table."""
    return one.fit(one.measured, assumed=one.marginals)


def prior(codes: np.ndarray, rho: float = 0.01) -> PublicPrior:
    kernel = PrivacyKernel(people(), Unit(), rho, SeededNoise(9))
    candidates = Candidates.of(DOMAIN, PAIRS.aim_weights(), ())
    table, estimate = PublicTable(DOMAIN, codes, "", ""), partial(fit, kernel, folding=Folding(DOMAIN))
    return PublicPrior.of(table, kernel, noisy_columns(20.0), candidates, Capacity(DOMAIN, 1.0), estimate)


def test_rows_are_weighed_as_the_minimum_says() -> None:
    """At the minimum log(w n / counts) is -sum_j precision_j (A_j w - y_j) / n over the row's cells, up to a constant."""
    rows, counts = np.unique(with_few_of_the_first(ALIKE), axis=0, return_counts=True)
    columns, n = noisy_columns(20.0), counts.sum()
    weights = raked(DOMAIN, rows, counts, columns, 4000.0)
    assert weights.sum() == pytest.approx(1.0)
    pull = np.zeros(len(rows))
    for j, measurement in enumerate(columns):
        gap = np.bincount(rows[:, j], weights, measurement.values.size) - measurement.values / 4000
        pull -= ((4000 / 20.0) ** 2 / n * gap)[rows[:, j]]
    exponents = np.log(weights * n / counts)
    np.testing.assert_allclose(exponents - exponents.mean(), pull - pull.mean(), atol=0.02)


def test_weights_correct_a_table_in_which_some_people_are_rare() -> None:
    true = people().counts([("a", "b")])["a", "b"] / 4000
    codes = with_few_of_the_first(ALIKE)
    rows, counts = np.unique(codes, axis=0, return_counts=True)
    weighted = raked(DOMAIN, rows, counts, noisy_columns(20.0), 4000.0)

    def error(weights: np.ndarray) -> float:
        return float(np.abs(np.bincount(rows[:, 0] * 3 + rows[:, 1], weights, 12) - true.ravel()).sum())

    assert error(counts / counts.sum()) > 0.4
    assert error(weighted) < 0.1


def test_without_noise_to_speak_of_weights_stay_where_noise_is_large_they_follow_the_columns() -> None:
    rows, counts = np.unique(with_few_of_the_first(ALIKE), axis=0, return_counts=True)
    unmoved = raked(DOMAIN, rows, counts, noisy_columns(1e6), 4000.0)
    np.testing.assert_allclose(unmoved, counts / counts.sum(), rtol=0.05)


def test_a_table_like_the_private_one_is_worth_its_people_and_one_that_deceives_loses_its_weight() -> None:
    honest, deceiving = prior(ALIKE), prior(shuffled(ALIKE))
    assert 300 < honest.people <= 400
    for clique in (("a", "b"), ("c", "d")):
        for one in (honest, deceiving):
            one.learn(noisy(clique), one.without_public)
    # two ratios around 1 that each vary by about 1, and the assumption of 1
    assert honest.inflation < 3
    assert deceiving.inflation > 30
    assert all((m.variances == deceiving.inflation * deceiving._variances(m.clique)).all() for m in deceiving.marginals)


def test_a_table_is_dropped_as_soon_as_the_model_without_it_comes_closer() -> None:
    honest, deceiving = prior(ALIKE), prior(shuffled(ALIKE))
    assert honest.learn(noisy(("c", "d")), informed(honest))
    assert honest.cliques
    assert not deceiving.learn(noisy(("c", "d")), informed(deceiving))
    assert deceiving.marginals == []
    assert deceiving.learn(noisy(("a", "b")), deceiving.without_public)  # it is dropped once


def test_one_noisy_measurement_does_not_drop_a_table() -> None:
    """A pair that is just as the model without the table says, with noise: d deviations away from the other model it is exp(d^2 / 2) times
    as likely by this one. 3.1 times is not enough, 3.1 times 90 times is."""
    honest = prior(ALIKE)
    model = informed(honest)
    told, alone = (one.marginal(("a", "b")) for one in (model, honest.without_public))
    deviation = float(np.linalg.norm(alone - told))
    assert honest.learn(Measurement(("a", "b"), alone, deviation / 1.5), model)
    assert not honest.learn(Measurement(("a", "b"), alone, deviation / 3), model)


def test_marginals_that_sampling_alone_explains_are_not_chosen() -> None:
    """Of people whose columns are independent, each pair differs from the product of its columns by chance."""
    independent = np.stack([np.random.default_rng(i).permutation(column) for i, column in enumerate(ALIKE.T)], axis=1)
    assert prior(independent).cliques == []


def test_a_table_that_weights_cannot_bring_near_the_columns_is_not_used() -> None:
    nobody_alike = prior(ALIKE[ALIKE[:, 0] == 3])
    assert nobody_alike.cliques == []
    assert nobody_alike.marginals == []
    assert prior(ALIKE).cliques


def error(mechanism: Mechanism, rho: float) -> float:
    """Mean L1 error over the pairs, mean of 4 seeds."""
    true, errors = people().counts(PAIRS.cliques), []
    for seed in range(4):
        kernel = PrivacyKernel(people(), Unit(), rho, SeededNoise(seed))
        *_, finished = mechanism.steps(kernel, PAIRS)
        assert isinstance(finished, Finished)
        errors.append(np.mean([np.abs(true[r] - finished.model.marginal(r)).sum() / 4000 for r in PAIRS.cliques]))
    return float(np.mean(errors))


def from_table(codes: np.ndarray) -> AimPublic:
    return AimPublic(public=PublicTable(DOMAIN, codes, "", ""))


def test_a_public_table_helps_most_where_the_budget_is_small() -> None:
    """400 public people answer a pair to about 0.1; with rho = 0.00003 a count has a sigma of 500 of 4000."""
    assert error(from_table(ALIKE), 0.00003) < 0.6 * error(Aim(), 0.00003)


@pytest.mark.parametrize("codes", [shuffled(ALIKE), ALIKE[ALIKE[:, 0] == 3]], ids=["another dependence", "other people"])
def test_a_public_table_that_deceives_does_little_harm(codes: np.ndarray) -> None:
    assert error(from_table(codes), 0.01) < 1.25 * error(Aim(), 0.01)


def test_where_the_public_table_says_nothing_columns_get_what_they_get_without_it() -> None:
    """With rho = 0.00003 AIM measures columns alone. One whose people are others says nothing; of one that is alike, tables are asked."""

    def selected(mechanism: Mechanism) -> int:
        kernel = PrivacyKernel(people(), Unit(), 0.00003, SeededNoise(3))
        *_, finished = mechanism.steps(kernel, PAIRS)
        assert isinstance(finished, Finished)
        assert kernel.rho_spent == pytest.approx(0.00003, rel=1e-6)
        return len(finished.selections)

    assert selected(Aim()) == selected(from_table(ALIKE[ALIKE[:, 0] == 3])) == 0
    assert selected(from_table(ALIKE)) > 0


def test_what_no_measurement_can_test_is_not_believed() -> None:
    """A public table that is refused after half of the budget is not taken up once the other half went to columns."""
    kernel = PrivacyKernel(people(), Unit(), 0.00003, SeededNoise(3))
    *_, finished = from_table(ALIKE[ALIKE[:, 0] == 3]).steps(kernel, PAIRS)
    assert isinstance(finished, Finished)
    assert "public_people" not in finished.details


def test_tables_that_share_two_columns_do_not_count_as_if_each_knew_them_by_itself() -> None:
    cliques = [("a", "b", "c"), ("a", "b", "d"), ("c", "d"), ("a", "b")]
    assert _sharing(cliques) == {cliques[0]: 3, cliques[1]: 3, cliques[2]: 1, cliques[3]: 3}
    one = prior(ALIKE)
    one.cliques = [("a", "b", "c"), ("a", "b")]
    for known in one.marginals:
        q = one.shares(known.clique)
        assert known.variances.min() > 1
        np.testing.assert_allclose(known.variances, 2 * 4000**2 * np.maximum(q * (1 - q), 1 / one.people) / one.people, rtol=0.01)


def test_no_table_is_so_large_that_it_knows_a_count_better_than_to_one_person() -> None:
    one = prior(ALIKE)
    one.people, one.cliques = 1e9, [("a", "b")]
    assert (one.marginals[0].variances == 1).all()


def test_what_is_charged_is_what_aim_is_charged() -> None:
    def paid(mechanism: Mechanism) -> list[Any]:
        kernel = PrivacyKernel(people(), Unit("replace"), 0.01, SeededNoise(3))
        *_, finished = mechanism.steps(kernel, PAIRS)
        assert isinstance(finished, Finished)
        assert ("public_people" in finished.details) == isinstance(mechanism, AimPublic)
        assert kernel.rho_spent == pytest.approx(0.01, rel=1e-6)
        return [type(event) for event in kernel.events]

    chosen = replace(Aim.strategies, planned=0)  # where something is known of tables, none is planned
    informed, alone = paid(from_table(ALIKE)), paid(Aim(strategies=chosen))
    assert informed[: len(COLUMNS) + 2] == alone[: len(COLUMNS) + 2]
    assert set(informed) == set(alone)


def test_without_a_public_table_it_is_refused() -> None:
    mechanism = AimPublic()
    assert "it needs a public table" in mechanism.forecast(PAIRS, 0.01).reason
    assert from_table(ALIKE).forecast(PAIRS, 0.01).fits
