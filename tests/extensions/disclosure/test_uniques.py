"""Releases that state how many people are alone with values that one row has: what is measured, paid, published, checked and made again."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks import disco as benchmark
from benchmarks import table
from dpsynth_core import report
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, INCONSISTENT
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.disclosure.claim import DISCLOSURE
from dpsynth_core.extensions.disclosure.planned import alone_margin, alone_widths, check_people, sentences
from dpsynth_core.extensions.disclosure.shares import interval
from dpsynth_core.extensions.disclosure.uniques import REPLICATED, Uniques
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning.plan import Plan
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.recovery import carried_out
from dpsynth_core.release.release import Release
from tests.additions import listed
from tests.bundle import pack
from tests.bundle.bundles import run, spec, verified
from tests.refusals import refused
from tests.releases import check_sound, ended, packed

KEYS = [("age", "sex", "marital_status", "health"), ("age", "marital_status")]
TEXTS = [", ".join(keys) for keys in KEYS]
INVENTED = {"data": {"kind": "standin", "standin": {"rows": 60_000}}, "mechanism": {"name": "independent"}, "output": {}}
ASKED = INVENTED | {"extensions": {"uniques": TEXTS}}
FEW = {"data": {"kind": "standin", "standin": {"rows": 49_999}}}
OTHERS = [ASKED | {"mechanism": {"name": name}, "budget": {"epsilon": 2.0, "delta": 1e-9}} for name in ("mst", *listed("WITHOUT_TABLES"))]
"""Without a certificate; some measure no table either, and so not the number of people."""
UNITS = [{}, {"unit": {"relation": "replace"}}]


@cache
def released(text: str = json.dumps(ASKED)) -> Release:
    return run(spec(**json.loads(text)))


def stated(made: Release) -> Uniques:
    found = made.claims[REPLICATED.name]
    assert isinstance(found, Uniques)
    return found


@pytest.mark.parametrize("unit", UNITS, ids=json.dumps)
def test_what_is_said_is_true_of_the_people(unit: dict[str, Any]) -> None:
    """Invented people are known: both numbers are within 6 deviations of those that dictionaries count, but for 4 runs in 10^9."""
    made = released(json.dumps(ASKED | unit))
    people, rows = (np.asarray(one) for one in (synthesis.open_source(made.plan).sample(10**9), made.codes))  # type: ignore[attr-defined]
    for keys, said in zip(KEYS, stated(made).alone, strict=True):
        places = [made.domain.position(name) for name in keys]
        in_table, in_rows = (Counter(map(tuple, one[:, places].tolist())) for one in (people, rows))
        true = sum(often == 1 == in_rows[cell] for cell, often in in_table.items())
        assert said.keys == keys
        assert abs(said.people - true) <= 6 * stated(made).sigma
    assert (stated(made).total.sigma == 0) == bool(unit)


def test_replacing_is_charged_for_two() -> None:
    first, second = (released(json.dumps(ASKED | unit)) for unit in UNITS)
    assert [made.charges[-1].l2 for made in (first, second)] == pytest.approx([2**0.5, 2 * 2**0.5])  # type: ignore[attr-defined]
    assert all(made.charges[-1].rho == pytest.approx(0.02 * made.rho, rel=1e-6) for made in (first, second))
    assert alone_margin(first.plan) == pytest.approx(1.959964 * stated(first).sigma, rel=1e-6)
    assert stated(second).sigma == pytest.approx(2 * stated(first).sigma, rel=1e-2)


@pytest.mark.parametrize(
    "fields", [ASKED, ASKED | {"mechanism": {"name": "mst"}, "budget": {"epsilon": 2.0, "delta": 1e-9}}], ids=["1", "2"]
)
def test_the_bundle_is_sound_and_comes_out_again(fields: dict[str, Any]) -> None:
    made = released(json.dumps(fields))
    check_sound(packed(made), REPLICATED.question)
    assert releases.from_json(releases.to_json(made)).claims[REPLICATED.name] == stated(made)


def test_both_claims_are_measured_and_checked_beside_each_other() -> None:
    made = released(json.dumps(ASKED | {"extensions": {"uniques": TEXTS, "disclosure": ["health from age, sex"]}}))
    check_sound(packed(made), REPLICATED.question)
    check_sound(packed(made), DISCLOSURE.question)
    assert [one.operation for one in made.transcript[-2:]] == ["measure_named", "measure_alone"]
    assert [sum(text in one for one in sentences(made.plan)) for text in ("name a value", "are alone with values")] == [1, 1]


CHANGES: dict[str, Any] = {
    "share": lambda one: one["alone"][0]["share"].update(value=0.5),
    "interval": lambda one: one["alone"][1]["share"].update(high95=one["alone"][1]["share"]["low95"]),
    "number": lambda one: one["alone"][0].update(people=1.0),
    "keys": lambda one: one["alone"][0].update(keys=["age", "sex"]),
    "left out": lambda one: one["alone"].pop(),
    "all left out": lambda one: one.update(alone=[]),
    "sigma": lambda one: one.update(sigma=1.0),
    "total": lambda one: one["total"].update(value=1e6),
    "few": lambda one: one["total"].update(value=100.0),
    "measured": lambda one: one.update(total_measured=True),
}


def changed(change: Any, made: Release) -> bytes:
    document = json.loads(json.dumps(unpack.read_bytes(pack.pack(made)).document))
    change(document)
    return pack.sealed(pack.contents(made) | {"release.json": json.dumps(document).encode()})


def verdict(judged: Any) -> str:
    return str({check.question: check.verdict for check in judged.checks}[REPLICATED.question])


@pytest.mark.parametrize("change", CHANGES.values(), ids=CHANGES)
def test_nothing_of_it_can_be_changed_unseen(change: Any) -> None:
    judged = verified(changed(lambda document: change(document["uniques"]), released()))
    assert judged.verdict == INCONSISTENT
    assert verdict(judged) == FAILED


def test_it_cannot_be_left_out_unseen_and_other_rows_are_found() -> None:
    assert verdict(verified(changed(lambda document: document.update(uniques=None), released()))) == FAILED
    held = pack.contents(released())
    held["synthetic.csv"] = b"".join(held["synthetic.csv"].splitlines(keepends=True)[:6])  # one row may be alone with its values here
    assert verdict(verified(pack.sealed(held))) == FAILED


def test_a_run_that_ended_before_says_so() -> None:
    whole = released()
    made = carried_out(whole.plan, ended(whole, whole.transcript[:-1]), lambda _: None)
    assert made.branded(REPLICATED.brand)
    assert made.claims[REPLICATED.name] is None
    assert verified(pack.pack(made)).verdict == CONSISTENT
    silent = replace(made, brands=tuple(brand for brand in made.brands if brand.code != REPLICATED.brand))
    assert verified(pack.pack(silent)).verdict == INCONSISTENT


@pytest.mark.parametrize(
    ("fields", "words"),
    [
        (FEW, "49,999 people are too few"),
        ({"mechanism": {"name": "gaussian"}}, "no rows"),
        ({"output": {"tables": 2}}, "several tables"),
        ({"extensions": {"uniques": ["income, age"]}}, "does not name columns"),
        ({"extensions": {"uniques": ["age, age"]}}, "twice"),
        ({"extensions": {"uniques": ["age, sex", "sex, age"]}}, "same columns"),
        ({"budget": {"epsilon": 0.001, "delta": 1e-9}}, "noise would hide"),
    ],
)
def test_what_cannot_be_measured_is_refused_before_anything_is_charged(fields: dict[str, Any], words: str) -> None:
    error: InputError = refused(Plan.of, spec(**{**ASKED, **fields}), saying=words)
    assert error.field == "extensions.uniques"


def test_too_few_people_whose_number_nobody_knew_before_are_not_asked_about() -> None:
    """The number is not in the plan: the run looks at the one that it releases, 5,000 with little noise, and asks nothing then."""
    source = benchmark.people_of(5000)
    plan = Plan.of(table.spec({"kind": "demo"}, source.domain, "independent", {"epsilon": 1.0}, extensions={"uniques": ["c000, c001"]}))
    made = table.released(plan, source)
    assert stated(made).alone == ()
    assert "measure_alone" not in {one.operation for one in made.transcript}
    assert sum(one.rho for one in made.charges) <= 0.985 * made.rho
    assert not made.branded(REPLICATED.brand)
    check_sound(packed(made), REPLICATED.question)
    (said,) = (text for name, text in report.claim_facts(made) if name == "Uniques")
    assert said.startswith("It was not measured, because there are fewer than 50,000 people")


def test_the_forecast_says_how_precisely_it_will_be_known() -> None:
    plan = Plan.of(spec(**ASKED))
    half = alone_margin(plan)
    assert f"± {half / 60_000:.2%} of 60,000 people" in sentences(plan)[1]
    assert "fewer than 50,000 people" in alone_widths(plan, None)[-1]
    assert refused(check_people, plan, 49_999, saying="too few").field == "extensions.uniques"
    check_people(plan, 50_000)
    check_people(plan, None)


def test_the_officer_reads_it_beside_what_epsilon_allows() -> None:
    made = released()
    for name, part in report.parts(made).items():
        if name in (report.REPORT, report.CARD):
            assert interval(stated(made).alone[0].share) in part.value.decode().replace("\\", "")
    first, second, *limit = [text for name, text in report.claim_facts(made) if name == "Uniques"]
    assert "are alone with their age, sex, marital_status and health in the table, where exactly one row has the same values." in first
    assert "are alone with their age and marital_status" in second
    assert all("Epsilon sets this limit" in text for text in limit)


def test_the_command_line_asks_for_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    options = ["synthesize", "demo", "--uniques", "age, sex", "--uniques-share", "0.1", "--workload", "all-1way"]
    main([*options, "--mechanism", "independent", "--epsilon", "1", "--out", str(tmp_path / "out")])
    told = capsys.readouterr()
    assert "0.1 of the budget measures how many people are alone with values that exactly one row has (age and sex)" in told.err + told.out
    document = json.loads((tmp_path / "out" / "release.json").read_text(encoding="utf-8"))
    assert document["spec"]["budget"]["uniques"] == 0.1
    assert [one["keys"] for one in document["uniques"]["alone"]] == [["age", "sex"]]  # the demo has 50,000 people
