"""OracleQuery: rows that follow the rules that were named, a charge in closed form, every learner, and what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from dpsynth_core.extensions.research.mechanisms.games.query_game import TOTAL_SHARE
from dpsynth_core.extensions.research.mechanisms.rules.oraclequery import OracleQuery
from dpsynth_core.extensions.research.oracles.rules.dual import DUALLY_SEPARABLE
from dpsynth_core.extensions.research.privacy.events import Approximate, PerturbedMinimum
from dpsynth_core.mechanisms.registry import configured
from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, Step
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.extensions.research.mechanisms.binary import binary_domain, binary_people

QUERY = OracleQuery()
WORKLOAD = all_kway(binary_domain(6), 2)
SMALL = {"rounds": 12, "records": 20}


def run(rho: float, relation: str = ADD_REMOVE, delta: float = 0.0, **given: Any) -> tuple[PrivacyKernel, list[Step]]:
    kernel = PrivacyKernel(binary_people(), Unit(relation), rho, SeededNoise(61), delta)
    return kernel, list(configured(QUERY, SMALL | given).steps(kernel, WORKLOAD))


def finished(events: list[Step]) -> Finished:
    assert isinstance(events[-1], Finished)
    return events[-1]


def largest_error(events: list[Step]) -> float:
    """Of all cells of the workload, as a share of the 4000 people."""
    true = binary_people().counts(WORKLOAD.cliques)
    return max(float(np.abs(finished(events).model.marginal(r) - true[r]).max()) for r in WORKLOAD.cliques) / 4000


@pytest.mark.parametrize("learner", ["exponential", "laplace", "gaussian"])
@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_the_charge_is_the_sum_over_rounds_in_closed_form(learner: str, relation: str) -> None:
    rho, rounds = 0.3, SMALL["rounds"]
    kernel, events = run(rho, relation, delta=1e-5, learner=learner)
    named = [event for event in kernel.events if not isinstance(event, Gaussian)]
    kind = {"exponential": Selection, "laplace": PerturbedMinimum, "gaussian": Approximate}[learner]
    each = rho * (1 - TOTAL_SHARE if relation == ADD_REMOVE else 1.0) / rounds
    assert len(named) == rounds
    assert all(isinstance(event, kind) and event.rho == pytest.approx(each, rel=1e-6) for event in named)
    assert kernel.rho_spent == pytest.approx(rho, rel=1e-6)
    assert sum(event.delta for event in named if isinstance(event, Approximate)) <= 1e-5
    assert sum(isinstance(event, Fitted) for event in events) == rounds
    assert sum(isinstance(event, Measured) for event in events) == (relation == ADD_REMOVE)


@pytest.mark.parametrize("kind", DUALLY_SEPARABLE)
def test_with_a_large_budget_the_rows_come_close_to_the_table(kind: str) -> None:
    """A fraction of the error of uniform rows, the starting point; a property of the algorithm, not of the noise (seeded)."""
    _, events = run(100.0, rule=kind, rounds=120, records=30)
    true = binary_people().counts(WORKLOAD.cliques)
    uniform = max(float(np.abs(1000 - true[r]).max()) for r in WORKLOAD.cliques) / 4000
    assert largest_error(events) < uniform / (2 if kind == "halfspace" else 3)


def test_the_game_is_played_over_more_columns_than_can_be_gone_through() -> None:
    kernel = PrivacyKernel(binary_people(500, 24), Unit(), 50.0, SeededNoise(61))
    game = configured(QUERY, {"rounds": 1, "records": 5})
    last = finished(list(game.steps(kernel, all_kway(binary_domain(24), 1))))
    assert last.details["rules_named"] == 1
    assert last.details["guarantee"].startswith("each round: RSPM")
    assert "on condition that the solver" in game.condition(binary_domain(24))
    assert not game.condition(binary_domain(20))
    assert last.model.rows(7, {}, np.random.default_rng(1)).shape == (7, 24)  # type: ignore[attr-defined]
    assert kernel.rho_spent == pytest.approx(50.0, rel=1e-6)


def test_rows_are_written_in_any_number() -> None:
    _, events = run(1.0)
    rows = finished(events).model.rows(123, WORKLOAD.weights, np.random.default_rng(1))  # type: ignore[attr-defined]
    assert rows.shape == (123, 6)
    assert set(np.unique(rows)) <= {0, 1}


def test_prsma_as_learner_may_name_nothing_and_the_game_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PrivacyKernel, "learn_rule_robustly", lambda *_: np.zeros(0, dtype=np.int64), raising=False)
    _, events = run(1.0, REPLACE, delta=0.4, learner="prsma")
    assert finished(events).details["rules_named"] == 0


def test_progress_tells_how_searches_went() -> None:
    _, events = run(1.0)
    assert all("proved best, largest gap" in event.message for event in events if isinstance(event, Fitted))


def test_what_cannot_be_played_is_refused() -> None:
    def reason(domain: Domain, **given: Any) -> str:
        return configured(QUERY, given).forecast(all_kway(domain, 1), 0.1).reason

    assert "it has 3 values" in reason(Domain.from_json({"a": 2, "b": 3}))
    assert reason(binary_domain(21), learner="exponential").endswith("a conjunction over 21 features is one of too many; use laplace")
    assert reason(binary_domain(20)) == reason(binary_domain(60)) == ""
    assert "61 columns are more than the 60" in reason(binary_domain(61))
    assert "21 columns are more than the 20" in reason(binary_domain(21), rule="parity")
    assert "too many" in reason(binary_domain(20), rule="halfspace", learner="exponential")
    assert "oracle calls" in OracleQuery(learner="prsma").obstacle(binary_domain(6), 0.5, 1e-6, Unit(REPLACE))


@pytest.mark.parametrize(("columns", "minutes"), [(20, 5), (21, 12), (60, 12)])
def test_the_forecast_at_defaults_says_how_long_it_takes(columns: int, minutes: int) -> None:
    forecast = configured(QUERY, {}).forecast(all_kway(binary_domain(columns), 2), 0.1)
    assert forecast.fits
    assert (minutes - 3) * 60 < forecast.seconds < minutes * 60
    assert configured(QUERY, {"rounds": 160}).forecast(all_kway(binary_domain(columns), 2), 0.1).seconds >= forecast.seconds
