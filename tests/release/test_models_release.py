"""Releases that say how often models are right: what is measured, paid, published, checked and made again."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pytest

from dpsynth_core import report
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.reproduce import reproduce
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT
from dpsynth_core.claims.models import training
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.recovery import carried_out
from dpsynth_core.release.release import Release
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import run, spec, verified
from tests.refusals import refused
from tests.releases import ended

INVENTED = {"data": {"kind": "standin", "standin": {"rows": 2000}}, "mechanism": {"name": "independent"}}
FOUR = INVENTED | {"models": [{"column": "marital_status"}, {"column": "age", "tolerance": 25.0}]}
BARE = INVENTED | {"models": [{"column": "sex"}], "budget": {"epsilon": 2.0, "delta": 1e-9}}
OTHERS = [BARE | {"mechanism": {"name": name}} for name in ("mst", *listed("WITHOUT_TABLES"))]
"""Without a certificate; some measure no table either, and so not the number of people."""
UNITS = [{}, {"unit": {"relation": "replace"}}]
pytestmark = pytest.mark.usefixtures("few_rounds")


@cache
def released(text: str = json.dumps(FOUR)) -> Release:
    return run(spec(**json.loads(text)))


@pytest.mark.parametrize("unit", UNITS, ids=json.dumps)
def test_what_is_said_is_true_of_the_people(unit: dict[str, Any]) -> None:
    """Invented people are known: every stated share is within 5.5 standard deviations of the exact one.
    Of the 16 shares of both units, one is further off in 6 runs of ten million: the noise is the system's own."""
    made = released(json.dumps(FOUR | unit))
    source: Any = synthesis.open_source(made.plan)
    people = int(source.counts([()])[()])
    for target in made.plan.targets:
        models = (*training.trained(made.domain, made.codes, target), training.majority(made.domain, made.codes, target))
        *exact, majority = (source.right([one.predictor for one in models]) / people).tolist()
        told = [one for one in made.usefulness if one.column == target.column]
        assert [one.model_sha256 for one in told] == [one.predictor.sha256 for one in models[:-1]]
        for one, true in zip(told, exact, strict=True):
            assert abs(one.accuracy - true) <= 5.5 / 1.96 * (one.high95 - one.low95) / 2
            assert abs(one.majority - majority) <= 5.5 / 1.96 * (one.majority_high95 - one.majority_low95) / 2
    assert (made.usefulness[0].total.sigma == 0) == bool(unit)


def test_what_runs_is_the_split_that_is_shown() -> None:
    made = released()
    shown = precision.budget_split(made.plan.mechanism, made.plan.workload, made.plan.shares).value.set_index("stage")["rho"]
    paid = made.charges[-1].rho
    assert shown["models"] == pytest.approx(MODELS.share.default * made.rho)
    assert paid == pytest.approx(shown["models"], rel=1e-6)
    assert made.rho_spent - paid <= shown.drop("models").sum()
    margin = precision.models_margin(made.plan.shares.of("models"), made.plan.unit, 2)
    assert margin == pytest.approx(1.959964 * made.usefulness[0].sigma, rel=1e-6)


