"""Rules across two linked tables: those that the guide prints can be stated, and errors of a rule say which one it is."""

from __future__ import annotations

import itertools
import json
import re
from pathlib import Path

import numpy as np
import pytest

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from tests.refusals import refused

GUIDE = Path(__file__).parents[2] / "docs" / "guide" / "linked-tables.md"


def domain(**columns: list[str]) -> Domain:
    listed = [{"name": name, "kind": "categorical", "categories": values} for name, values in columns.items()]
    return Domain.from_json({"version": 1, "attributes": [one | {"other": False, "missing": False} for one in listed]})


def test_the_rules_of_the_guide_can_be_stated() -> None:
    """One of them says what a column of members must be, which holds of another member too."""
    text = GUIDE.read_text(encoding="utf-8")
    rules = json.loads(re.search(r"^    (\[\{.*?\}\])$", text, flags=re.MULTILINE | re.DOTALL)[1])  # type: ignore[index]
    ages = {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 100, "other": False, "missing": False}
    roles = domain(role=["head", "mother", "child"]).to_json()["attributes"]
    members = Domain.from_json({"version": 1, "attributes": [*roles, ages]})
    link = Link.ruled(domain(tenure=["owner", "student hall"]), members, 3, rules)
    assert {rule.target for rule in link.domain.impossible} >= {"role", "role of another"}
    assert [number.column for number in link.numbers] == ["role", "role"]


@pytest.mark.parametrize(
    "rule", [{"never": {"role": ["king"]}}, {"never": {"role": ["head", "child"], "tenure": ["owner"]}}, {"never": {"role": ["head"]}}]
)
def test_an_error_says_which_rule_of_the_link_it_is(rule: object) -> None:
    numbered = {"members_with": {"role": ["head"]}, "at_most": 1}
    refused(Link.ruled, domain(tenure=["owner"]), domain(role=["head", "child"]), 3, [numbered, rule], saying=r"^members\.rules 2: ")


AGES = Domain.from_json({"version": 1, "attributes": [{"name": "age", "kind": "integer", "lower": 0, "upper": 9, "bins": 10}]})
"""Rows show an age that is not a number from 0 to 9 as empty, as a missing one."""


@pytest.mark.parametrize("values", [["other"], ["other", "0..3"]])
def test_no_number_of_members_is_asked_for_that_rows_cannot_show(values: list[str]) -> None:
    rule = {"members_with": {"age": values}, "exactly": 1}
    refused(Link.ruled, domain(tenure=["owner"]), AGES, 3, [rule], saying=r"^members\.rules 1: .*as empty.*count “missing” with them")


@pytest.mark.parametrize("rule", [{"exactly": 0}, {"at_most": 1}, {"members_with": {"age": ["other", "missing"]}, "exactly": 1}])
def test_a_number_that_rows_can_show_is_held_as_they_show_it(rule: dict[str, object]) -> None:
    """Read from rows, other values are missing ones: a household that keeps the rule keeps it there too."""
    link = Link.ruled(domain(tenure=["owner"]), AGES, 3, [{"members_with": {"age": ["other"]}} | rule])
    (number,), age = link.numbers, AGES["age"]
    codes = np.array(list(itertools.product(range(age.size), repeat=2)))
    sizes = np.full(len(codes), 2)
    shown = np.where(codes == age.other_code, age.missing_code, codes)
    kept = number.broken(sizes, codes) == 0
    assert kept.any()
    assert not number.broken(sizes, shown)[kept].any()
