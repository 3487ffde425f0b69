"""Criteria from spec to bundle: sealed with the plan, published with the release, decided again by whoever gets it."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import cache

import pytest

from dpsynth_core import report
from dpsynth_core.bundle import unpack
from dpsynth_core.bundle.verdicts import CONSISTENT, FAILED, PARTLY, PASSED
from dpsynth_core.bundle.verify import verify
from dpsynth_core.claims.criteria.criteria import CRITERIA as CLAIM
from dpsynth_core.claims.criteria.decided import Decided
from dpsynth_core.claims.criteria.outcomes import MET, MUST, NOT_MET, UNMEASURED
from dpsynth_core.evaluation.verdict import WITHHOLD
from dpsynth_core.release import document as releases
from dpsynth_core.release.recovery import recover
from dpsynth_core.release.release import INTERRUPTED, Release
from dpsynth_core.release.statement import unmeasured_brands
from dpsynth_core.statistics.intervals import Interval
from tests.bundle import pack
from tests.bundle.bundles import failed, run, spec, stating, verified
from tests.refusals import refused
from tests.releases import ended, found

CRITERIA = [
    {"kind": "tables", "limit": 0.0001, "name": "<b>all</b>"},
    {"kind": "share", "of": {"sex": "female"}, "tolerance": 0.2},
    {"kind": "mean", "column": "age", "among": {"sex": "female"}, "tolerance": 20.0, "importance": "should"},
]
QUESTION = "Are the criteria decided rightly?"


@cache
def made() -> Release:
    return run(spec(criteria=CRITERIA, mechanism={"name": "independent"}))


def verdict_of(release: Release) -> report.verdicts.Verdict:
    verdict = report.quality_of(release).value.verdict
    assert verdict is not None
    return verdict


def test_a_release_says_what_became_of_its_criteria() -> None:
    stated = releases.to_json(made())["criteria"]
    assert [one["outcome"] for one in stated] == [NOT_MET, MET, MET]
    assert [one["importance"] for one in stated] == [MUST, MUST, "should"]
    again = releases.from_json(json.loads(releases.document(made())))
    assert [one.interval for one in again.criteria] == [one.interval for one in made().criteria]
    assert made().rho_spent == pytest.approx(made().rho, rel=1e-6)


def test_a_bundle_with_criteria_is_sound_and_its_texts_are_harmless() -> None:
    bundle = pack.pack(made())
    assert not failed(bundle)
    assert next(check for check in verified(bundle).checks if check.question == QUESTION).detail.startswith("1 not met, 2 met")
    page = report.report_page(made()).value.decode()
    assert "<b>all</b>" not in page
    assert "Not met (must): &lt;b&gt;all&lt;/b&gt;: every table of the workload" in page
    assert "What was asked of it beforehand" in report.parts(made())[report.CARD].value.decode()


def test_a_must_that_is_not_met_is_a_verdict_of_its_own_unless_somebody_says_why() -> None:
    withheld = verdict_of(made())
    assert withheld.kind == WITHHOLD
    assert "It does not meet what its plan requires: every table of the workload." in report.reasons(withheld)
    explained = replace(made(), despite="The limit was a typing error.")
    assert verdict_of(explained).kind != WITHHOLD
    assert report.despite(verdict_of(explained)).endswith(": The limit was a typing error.")
    assert not failed(pack.pack(explained))
    assert QUESTION in failed(pack.pack(replace(made(), despite="x")))


def test_a_should_that_is_not_met_is_stated_and_decides_nothing() -> None:
    wishes = tuple(Decided(replace(one.criterion, importance="should"), one.interval) for one in made().criteria)  # type: ignore[type-var]
    assert verdict_of(stating(made(), criteria=wishes)).kind == verdict_of(stating(made(), criteria=())).kind


@pytest.mark.parametrize("change", ["outcome", "bound", "none", "number"])
def test_no_outcome_can_be_changed_unseen(change: str) -> None:
    first, *others = made().criteria
    better = Decided(first.criterion, Interval(0.00001, 0.0, 0.00002))
    closer = Decided(others[0].criterion, replace(others[0].interval, at_most=others[0].interval.at_most / 2))
    forged = {
        "outcome": stating(made(), criteria=(better, *others)),
        "bound": stating(made(), criteria=(first, closer, *others[1:])),
        "none": stating(made(), criteria=()),
        "number": stating(made(), criteria=made().criteria[:2]),
    }[change]
    assert ("Is release.json complete?" if change in ("none", "number") else QUESTION) in failed(pack.pack(forged))


def test_a_release_that_needs_no_reason_has_no_place_for_one() -> None:
    assert releases.to_json(stating(made(), criteria=made().criteria[1:], despite="We like it."))["despite"] == ""


def cut(whole: Release, answers: int, alone: bool = False) -> Release:
    """What is recovered if the run ended after so many answers. alone: without what could be made of them."""
    return recover(ended(whole, whole.transcript[:answers]), lambda _: None, alone)


def test_noisy_tables_alone_of_a_whole_run_do_not_say_that_it_ended_before() -> None:
    alone = cut(made(), len(made().transcript), alone=True)
    (brand,) = (one for one in alone.brands if one.code == INTERRUPTED)
    assert brand.sentence.startswith("The run was interrupted, or its rows are left out: ")
    lines = CLAIM.sentences(alone.plan, alone.criteria, alone.final)
    assert all("or what was measured of it is left out" in text for text in lines)


def test_noisy_tables_alone_of_a_whole_run_are_sound_for_its_rows_are_drawn_as_they_were() -> None:
    for _ in range(3):  # each run draws rows of its own, and the criteria were measured of them
        whole = run(spec(criteria=CRITERIA, mechanism={"name": "independent"}))
        assert not failed(pack.pack(cut(whole, len(whole.transcript), alone=True)))


@pytest.mark.parametrize(
    ("left_out", "outcomes"), [(4, [UNMEASURED] * 3), (3, [NOT_MET, UNMEASURED, UNMEASURED]), (1, [NOT_MET, MET, UNMEASURED])]
)
def test_a_run_that_ends_before_its_criteria_hides_nothing(left_out: int, outcomes: list[str]) -> None:
    """Two answers decide the last of the three, and one each of the others."""
    ended = cut(made(), len(made().transcript) - left_out)
    assert ended.branded(CLAIM.brand)
    assert [one.outcome for one in ended.criteria] == outcomes
    assert [one.interval for one in ended.criteria] == [
        None if outcome == UNMEASURED else one.interval for one, outcome in zip(made().criteria, outcomes, strict=True)
    ]
    assert verdict_of(ended).kind == WITHHOLD
    assert ended.needs_reason
    reasons = report.reasons(verdict_of(ended))
    assert ("holds no measurement of it" in reasons) == (outcomes[1] == UNMEASURED)
    assert not failed(pack.pack(ended))
    explained = replace(ended, despite="Only the teaching of students needs it.")
    assert verdict_of(explained).kind != WITHHOLD
    assert not failed(pack.pack(explained))


def test_what_was_measured_of_a_run_that_ended_early_cannot_be_changed_unseen() -> None:
    ended = cut(made(), len(made().transcript) - 1)
    _, second, third = ended.criteria
    better = Decided(ended.criteria[0].criterion, Interval(0.00001, 0.0, 0.00002))
    for forged in ((better, second, third), (Decided(better.criterion), second, third), (*ended.criteria[:2], made().criteria[2])):
        assert QUESTION in failed(pack.pack(stating(ended, criteria=forged)))


def test_a_run_that_ends_within_its_mechanism_has_measured_no_criterion() -> None:
    ended = cut(run(spec(criteria=CRITERIA, mechanism={"name": "aim"})), 1)
    assert ended.branded(INTERRUPTED)
    assert {one.outcome for one in ended.criteria} == {UNMEASURED}
    assert ended.needs_reason
    assert verdict_of(ended).kind == WITHHOLD
    assert not failed(pack.pack(ended))
    document = releases.to_json(ended)
    assert [one["outcome"] for one in document["criteria"]] == [UNMEASURED] * 3
    for hidden in ({}, {"criteria": []}, {"criteria": document["criteria"][1:]}):
        with pytest.raises((KeyError, ValueError), match=r"criteria|zip"):
            releases.from_json({name: part for name, part in document.items() if name != "criteria"} | hidden)


def test_a_reason_cannot_be_read_as_a_sentence_of_the_report() -> None:
    """Whatever it says, it has a paragraph for itself; unseen characters and further paragraphs are refused on reading."""
    pretended = "The limit was wrong.” Met: every table is within 0.01% of the people."
    explained = replace(made(), despite=pretended)
    assert pretended not in report.reasons(verdict_of(explained))
    facts = dict(report.verdict_facts(explained))
    assert pretended not in facts["Verdict"]
    assert facts["Reason given"] == report.despite(verdict_of(explained))
    assert f"\n<p>{facts['Reason given']}</p>" in report.report_page(explained).value.decode()
    assert not failed(pack.pack(explained))
    for hostile in ("It was a typing\n# All criteria are met", "It was a typing \u202eerror", "It was wrong " * 1_000):
        refused(releases.from_json, releases.to_json(replace(made(), despite=hostile)), saying="despite")


def test_good_tables_are_not_told_to_become_fewer_where_a_criterion_decided() -> None:
    withheld = verdict_of(made())
    assert withheld.kind == WITHHOLD
    assert all(purpose.holds for purpose in withheld.sizes) != ("Fewer tables" in report.reasons(withheld))
    assert "Fewer tables" not in report.reasons(replace(withheld, sizes=tuple(replace(one, within=one.tables) for one in withheld.sizes)))


MODELS = [
    {"kind": "model", "column": "sex", "at_least": 0.99},
    {"kind": "model-gain", "column": "sex", "above_guess": -0.5, "model": "logistic regression"},
]


@cache
def made_with_models() -> Release:
    budget = {"epsilon": 2.0, "delta": 1e-9, "certificate": 0.1, "models": 0.1}
    return run(spec(criteria=[*MODELS, CRITERIA[1]], budget=budget, mechanism={"name": "independent"}))


def test_criteria_on_models_follow_from_what_is_measured_of_models_once() -> None:
    release = made_with_models()
    assert [one.outcome for one in release.criteria] == [NOT_MET, MET, MET]
    assert [answer.operation for answer in release.transcript].count("measure_right") == 1
    boosting, logistic = release.usefulness
    assert 1 - boosting.high95 < release.criteria[0].interval.at_least < release.criteria[0].interval.at_most
    assert release.criteria[0].interval.at_most < 1 - boosting.low95
    assert release.criteria[1].interval.error == pytest.approx(logistic.majority - logistic.accuracy)
    again = releases.from_json(json.loads(releases.document(release)))
    assert [one.interval for one in again.criteria] == [one.interval for one in release.criteria]


def test_a_bundle_with_criteria_on_models_is_sound_and_one_that_says_otherwise_is_not() -> None:
    release = made_with_models()
    assert not failed(pack.pack(release))
    assert next(check for check in verified(pack.pack(release)).checks if check.question == QUESTION).detail.startswith("1 not met, 2 met")
    better = replace(release.criteria[0], interval=Interval(0.001, 0.0, 0.005))
    assert QUESTION in failed(pack.pack(stating(release, criteria=(better, *release.criteria[1:]))))


def test_where_a_run_ended_before_its_models_were_measured_nobody_knows() -> None:
    release = made_with_models()
    recovered = cut(release, [answer.operation for answer in release.transcript].index("measure_right"))
    assert [one.outcome for one in recovered.criteria] == [UNMEASURED] * 3
    assert recovered.branded(CLAIM.brand)
    assert not failed(pack.pack(recovered))


def without_outcomes(release: Release, kept: int) -> Release:
    """The same as if the run had ended before all but so many of its criteria were measured: its answers tell otherwise."""
    criteria = tuple(Decided(one.criterion, one.interval if number < kept else None) for number, one in enumerate(release.criteria))
    usefulness = release.usefulness if kept else ()
    hidden = stating(release, criteria=criteria, models=usefulness, despite="The run ended early.")
    return replace(hidden, brands=(*release.brands, *unmeasured_brands(release.plan, hidden.claims)))


@pytest.mark.parametrize("kept", [0, 2], ids=["nothing", "those on models alone"])
def test_what_was_measured_cannot_pass_for_unmeasured(kept: int) -> None:
    verdicts = found(without_outcomes(made_with_models(), kept))
    assert verdicts[QUESTION] == FAILED
    assert verdicts["Does it follow how often models are right?"] == (PASSED if kept else FAILED)


def test_criteria_on_models_cannot_pass_for_unmeasured_beside_what_was_measured_of_models() -> None:
    release = made_with_models()
    forged = (Decided(release.criteria[0].criterion), *release.criteria[1:])
    hidden = stating(release, criteria=forged)
    told = unmeasured_brands(release.plan, hidden.claims)
    assert QUESTION in failed(pack.pack(replace(hidden, brands=(*release.brands, *told))))


def test_what_was_not_measured_is_settled_by_running_again() -> None:
    bundle = pack.pack(cut(made(), len(made().transcript) - 1))
    assert verify(unpack.read_bytes(bundle)).verdict == PARTLY
    assert verified(bundle).verdict == CONSISTENT


def test_where_a_run_ended_after_its_models_were_measured_criteria_on_them_are_decided() -> None:
    ended = cut(made_with_models(), len(made_with_models().transcript) - 1)
    assert [one.outcome for one in ended.criteria] == [NOT_MET, MET, UNMEASURED]
    assert not failed(pack.pack(ended))
