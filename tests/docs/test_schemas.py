"""The published JSON Schemas take what the program takes, and refuse what it refuses for its form."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from jsonschema import Draft202012Validator

from docs import schemas
from dpsynth_core.planning.spec import Spec
from dpsynth_core.sources.demo import demo_domain
from dpsynth_core.vocabulary.domain import Domain
from tests.domains import domains
from tests.specs import usual
from tests.tiers import examples

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs" / "guide"
CHECKED = {name: Draft202012Validator(make()) for name, make in schemas.SCHEMAS.items()}
SPEC: dict[str, Any] = usual(
    {"path": "people.csv", "kind": "csv"}, demo_domain().to_json(), budget={"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05},
)


def examples_in(page: str) -> list[str]:
    return re.findall(r"```json\n(.*?)```", (GUIDE / page).read_text(encoding="utf-8"), flags=re.DOTALL)


def takes(name: str, document: object) -> bool:
    return bool(CHECKED[name].is_valid(json.loads(json.dumps(document))))


@pytest.mark.parametrize("name", schemas.SCHEMAS)
def test_each_is_a_schema(name: str) -> None:
    Draft202012Validator.check_schema(schemas.SCHEMAS[name]())


@given(domains())
@examples(60)
def test_a_domain_that_the_program_writes_is_taken(domain: Domain) -> None:
    assert takes("domain", domain.to_json())


def test_the_examples_of_the_guide_are_taken() -> None:
    whole, kinds, rules, discovered = examples_in("describe-a-table.md")
    assert takes("domain", json.loads(whole))
    for line in [*kinds.splitlines(), discovered]:
        assert takes("domain", {"version": 1, "attributes": [json.loads(line)]}), line
    for line in rules.splitlines():
        beside = {"name": "beside", "kind": "categorical", "categories": ["a"]}
        assert takes("domain", {"version": 1, "attributes": [beside], "impossible": [json.loads(line)]}), line
    assert takes("domain", {"age": 32, "sex": 2})
    (criteria,) = examples_in("criteria.md")
    assert takes("criteria", json.loads(criteria))


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("domain", {"version": 1, "attributes": []}),
        ("domain", {"version": 1, "attributes": [{"name": "a", "kind": "number"}]}),
        ("domain", {"version": 1, "attributes": [{"name": "a", "kind": "categorical", "lower": 3}]}),
        ("domain", {"version": 1, "attributes": [{"name": "a", "kind": "integer", "lower": "low", "upper": 3}]}),
        ("domain", {"version": 1, "attributes": [{"name": "a", "kind": "categorical", "categories": ["x"], "other": "nearest"}]}),
        ("workload", {"kind": "all"}),
        ("workload", {"kind": "all", "k": 2, "column": "a"}),
        ("workload", {"kind": "marginals", "marginals": [["a"]]}),
        ("criteria", [{"kind": "tables", "limit": 2}]),
        ("criteria", [{"kind": "tables", "limits": 0.1}]),
        ("criteria", [{"kind": "median"}]),
    ],
)
def test_what_is_of_another_form_is_refused(name: str, document: object) -> None:
    assert not takes(name, document)


def test_a_spec_is_taken_and_a_misspelt_one_is_not() -> None:
    whole = Spec.from_json(SPEC)
    assert takes("spec", json.loads(whole.model_dump_json()))
    assert takes("spec", SPEC)
    for wrong in (
        {**SPEC, "workload": {"kind": "every", "k": 2}},
        {**SPEC, "seed": 3},
        {**SPEC, "budget": {**SPEC["budget"], "certficate": 0.05}},
        {**SPEC, "criteria": [{"kind": "tables", "limit": "low"}]},
        {name: part for name, part in SPEC.items() if name != "population"},
    ):
        assert not takes("spec", wrong)


GOLDEN = sorted((ROOT / "tests").glob("**/golden/*/**/release.json"))


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.parent.name)
def test_every_golden_release_is_taken_and_a_damaged_one_is_not(path: Path) -> None:
    document: Mapping[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    assert next(CHECKED["release"].iter_errors(document), None) is None
    for part in ("spec", "charges", "measurements", "budget"):
        assert not takes("release", {name: value for name, value in document.items() if name != part})
    assert not takes("release", {**document, "spec_sha256": "none"})
