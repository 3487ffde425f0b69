"""Domains of other programs: read into ours, and written for them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from dpsynth_core import cli
from dpsynth_core.vocabulary import foreign_domains
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

GOOGLE = """
age: {type: NumericalAttribute, min_value: 17.0, max_value: 90.0, dtype: int, clip_to_range: true}
weight: {type: NumericalAttribute, min_value: 0.5, max_value: 200.0, dtype: float, clip_to_range: false}
sex: {type: CategoricalAttribute, possible_values: [f, m], out_of_domain_index: 0, description: Sex at birth}
children: {type: CategoricalAttribute, possible_values: [0, 1, 2]}
town: {type: OpenSetCategoricalAttribute, default_value: <OOD>}
"""
SMARTNOISE = """
"":
  people:
    people:
      row_privacy: false
      max_ids: 2
      pid: {type: int, private_id: true}
      age: {type: int, lower: 0, upper: 100}
      income: {type: float}
      married: {type: boolean, nullable: false}
      educ: {type: string}
"""
SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "guests": {
            "primary_key": "guest",
            "columns": {
                "guest": {"sdtype": "id"},
                "mail": {"sdtype": "email"},
                "stars": {"sdtype": "categorical", "order": ["one", "two"]},
                "room": {"sdtype": "categorical"},
                "fee": {"sdtype": "numerical", "computer_representation": "Int32"},
                "rate": {"sdtype": "numerical"},
                "member": {"sdtype": "boolean"},
                "checkin": {"sdtype": "datetime", "datetime_format": "%d %b %Y"},
                "seen": {"sdtype": "datetime", "datetime_format": "%Y-%m-%d %H:%M"},
            },
        }
    },
    "relationships": [],
}


def columns(text: str) -> dict[str, dict[str, Any]]:
    made, _ = foreign_domains.read(text)
    return {entry["name"]: entry for entry in made["attributes"]}


def test_a_domain_of_google_is_complete() -> None:
    made, left_out = foreign_domains.read(GOOGLE)
    domain = Domain.from_json(made)
    assert left_out == []
    assert [(one.name, one.kind) for one in domain] == [
        ("age", "integer"), ("weight", "numeric"), ("sex", "categorical"), ("children", "categorical"), ("town", "categorical")
    ]  # fmt: skip
    assert (domain["age"].lower, domain["age"].upper, domain["age"].other_code) == (17, 90, None)
    assert domain["weight"].other_code is not None
    assert (domain["sex"].categories, domain["sex"].label) == (("f", "m"), "Sex at birth")
    assert domain["children"].dtype == "int64"
    assert domain["town"].most


def test_of_smartnoise_bounds_are_taken_and_the_rest_stays_open() -> None:
    made, left_out = foreign_domains.read(SMARTNOISE)
    said = columns(SMARTNOISE)
    assert left_out == ["pid"]
    assert (said["age"]["lower"], said["age"]["upper"], "to_do" in said["age"]) == (0, 100, False)
    assert said["married"]["missing"] is False
    assert [name for name, entry in said.items() if "to_do" in entry] == ["income", "educ"]
    refused(Domain.from_json, made, saying="not finished")


def test_of_sdv_kinds_are_taken_identifiers_left_out_and_bounds_stay_open() -> None:
    _, left_out = foreign_domains.read(json.dumps(SDV))
    said = columns(json.dumps(SDV))
    assert left_out == ["guest", "mail"]
    assert {name: entry["kind"] for name, entry in said.items()} == {
        "stars": "ordinal", "room": "categorical", "fee": "integer", "rate": "numeric",
        "member": "categorical", "checkin": "date", "seen": "timestamp",
    }  # fmt: skip
    assert "to_do" not in said["stars"]
    assert "to_do" not in said["member"]
    assert {"room", "fee", "rate", "checkin", "seen"} == {name for name, entry in said.items() if "to_do" in entry}
    assert columns(json.dumps(SDV["tables"]["guests"])) == said  # type: ignore[index]  # the form for one table


def test_what_is_written_is_read_back() -> None:
    domain = Domain.from_json(
        {
            "version": 1,
            "attributes": [
                {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "other": "nearest"},
                {"name": "weight", "kind": "numeric", "lower": 0.5, "upper": 200.0},
                {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False},
                {"name": "town", "kind": "categorical", "discover": True},
            ],
        }
    )
    again = Domain.from_json(foreign_domains.read(yaml.safe_dump(foreign_domains.write(domain, "google"), sort_keys=False))[0])
    assert [(one.name, one.kind, one.lower, one.upper, one.categories, bool(one.most)) for one in again] == [
        (one.name, one.kind, one.lower, one.upper, one.categories, bool(one.most)) for one in domain
    ]
    assert list(columns(yaml.safe_dump(foreign_domains.write(domain, "smartnoise"), sort_keys=False))) == list(domain.names)
    assert {name: entry["kind"] for name, entry in columns(json.dumps(foreign_domains.write(domain, "sdv"))).items()} == {
        one.name: one.kind for one in domain
    }


def test_a_kind_that_another_program_lacks_is_named() -> None:
    at = {"name": "at", "kind": "time", "lower": "00:00", "upper": "23:59", "precision": "minute"}
    domain = Domain.from_json({"version": 1, "attributes": [at]})
    for peer in ("google", "sdv"):
        refused(foreign_domains.write, domain, peer, saying="has no columns of kind time")
    refused(foreign_domains.write, domain, "synthpop", saying="not known")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("a: [1, 2", "neither JSON nor YAML"),
        ("just words", "no program that is known"),
        ('{"METADATA_SPEC_VERSION": "V1", "tables": {"a": {}, "b": {}}}', "2 tables"),
        ('{"METADATA_SPEC_VERSION": "V1", "tables": {"a": {"columns": {"x": {}}}}}', "not a complete one of SDV"),
        ("age: {type: NumericalAttribute, min_value: low, max_value: 3}", "not a complete one of google"),
    ],
)
def test_what_is_no_such_document_is_said(text: str, said: str) -> None:
    refused(foreign_domains.read, text, saying=said)


def test_the_command_domain_reads_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "google.yaml").write_text(GOOGLE)
    assert cli.main(["domain", str(tmp_path / "google.yaml"), "--out", str(tmp_path / "domain.json")]) == 0
    assert "5 columns are declared" in capsys.readouterr().err
    assert Domain.from_json(json.loads((tmp_path / "domain.json").read_text())).names[0] == "age"


LINKED_GOOGLE = """
tables:
  homes:
    region: {type: CategoricalAttribute, possible_values: [n, s]}
  people:
    age: {type: NumericalAttribute, min_value: 0.0, max_value: 99.0, dtype: int}
    home: {type: OpenSetCategoricalAttribute}
