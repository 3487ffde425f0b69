"""The spec refuses every mistake with the field's name, and its digest stands for all of its content and for nothing else."""

from __future__ import annotations

import copy
import json
import math
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation import extension
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.planning.plan import Plan, divided
from dpsynth_core.planning.spec import BudgetSpec, Spec, load_spec
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.vocabulary import workload as workloads
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import listed
from tests.refusals import refused

GOOD: dict[str, Any] = {
    "version": 1,
    "name": "census",
    "population": "people",
    "data": {"path": "/somewhere/people.csv", "kind": "csv", "delimiter": ",", "encoding": "utf-8", "missing_markers": ["", "?"]},
    "unit": {"relation": "add-remove", "person_column": None, "max_rows_per_person": 1},
    "domain": {"a": 2, "b": 3, "c": 4},
    "domain_origin": "typed",
    "domain_justification": "",
    "workload": {"kind": "all", "k": 2},
    "budget": {"epsilon": 1.0, "delta": 1e-9},
    "mechanism": {"name": "aim", "settings": {"max_size_mb": 10.0}},
    "output": {"rows": None, "seed": None},
}

OF_SETTINGS = {claim.name: claim.setting for claim in CLAIMS if claim.setting}
"""Shares of claims that a setting of an extension asks for, with the setting's name."""
ADDED = {name: one.least if isinstance(one, extension.Setting) else ["a text"] for name, one in extension.settings().items()}
"""Settings of the extensions that are there."""
CHANGES: list[tuple[str, Any]] = [
    *([("extensions", ADDED)] if ADDED else []),
    ("name", "other"),
    ("population", "others"),
    ("data.path", "/somewhere/persons.csv"),
    ("data.kind", "parquet"),
    ("data.standin", {"rows": 5}),
    ("members", {"path": "children.csv", "domain": {"b": 2}}),
    ("weight", {"column": "a"}),
    ("public", {"path": "census.csv"}),
    ("published_tables", [{"columns": ["a"], "cells": [["0", 1], ["1", 2], ["2", 3]], "source": "a census"}]),
    ("unit.relation", "replace"),
    ("unit.person_column", "a"),
    ("unit.max_rows_per_person", 2),
    ("domain.a", 5),
    ("domain_origin", "codebook"),
    ("domain_justification", "because it is so"),
    ("other_copies", "totals in the annual report"),
    ("looks", ["rows"]),
    ("about", {"licence": "CC-BY-4.0"}),
    ("workload.k", 1),
    ("models", [{"column": "a"}]),
    ("budget.epsilon", 2.0),
    ("budget.delta", 1e-8),
    ("budget.certificate", 0.05),
    ("budget.discovery", 0.2),
    ("budget.inside", 0.1),
    ("budget.means", 0.05),
    ("budget.criteria", 0.2),
    ("budget.models", 0.2),
    ("budget.ranges", 0.2),
    ("budget.weighted", 0.2),
    ("criteria", [{"kind": "tables", "limit": 0.1}]),
    ("budget.reason", "because it is so"),
    ("mechanism.name", "independent"),
    ("mechanism.settings", {}),
    ("output.rows", 10),
    ("output.tables", 3),
    ("output.seed", 1),
]

READING: list[tuple[str, Any]] = [
    ("data.delimiter", ";"),
    ("data.encoding", "latin-1"),
    ("data.quoting", "none"),
    ("data.missing_markers", [""]),
    ("data.decimal", ","),
    ("data.thousands", " "),
    ("data.date_format", "dd.mm.yyyy"),
    ("data.time_format", "hhmm"),
    ("data.negative", "(5)"),
    ("data.units", ["%"]),
    ("data.same_text", "case"),
    ("data.names", ["a", "b"]),
    ("data.sheet", "2023"),
    ("data.skip", 2),
    ("data.table", "people"),
    ("data.query", "SELECT 1"),
    ("data.timeout", 60),
    *(("data.engine", name) for name in extension.engines()),
    ("data.scheduler", "tls://host:8786"),
    ("data.workers", 4),
]
"""What looking at the private file may have suggested, and who counts it."""


def changed(path: str, value: Any) -> dict[str, Any]:
    """GOOD with one field set, or removed for the value KeyError."""
    obj = copy.deepcopy(GOOD)
    *parents, last = path.split(".")
    target = obj
    for key in parents:
        target = target[key]
    if value is KeyError:
        del target[last]
    else:
        target[last] = value
    return obj


def check_all(obj: object) -> None:
    Plan.of(Spec.from_json(obj))


