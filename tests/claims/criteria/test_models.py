"""Criteria on models: decided by what is measured of models anyway, rightly as often as is promised, and charged once."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.stats import binomtest

from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.models import ModelCriterion, ModelGain, ModelRight
from dpsynth_core.claims.criteria.outcomes import MET, NOT_MET, UNDECIDED
from dpsynth_core.claims.models.measuring import Guesses
from dpsynth_core.claims.models.specs import MAX_MODELS
from dpsynth_core.claims.models.stated import PER_COLUMN
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.intervals import Noisy
from tests.claims.criteria.test_reading import GAIN, MODEL, spec
from tests.refusals import refused

FALSE_ALARM = 1e-4
PEOPLE, RIGHT, GUESS, SIGMA, PEOPLE_SIGMA = 2_000.0, 1_500.0, 1_420.0, 25.0, 15.0


def read(entries: dict[str, Any]) -> ModelCriterion:
    (one,) = Plan.of(spec(entries)).criteria
    assert isinstance(one, ModelCriterion)
    return one


def drawn(rng: np.random.Generator) -> Guesses:
    right, guess, people = (Noisy(value + rng.normal(0, sigma), sigma) for value, sigma in _MEASURED)
    return Guesses(right, guess, people)


_MEASURED = ((RIGHT, SIGMA), (GUESS, SIGMA), (PEOPLE, PEOPLE_SIGMA))
_EXACT = Guesses(Noisy(RIGHT, 0.0), Noisy(GUESS, 0.0), Noisy(PEOPLE, 0.0))


@pytest.mark.parametrize("entries", [MODEL, GAIN], ids=["accuracy", "gain"])
def test_each_bound_holds_for_nineteen_of_twenty_releases_and_no_more_than_that(entries: dict[str, Any]) -> None:
    one, rng, draws = read(entries), np.random.default_rng(3), 4_000
    error = one.stated(_EXACT).error
    intervals = [one.stated(drawn(rng)) for _ in range(draws)]
    for held in (sum(i.at_least <= error for i in intervals), sum(error <= i.at_most for i in intervals)):
        assert binomtest(held, draws, 0.95).pvalue > FALSE_ALARM


def test_outcomes_are_about_the_share_that_is_asked_for() -> None:
    known = Guesses(Noisy(RIGHT, 1.0), Noisy(GUESS, 1.0), Noisy(PEOPLE, 1.0))  # 75 % and 71 %

    def outcome(entries: dict[str, Any]) -> str:
        one = read(entries)
        return Decided(one, one.stated(known)).outcome

    assert [outcome(MODEL | {"at_least": share}) for share in (0.74, 0.75, 0.76)] == [MET, UNDECIDED, NOT_MET]
    assert [outcome(GAIN | {"above_guess": share}) for share in (-0.1, 0.03, 0.04, 0.05)] == [MET, MET, UNDECIDED, NOT_MET]


def test_nothing_is_known_where_the_people_are_no_more_than_noise() -> None:
    hardly = Guesses(Noisy(RIGHT, 1.0), Noisy(GUESS, 1.0), Noisy(3.0, 50.0))
    for one in (read(MODEL), read(GAIN)):
        assert Decided(one, one.stated(hardly)).outcome == UNDECIDED


def test_the_margin_that_is_told_beforehand_is_the_one_that_comes_out() -> None:
    plan = Plan.of(spec(MODEL, GAIN))
    rho = plan.shares.of("models")
    sigma = Unit().query_l1 * math.sqrt(PER_COLUMN / (2 * rho))
    known = Guesses(Noisy(RIGHT, sigma), Noisy(GUESS, sigma), Noisy(PEOPLE, 0.0))
    for one in plan.criteria:
        assert isinstance(one, ModelCriterion)
        interval = one.stated(known)
        assert one.margin(Unit(), rho, plan.workload, PEOPLE) == pytest.approx(interval.at_most - interval.error, rel=1e-6)


def test_models_that_are_asked_for_already_cost_nothing_more() -> None:
    alone = Plan.of(spec().model_copy(update={"models": Plan.of(spec(MODEL)).spec.models}))
    assert alone.shares.of("models") == 0
    plan = Plan.of(spec(MODEL, GAIN))
    assert plan.shares.of("criteria") == 0
    assert plan.shares.of("models") == pytest.approx(plan.spec.budget.share("models") * plan.shares.rho)
    assert [target.column for target in plan.targets] == ["sex"]
    both = Plan.of(spec(MODEL, models=0.03))
    assert both.spec.published()["budget"]["models"] == 0.03


def test_tolerances_are_one_for_each_column() -> None:
    age = MODEL | {"column": "age", "model": "linear regression"}
    (target,) = Plan.of(spec(age, age | {"model": "gradient boosting", "tolerance": 30})).targets
    assert target.tolerance == 30
    caught = refused(Plan.of, spec(age | {"tolerance": 30}, age | {"tolerance": 40}))
    assert caught.field == "criteria.1.tolerance"


def test_models_of_too_many_columns_are_refused() -> None:
    names = [f"c{number}" for number in range(MAX_MODELS + 2)]
    criteria = [MODEL | {"column": name} for name in names]
    wide = spec(*criteria, mechanism="independent").model_copy(update={"domain": dict.fromkeys(names, 3)})
    refused(Plan.of, wide, saying=f"more than {MAX_MODELS} columns")


def test_what_needs_rows_or_records_is_refused_before_anything_is_charged() -> None:
    known = {**spec().domain, "attributes": spec().domain["attributes"][:3]}
    caught = refused(Plan.of, spec(MODEL, mechanism="gaussian").model_copy(update={"domain": known}))
    assert caught.field == "criteria.0"


def test_in_words() -> None:
    plan = Plan.of(spec(MODEL, GAIN, MODEL | {"column": "age", "tolerance": 30}))
    known = Guesses(Noisy(RIGHT, 10.0), Noisy(GUESS, 10.0), Noisy(PEOPLE, 10.0))
    right, gain, near = plan.criteria
    assert isinstance(right, ModelRight)
    assert isinstance(gain, ModelGain)
    assert right.requirement() == "right for at least 70.0% of the people"
    assert gain.requirement() == "right for at least +2.0% of the people, beside the best guess that looks at nothing"
    assert near.sentence(plan.domain) == "guesses of age, to within 30, by gradient boosting that is trained on the rows"
    assert right.finding(right.stated(known)) == "Measured: right for 75.0%; at least 74.0% and at most 76.0%, with 95% confidence each."
    assert gain.finding(gain.stated(known)).startswith("Measured: +4.0% beside that guess; at least +2.8% and at most +5.2%")
    rule = "Measured 71.0% of the people or more, it is met; less than 69.0% of the people, not met; in between it stays undecided."
    assert right.rule(0.01) == rule
    assert right.hopeless(0.31)
    assert not right.hopeless(0.29)
    assert gain.hopeless(0.99)
