"""A copied plan is the same plan without anything of the former table."""

from __future__ import annotations

import json

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.spec import DEFAULT_INSIDE, DEFAULT_MEANS
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.web.shell import document, plan_first
from dpsynth_core.web.shell.plan_first import Whose, copied, of_release
from tests.web.drafts import complete

CRITERION = {"kind": "tables", "size": 2, "limit": 0.1}


def answered() -> document.Draft:
    """A draft in which everything is said that can be said of a table and its people."""
    draft = complete()
    draft |= {
        "public": {"path": "/data/public.csv", "kind": "csv"},
        "other_copies": "The annual report.",
        "domain_origin": DATA,
        "domain_justification": "These values are in the questionnaire.",
        "output": {"rows": 300, "seed": 7},
        "criteria": [CRITERION],
        "models": [{"column": "eye"}],
    }
    draft["budget"] |= {"epsilon": 12.0, "certificate": 0.1, "reason": "These people are invented."}
    draft["wizard"] |= {"people": 300, "rows": [{"name": "age", "kind": "integer"}], "comparison": "made", "typed": {"budget.epsilon": "x"}}
    return draft


@pytest.mark.parametrize("whose", Whose)
def test_the_plan_is_copied_and_the_table_is_not(whose: Whose) -> None:
    before = answered()
    new = copied(before, whose)
    for part in ("unit", "domain", "workload", "criteria", "models", "mechanism"):
        assert new[part] == before[part]
    assert new["budget"] == {"epsilon": 12.0, "delta": 1e-9, "certificate": 0.1, "inside": DEFAULT_INSIDE, "means": DEFAULT_MEANS}
    assert new["output"] == {"rows": None, "seed": None}
    for gone in ("data", "public", "other_copies", "domain_justification"):
        assert not new.get(gone)
    assert "/data/" not in json.dumps(new)
    assert document.passed(new) == []
    assert plan_first.planned(new) == document.columns(before)
    assert not {"comparison", "favourite"} & set(new["wizard"])


def test_what_was_read_from_the_records_has_to_be_justified_anew() -> None:
    assert document.problem(copied(answered(), Whose.OTHERS), "domain") is not None


def test_only_the_same_people_keep_their_account() -> None:
    assert copied(answered(), Whose.SAME)["population"] == "People"
    others = copied(answered(), Whose.OTHERS)
    assert "population" not in others
    assert document.people(others) is None
    assert isinstance(document.problem(others, "data"), InputError)


def test_a_copy_shares_nothing_with_its_original() -> None:
    before = answered()
    copied(before, Whose.SAME)["domain"]["attributes"].clear()
    assert before == answered()


def test_the_plan_of_a_release_comes_back_without_its_table() -> None:
    before = answered() | {"criteria": [], "budget": {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.1}}
    spec = document.spec(before, "People 2025")
    new = of_release(spec)
    assert {"public", "other_copies", "domain_justification", "data"}.isdisjoint(new)
    again = new | {"data": before["data"], "domain_justification": before["domain_justification"], "other_copies": ""}
    again["wizard"] |= {"source": "path", "label": "people.csv", "declared": [], "comparison": "declined"}
    after = document.spec(again, "People 2025").published()
    for part in ("unit", "population", "domain", "workload", "criteria", "models", "mechanism", "budget"):
        assert after[part] == spec.published()[part], part


def test_a_table_that_comes_after_the_plan_is_compared_with_it_in_columns_and_declared_values() -> None:
    new = of_release(document.spec(answered() | {"criteria": []}, "People 2025"))
    assert plan_first.differences(new) is None
    new["data"] = {"path": "/data/next.sav", "kind": "spss"}
    new["wizard"] |= {"columns": ["age", "eye", "pay"], "declared": [{"name": "eye", "categories": ["blue", "grey"]}]}
    found = plan_first.differences(new)
    assert found is not None
    assert (found.missing, found.extra) == (("sex",), ("pay",))
    assert found.sentences[-1] == "Of “eye” the file declares “grey”, which the plan does not have and no longer “brown”, “green”."


def test_an_empty_project_can_be_copied() -> None:
    assert copied(document.new(), Whose.SAME) == document.new()