def test_a_good_spec_resolves_to_what_it_says() -> None:
    plan = Plan.of(Spec.from_json(GOOD))
    assert plan.domain.names == ("a", "b", "c")
    assert plan.workload.cliques == (("a", "b"), ("a", "c"), ("b", "c"))
    assert (plan.unit.relation, plan.unit.max_rows_per_person) == ("add-remove", 1)
    assert plan.shares.rho == GDP.rho_from(1.0, 1e-9)


@pytest.mark.parametrize(
    ("path", "value", "field"),
    [
        ("version", 2, "version"),
        ("name", "", "name"),
        ("name", " ", "name"),
        ("name", "a\x1b[2J", "name"),
        ("population", KeyError, "population"),
        ("population", "", "population"),
        ("data", KeyError, "data"),
        ("data", "people.csv", "data"),
        ("data.path", "", "data.path"),
        ("data.kind", "xlsx", "data.kind"),
        ("data.sheet", 1, "data.sheet"),
        ("data.standin", {"rows": 5}, "data.standin"),
        ("data.standin", {"rows": 0}, "data.standin.rows"),
        ("data.kind", "standin", "data.standin"),
        ("unit.relation", "swap", "unit.relation"),
        ("unit.max_rows_per_person", 0, "unit.max_rows_per_person"),
        ("unit.max_rows_per_person", 2, "unit.max_rows_per_person"),
        ("unit.max_rows_per_person", "1", "unit.max_rows_per_person"),
        ("domain", [], "domain"),
        ("domain", {}, "domain"),
        ("domain.a", 0, "column 'a'"),
        ("domain_origin", "data", "domain_justification"),
        ("domain_origin", "guessed", "domain_origin"),
        ("workload", {"kind": "some"}, "workload.kind"),
        ("workload.k", 4, "workload.k"),
        ("budget.epsilon", 0, "budget.epsilon"),
        ("budget.epsilon", "one", "budget.epsilon"),
        ("budget.epsilon", float("nan"), "budget.epsilon"),
        ("budget.epsilon", float("inf"), "budget.epsilon"),
        ("budget.epsilon", True, "budget.epsilon"),
        ("budget.epsilon", None, "budget.epsilon"),
        ("budget.delta", 1e-3, "budget.delta"),
        ("budget.delta", 0, "budget.delta"),
        ("budget.delta", KeyError, "budget.delta"),
        ("budget.certificate", -0.05, "budget.certificate"),
        ("budget.certificate", 0.0001, "budget.certificate"),
        ("budget.certificate", 0.6, "budget.certificate"),
        ("budget.certificate", float("nan"), "budget.certificate"),
        ("budget.certificate", "0.05", "budget.certificate"),
        ("mechanism.name", "magic", "mechanism"),
        ("mechanism.settings", {"magic": 1}, "mechanism.magic"),
        ("mechanism.settings", {"max_size_mb": -1.0}, "mechanism.max_size_mb"),
        ("output.rows", 0, "output.rows"),
        ("output.rows", 1.5, "output.rows"),
        ("output.rows", 10**12, "output.rows"),
        ("output.tables", 0, "output.tables"),
        ("output.seed", -1, "output.seed"),
        ("about", {"period": "2024-13"}, "about.period"),
        ("about", {"period": "last year"}, "about.period"),
        ("about", {"licence": "a\nb"}, "about.licence"),
        ("about", {"creators": [""]}, "about.creators.0"),
        ("about", {"author": "somebody"}, "about.author"),
        ("extra", 1, "extra"),
    ],
)
def test_every_mistake_names_its_field(path: str, value: Any, field: str) -> None:
    caught = refused(check_all, changed(path, value))
    assert caught.field == field
    assert "\n" not in str(caught)
    assert caught.remedy


def test_without_a_word_on_it_there_is_no_certificate() -> None:
    assert Spec.from_json(GOOD).budget.certificate == 0


def test_the_parts_of_a_divided_budget_are_the_whole() -> None:
    shares = divided(GDP, BudgetSpec(epsilon=1.0, delta=1e-9), {"certificate": 0.05})
    assert shares.of("certificate") == pytest.approx(0.05 * shares.rho)
    assert shares.mechanism + shares.of("certificate") == pytest.approx(shares.rho, rel=1e-15)
    whole = divided(GDP, BudgetSpec(epsilon=1.0, delta=1e-9), {})
    assert (whole.mechanism, whole.of("certificate")) == (whole.rho, 0.0)


