"""Each leak is found where it is, with a fix, and only there."""

from __future__ import annotations

from typing import Any

import pytest

from dpsynth_core.planning import leaks
from dpsynth_core.planning.leaks import Severity
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from tests.additions import added
from tests.specs import usual

CLEAN: dict[str, Any] = usual(
    {"kind": "demo"}, {"a": 2}, k=1, unit={"relation": "add-remove", "person_column": "id", "max_rows_per_person": 2},
)


def leaks_found(releases: int = 0, elsewhere: tuple[str, ...] = (), **fields: Any) -> dict[str, leaks.Leak]:
    spec = Spec.from_json({**CLEAN, **fields})
    condition = Plan.of(spec).condition if "mechanism" in fields else ""
    return {leak.code: leak for leak in leaks.find(spec, releases, elsewhere, condition=condition)}


def test_a_clean_plan_has_none() -> None:
    assert leaks_found() == {}


@pytest.mark.parametrize(
    ("code", "change"),
    [
        ("domain-from-data", {"domain_origin": "data"}),
        ("exact-rows", {"output": {"rows": 500}}),
        ("seed", {"output": {"seed": 1}}),
        ("public-total", {"unit": {"relation": "replace", "person_column": "id"}}),
        ("weak-epsilon", {"budget": {"epsilon": 20.0, "delta": 1e-9}}),
        ("one-row-assumed", {"unit": {"relation": "add-remove"}}),
        ("earlier-releases", {"releases": 1}),
        ("other-copies", {"data": {"path": "people.csv"}}),
        ("same-file", {"elsewhere": ("others",)}),
        ("assumed-public", {"public": {"path": "census.csv"}}),
        ("assumed-published", {"published_tables": [{"columns": ["a"], "cells": [["0", 1], ["1", 2]], "source": "a census"}]}),
        *(case for module in added("planning.leak_cases") for case in module.LEAKS),
    ],
)
def test_each_leak_is_found_alone_and_has_a_fix_and_a_place(code: str, change: dict[str, Any]) -> None:
    result = leaks_found(**change)
    assert list(result) == [code]
    assert result[code].fix
    assert result[code].why
    assert result[code].step in {"data", "domain", "budget", "mechanism", "ledger"}


def test_a_reason_makes_a_domain_from_data_less_severe_but_not_unsaid() -> None:
    assert leaks_found(domain_origin="data")["domain-from-data"].severity is Severity.HIGH
    assert leaks_found(domain_origin="data", domain_justification="public since 1990")["domain-from-data"].severity is Severity.MEDIUM


def test_a_reason_makes_a_large_epsilon_less_severe_but_not_unsaid() -> None:
    weak = {"epsilon": 20.0, "delta": 1e-9}
    assert leaks_found(budget=weak)["weak-epsilon"].severity is Severity.HIGH
    assert leaks_found(budget=weak | {"reason": "the counts are published already"})["weak-epsilon"].severity is Severity.MEDIUM


def test_a_fixed_number_of_rows_leaks_nothing_where_the_number_is_public() -> None:
    assert "exact-rows" not in leaks_found(unit={"relation": "replace", "person_column": "id"}, output={"rows": 500})


def test_other_copies_are_asked_for_until_there_is_an_answer() -> None:
    assert "other-copies" not in leaks_found(data={"path": "people.csv"}, other_copies="I looked and know of nothing.")
    assert "other-copies" in leaks_found(data={"path": "people.csv"}, other_copies=" ")


def test_the_worst_comes_first() -> None:
    listed = leaks.find(Spec.from_json({**CLEAN, "domain_origin": "data", "unit": {"relation": "replace"}, "output": {"rows": 5}}), 3)
    severities = [leak.severity for leak in listed]
    assert severities == sorted(severities, reverse=True)


def test_no_name_from_the_plan_is_in_a_sentence() -> None:
    hostile = "<b>**x**</b>"
    fields = {
        "domain": {hostile: 2},
        "unit": {"relation": "replace", "person_column": hostile},
        "population": hostile,
        "domain_origin": "data",
    }
    for leak in leaks_found(releases=2, elsewhere=(hostile,), **fields).values():
        assert hostile not in leak.title + leak.why + leak.fix


def test_a_public_table_that_was_private_voids_the_promise() -> None:
    plan = Spec.from_json({**CLEAN, "public": {"path": "census.csv"}})
    (worst,) = leaks.find(plan, 0, public_was_private=("patients",))
    assert (worst.code, worst.severity) == ("public-was-private", Severity.HIGH)


def test_looks_at_private_records_are_a_leak_and_looks_at_invented_ones_are_none() -> None:
    private = {"data": {"path": "people.csv"}, "other_copies": "none known"}
    assert "after-looking" not in leaks_found(looks=["truth"])
    assert "after-looking" not in leaks_found(**private, looks=[])
    assert "after-looking" not in leaks_found(**private)
    leak = leaks_found(**private, looks=["trials", "rows"])["after-looking"]
    assert leak.severity is Severity.MEDIUM
    assert "records of the table were shown; errors of trials on the table" in leak.why


def test_a_table_that_nobody_compared_with_its_domain_is_noted_and_one_that_was_looked_at_is_branded() -> None:
    real = {"data": {"path": "people.csv", "kind": "csv"}, "other_copies": "I know of nothing."}
    assert set(leaks_found(**real, looks=[])) == {"not-compared"}
    assert set(leaks_found(**real, looks=["outside"])) == {"after-looking"}
    compared = leaks_found(**real, looks=["compared"])
    assert {code: leak.severity for code, leak in compared.items()} == {"compared": Severity.NOTE}
    assert "after looking" not in compared["compared"].why
    assert set(leaks_found(**real, looks=["compared", "outside"])) == {"after-looking"}
    assert "not-compared" not in leaks_found(**real)  # nobody kept track of it
    assert leaks_found(looks=[]) == {}
