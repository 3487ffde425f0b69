"""Criteria as somebody writes them: what is read, and that every mistake is named with its field before anything is spent."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from itertools import combinations
from typing import Any

import pytest

from dpsynth_core.claims.criteria import deciding as criteria
from dpsynth_core.claims.criteria.conditions import Condition
from dpsynth_core.claims.criteria.criterion import Criterion
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.deciding import asked
from dpsynth_core.claims.criteria.models import ModelGain, ModelRight
from dpsynth_core.claims.criteria.outcomes import MUST, SHOULD
from dpsynth_core.claims.criteria.ranges import RangesWithin
from dpsynth_core.claims.criteria.registry import KINDS, MAX_TOGETHER, MOST, tables_alone
from dpsynth_core.claims.criteria.statistics import Share
from dpsynth_core.claims.criteria.tables import SubgroupWithin, TablesWithin
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import MechanismSpec, Spec
from dpsynth_core.statistics.intervals import Interval
from tests.refusals import refused
from tests.specs import usual

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": True},
        {"name": "born", "kind": "date", "lower": "1920-01-01", "upper": "2020-12-31", "bins": 4, "other": False, "missing": False},
        {"name": "town", "kind": "categorical", "discover": True, "most": 20},
    ],
}
SHARE = {"kind": "share", "of": {"sex": "female"}, "tolerance": 0.02}
MEAN = {"kind": "mean", "column": "age", "tolerance": 0.5}
MODEL = {"kind": "model", "column": "sex", "at_least": 0.7}
GAIN = {"kind": "model-gain", "column": "sex", "above_guess": 0.02}


def spec(*criteria: Any, mechanism: str = "aim", **budget: Any) -> Spec:
    return Spec.from_json(
        usual(
            {"kind": "csv", "path": "people.csv"}, DOMAIN, budget={"epsilon": 1.0, "delta": 1e-9} | budget, mechanism={"name": mechanism},
            criteria=list(criteria),
        )
    )


def test_criteria_in_words() -> None:
    plan = Plan.of(
        spec(
            {"kind": "tables", "limit": 0.05},
            {"kind": "tables", "tables": [["age", "sex"]], "limit": 0.1, "importance": "should", "name": "For the ministry"},
            SHARE | {"among": {"age": ["0..39"]}},
            {"kind": "ranges", "column": "age", "limit": 0.02},
            {"kind": "subgroup", "where": {"sex": "male", "age": ["missing", "80..99"]}, "limit": 0.1},
            MEAN | {"among": {"sex": ["female"]}, "against": {"sex": ["male"]}},
        )
    )
    assert [asked(one, plan.domain) for one in plan.criteria] == [
        "Every table of the workload, within 5.0% of the people in the wrong group",
        "For the ministry: the table sex × age, within 10.0% of the people in the wrong group",
        "The share of people with sex “female” among those with age “0 to 39”, within 2.0% of the people",
        "The share of people in every range of age, within 2.0% of the people",
        "Every table of the workload among people with sex “male” and age “80 to 99” or “missing”, within 10.0% of these people in the "
        "wrong group",
        "The difference of the mean of age (by the middles of its bins) "
        "between those with sex “female” and those with sex “male”, within 0.5 in units of “age”",
    ]
    assert [one.importance for one in plan.criteria] == [MUST, SHOULD, MUST, MUST, MUST, MUST]
    assert set(KINDS) >= {one.kind for one in plan.criteria}
    assert [kind.kind for kind in KINDS.values()] == list(KINDS)


def test_criteria_take_their_share_from_the_mechanism_and_change_the_digest() -> None:
    without, with_one = spec(), spec(SHARE)
    assert Plan.of(without).shares.of("criteria") == 0
    shares = Plan.of(with_one).shares
    assert shares.of("criteria") == pytest.approx(0.05 * shares.rho)
    assert shares.mechanism == pytest.approx(Plan.of(without).shares.mechanism - shares.of("criteria"))
    digests = {without.digest(), with_one.digest(), spec(SHARE | {"tolerance": 0.03}).digest(), spec(SHARE, criteria=0.1).digest()}
    assert len(digests) == 4


@pytest.mark.parametrize(
    ("criterion", "field"),
    [
        ({}, "criteria.0.kind"),
        ({"kind": "magic"}, "criteria.0.kind"),
        ({"kind": ["tables"]}, "criteria.0.kind"),
        ({"kind": "tables"}, "criteria.0.limit"),
        ({"kind": "tables", "limit": 0}, "criteria.0.limit"),
        ({"kind": "tables", "limit": True}, "criteria.0.limit"),
        ({"kind": "tables", "limit": 1.0}, "criteria.0.limit"),
        ({"kind": "tables", "limit": 0.1, "tables": []}, "criteria.0.tables"),
        ({"kind": "tables", "limit": 0.1, "tables": "all"}, "criteria.0.tables"),
        ({"kind": "tables", "limit": 0.1, "tables": [["sex"]]}, "criteria.0.tables.0"),
        ({"kind": "tables", "limit": 0.1, "tables": [["sex", "income"]]}, "criteria.0.tables.0"),
        ({"kind": "tables", "limit": 0.1, "tables": [[1, 2]]}, "criteria.0.tables.0"),
        ({"kind": "tables", "limit": 0.1, "tables": [["sex", "age"], ["age", "sex"]]}, "criteria.0.tables.1"),
        ({"kind": "tables", "limit": 0.1, "importance": "maybe"}, "criteria.0.importance"),
        ({"kind": "tables", "limit": 0.1, "name": "two\nlines"}, "criteria.0.name"),
        ({"kind": "tables", "limit": 0.1, "column": "age"}, "criteria.0.column"),
        (SHARE | {"of": {}}, "criteria.0.of"),
        (SHARE | {"of": None}, "criteria.0.of"),
        (SHARE | {"of": {"income": "high"}}, "criteria.0.of"),
        (SHARE | {"of": {"sex": "neither"}}, "criteria.0.of"),
        (SHARE | {"of": {"town": "Paris"}}, "criteria.0.of"),
        (SHARE | {"against": {"sex": "male"}}, "criteria.0.against"),
        (SHARE | {"of": {"sex": []}}, "criteria.0.of"),
        (SHARE | {"of": {"sex": ["female", "male"]}}, "criteria.0.of"),  # which always holds
        (SHARE | {"of": {"age": "0..39"}, "among": {"age": "0..19"}}, "criteria.0.of"),
        (SHARE | {"of": {"sex": "male"}, "among": {"sex": "female"}}, "criteria.0.of"),  # which never does
        (SHARE | {"among": {"sex": ["female", "male"]}}, "criteria.0.among"),
        (MEAN | {"among": {"sex": "male"}, "against": {"sex": ["male"]}}, "criteria.0.against"),
        ({"kind": "subgroup", "where": {"sex": ["female", "male"]}, "limit": 0.1}, "criteria.0.where"),
        (SHARE | {"tolerance": float("1e400")}, "criteria.0"),
        ({"kind": "subgroup", "where": {}, "limit": 0.1}, "criteria.0.where"),
        ({"kind": "subgroup", "where": {"age": "-5..3"}, "limit": 0.1}, "criteria.0.where"),
        ({"kind": "subgroup", "where": {"sex": "male"}}, "criteria.0.limit"),
        ({"kind": "ranges", "limit": 0.1}, "criteria.0.column"),
        ({"kind": "ranges", "column": "sex", "limit": 0.1}, "criteria.0.column"),
        ({"kind": "ranges", "column": "shoes", "limit": 0.1}, "criteria.0.column"),
        ({"kind": "ranges", "column": "age", "limit": 1}, "criteria.0.limit"),
        (MEAN | {"column": "sex"}, "criteria.0.column"),
        (MEAN | {"column": "born"}, "criteria.0.column"),
        (MEAN | {"column": "town"}, "criteria.0.column"),
        (MEAN | {"column": None}, "criteria.0.column"),
        (MEAN | {"tolerance": -1}, "criteria.0.tolerance"),
        (MODEL | {"column": "income"}, "criteria.0.column"),
        (MODEL | {"column": None}, "criteria.0.column"),
        (MODEL | {"column": "town"}, "criteria.0.column"),
        (MODEL | {"model": "linear regression"}, "criteria.0.model"),
        (MODEL | {"model": ["gradient boosting"]}, "criteria.0.model"),
        (MODEL | {"at_least": 1.0}, "criteria.0.at_least"),
        (MODEL | {"at_least": None}, "criteria.0.at_least"),
        (MODEL | {"above_guess": 0.1}, "criteria.0.above_guess"),
        (MODEL | {"tolerance": 3}, "criteria.0.tolerance"),
        (MODEL | {"tolerance": -3, "column": "age"}, "criteria.0.tolerance"),
        (GAIN | {"above_guess": -1}, "criteria.0.above_guess"),
    ],
)
def test_every_mistake_names_its_field(criterion: dict[str, Any], field: str) -> None:
    caught = refused(Plan.of, spec(criterion))
    assert caught.field.startswith(field)
    assert caught.remedy


def test_what_is_no_list_of_criteria_is_refused() -> None:
    for wrong in ("all", {"kind": "tables"}, [3]):
        refused(lambda one=wrong: Plan.of(Spec.from_json(spec().published() | {"criteria": one})), saying="criteria")


def test_so_many_that_none_could_be_decided_are_refused() -> None:
    refused(Plan.of, spec(*[SHARE] * (MOST + 1)), saying=f"more than {MOST}")


@pytest.mark.parametrize("share", [0.0, 0.5, -0.1])
def test_a_share_that_cannot_be_is_refused_where_there_are_criteria(share: float) -> None:
    Plan.of(spec(criteria=share))
    refused(Plan.of, spec(SHARE, criteria=share), saying=r"budget\.criteria")


def test_answers_can_be_asked_only_for_what_they_say() -> None:
    known = {**DOMAIN, "attributes": DOMAIN["attributes"][:3]}
    wide = SHARE | {"among": {"age": ["0..39"], "born": ["1920-01-01..1969-12-31"]}}
    answers = spec(wide, mechanism="gaussian").model_copy(update={"domain": known})
    refused(Plan.of, answers, saying="none of them has all of its columns")
    assert Plan.of(spec(wide)).criteria


def test_tables_of_all_criteria_together_are_limited_and_each_is_counted_once() -> None:
    triples = list(combinations("abcdefgh", 3))  # each a table of a million cells

    def asked(numbers: Sequence[int]) -> Spec:
        criteria = [{"kind": "share", "of": {name: ["0"] for name in triples[number]}, "tolerance": 0.1} for number in numbers]
        changes = {"domain": dict.fromkeys("abcdefgh", 100), "workload": {"kind": "all", "k": 1}}
        return spec(*criteria).model_copy(update=changes | {"mechanism": MechanismSpec(name="independent")})

    plan = Plan.of(asked([*range(20), *range(20)]))
    assert sum(tables_alone(plan.criteria, plan.workload).values()) == MAX_TOGETHER
    error = refused(Plan.of, asked(range(21)), kind=CapacityError, saying="it and those before it")
    assert error.field == "criteria.20"


SHARES: list[Criterion] = [
    TablesWithin(MUST, "", (), 0.1),
    SubgroupWithin(MUST, "", Condition(), 0.2),
    RangesWithin(MUST, "", "age", 0.02),
    Share(MUST, "", (Condition(),), 0.02),
    ModelRight(MUST, "", "sex", "gradient boosting", None, 0.7),
    ModelGain(MUST, "", "sex", "gradient boosting", None, 0.02),
]


def percents(text: str) -> list[float]:
    return [float(number) for number in re.findall(r"([+-]?\d[\d.,]*)%", text)]


@pytest.mark.parametrize("one", SHARES, ids=lambda one: one.kind)
def test_no_share_is_said_that_cannot_be(one: Criterion) -> None:
    rng, least = random.Random(20261123), -100.0 if one.kind == "model-gain" else 0.0
    for _ in range(500):
        error = rng.uniform(-3, 3)
        interval = Interval(error, error - rng.uniform(0, 3), error + rng.uniform(0, 3))
        said = " ".join((criteria.found(Decided(one, interval)), one.uncertainty(rng.uniform(0, 3)), one.rule(rng.uniform(0, 3))))
        assert all(least <= number <= 100 for number in percents(said)), said


def test_a_group_that_is_smaller_than_its_noise_was_not_measured() -> None:
    small = Decided(SHARES[1], Interval(1.959, 0.0, 1.0))
    assert criteria.found(small) == "Too small a group to measure at this budget."
    assert "100.0%" in criteria.found(Decided(SHARES[1], Interval(1.959, 0.4, 1.0)))
