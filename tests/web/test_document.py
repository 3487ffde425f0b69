"""The draft of a release: what is missing, what is wrong, what is sealed; and a copied plan, without anything of the former table."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import Learner
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import DEFAULT_INSIDE, DEFAULT_MEANS
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.web.shell import document, plan_first
from dpsynth_core.web.shell.plan_first import Whose, copied, of_release
from tests.refusals import refused
from tests.web import drafts
from tests.web.drafts import complete

Draft = dict[str, Any]


def spoilt(change: Callable[[Draft], object]) -> Draft:
    draft = drafts.complete()
    change(draft)
    return draft


def test_a_new_draft_lacks_its_table_and_everything_that_needs_it() -> None:
    assert {step: document.problem(document.new(), step) is None for step in ("data", "domain", "workload", "budget")} == {
        "data": False,
        "domain": False,
        "workload": False,
        "budget": True,
    }


def test_two_new_drafts_share_nothing() -> None:
    document.new()["wizard"]["passed"].append("data")
    document.new()["budget"]["epsilon"] = 9.0
    assert document.passed(document.new()) == []
    assert document.new()["budget"]["epsilon"] == 1.0


def test_a_complete_draft_is_a_spec_that_resolves() -> None:
    spec = document.spec(drafts.complete(), "Trial")
    assert Plan.of(spec).workload.cliques == (("age", "sex"), ("age", "eye"), ("sex", "eye"))
    assert spec.name == "Trial"
    assert "wizard" not in json.loads(spec.model_dump_json())


@pytest.mark.parametrize(
    ("step", "change"),
    [
        ("data", lambda d: d.pop("data")),
        ("data", lambda d: d.update(population="  ")),
        ("data", lambda d: d["wizard"].update(several=True)),
        ("data", lambda d: (d["wizard"].update(several=True), d["unit"].update(person_column="gone"))),
        ("data", lambda d: d["unit"].update(max_rows_per_person=None)),
        ("data", lambda d: d["wizard"].update(cap={"epsilon": None, "delta": 1e-9})),
        ("data", lambda d: d["wizard"].update(typed={"wizard.people": "many"})),
        ("domain", lambda d: d.update(domain=None)),
        ("domain", lambda d: d["wizard"].update(columns=["age", "sex"])),
        ("domain", lambda d: d.update(domain_origin="data")),
        ("domain", lambda d: d.update(domain_origin="data", domain_justification="  ")),
        ("domain", lambda d: d.update(domain_origin="data", domain_justification="x")),
        ("domain", lambda d: d.update(domain_origin="data", domain_justification="aaa bbb ccc ddd")),
        ("workload", lambda d: d.update(workload={"kind": "all", "k": 4})),
        ("workload", lambda d: d.update(workload={"kind": "marginals", "marginals": []})),
        ("workload", lambda d: d.update(workload={"kind": "target", "column": "gone", "k": 2})),
        ("budget", lambda d: d["budget"].update(epsilon=None)),
        ("budget", lambda d: d["budget"].update(delta=1e-3)),
        ("budget", lambda d: d["budget"].update(epsilon=float("nan"))),
        ("budget", lambda d: d["budget"].update(epsilon=20.0)),
        ("budget", lambda d: d["budget"].update(epsilon=20.0, reason="because")),
    ],
)
def test_what_is_wrong_is_found_on_its_step_and_stops_the_run(step: str, change: Callable[[Draft], object]) -> None:
    draft = spoilt(change)
    assert document.problem(draft, step) is not None
    refused(document.spec, draft, "Trial")


GAUSSIAN = ("aim", "aim_public", "independent", "gaussian", "residual_planner", "hdmm", "hdmm_pgm")
GAUSSIAN += ("privsyn", "all_pairs", "privmrf", "gem")
"""Those whose noise is nearly all Gaussian."""
LEARNERS = ("laplace", "gaussian", "prsma", "exponential")
CHOSEN = [(name, {}) for name in registry.MECHANISMS]
CHOSEN += [(name, {"learner": learner}) for name, one in registry.MECHANISMS.items() if isinstance(one, Learner) for learner in LEARNERS]


@pytest.mark.parametrize(("name", "settings"), CHOSEN)
def test_the_budget_that_pages_show_is_the_one_that_is_sealed(name: str, settings: dict[str, Any]) -> None:
    """With half of delta set aside for learners that need some of their own, and no certificate where no table is published."""
    draft = drafts.complete() | {"mechanism": {"name": name, "settings": settings}}
    own = 0.5e-9 if settings.get("learner") in ("gaussian", "prsma") else 0.0
    accountant = GDP if name in GAUSSIAN else ZCDP
    rho = accountant.rho_from(1.0, 1e-9 - own)
    card = registry.MECHANISMS[name].card
    certificate, means = (part * rho if says else 0.0 for part, says in ((0.05, card.publishes_tables), (DEFAULT_MEANS, card.makes_rows)))
    for shares in (document.shares(draft), Plan.of(document.spec(draft, "Trial")).shares):
        assert (shares.rho, shares.delta, shares.accountant) == (rho, own, accountant)
        assert (shares.mechanism, shares.of("certificate")) == pytest.approx((rho - certificate - means, certificate), rel=1e-12)


@pytest.mark.parametrize("name", ["mst", "independent", "gaussian"])
def test_another_mechanism_is_foreseen_with_what_the_plan_would_leave_it(name: str) -> None:
    numbers = {"version": 1, "attributes": [{"name": name, "kind": "integer", "lower": 0, "upper": 99, "bins": 4} for name in "ab"]}
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "inside": 0.1, "means": 0.03}
    draft = drafts.complete() | {"domain": numbers, "budget": budget}
    draft["wizard"]["columns"] = ["a", "b"]
    foreseen = document.shares(draft, registry.get(name))
    assert foreseen == Plan.of(document.spec(draft | {"mechanism": {"name": name, "settings": {}}}, "Trial")).shares
    assert (foreseen.of("inside") > 0) == registry.get(name).card.makes_rows


def test_a_domain_read_from_the_data_is_curator_only_until_justified() -> None:
    assert document.domain_zone(spoilt(lambda d: d.update(domain_origin="data"))) is Zone.CURATOR
    assert document.domain_zone(spoilt(lambda d: d.update(domain_origin="data", domain_justification="it is a public form"))) is Zone.PUBLIC
    assert document.domain_zone(drafts.complete()) is Zone.PUBLIC


def test_a_draft_is_plain_json() -> None:
    assert json.loads(json.dumps(drafts.complete())) == drafts.complete()


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


def test_only_the_same_people_keep_their_account_and_what_was_published_of_them() -> None:
    census = {"published_tables": [{"columns": ["eye"], "cells": [], "source": "a census"}]}
    assert copied(answered() | census, Whose.SAME)["published_tables"] == census["published_tables"]
    assert "published_tables" not in copied(answered() | census, Whose.OTHERS)
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
    new["data"] = {"path": "/data/next.parquet", "kind": "parquet"}
    new["wizard"] |= {"columns": ["age", "eye", "pay"], "declared": [{"name": "eye", "categories": ["blue", "grey"]}]}
    found = plan_first.differences(new)
    assert found is not None
    assert (found.missing, found.extra) == (("sex",), ("pay",))
    assert found.sentences[-1] == "Of “eye” the file declares “grey”, which the plan does not have and no longer “brown”, “green”."


def test_an_empty_project_can_be_copied() -> None:
    assert copied(document.new(), Whose.SAME) == document.new()
