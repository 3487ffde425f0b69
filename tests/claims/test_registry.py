"""Every claim of the registry keeps the promises of `claim.Claim`; a new one is tried here without a change."""

from __future__ import annotations

import json
from typing import Any

import pytest

from dpsynth_core.bundle.verdicts import ABSENT
from dpsynth_core.claims.claim import Claim
from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan, budgeted, divided, set_aside
from dpsynth_core.planning.spec import BudgetSpec, Spec
from dpsynth_core.privacy.accountant import ZCDP
from dpsynth_core.release import document as releases
from tests.bundle.bundles import run, spec
from tests.refusals import refused
from tests.releases import found

AIM = registry.get("aim")
ALL = pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)


def budget(**shares: float) -> BudgetSpec:
    return BudgetSpec.model_validate({"epsilon": 1.0, "delta": 1e-9, **shares})


def test_names_parts_and_questions_are_their_own() -> None:
    for texts in ([claim.name for claim in CLAIMS], [claim.part for claim in CLAIMS], [claim.question for claim in CLAIMS]):
        assert len(set(texts)) == len(CLAIMS)


def test_new_claims_stand_behind_the_three_whose_checks_rest_on_their_order() -> None:
    assert [claim.name for claim in CLAIMS[:3]] == ["certificate", "models", "criteria"]


@ALL
def test_its_share_is_a_field_of_the_budget_and_is_taken_from_the_mechanism(claim: Claim[Any]) -> None:
    assert budget().share(claim.name) == claim.share.default
    assert budget(**{claim.name: claim.share.most}).share(claim.name) == claim.share.most
    shares = divided(ZCDP, budget(), {claim.name: claim.share.most})
    assert shares.of(claim.name) == pytest.approx(claim.share.most * shares.rho)
    assert shares.mechanism + shares.of(claim.name) == pytest.approx(shares.rho)


@ALL
def test_a_share_out_of_range_is_refused_by_its_name(claim: Claim[Any]) -> None:
    for share in (claim.share.most + 0.01, claim.share.least / 2, -0.1):
        caught = refused(claim.share.checked, claim.name, share, saying="out of range")
        assert caught.field == f"budget.{claim.name}"


def test_an_unknown_share_is_refused() -> None:
    with pytest.raises(InputError, match="unknown") as caught:
        Spec.from_json(json.loads(spec().model_dump_json()) | {"budget": {"epsilon": 1.0, "delta": 1e-9, "nothing": 0.1}})
    assert caught.value.field == "budget.nothing"


def test_a_spec_that_wants_none_leaves_all_to_the_mechanism() -> None:
    assert set(set_aside(AIM, budget(), {}).values()) <= {0.0}
    assert budgeted(AIM, budget()).aside == ()


@ALL
def test_nothing_is_stated_where_nothing_was_asked(claim: Claim[Any]) -> None:
    plan = Plan.of(spec(budget={"epsilon": 1.0, "delta": 1e-9}))
    made = run(plan.spec)
    stated = made.claims[claim.name]
    assert not claim.asked(plan)
    assert stated == claim.absent(plan)
    assert not claim.lacks(plan, stated)
    assert not claim.sentences(plan, stated, made.final)
    written = json.loads(releases.document(made))
    assert (claim.part in written) == (not claim.setting)
    assert releases.from_json(written).claims[claim.name] == stated
    assert found(made).get(claim.question) == (None if claim.setting else ABSENT)  # of an extension's claim nothing is said then
