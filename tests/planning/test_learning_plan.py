"""The plan of a run that only learns values: an ordinary plan, charged by itself, that finds values and counts who has none of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core import report
from dpsynth_core.evaluation.learnt_columns import LearntColumn, _learnt, learnt_columns
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning import domain_origin, learning_plan
from dpsynth_core.planning.learning_plan import SHARE, learning_spec, only_learns
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Measurement

PEOPLE = 20_000
COLUMNS = (Attribute.unknown("amount", "numeric"), Attribute.unknown("town", "categorical"), Attribute.unknown("written", "numeric"))


@pytest.fixture(scope="module")
def planned(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """A plan that is complete up to the table: amounts with a thin tail, towns of which a tenth are rare, and texts in place of numbers."""
    rng = np.random.default_rng(3)
    amount = np.where(rng.random(PEOPLE) < 0.95, rng.uniform(0, 100, PEOPLE), rng.uniform(100, 5_000, PEOPLE)).round(1)
    frequent = rng.random(PEOPLE) < 0.9
    town = np.where(frequent, rng.choice(["Aa", "Bb"], PEOPLE), [f"village {n}" for n in rng.integers(0, 2_000, PEOPLE)])
    table = pd.DataFrame({"amount": amount, "town": town, "written": "more than ten"})
    path = Path(tmp_path_factory.mktemp("learning")) / "people.csv"
    table.to_csv(path, index=False)
    return {
        "population": "people",
        "data": {"path": str(path), "kind": "csv"},
        "unit": {},
        "budget": {"epsilon": 1.0, "delta": 1e-9},
        "criteria": [{"kind": "unfinished"}],
    }


@pytest.fixture(scope="module")
def found(planned: dict[str, Any]) -> dict[str, LearntColumn]:
    spec = learning_spec(planned, "Trial", COLUMNS, 0.5)
    seeded = spec.model_copy(update={"output": spec.output.model_copy(update={"seed": 5})})
    plan = synthesis.plan(seeded)
    made = synthesis.synthesize(plan, synthesis.open_source(plan), synthesis.noise_for(seeded), lambda _: None)
    return {one.attribute.name: one for one in learnt_columns(report.evidence(made).value)}


def test_the_run_is_charged_by_itself_and_measures_nothing_but_its_columns(planned: dict[str, Any]) -> None:
    plan = synthesis.plan(learning_spec(planned, "Trial", COLUMNS, 0.5))
    assert plan.spec.budget.epsilon == 0.5
    assert {name for name, share in plan.shares.aside if share} == {"discovery"}
    assert plan.shares.of("discovery") == pytest.approx(SHARE * plan.shares.rho)
    assert [len(clique) for clique in plan.workload.cliques] == [1, 1, 1]


def test_such_a_plan_is_told_from_others(planned: dict[str, Any]) -> None:
    spec = learning_spec(planned, "Trial", COLUMNS, 0.5)
    assert only_learns(Spec.from_json(spec.model_dump(mode="json")))
    assert not only_learns(spec.model_copy(update={"mechanism": spec.mechanism.model_copy(update={"name": "aim"})}))
    assert not only_learns(spec.model_copy(update={"domain": {"age": 4}}))


def test_numbers_beyond_the_learnt_bounds_are_counted(planned: dict[str, Any], found: dict[str, LearntColumn]) -> None:
    amount = found["amount"]
    values = pd.read_csv(planned["data"]["path"])["amount"]
    low, high = amount.attribute.edges[0], amount.attribute.edges[-1]
    beyond = ((values < low) | (values > high)).mean()
    assert amount.is_learnt
    assert amount.outside is not None
    assert beyond > 0
    assert abs(amount.outside.value - beyond) <= 2 * amount.outside.within


def test_people_with_a_rare_value_are_counted(found: dict[str, LearntColumn]) -> None:
    town = found["town"]
    assert town.attribute.categories == ("Aa", "Bb")
    assert town.is_learnt
    assert town.is_doubtful
    assert town.outside is not None
    assert abs(town.outside.value - 0.1) <= 2 * town.outside.within


def test_a_column_whose_values_are_no_numbers_is_not_learnt(found: dict[str, LearntColumn]) -> None:
    assert not found["written"].is_learnt


@pytest.mark.parametrize("columns", [(), COLUMNS])
def test_an_unusable_run_is_refused(planned: dict[str, Any], columns: tuple[Attribute, ...]) -> None:
    with pytest.raises(InputError) as caught:
        synthesis.plan(learning_spec(planned, "Trial", columns, 0.5 if not columns else -1.0))
    assert caught.value.field == ("domain" if not columns else "budget.epsilon")


def test_the_names_of_its_parts_are_those_of_a_spec() -> None:
    assert set(learning_plan._KEPT) <= set(Spec.model_fields)


def test_a_learning_run_says_nothing_of_columns_that_it_does_not_learn(planned: dict[str, Any]) -> None:
    """Another column of the plan was read from the table: the reason for that, and its brand, are the plan's own."""
    read = {**planned, "domain_origin": "data", "domain_justification": "The bounds of the year are in every annual report."}
    spec = learning_spec(read, "Trial", COLUMNS, 0.5)
    assert (spec.domain_origin, spec.domain_justification) == ("learnt", "")
    assert not domain_origin.from_data(spec)
    assert spec == learning_spec(planned, "Trial", COLUMNS, 0.5)


@pytest.mark.parametrize("counts", [[300.0, 200.0, 450.0, 50.0], [9_000.0, 500.0, 20.0, 480.0], [0.0, 40.0, 900.0, 60.0]])
def test_the_interval_of_the_lead_holds_as_often_as_stated(counts: list[float]) -> None:
    """Learnt values, other and missing ones share the noise of the total. Of 4,000 draws a share that keeps to an interval of 95 % has a
    deviation of 0.0034; 0.93 to 0.97 is six of them. The counts are at least 20 deviations or 0, where shares are cut off at 0."""
    attribute = Attribute.categorical("town", ["Aa", "Bb"], other=True, missing=True)
    true, rng, sigma = np.array(counts), np.random.default_rng(4), 2.0
    lead = (true[0] + true[1] - true[attribute.other_code]) / true.sum()
    held = 0
    for noise in rng.normal(0, sigma, (4_000, 4)):
        one = _learnt(attribute, Measurement(("town",), true + noise, sigma))
        held += abs(one.lead.value - lead) <= one.lead.within
    assert 0.93 <= held / 4_000 <= 0.97