ALL_FOUR = {
    "domain": {
        "version": 1,
        "attributes": [
            *({"name": name, "kind": "coded", "size": 3} for name in "ab"),
            {"name": "c", "kind": "categorical", "discover": True},
        ],
    },
    "mechanism": {"name": "independent", "settings": {}},
    "criteria": [{"kind": "tables", "limit": 0.1}],
    "models": [{"column": "a"}],
}


@pytest.mark.parametrize(
    ("shares", "field"),
    [
        ((0.5, 0.4, 0.4, 0.4), "budget.certificate"),
        ((0.0, 0.4, 0.35, 0.35), "budget.discovery"),
        ((0.2, 0.1, 0.4, 0.3), "budget.criteria"),
        ((0.2, 0.2, 0.2, 0.3001), "budget.models"),
        ((0.2, 0.2, 0.2, 0.3), None),
    ],
)
def test_shares_leave_the_mechanism_a_tenth_or_name_the_largest(shares: tuple[float, ...], field: str | None) -> None:
    stated = dict(zip(("certificate", "discovery", "criteria", "models"), shares, strict=True))
    document = GOOD | ALL_FOUR | {"budget": GOOD["budget"] | stated}
    if field is None:
        plan = Plan.of(Spec.from_json(document))
        assert plan.shares.mechanism == pytest.approx(0.1 * plan.shares.rho)
        return
    error = refused(Plan.of, Spec.from_json(document), saying="of the budget together")
    assert error.field == field


def test_the_yardstick_of_a_plan_whose_mechanism_keeps_a_tenth_is_a_number() -> None:
    budget = GOOD["budget"] | {"certificate": 0.5, "criteria": 0.2, "models": 0.2}
    document = GOOD | {"budget": budget, "criteria": ALL_FOUR["criteria"], "models": [{"column": "a"}]}
    assert 0 < (Plan.of(Spec.from_json(document)).columns_sigma or 0) < math.inf


def test_the_whole_document_is_published_and_can_be_read_again() -> None:
    """A second table is a part where there is one, so that the digests of plans of one table are what they were; so is what is said of
    licence and creators, and a weight, and published tables."""
    members = {"members": {"path": "/somewhere/children.csv", "domain": {"b": 2}}}
    assert Spec.from_json(GOOD).digest() == "90520580be9304ce61d0c22441309bc365b962b3ca15a2279c3899fd831dbe51"  # before there was either
    table = {"published_tables": [{"columns": ["a"], "cells": [["0", 1], ["1", 2.5], ["2", 3]], "source": "a census"}]}
    others = (members, {"about": {"place": "Norway"}}, {"weight": {"column": "a"}}, table, *([{"extensions": ADDED}] if ADDED else []))
    optional = {"about", "members", "weight", "published_tables", "extensions"}
    for document in (GOOD, GOOD | ALL_FOUR, *(GOOD | other for other in others)):
        spec = Spec.from_json(document)
        published = spec.published()
        assert published.keys() | optional == json.loads(spec.model_dump_json()).keys()
        assert all((part in published) == (part in document) for part in optional)
        whole = json.loads(spec.budget.model_dump_json())
        hidden = {name for name, setting in OF_SETTINGS.items() if setting not in document.get("extensions", {})}
        assert published["budget"] | {"weighted": 0.0} == {name: value for name, value in whole.items() if name not in hidden}
        assert Spec.from_json(published).published() == published


