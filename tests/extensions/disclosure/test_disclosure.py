"""Releases that state for how many people their rows name a value: what is measured, paid, published, checked and made again."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsynth_core as dps
from benchmarks import disco as benchmark
from dpsynth_core import report
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT
from dpsynth_core.claims.models.usefulness import MODELS
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE, Disclosed, Disclosure, state
from dpsynth_core.extensions.disclosure.planned import check_width, margin, sentences, widths
from dpsynth_core.extensions.disclosure.questions import Question
from dpsynth_core.extensions.disclosure.shares import least_without
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.registry import LINKED
from dpsynth_core.planning.plan import Plan
from dpsynth_core.privacy import meaning
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.recovery import carried_out
from dpsynth_core.release.release import Release
from dpsynth_core.release.spool import Spool
from dpsynth_core.statistics.totals import Total
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import run, spec, verified
from tests.privacy.tables import ArraySource
from tests.refusals import refused
from tests.releases import check_sound, ended, found, packed

TEXTS = ["health from age, sex, marital_status", "marital_status from age, sex"]
INVENTED = {"data": {"kind": "standin", "standin": {"rows": 6000}}, "mechanism": {"name": "independent"}, "output": {}}
ASKED = INVENTED | {"extensions": {"disclosure": TEXTS}}
BARE = ASKED | {"budget": {"epsilon": 2.0, "delta": 1e-9}}
UNITS = [{}, {"unit": {"relation": "replace"}}]
OTHERS = [BARE | {"mechanism": {"name": name}} for name in ("mst", *listed("WITHOUT_TABLES"))]
"""Without a certificate; some measure no table either, and so not the number of people."""


@cache
def released(text: str = json.dumps(ASKED)) -> Release:
    return run(spec(**json.loads(text)))


def stated(made: Release) -> Disclosure:
    found = made.claims[DISCLOSURE.name]
    assert isinstance(found, Disclosure)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=json.dumps)
def test_what_is_said_is_true_of_the_people(unit: dict[str, Any]) -> None:
    """Invented people are known: every count is within 5.5 deviations of the exact one, which of 8 fails in 3 runs of ten million."""
    made = released(json.dumps(ASKED | unit))
    source: Any = synthesis.open_source(made.plan)
    for one in stated(made).questions:
        people, rows = source.sample(10**9), np.asarray(made.codes)
        true = benchmark.counted(made.domain, people, rows, one.keys, one.target)
        assert abs(one.right_people - true["rightly"]) <= 5.5 * stated(made).sigma
        assert abs(one.wrong_people - true["wrongly"]) <= 5.5 * stated(made).sigma
    assert (stated(made).total.sigma == 0) == bool(unit)


def test_what_is_paid_is_the_share_and_the_noise_is_as_forecast() -> None:
    made = released()
    assert made.plan.shares.of("disclosure") == pytest.approx(0.02 * made.rho)
    assert made.charges[-1].rho == pytest.approx(0.02 * made.rho, rel=1e-6)
    assert margin(made.plan) == pytest.approx(1.959964 * stated(made).sigma, rel=1e-6)
    assert margin(made.plan, noises=2) == pytest.approx(2**0.5 * margin(made.plan))


def test_a_release_without_questions_says_nothing_of_it() -> None:
    made = run(spec(**INVENTED, budget={"epsilon": 2.0, "delta": 1e-9, "disclosure": 0.3}))
    assert made.plan.shares.of("disclosure") == 0
    assert "disclosure" not in releases.to_json(made)
    assert "disclosure" not in made.spec.published()["budget"]
    assert made.spec.digest() == spec(**INVENTED, budget={"epsilon": 2.0, "delta": 1e-9}).digest()


@pytest.mark.parametrize("fields", [ASKED, *OTHERS, ASKED | UNITS[1]], ids=lambda fields: fields["mechanism"]["name"])
def test_the_bundle_is_sound_and_comes_out_again(fields: dict[str, Any]) -> None:
    made = released(json.dumps(fields))
    check_sound(packed(made), DISCLOSURE.question)
    assert verified(pack.pack(made)).verdict == CONSISTENT
    assert releases.from_json(releases.to_json(made)).claims[DISCLOSURE.name] == stated(made)
    assert stated(made).total_measured == ([one.operation for one in made.transcript[-2:]] == ["measure_total", "measure_named"])


@pytest.mark.usefixtures("few_rounds")
def test_models_and_disclosure_are_measured_and_checked_beside_each_other() -> None:
    made = released(json.dumps(ASKED | {"models": [{"column": "sex"}]}))
    assert {"measure_right", "measure_named"} <= {answer.operation for answer in made.transcript}
    checks = found(made)
    assert {checks[MODELS.question], checks[DISCLOSURE.question]} == {"passed"}


CHANGES: dict[str, Any] = {
    "share": lambda one: one["questions"][0]["rightly"].update(value=0.001),
    "interval": lambda one: one["questions"][1]["wrongly"].update(high95=one["questions"][1]["wrongly"]["low95"]),
    "count": lambda one: one["questions"][0].update(right_people=1.0),
    "target": lambda one: one["questions"][0].update(target="sex"),
    "keys": lambda one: one["questions"][0].update(keys=["age", "sex"]),
    "left out": lambda one: one["questions"].pop(),
    "sigma": lambda one: one.update(sigma=1.0),
    "total": lambda one: one["total"].update(value=1e6),
    "measured": lambda one: one.update(total_measured=True),
}


def changed(change: Any, made: Release) -> bytes:
    document = json.loads(json.dumps(unpack.read_bytes(pack.pack(made)).document))
    change(document)
    return pack.sealed(pack.contents(made) | {"release.json": json.dumps(document).encode()})


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_it_can_be_changed_unseen(change: Any) -> None:
    judged = verified(changed(lambda document: change(document["disclosure"]), released()))
    assert judged.verdict == INCONSISTENT
    assert {check.question: check.verdict for check in judged.checks}[DISCLOSURE.question] == FAILED


def test_it_cannot_be_left_out_or_put_in_unseen() -> None:
    silent = verified(changed(lambda document: document.update(disclosure=None), released()))
    assert {check.question: check.verdict for check in silent.checks}[DISCLOSURE.question] == FAILED
    part = releases.to_json(released())["disclosure"]
    other = released(json.dumps(INVENTED))
    assert verified(changed(lambda document: document.update(disclosure=part), other)).verdict == INCONSISTENT


def test_counts_of_other_rows_are_found() -> None:
    """A recipient makes the lookup again: with other rows it is another one, and its hash is not the one that was charged."""
    held = pack.contents(released())
    held["synthetic.csv"] = b"".join(held["synthetic.csv"].splitlines(keepends=True)[:30])
    judged = verified(pack.sealed(held))
    assert {check.question: check.verdict for check in judged.checks}[DISCLOSURE.question] == FAILED


def test_a_run_that_ended_before_says_so() -> None:
    whole = released()
    made = carried_out(whole.plan, ended(whole, whole.transcript[:-1]), lambda _: None)
    assert made.branded(DISCLOSURE.brand)
    assert made.claims[DISCLOSURE.name] is None
    assert verified(pack.pack(made)).verdict == CONSISTENT
    silent = replace(made, brands=tuple(brand for brand in made.brands if brand.code != DISCLOSURE.brand))
    assert verified(pack.pack(silent)).verdict == INCONSISTENT


@pytest.mark.parametrize(
    ("fields", "field", "words"),
    [
        ({"mechanism": {"name": "gaussian"}}, "extensions.disclosure", "no rows"),
        ({"output": {"tables": 2}}, "extensions.disclosure", "several tables"),
        ({"budget": {"epsilon": 1.0, "delta": 1e-9, "disclosure": 0.9}}, "budget.disclosure", "out of range"),
        ({"budget": {"epsilon": 1.0, "delta": 1e-9, "disclosure": 0.0}}, "budget.disclosure", "out of range"),
        ({"extensions": {"disclosure": ["income from age"]}}, "extensions.disclosure", "does not name"),
        ({"data": {"kind": "standin", "standin": {"rows": 300}}}, "extensions.disclosure", "noise would hide"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_charged(fields: dict[str, Any], field: str, words: str) -> None:
    error: InputError = refused(Plan.of, spec(**{**ASKED, **fields}), saying=words)
    assert error.field == field


def test_two_linked_tables_are_refused() -> None:
    members = {"kind": "csv", "path": "members.csv", "domain": {"m": 2}}
    linked = {
        "data": {"kind": "csv", "path": "households.csv"},
        "output": {},
        "members": members,
        "domain": {"a": 2, "b": 2},
        "unit": {"person_column": "key", "max_rows_per_person": 2},
        "workload": {"kind": "all", "k": 1},
        "mechanism": {"name": LINKED.name},
        "extensions": {"disclosure": ["a from b"]},
    }
    assert refused(lambda: Plan.of(spec(**linked)), saying="two linked tables").field == "extensions.disclosure"


def test_the_forecast_warns_below_5000_people_and_refuses_where_nothing_would_be_said() -> None:
    plan = Plan.of(spec(**ASKED))
    width = margin(plan)
    assert f"± {width / 6000:.2%} of 6,000 people" in sentences(plan)[1]
    assert "warning" not in " ".join(sentences(plan))
    assert "warning: 4,999 are fewer than 5,000" in widths(plan, 4999)[-1]
    assert "fewer than 5,000 people" in widths(plan, None)[-1]
    check_width(plan, 5000)
    check_width(plan, None)
    assert f"of {round(4 * width):,}" in refused(check_width, plan, round(4 * width), saying="noise would hide").problem


def test_the_officer_reads_it_in_report_card_and_facts() -> None:
    made = released()
    parts = {name: part.value.decode() for name, part in report.parts(made).items() if name in (report.REPORT, report.CARD)}
    for one in stated(made).questions:
        assert all(f"{one.rightly.high95:.1%}" in text.replace("\\", "") for text in parts.values())
    facts = [text for name, text in report.claim_facts(made) if name == "Disclosure"]
    assert len(facts) in (2, 3)
    assert facts[0].startswith("To somebody who knows age, sex and marital_status of a person, the rows name health, and rightly, for ")
    single = replace(stated(made), questions=stated(made).questions[:1])
    assert DISCLOSURE.heading(single) == "What could somebody learn who knows my age, sex and marital_status?"
    assert DISCLOSURE.heading(stated(made)) == DISCLOSURE.title == DISCLOSURE.heading(None)


def test_numbers_follow_from_the_counts() -> None:
    """Of 10,000 people: 250 named rightly, 40 wrongly, with noise of 20; a count below 0 has an interval that is no point."""
    asked = [Question("t", ("k",)), Question("u", ("k",))]
    made = state(asked, np.array([[250.0, 40.0], [5.0, -65.0]]), 20.0, Total(10_000.0, 0.0), False)
    one, other = made.questions
    assert (one.rightly.value, one.wrongly.value, one.named.value) == pytest.approx((0.025, 0.004, 0.029))
    assert one.rightly.high95 - one.rightly.value == pytest.approx(1.96 * 20 / 10_000, rel=1e-3)
    assert one.wrongly.high95 - one.wrongly.value == pytest.approx(1.96 * 20 / 10_000, rel=1e-3)
    assert one.named.high95 - one.named.value == pytest.approx(2**0.5 * 1.96 * 20 / 10_000, rel=1e-3)
    assert (other.named.value, other.named.low95, other.wrongly.value) == (0.0, 0.0, 0.0)
    assert other.wrongly.high95 == pytest.approx(1.96 * 20 / 10_000, rel=1e-3)


def test_two_counts_cost_as_one_where_a_person_is_added_or_removed() -> None:
    for unit, both in (({}, 1), (UNITS[1], 2)):
        made = released(json.dumps(ASKED | unit))
        assert made.charges[-1].l2 ** 2 == pytest.approx(both * len(TEXTS))  # type: ignore[attr-defined]


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_limit_is_the_inverse_of_the_ceiling(relation: str) -> None:
    plan = Plan.of(spec(**ASKED, unit={"relation": relation}))
    for share in (0.001, 0.03, 0.5, 0.97):
        least = least_without(plan, share)
        assert 0 < least < share
        most = meaning.power(plan.shares.accountant, plan.shares.rho, np.array([least, least + 1e-6]), plan.shares.slack)
        assert most[0] == pytest.approx(share, rel=1e-6)
        assert most[1] >= share
    made = replace(released(), plan=plan)
    right = stated(released()).questions[0].rightly
    one = Disclosed("t", ("k",), right, right, right, 1.0, 1.0)
    line = DISCLOSURE.sentences(plan, Disclosure((one,), 1.0, Total(6000.0, 0.0), False), made.final)[-1]
    assert ("other rows stand in place" in line) == (relation == "replace")


def test_intervals_hold_and_the_benchmark_counts_by_itself() -> None:
    """Of 20 releases with 6 intervals of 95 % each, correlated in pairs, more than 24 of 120 miss in fewer than one run of a million."""
    source = benchmark.people_of(5000)
    runs = [benchmark.measured(source, "independent", 1.0) for _ in range(20)]
    held = [benchmark._held(one[said]) for each in runs for one in each for said in benchmark.SAID]
    assert len(held) == 120
    assert sum(held) >= 96


def test_only_noisy_answers_leave(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Two tables that the same answers agree with have the same bundle and spool, and nothing is logged: no trace of exact counts."""
    plan, whole, texts = released().plan, released(), []

    class Given(Spool):
        given = (whole.transcript, whole.charges)

    for seed in (1, 2):
        table = ArraySource(plan.domain, np.random.default_rng(seed).integers(0, 2, (300, len(plan.domain))).astype(np.int32))
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(synthesis, "today", lambda: "2026-11-30")
            kept = Given(tmp_path / f"{seed}.spool", "", plan, private=False)
            made = synthesis.synthesize(plan, table, SeededNoise(0), lambda _: None, kept)
            texts.append((pack.contents(made), (tmp_path / f"{seed}.spool").read_bytes()))
            kept.close()
    assert texts[0] == texts[1]
    assert made.claims[DISCLOSURE.name] == stated(whole)
    assert not caplog.records


def test_command_line_and_programs_ask_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["synthesize", "demo", "--disclosure", "health from sex, region", "--disclosure-share", "0.1", "--workload", "all-1way"]
    main([*options, "--mechanism", "independent", "--epsilon", "1", "--out", str(tmp_path / "out")])
    told = capsys.readouterr()
    assert "0.1 of the budget measures for how many people the rows name a value (health from sex and region)" in told.err + told.out
    document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert document["spec"]["budget"]["disclosure"] == 0.1
    assert document["disclosure"]["questions"][0]["target"] == "health"
    columns = {"sex": ["female", "male"], "age": (16, 95)}
    more: Any = {"disclosure": "sex from age", "disclosure_share": 0.05}
    plan = dps.plan("demo", columns, epsilon=1, tables=1, **more)
    assert plan.sealed.spec.extensions == {"disclosure": ["sex from age"]}
    assert plan.sealed.shares.of("disclosure") == pytest.approx(0.05 * plan.sealed.shares.rho)
