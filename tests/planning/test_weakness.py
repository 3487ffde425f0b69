"""A large epsilon needs a reason in writing, which goes with the release; other specs and releases are as they were."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core import report
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release.statement import brands
from tests.bundle import pack
from tests.bundle.bundles import made
from tests.refusals import refused
from tests.specs import usual

REASON = "The counts are published already; this adds the rows."
SPEC: dict[str, Any] = usual({"path": "people.csv"}, {"a": 2, "b": 3}, k=1, epsilon=20.0)


def spec(**fields: Any) -> Spec:
    return Spec.from_json({**SPEC, **fields})


def test_an_epsilon_above_ten_needs_a_reason_and_others_need_none() -> None:
    for reason in ({}, {"reason": "  "}, {"reason": "why not"}):
        refused(Plan.of, spec(budget=SPEC["budget"] | reason), saying=r"budget\.reason: .* at least 3 different words")
    Plan.of(spec(budget=SPEC["budget"] | {"reason": REASON}))
    Plan.of(spec(budget=SPEC["budget"] | {"epsilon": 10.0}))


@pytest.mark.parametrize("fields", [{"data": {"kind": "demo"}}, {"output": {"seed": 1}}])
def test_where_nobody_is_protected_no_reason_is_asked_for(fields: dict[str, Any]) -> None:
    Plan.of(spec(**fields))


def test_a_reason_is_published() -> None:
    assert spec().published()["budget"]["reason"] == ""
    assert spec(budget=SPEC["budget"] | {"reason": REASON}).published()["budget"]["reason"] == REASON


def test_the_reason_is_stated_in_release_report_and_data_card() -> None:
    plain = made()
    weak = plain.spec.model_copy(update={"budget": plain.spec.budget.model_copy(update={"epsilon": 20.0, "reason": REASON})})
    plan = Plan.of(weak)
    release = replace(plain, plan=plan, brands=tuple(brands(plan, plain.total, private=True, details=plain.details)))
    held = pack.contents(release)
    assert REASON in " ".join(brand.sentence for brand in release.brands)
    assert json.loads(held["release.json"])["spec"]["budget"]["reason"] == REASON
    for name in (report.REPORT, pack.CARD):
        assert REASON in held[name].decode().replace("&#x27;", "'")
    assert REASON not in " ".join(brand.sentence for brand in plain.brands)
