"""What an epsilon buys: more of it never protects more nor errs more, and the plan's own epsilon agrees with its light."""

from __future__ import annotations

import pytest

from dpsynth_core.planning import epsilon_curve
from dpsynth_core.planning.epsilon_curve import Bought
from dpsynth_core.planning.expected_verdict import Facts, expected
from dpsynth_core.privacy import meaning
from tests.planning.test_alternatives import plan

EPSILONS = (0.1, 0.5, 1.0, 2.0, 10.0)


@pytest.mark.parametrize("people", [400, 5_000, 50_000])
def test_more_epsilon_protects_less_and_errs_less(people: int) -> None:
    frame = epsilon_curve.curve(plan(2), Facts(people, ("aim", "independent")), reversed(EPSILONS)).value
    assert tuple(frame["epsilon"]) == EPSILONS
    assert frame["guess"].is_monotonic_increasing
    assert frame["error"].is_monotonic_decreasing
    assert (frame["low"] <= frame["error"]).all()
    assert (frame["error"] <= frame["high"]).all()
    assert frame["guess"].between(0.5, 1.0).all()


def test_the_plans_own_epsilon_is_what_its_light_and_its_accountant_say() -> None:
    made, facts = plan(2), Facts(5_000, ("aim", "independent"))
    own = epsilon_curve.bought(made, facts, made.spec.budget.epsilon)
    assert own.error == expected(made, facts).error
    assert own.guess == meaning.reading(made.shares.accountant, made.shares.rho, made.shares.slack).guess


def test_a_sentence_states_the_error_with_its_range_and_whose_it_is() -> None:
    said = epsilon_curve.sentence(Bought(1.0, 0.54, 0.0063, 0.0037, 0.0101))
    assert said == "Tables should average **0.63%** (0.37% to 1.0%) of people in a wrong group."
    exact = epsilon_curve.sentence(Bought(1.0, 0.54, 0.42, 0.42, 0.42), "households")
    assert "**42%** of households" in exact
