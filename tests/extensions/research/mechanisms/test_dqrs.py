"""DQRS: what it keeps is as if drawn afresh (Lemma 8), its plan is Algorithm 4's where that is cheaper, its charge is the plan."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.mechanisms.games.dual_game import Dqrs, SampleSchedule, all_fresh, keep_price, plan, recycling
from dpsynth_core.extensions.research.mechanisms.games.query_game import TOTAL_SHARE
from dpsynth_core.extensions.research.privacy.events import Retention
from dpsynth_core.extensions.research.vocabulary.queries import SparseAnswers
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.vocabulary.workload import all_kway
from tests.extensions.research.mechanisms.dual_tables import CLASS, distribution, payoffs, places, player_of, signed
from tests.mechanisms.runs import DOMAIN, run
from tests.privacy.tables import FALSE_ALARM, frequency_p_value

PAIRS = all_kway(DOMAIN, 2)
RECORDS = np.array([[0, 0], [2, 1], [1, 1], [0, 1], [2, 0], [1, 0], [0, 0], [2, 1], [0, 1]], dtype=np.int32)
ETA, T = 0.15, len(RECORDS)
GAMMA = 1 / (2 * T ** (2 / 3))


def test_the_retained_sample_has_the_distribution_of_the_next_round() -> None:
    """S_t from Q^t, recycled after x^t, against Q^{t+1} by chi-square; eta is so large that Q^t itself would fail."""
    fresh = int(np.ceil((2 * GAMMA + 4 * ETA) * 40))
    player = player_of(ETA, T + 1, samples=40, gamma=np.full(T, GAMMA), fresh=fresh)
    before, after = distribution(ETA, RECORDS[:-1]), distribution(ETA, RECORDS)
    rng, hits = np.random.default_rng(8), SparseAnswers.of_rows(CLASS, RECORDS)
    kept = []
    for _ in range(500):
        sample = signed(rng.choice(12, size=40, p=before), negated=True)
        kept.append(places(CLASS, Dqrs.resample(player, T, sample, RECORDS[-1:], hits), negated=True))
    sample_rows = np.concatenate(kept)
    assert len(sample_rows) == 500 * 40
    assert frequency_p_value(sample_rows, after) > FALSE_ALARM
    assert frequency_p_value(sample_rows, before) < FALSE_ALARM


def test_lemma_8_a_sample_that_is_kept_or_else_drawn_anew_follows_the_new_distribution() -> None:
    """q from Q, kept with probability P_q / (M Q_q), else drawn from P: the result follows P. M = e^(eta + gamma) Z >= max P/Q."""
    player = player_of(ETA, T + 1)
    old, new = distribution(ETA, RECORDS[:-1]), distribution(ETA, RECORDS)
    chances = np.exp(-ETA - GAMMA - ETA * payoffs(RECORDS[-1]))
    assert (chances <= np.exp(-GAMMA)).all()
    assert chances / chances.max() == pytest.approx((new / old) / (new / old).max())  # proportional to P/Q

    rng, draws = np.random.default_rng(9), 40_000
    drawn = rng.choice(12, size=draws, p=old)
    sample = signed(drawn, negated=True)
    answers = SparseAnswers.of_rows(CLASS, RECORDS[-1:]).at(sample.numbers)
    bits = player.kernel.keep_queries(CLASS, sample.numbers, -sample.signs, answers, ETA, GAMMA, records=player.people)
    assert frequency_p_value(drawn[bits], new) > FALSE_ALARM
    # how often a sample is kept is what the lemma says it is, within five standard errors
    assert bits.mean() == pytest.approx(float(old @ chances), abs=5 * 0.5 / draws**0.5)
    missing = int((~bits).sum())
    again = [player.fresh(T, SparseAnswers.of_rows(CLASS, RECORDS)) for _ in range(-(-missing // 20))]
    anew = np.concatenate([places(CLASS, part, negated=True) for part in again])[:missing]
    assert frequency_p_value(np.concatenate([drawn[bits], anew]), new) > FALSE_ALARM


def test_too_few_samples_stand_in_for_those_that_are_missing() -> None:
    player = player_of(ETA, T + 1, samples=40, gamma=np.full(T, 20.0), fresh=3)  # nearly nothing is kept at gamma = 20
    sample = signed(np.zeros(40, dtype=np.int64), negated=True)
    sample_rows = Dqrs.resample(player, T, sample, RECORDS[-1:], SparseAnswers.of_rows(CLASS, RECORDS))
    assert len(sample_rows) == 40
    assert len(np.unique(places(CLASS, sample_rows, negated=True))) <= 3


@pytest.mark.parametrize("eta", [0.01, 0.1, 0.24])
def test_the_schedule_is_algorithm_4_where_it_is_cheaper(eta: float) -> None:
    made, t = recycling(500, eta, 100), np.arange(1, 500)
    gamma = 1 / (2 * t ** (2 / 3))
    keeps = ~np.isnan(made.gamma)
    assert keeps.any()
    assert (made.gamma[keeps] == gamma[keeps]).all()
    assert (made.fresh[keeps] == np.ceil((2 * gamma + 4 * eta) * 100)[keeps]).all()
    assert (made.fresh[~keeps] == 100).all()
    assert (made.prices() <= all_fresh(500, 100).prices() + 1e-9).all()


def test_above_a_quarter_it_is_dualquery() -> None:
    made = recycling(1000, 0.25, 10)
    assert np.isnan(made.gamma).all()
    assert (made.fresh == 10).all()


@pytest.mark.parametrize("rho", [1e-6, 1e-3, 0.05, 1.0])
@pytest.mark.parametrize("eta", [0.05, 2.0])
def test_it_has_at_least_as_many_rounds_as_dualquery_and_spends_the_same(rho: float, eta: float) -> None:
    ours = plan(lambda rounds, rate: recycling(rounds, rate, 50), 5000.0, rho, eta, 3000)
    theirs = plan(lambda rounds, _: all_fresh(rounds, 50), 5000.0, rho, eta, 3000)
    assert ours.rounds >= theirs.rounds
    assert price(ours.schedule, ours.eta / 5000.0) == pytest.approx(rho)
    assert price(theirs.schedule, theirs.eta / 5000.0) == pytest.approx(rho)


@pytest.mark.parametrize("rho", [1e-3, 0.05, 1.0])
@pytest.mark.parametrize("samples", [5, 20])
def test_however_small_eta_is_recycling_gets_no_further_than_dualquery_with_a_quarter(rho: float, samples: int) -> None:
    """The bound of eta (T - 1) in the docstring. DualQuery could not afford one more round: with it, it is beyond the bound."""
    most = (3 * rho * 5000.0**2 / (2 * samples)) ** (1 / 3)
    for eta in (0.02, 0.05, 0.1):
        ours = plan(lambda rounds, rate: recycling(rounds, rate, samples), 5000.0, rho, eta, 100_000)
        assert not np.isnan(ours.schedule.gamma).all()
        assert ours.eta * (ours.rounds - 1) <= most
    for eta, times in ((0.25, 1), (2.0, 2)):
        theirs = plan(lambda rounds, _: all_fresh(rounds, samples), 5000.0, rho, eta, 100_000)
        assert eta * (theirs.rounds + 1) >= times * most


def price(schedule: SampleSchedule, rate: float) -> float:
    """What rounds 1 .. T-1 cost, written out; rate: eta m / N."""
    total = 0.0
    for i, (fresh, gamma) in enumerate(zip(schedule.fresh, schedule.gamma, strict=True)):
        total += fresh * (2 * rate * (i + 1)) ** 2 / 8
        if not np.isnan(gamma):
            total += schedule.samples * (rate * (1 + 1 / (np.exp(gamma) - 1))) ** 2 / 8
    return total


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 2])
@pytest.mark.parametrize("eta", [0.05, 2.0])
def test_the_charge_is_the_closed_form(relation: str, rows: int, eta: float) -> None:
    done = run("dqrs", PAIRS, 1e-5, relation, rows, eta=eta, samples=10)
    count, rate = done.finished.details["rounds"], done.finished.details["eta"] * rows / done.finished.total
    drawn = [event for event in done.kernel.events if isinstance(event, Selection)]
    tried = [event for event in done.kernel.events if isinstance(event, Retention)]
    gamma = 1 / (2 * np.arange(1, count) ** (2 / 3))
    fresh = sum(event.count * (2 * rate * t) ** 2 / 8 for t, event in enumerate(drawn, start=1))
    bits = sum(10 * rate**2 * float(keep_price(np.array(event.gamma))) for event in tried)
    assert len(drawn) == count - 1
    assert all(event.count == 10 and event.gamma in gamma for event in tried)
    assert bool(tried) == (eta < 0.25)  # a few dozen rounds, of which bits are cheaper in most
    assert sum(event.rho for event in (*drawn, *tried)) == pytest.approx(fresh + bits)
    counting = sum(event.rho for event in done.kernel.events if isinstance(event, Gaussian))
    assert counting == pytest.approx(0 if relation == "replace" and rows == 1 else TOTAL_SHARE * 1e-5)
    assert done.kernel.rho_spent == pytest.approx(1e-5, rel=1e-8)
