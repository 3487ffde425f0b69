"""Certified learning: the rule, what it says of itself, what it is charged, and what is refused before anything is spent."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core.extensions.research.mechanisms.rules.learn import Learn
from dpsynth_core.extensions.research.oracles.rules import hits
from dpsynth_core.extensions.research.privacy import rspm
from dpsynth_core.extensions.research.privacy.events import Approximate, PerturbedMinimum
from dpsynth_core.extensions.research.privacy.rspm import Prsma
from dpsynth_core.mechanisms.registry import configured
from dpsynth_core.mechanisms.steps import Finished, Fitted, Measured, Step
from dpsynth_core.planning.plan import budgeted
from dpsynth_core.planning.spec import BudgetSpec
from dpsynth_core.privacy.events import Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from tests.extensions.research.mechanisms.binary import binary_domain, binary_people
from tests.extensions.research.privacy.test_learning import at_once

LEARN = Learn()
DOMAIN = binary_domain(6)


def run(rho: float = 0.5, unit: Unit | None = None, delta: float = 0.0, seed: int = 60, **given: Any) -> tuple[PrivacyKernel, list[Step]]:
    kernel = PrivacyKernel(binary_people(), unit or Unit(), rho, SeededNoise(seed), delta)
    return kernel, list(configured(LEARN, given).steps(kernel, all_kway(DOMAIN, 2)))


def learnt(events: list[Step]) -> dict[str, Any]:
    last = events[-1]
    assert isinstance(last, Finished)
    rule: dict[str, Any] = last.details["rule"]
    return rule


def refusal(domain: Domain, **given: Any) -> str:
    return configured(LEARN, given).forecast(all_kway(domain, 1), 0.1).reason


@pytest.mark.parametrize("learner", ["laplace", "exponential", "gaussian"])
def test_with_a_large_budget_the_rule_in_the_data_is_found_and_its_error_told(learner: str) -> None:
    _, events = run(rho=5.0, delta=1e-6, learner=learner)
    rule = learnt(events)
    assert rule["sentence"] == "Predict that y is 'yes': if c0 is 'yes' and c1 is 'yes'."
    assert rule["wrong"]["share"] == pytest.approx(0.1, abs=0.02)  # one in ten of 4000 was flipped: standard deviation 0.005
    assert rule["wrong_without_rule"] > 0.2
    assert rule["target"] == {"column": "y", "value": "yes"}
    json.dumps(rule, allow_nan=False)


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_the_whole_budget_is_charged_in_closed_form(relation: str) -> None:
    rho = 0.4
    for learner, kind in (("laplace", PerturbedMinimum), ("exponential", Selection), ("gaussian", Approximate)):
        kernel, _ = run(rho, Unit(relation), delta=1e-6, learner=learner)
        first, *rest = kernel.events
        assert isinstance(first, kind)
        assert first.rho == pytest.approx(0.8 * rho, rel=1e-6)
        assert len(rest) == 2
        assert kernel.rho_spent == pytest.approx(rho, rel=1e-6)


def test_events_are_the_rule_the_table_of_its_column_and_the_end() -> None:
    _, events = run()
    assert [type(event) for event in events] == [Fitted, Measured, Finished]
    assert isinstance(events[1], Measured)
    assert events[1].measurement.clique == ("y",)
    with pytest.raises(KeyError):
        events[2].model.marginal(("c0",))  # type: ignore[union-attr]


@pytest.mark.parametrize("relation", [ADD_REMOVE, REPLACE])
def test_without_a_target_the_rarest_rule_is_learnt(relation: str) -> None:
    kernel, events = run(2.0, Unit(relation), goal="fewest", rule="conjunction")
    assert learnt(events)["holds"]["share"] < 0.15  # all six columns hold for 0.09 of the people; alone, each holds for 0.2 or more
    assert learnt(events)["target"] is None
    assert kernel.rho_spent <= 2.0


def test_rules_may_speak_of_first_values_when_asked_to() -> None:
    _, events = run(rho=50.0, negations="true", rule="disjunction")
    assert learnt(events)["separators"] == 10
    assert learnt(events)["wrong"]["share"] < 0.3


def test_prsma_says_so_when_its_test_does_not_pass_and_measures_no_rule(monkeypatch: pytest.MonkeyPatch) -> None:
    import numpy as np

    monkeypatch.setattr(PrivacyKernel, "learn_rule_robustly", lambda *_: np.zeros(0, dtype=np.int64), raising=False)
    _, events = run(delta=0.4, unit=Unit(REPLACE), learner="prsma")
    assert learnt(events)["sentence"] == "No rule: PRSMA's test did not pass, which is one of its private answers."
    assert learnt(events)["rule"] is None
    assert "wrong" not in learnt(events)


def test_an_oracle_that_cannot_prove_its_answer_ends_in_no_rule_which_is_charged() -> None:
    kernel = PrivacyKernel(binary_people(columns=16), Unit(), 1.0, SeededNoise(1))
    hurried = configured(LEARN, {"rule": "parity", "learner": "laplace", "oracle": "cp-sat", "oracle_work": 0.002})
    first, *rest = hurried.steps(kernel, all_kway(binary_domain(16), 1))
    assert isinstance(first, Fitted)
    assert first.message == "No rule: the oracle did not prove its answer within its limit."
    assert first.rho_spent == pytest.approx(0.8, rel=1e-6)
    assert learnt(rest)["rule"] is None
    assert "wrong" not in learnt(rest)


def test_a_rule_over_thirty_columns_is_learnt_where_a_table_of_counts_would_have_a_billion_cells() -> None:
    kernel = PrivacyKernel(binary_people(2000, 30), Unit(), 5.0, SeededNoise(60))
    rule = learnt(list(LEARN.steps(kernel, all_kway(binary_domain(30), 1))))
    assert rule["sentence"] == "Predict that y is 'yes': if c0 is 'yes' and c1 is 'yes'."
    assert rule["wrong"]["share"] == pytest.approx(0.1, abs=0.03)  # one in ten of 2000 was flipped: standard deviation 0.007
    assert rule["learner"] == "laplace"
    assert rule["guarantee"].endswith("the oracle may fail to prove its answer")
    assert kernel.rho_spent == pytest.approx(5.0, rel=1e-6)


def test_more_distinct_records_than_a_solver_is_given_end_in_no_rule_which_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hits, "MAX_LITERALS", 20_000)
    monkeypatch.setattr(rspm, "batch_oracle", at_once)
    sentences = []
    for rows in (1000, 2000):  # 30 columns, of which about 14 do not hold
        kernel = PrivacyKernel(binary_people(rows, 30), Unit(), 5.0, SeededNoise(60))
        sentences.append(learnt(list(LEARN.steps(kernel, all_kway(binary_domain(30), 1))))["sentence"])
        assert kernel.events[0].rho == pytest.approx(4.0, rel=1e-6)
    assert sentences[0].startswith("Predict that y is 'yes'")
    assert sentences[1] == "No rule: the oracle did not prove its answer within its limit."


def test_the_default_learner_is_chosen_by_the_class_alone_and_recorded() -> None:
    _, events = run()
    assert learnt(events)["learner"] == "exponential"
    _, events = run(rule="decision_list", negations="true")
    assert learnt(events)["learner"] == "laplace"


def test_a_condition_is_stated_where_an_oracle_may_fail_and_nowhere_else() -> None:
    def condition(columns: int, **given: Any) -> str:
        return configured(LEARN, given).condition(binary_domain(columns))

    assert condition(20) == condition(20, rule="decision_list") == condition(20, learner="laplace") == ""
    assert condition(20, learner="prsma", oracle="cp-sat") == condition(6, learner="exponential", oracle="cp-sat") == ""
    searched = condition(6, learner="laplace", oracle="cp-sat")
    assert "on condition that the solver would prove its answer" in searched
    assert condition(20, rule="halfspace") == condition(20, rule="parity", negations="true") == searched


def test_tables_that_rules_cannot_be_learnt_over_are_refused_with_the_reason() -> None:
    assert refusal(Domain.from_json({"a": 2, "b": 3, "c": 2})).startswith("column 'b': it has 3 values")
    widths = "60 at most for all or any of some columns, 20 for other rules"
    too_wide = f"domain: 21 columns are more than the 20 over which a parity can be learnt; drop columns: {widths}"
    assert refusal(binary_domain(22), rule="parity") == too_wide
    assert refusal(binary_domain(62)).startswith("domain: 61 columns are more than the 60 over which a conjunction can be learnt")
    for possible in ({"columns": 21, "rule": "parity"}, {"columns": 61}):
        assert refusal(binary_domain(possible.pop("columns")), **possible) == ""
    assert "the exponential mechanism goes through all rules" in refusal(binary_domain(31), learner="exponential")
    assert "use auto" in refusal(binary_domain(31), oracle="exhaustive")
    assert refusal(DOMAIN, target="nobody").startswith("mechanism.target: the domain has no column 'nobody'")
    assert refusal(binary_domain(1)).startswith("mechanism.target: there is no other column")
    assert "one of too many" in refusal(binary_domain(20), rule="decision_list", learner="exponential")
    assert "one of too many" in refusal(binary_domain(20), rule="decision_list", oracle="exhaustive", learner="laplace", negations="true")
    assert refusal(binary_domain(20), rule="decision_list", oracle="exhaustive", learner="laplace") == ""
    assert refusal(DOMAIN) == ""


def test_prsma_states_its_oracle_calls_first_and_refuses_what_cannot_finish() -> None:
    prsma = Learn(learner="prsma", check_share=0.2)
    eps = math.sqrt(2 * 0.8 * 0.5)
    assert f"{Prsma(eps, 1e-9).calls:,} oracle calls" in prsma.obstacle(DOMAIN, 0.5, 1e-9, Unit(REPLACE))
    assert "one replaced record" in prsma.obstacle(DOMAIN, 0.5, 1e-6, Unit(ADD_REMOVE))
    assert "one replaced record" in prsma.obstacle(DOMAIN, 0.5, 1e-6, Unit(REPLACE, 2))
    assert prsma.obstacle(DOMAIN, 0.5, 5e-6, Unit(REPLACE)) == ""
    assert replace(prsma, oracle="cp-sat").obstacle(DOMAIN, 0.5, 5e-6, Unit(REPLACE)) != ""
    assert LEARN.obstacle(DOMAIN, 0.5, 0.0, Unit(ADD_REMOVE, 3)) == ""


def test_a_delta_is_needed_by_two_of_the_learners() -> None:
    assert [Learn(learner=name).needs_delta() for name in ("laplace", "gaussian", "prsma", "exponential")] == [False, True, True, False]


@pytest.mark.parametrize(("columns", "delta"), [(19, 1e-4), (11, 1e-6), (2, 1e-7)])
@pytest.mark.parametrize("epsilon", [0.1, 2.0])
def test_prsma_runs_from_where_its_help_says(columns: int, delta: float, epsilon: float) -> None:
    mechanism = configured(LEARN, {"learner": "prsma"})
    shares = budgeted(mechanism, BudgetSpec(epsilon=epsilon, delta=delta))

    def why_not(columns: int, delta: float) -> str:
        return mechanism.obstacle(binary_domain(columns + 1), shares.mechanism, delta, Unit("replace"))  # type: ignore[attr-defined]

    assert why_not(columns, shares.delta) == ""
    assert columns == 19 or "oracle calls" in why_not(columns + 1, shares.delta)
    assert "oracle calls" in why_not(columns, shares.delta / 20)
