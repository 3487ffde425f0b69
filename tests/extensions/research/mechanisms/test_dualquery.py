"""DualQuery: samples follow Q^t, a record is a best reply to them, and s eta^2 m^2 (T-1) T (2T-1) / (12 N^2) is what it is charged."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.mechanisms.games import dual_game
from dpsynth_core.extensions.research.mechanisms.games.dual_game import DualQuery, all_fresh, plan
from dpsynth_core.extensions.research.mechanisms.games.query_game import TOTAL_SHARE, Signed
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.mechanisms.registry import configured, get
from dpsynth_core.mechanisms.steps import Fitted
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.workload import all_kway
from tests.extensions.research.mechanisms.dual_tables import PEOPLE, SMALL, distribution, payoffs, places, player_of
from tests.extensions.research.mechanisms.game_doubles import PlainKernel, every_record
from tests.mechanisms.runs import DOMAIN, people, run
from tests.privacy.tables import FALSE_ALARM, frequency_p_value

PAIRS = all_kway(DOMAIN, 2)


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize("rows", [1, 3])
@pytest.mark.parametrize("rho", [1e-7, 0.001, 0.5])
def test_the_charge_is_the_closed_form(relation: str, rows: int, rho: float) -> None:
    done = run("dualquery", PAIRS, rho, relation, rows, samples=7)
    details, total = done.finished.details, done.finished.total
    count, eta = details["rounds"], details["eta"]
    assert sum(e.rho for e in done.kernel.events if isinstance(e, Selection)) == pytest.approx(
        7 * eta**2 * rows**2 * (count - 1) * count * (2 * count - 1) / (12 * total**2)
    )
    counting = sum(e.rho for e in done.kernel.events if isinstance(e, Gaussian))
    assert counting == pytest.approx(0 if relation == "replace" and rows == 1 else TOTAL_SHARE * rho)
    assert done.kernel.rho_spent == pytest.approx(rho, rel=1e-8)
    assert [e.count for e in done.kernel.events if isinstance(e, Selection)] == [7] * (count - 1)


@pytest.mark.parametrize("rho", [1e-9, 1e-4, 0.01, 1.0])
@pytest.mark.parametrize("eta", [0.01, 2.0])
def test_the_plan_has_as_many_rounds_as_the_budget_affords(rho: float, eta: float) -> None:
    def price(rounds: int, rate: float) -> float:
        return 10 * rate**2 * (rounds - 1) * rounds * (2 * rounds - 1) / (12 * 5000.0**2)

    made = plan(lambda rounds, _: all_fresh(rounds, 10), 5000.0, rho, eta, 10_000)
    assert price(made.rounds, made.eta) == pytest.approx(rho)
    assert made.rounds == 2 or price(made.rounds, eta) <= rho
    assert made.rounds == 10_000 or price(made.rounds + 1, eta) > rho


def test_fresh_samples_follow_the_multiplicative_weights() -> None:
    """Q^{t+1} proportional to exp(-eta sum A(x, q)), computed without the kernel."""
    records = np.array([[0, 0], [2, 1], [1, 1], [0, 1]], dtype=np.int32)
    player = player_of(plan_eta=1.5, rounds=10)
    hits = SparseAnswers.of_rows(player.queries, records)
    draws = [player.fresh(4, hits) for _ in range(500)]  # 20 samples each
    sampled = np.concatenate([places(player.queries, wanted, negated=True) for wanted in draws])
    assert frequency_p_value(sampled, distribution(1.5, records)) > FALSE_ALARM


def test_a_record_is_a_best_reply_to_the_samples() -> None:
    """x^t maximises A(x, .) averaged over the samples, ties apart; A as the paper has it."""
    kernel = PlainKernel(SMALL, PEOPLE, 0.4, 5, np.random.default_rng(6))
    mechanism = DualQuery()
    *_, finished = configured(mechanism, {"samples": 6, "rounds": 8, "eta": 0.1}).steps(kernel, all_kway(SMALL, 2))
    queries = QueryClass.of(all_kway(SMALL, 2))
    rng = np.random.default_rng(5)
    wanted = Signed.uniform(queries, 6, rng)
    records, noise, people = [], np.random.default_rng(6), len(PEOPLE)
    count, eta = finished.details["rounds"], finished.details["eta"]
    for t in range(1, count + 1):
        costs = dual_game.tie_breaker(rng, SMALL.sizes(SMALL.names))
        sampled = places(queries, wanted, negated=True)
        value = {x: payoffs(x)[sampled].mean() for x in every_record(SMALL)}
        best = max(value.values())
        ties = [x for x in value if value[x] > best - 1e-9]
        records.append(min(ties, key=lambda x: sum(c[v] for c, v in zip(costs, x, strict=True))))
        if t < count:
            scores = -eta * sum(payoffs(x) for x in records)  # log Q^{t+1}
            eps = 2 * eta * t / people
            flipped = np.concatenate([scores[queries.size :], scores[: queries.size]])  # the kernel names the negation of the sample
            drawn = [int(np.argmax(flipped * 2 / eps + noise.gumbel(0.0, 2 / eps, flipped.shape))) for _ in range(6)]
            wanted = Signed(
                np.array([place % queries.size for place in drawn]),
                np.array([1 if place < queries.size else -1 for place in drawn], dtype=np.int8),
            )
    codes, times = np.unique(np.array(records), axis=0, return_counts=True)
    assert np.array_equal(finished.model.codes, codes)
    assert finished.model.weights == pytest.approx(times * people / count)


def test_breaking_ties_never_outweighs_a_query() -> None:
    rng = np.random.default_rng(4)
    for sizes in ((2,), (5, 7, 30), (3,) * 40):
        costs = dual_game.tie_breaker(rng, sizes)
        assert sum(float(c.max()) for c in costs) < 1
        assert min(float(c.min()) for c in costs) >= 0


def test_with_a_large_budget_every_answer_is_close() -> None:
    done = run("dualquery", PAIRS, 10.0)
    counts = done.source.counts(PAIRS.cliques)
    worst = max(float(np.abs(counts[r] / 4000 - done.finished.model.marginal(r) / done.finished.total).max()) for r in PAIRS.cliques)
    assert worst < 0.06  # uniform rows: above 0.3


def test_it_stops_where_it_is_not_driven_on() -> None:
    kernel = PrivacyKernel(people(), Unit(), 0.1, SeededNoise(1))
    steps = configured(get("dualquery"), {}).steps(kernel, PAIRS)
    while not isinstance(next(steps), Fitted):
        pass
    spent = kernel.rho_spent
    steps.close()
    assert 0 < kernel.rho_spent == spent < 0.1


def test_a_plan_for_one_person_has_two_rounds() -> None:
    assert plan(lambda rounds, _: all_fresh(rounds, 3), 1.0, 1e-6, 2.0, 100).rounds == 2