def test_one_plan_reads_its_domain_and_its_workload_once(monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[str] = []
    for place, name in ((Domain, "from_json"), (workloads, "from_json")):
        real = getattr(place, name)
        monkeypatch.setattr(place, name, lambda *given, real=real, place=place: read.append(place.__name__) or real(*given))
    plan = Plan.of(Spec.from_json(GOOD))
    assert plan.forecast.fits
    assert sorted(read) == ["Domain", workloads.__name__]


@pytest.mark.parametrize("obj", [None, [], "text", 3, {1, 2}])
def test_what_is_no_document_is_refused(obj: object) -> None:
    refused(Spec.from_json, obj)


def test_a_workload_of_too_many_cells_is_refused_with_its_columns() -> None:
    refused(Plan.of, Spec.from_json(changed("domain", {"a": 40_000, "b": 40_000, "c": 4})), kind=CapacityError, saying="a x b")


@pytest.mark.parametrize(("path", "value"), CHANGES)
def test_every_field_changes_the_digest(path: str, value: Any) -> None:
    assert Spec.from_json(changed(path, value)).digest() != Spec.from_json(GOOD).digest()


def test_every_field_of_the_document_is_in_the_list_of_changes() -> None:
    """So that the test above cannot miss a field that is added later."""
    whole = json.loads(Spec.from_json(GOOD).model_dump_json())
    inside = {f"{key}.{sub}" for key in ("data", "unit", "budget", "mechanism", "output") for sub in whole[key]}
    flat = {key for key in whole if key not in ("data", "unit", "budget", "mechanism", "output", "domain", "workload", "version")}
    absent = {"extensions"} if not ADDED else set()
    absent |= {"data.engine"} if not extension.engines() else set()
    absent |= {f"budget.{name}" for name in OF_SETTINGS}  # their extensions test them
    assert inside | flat <= {path for path, _ in CHANGES + READING} | absent


@pytest.mark.parametrize(("path", "value"), READING)
def test_how_the_private_file_is_written_is_in_no_document_and_no_digest(path: str, value: Any) -> None:
    """One person's bytes may decide it, and a digest of so few possibilities can be tested."""
    spec, other = Spec.from_json(GOOD), Spec.from_json(changed(path, value))
    assert other != spec
    assert other.published() == spec.published()
    assert other.digest() == spec.digest()
    assert spec.published()["data"] == {"path": "people.csv", "kind": "csv"}


def test_the_assumption_of_line_breaks_in_cells_is_published() -> None:
    assert Spec.from_json(changed("data.quoting", "standard")).published()["data"]["quoting"] == "standard"


def test_the_number_of_rows_is_public_only_where_nothing_in_a_row_can_change_it() -> None:
    """With a column of persons, a row that names nobody does not count; in a workbook, one that is blank does not."""
    replaced = changed("unit", {"relation": "replace"})
    assert Spec.from_json(replaced).privacy_unit().total_is_public
    for kind in listed("SKIPPING"):
        replaced["data"]["kind"] = kind
        assert not Spec.from_json(replaced).privacy_unit().total_is_public
    replaced["data"]["kind"] = "csv"
    replaced["unit"]["person_column"] = "id"
    assert not Spec.from_json(replaced).privacy_unit().total_is_public


def test_the_digest_can_be_recomputed_from_the_published_document() -> None:
    spec = Spec.from_json(GOOD)
    canonical = json.dumps(spec.published(), sort_keys=True, separators=(",", ":"))
    assert spec.digest() == sha256(canonical.encode()).hexdigest()
    assert Spec.from_json(spec.published()).digest() == spec.digest()


def test_the_published_document_has_no_folder_of_this_machine() -> None:
    spec = Spec.from_json(GOOD)
    assert spec.published()["data"]["path"] == "people.csv"
    assert "somewhere" not in json.dumps(spec.published())
    assert spec.digest() == Spec.from_json(changed("data.path", "/elsewhere/people.csv")).digest()


def test_a_spec_survives_its_own_json() -> None:
    spec = Spec.from_json(GOOD)
    assert Spec.from_json(json.loads(spec.model_dump_json())) == spec


def test_a_relative_data_path_starts_from_the_specs_folder(tmp_path: Path) -> None:
    (tmp_path / "spec.json").write_text(json.dumps(changed("data.path", "sub/people.csv")))
    assert load_spec(tmp_path / "spec.json").data.path == str(tmp_path / "sub" / "people.csv")
    (tmp_path / "spec.json").write_text(json.dumps(GOOD))
    assert load_spec(tmp_path / "spec.json").data.path == "/somewhere/people.csv"


@pytest.mark.parametrize("content", [None, b"", b"{", b"\xff\xfe\x00", b"[" * 100_000])
def test_a_file_that_is_no_spec_is_an_input_error(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "spec.json").write_bytes(content)
    refused(load_spec, tmp_path / "spec.json")


@pytest.mark.parametrize(
    ("field", "value"),
    [("path", "b.csv"), ("kind", "parquet"), ("delimiter", ";"), ("encoding", "latin-1"), ("quoting", "none"), ("sha256", "0" * 64)],
)
def test_every_field_of_the_public_table_changes_the_digest(field: str, value: str) -> None:
    given = {"path": "census.csv"}
    assert Spec.from_json(changed("public", given | {field: value})).digest() != Spec.from_json(changed("public", given)).digest()


@pytest.mark.parametrize("public", [{}, {"path": ""}, {"path": "a.csv", "kind": "demo"}, {"path": "a.csv", "sha256": "12"}, "a.csv"])
def test_a_public_table_that_cannot_be_meant_is_refused(public: object) -> None:
    refused(Spec.from_json, changed("public", public), saying="public")


def test_the_public_table_leaves_this_machine_without_its_folder() -> None:
    assert Spec.from_json(changed("public", {"path": "/secret/place/census.csv"})).published()["public"]["path"] == "census.csv"
    assert Spec.from_json(GOOD).published()["public"] is None
