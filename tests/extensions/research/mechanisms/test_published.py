"""`preset=paper` of the extension: the constants are those that the papers print, and what they make is charged in full view."""

from __future__ import annotations

import math
from typing import Any

import pytest

from dpsynth_core.extensions.research.mechanisms.weights import reweighing
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Fitted
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.privacy.events import Selection
from tests.mechanisms.runs import DOMAIN
from tests.mechanisms.test_published import PAPER, QUICK, published, quick, run


def test_mwem_pgm_halves_each_round() -> None:
    """McKenna et al. 2022, Algorithm 1: eps = 2 sqrt(rho/T), sigma = sqrt(T/rho), score ||.||_1 - n_r."""
    mechanism = published("mwem_pgm")
    assert mechanism.measure_share == 0.5
    _, steps = run(mechanism, rho=0.05, relation="replace")  # the number of rows is public, as in the paper
    record, rounds = steps[-1].selections, len(DOMAIN)
    assert [one.eps for one in record] == pytest.approx([2 * math.sqrt(0.05 / rounds)] * rounds)
    l2 = math.sqrt(2)  # of a marginal if a record is replaced; 1 in the paper
    assert [one.measurement.sigma for one in record] == pytest.approx([l2 * math.sqrt(rounds / 0.05)] * rounds)
    assert [one.chosen.offset for one in record] == [DOMAIN.cells(one.measurement.clique) for one in record]


def test_rap_has_the_optimiser_and_split_of_the_paper() -> None:
    """Aydore et al. 2021: section 5.1 (Adam 0.001, 5000 steps, 1e-7 a step), n' = 1000; Algorithm 2: rho / (2 T K) for each half."""
    rap = published("rap")
    descent = rap.descent
    assert (descent.rate, descent.steps, descent.improvement, descent.window) == (0.001, 5000, 1e-7, 1)
    assert descent.reach == 0  # section 4: sparsemax after each step
    assert (rap.relaxed_rows, rap.start_share, rap.measure_share, rap.oversampling) == (1000, 0.0, 0.5, 0)
    kernel, _ = run(quick("rap"), relation="replace")
    halves = [float(event.cost) for event in kernel.events if event.cost]
    assert sum(halves[0::2]) == pytest.approx(sum(halves[1::2]), rel=1e-6)


def test_gem_has_the_settings_of_the_authors_program() -> None:
    """Liu, Vietri and Wu's dp-query-release, examples/scripts/gen_nn/run_adult.sh: alpha 0.5, T 50, K 1000, a rate of 1e-4, 100 steps."""
    gem = published("gem")
    assert (gem.rounds, gem.measure_share, gem.start_share) == (50, 0.5, 0.0)
    assert (gem.latent, gem.hidden, gem.batch, gem.rate, gem.train_steps) == (256, 256, 1000, 1e-4, 100)
    assert (gem.rules.last_steps, gem.rules.averaging, gem.rules.noise) == (100, 0.9, 0.0)
    assert any("running mean of networks, which is the paper's" in line for line in gem.card.differences)  # that script asks for none
    assert gem.card.accountant is ZCDP
    kernel, _ = run(quick("gem"), relation="replace")
    halves = [float(event.cost) for event in kernel.events if event.cost]
    assert sum(halves[0::2]) == pytest.approx(sum(halves[1::2]), rel=1e-6)


@pytest.mark.parametrize("name", ["fem", "sepfem"])
def test_fem_has_the_authors_last_settings_and_charges_itself_as_algorithm_1_does(name: str) -> None:
    """Vietri et al. 2020, Algorithm 1: T eps_0^2 / 2 = rho; run_fem.sh: eps_0 = 0.008 sqrt(epsilon), eta = 0.16 sqrt(T), s = 50."""
    fem = published(name)
    assert (fem.eps_0, fem.eta, fem.records, fem.proved, fem.skip) == (0.0, 0.16, 50, 50, 0.0)
    for epsilon in (0.1, 1.0):
        log = 2 * math.log(50_000)
        rho = (math.sqrt(log + epsilon) - math.sqrt(log)) ** 2  # rho + 2 sqrt(rho log) = epsilon
        assert fem.given_eps_0(50_000.0, rho) == pytest.approx(0.008 * math.sqrt(epsilon))
        assert fem.choices(1000, 50_000.0, rho) == int(2 * rho / (0.008**2 * epsilon))
    kernel, steps = run(configured(get(name), PAPER | QUICK[name]), rho=0.05, relation="replace")
    selections = [event for event in kernel.events if isinstance(event, Selection)]
    assert [event.eps for event in selections] == pytest.approx([fem.given_eps_0(4000.0, 0.05)] * 3)
    assert sum(isinstance(step, Fitted) for step in steps) == 3  # as many rounds of records as choices
    assert steps[-1].details["eta"] == pytest.approx(0.16 * math.sqrt(3))


@pytest.mark.parametrize("name", ["fem", "sepfem"])
def test_the_eps_0_of_the_papers_tables_can_be_set(name: str) -> None:
    """Tables 2 and 3 have eps_0 = 0.003 for every budget."""
    fem: Any = configured(get(name), PAPER | {"eps_0": 0.003})
    assert fem.choices(1000, 50_000.0, 0.000177) == int(2 * 0.000177 / 0.003**2) == 39


def test_multiplicative_weights_select_and_average_as_printed() -> None:
    """Liu et al. 2021: Algorithm 1 (the same eps_0 for each half; the average of all A_(t-1)), section 3.2 (permute-and-flip)."""
    for mechanism in (published("mwem"), published("pmwpub")):
        assert (mechanism.measure_share, mechanism.skip) == (0.5, 0.0)
    assert published("pmwpub").selection == "permute-and-flip"
    assert published("mwem").select is reweighing.by_permute_and_flip


def test_the_dual_games_keep_every_record_and_dqrs_recycles() -> None:
    """Vietri et al. 2020, Algorithm 4: eta = alpha / 4, here for alpha = 0.4; (2 gamma_t + 4 eta) s fresh samples are fewer than s."""
    dqrs = published("dqrs")
    assert (dqrs.eta, dqrs.skip) == (0.4 / 4, 0.0)
    schedule = dqrs.schedule(200, dqrs.eta)
    assert schedule.fresh[-1] < schedule.samples
    assert published("dualquery").skip == 0


def test_learners_are_those_of_the_heuristics_paper() -> None:
    """Neel, Roth and Wu 2019: section III, RSPM with Laplace noise; Theorem 10, first part, Gaussian RSPM."""
    assert published("learn").learner == "laplace"
    assert (published("oraclequery").learner, published("oraclequery").skip) == ("gaussian", 0.0)