def test_without_models_nothing_is_kept_for_them() -> None:
    plan = Plan.of(spec(budget={"epsilon": 2.0, "delta": 1e-9, "models": 0.3}))
    assert plan.shares.of("models") == 0
    with_models = [spec(**FOUR, budget={"epsilon": 2.0, "delta": 1e-9, "models": share}).digest() for share in (0.1, 0.3)]
    assert len(set(with_models)) == 2


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"mechanism": {"name": "gaussian"}, "output": {}}, "models", "no rows"),
        ({"budget": {"epsilon": 1.0, "delta": 1e-9, "models": 0.9}}, "budget.models", "out of range"),
        ({"models": [{"column": "income"}]}, "models.0.column", "no column"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_charged(fields: dict[str, Any], field: str, words: str) -> None:
    error = refused(Plan.of, spec(**FOUR | fields), saying=words)
    assert error.field == field


@pytest.mark.parametrize("fields", [FOUR, *OTHERS], ids=lambda fields: fields["mechanism"]["name"])
def test_the_bundle_is_sound_and_comes_out_again(fields: dict[str, Any]) -> None:
    made = released(json.dumps(fields))
    bundle = pack.pack(made)
    assert verified(bundle).verdict == CONSISTENT
    again = reproduce(unpack.read_bytes(bundle))
    assert not again.different
    assert "scikit-learn" in again.made.versions
    assert releases.from_json(releases.to_json(made)).usefulness == made.usefulness


def test_it_reads_in_report_card_and_facts() -> None:
    made = released()
    parts = {name: part.value.decode() for name, part in report.parts(made).items() if name in (report.REPORT, report.CARD)}
    for one in made.usefulness:
        assert all(f"{one.low95:.1%}" in text.replace("\\", "") for text in parts.values())
    assert len(list(report.claim_facts(made))) == 2


@pytest.mark.parametrize(("tolerance", "share"), [(9.5, "0.0%"), (9.6, "100.0%")])
def test_it_says_of_how_many_rows_a_guess_at_a_number_can_be_right(tolerance: float, share: str) -> None:
    """Ages are whole, in bins of 20: of 0 to 19 only 9.5 is within 9.5."""
    made = released()
    marital, age = made.plan.spec.models
    changed = made.plan.spec.model_copy(update={"models": (marital, age.model_copy(update={"tolerance": tolerance}))})
    (_, first), (_, second) = report.claim_facts(replace(made, plan=replace(made.plan, spec=changed)))
    assert "room" not in first
    assert f"Of the synthetic rows, {share} are in bins that leave a guess room to be right." in second


CHANGES: dict[str, Any] = {
    "accuracy": lambda one: one.update(accuracy=0.99),
    "low95": lambda one: one.update(low95=one["high95"]),
    "majority": lambda one: one.update(majority=0.1, majority_low95=0.0, majority_high95=0.2),
    "guess": lambda one: one.update(majority_guess="single or not"),
    "column": lambda one: one.update(column="sex"),
    "model": lambda one: one.update(model="oracle"),
    "tolerance": lambda one: one.update(tolerance=1.0),
    "sigma": lambda one: one.update(sigma=1.0),
    "total": lambda one: one["total"].update(value=1e6),
    "digest": lambda one: one.update(model_sha256="0" * 64),
}


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_it_can_be_changed_unseen(change: Any) -> None:
    bundle = unpack.read_bytes(pack.pack(released()))
    document = json.loads(json.dumps(bundle.document))
    change(document["usefulness"][0])
    held = pack.contents(released()) | {"release.json": json.dumps(document).encode()}
    judged = verified(pack.sealed(held))
    assert judged.verdict == INCONSISTENT
    by_question = {check.question: check.verdict for check in judged.checks}
    if document["usefulness"][0]["model_sha256"] != "0" * 64:  # of models, only training tells
        assert by_question["Does it follow how often models are right?"] == FAILED


def test_a_model_that_is_not_stated_is_found() -> None:
    document = json.loads(json.dumps(unpack.read_bytes(pack.pack(released())).document))
    del document["usefulness"][0]
    judged = verified(pack.sealed(pack.contents(released()) | {"release.json": json.dumps(document).encode()}))
    assert judged.verdict == INCONSISTENT


def test_a_run_that_ended_before_says_so() -> None:
    whole = released()
    held = [answer for answer in whole.transcript if answer.operation != "measure_right"]
    made = carried_out(whole.plan, ended(whole, held), lambda _: None)
    assert made.branded(MODELS.brand)
    assert not made.usefulness
    assert verified(pack.pack(made)).verdict == CONSISTENT
    silent = replace(made, brands=tuple(brand for brand in made.brands if brand.code != MODELS.brand))
    assert verified(pack.pack(silent)).verdict == INCONSISTENT


def test_rows_of_one_class_alone_say_what_the_majority_says() -> None:
    plan = synthesis.plan(spec(**FOUR))
    rows = np.zeros((40, len(plan.domain)), dtype=np.int32)
    boosted, linear = training.trained(plan.domain, rows, plan.targets[0])
    assert boosted.predictor.sha256 == linear.predictor.sha256 == training.majority(plan.domain, rows, plan.targets[0]).predictor.sha256