foreign_keys:
- {parent_table: homes, parent_primary_key: home, child_table: people, child_foreign_key: home, max_children_per_parent: 5}
"""
LINKED_SDV = {
    "METADATA_SPEC_VERSION": "V1",
    "tables": {
        "people": {"columns": {"home": {"sdtype": "id"}, "age": {"sdtype": "numerical"}, "sex": {"sdtype": "boolean"}}},
        "homes": {"primary_key": "home", "columns": {"home": {"sdtype": "numerical"}, "warm": {"sdtype": "boolean"}}},
    },
    "relationships": [
        {"parent_table_name": "homes", "parent_primary_key": "home", "child_table_name": "people", "child_foreign_key": "home"}
    ],
}


def names(domain: dict[str, Any]) -> list[str]:
    return [entry["name"] for entry in domain["attributes"]]


def test_two_linked_tables_are_read_with_their_key() -> None:
    google, sdv = foreign_domains.read_linked(LINKED_GOOGLE), foreign_domains.read_linked(json.dumps(LINKED_SDV))
    assert google is not None
    assert sdv is not None
    assert (names(google.first), names(google.second), google.key, google.most) == (["region"], ["age"], "home", 5)
    assert (names(sdv.first), names(sdv.second), sdv.key, sdv.most) == (["warm"], ["age", "sex"], "home", None)
    assert Domain.from_json(google.second)["age"].upper == 99


def test_one_table_has_no_link() -> None:
    assert [foreign_domains.read_linked(text) for text in (GOOGLE, json.dumps(SDV), '{"age": 4}')] == [None] * 3


@pytest.mark.parametrize("field", ["child_foreign_key", "parent_table_name"])
def test_a_link_that_is_none_is_refused(field: str) -> None:
    link = LINKED_SDV["relationships"][0] | {field: "pets"}  # type: ignore[index]
    refused(foreign_domains.read_linked, json.dumps(LINKED_SDV | {"relationships": [link]}), saying=r"two tables|called")
    refused(foreign_domains.read_linked, json.dumps(LINKED_SDV | {"relationships": [link, link]}), saying="two tables")
