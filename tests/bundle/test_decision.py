"""A signed decision: bound to one bundle, complete, and different from itself after any change."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import date
from hashlib import sha256
from typing import Any

import pytest

from dpsynth_core.bundle import decision
from dpsynth_core.bundle.decision import Decision
from dpsynth_core.bundle.verdicts import CONSISTENT, INCONSISTENT, PARTLY, Check, Report, Summary
from tests.refusals import refused

BUNDLE, OTHER = "a" * 64, "b" * 64
DAY = date(2026, 11, 23)
REASON = "The tables of age by sex are good enough for teaching."


def report(verdict: str = CONSISTENT) -> Report:
    outcome = {CONSISTENT: "passed", PARTLY: "not checked", INCONSISTENT: "failed"}[verdict]
    summary = Summary(("Rows are few.", "Not for\u2028trends."), "It is (1, 1e-9)-private.", (("Population", "Müller & <b>"),))
    return Report((Check("Does it hold?", outcome, "it was looked at"),), BUNDLE, summary)


def signed(**changes: Any) -> Decision:
    given = {"answer": decision.PUBLISH, "reason": REASON, "name": "Ann Ross", "role": "Data protection officer", "day": DAY}
    return decision.of(changes.pop("report", report()), **(given | changes))


def test_what_is_signed_is_read_back_and_is_about_its_bundle_alone() -> None:
    one = signed(report=report(PARTLY))
    again = decision.read(decision.to_json(one).decode())
    assert again == one
    assert (again.checked, again.open) == (PARTLY, ("Does it hold?",))
    assert ("Population", "Müller & <b>") in again.stated
    decision.check_bundle(again, BUNDLE)
    refused(decision.check_bundle, again, OTHER, saying="another bundle")


def test_the_guarantee_and_every_warning_of_the_release_are_signed_too() -> None:
    assert signed().stated == (
        ("Guarantee", "It is (1, 1e-9)-private."),
        ("Warning", "Rows are few."),
        ("Warning", "Not for trends."),
        ("Population", "Müller & <b>"),
    )


def test_a_release_that_says_too_much_can_be_rejected_all_the_same() -> None:
    much = replace(report(INCONSISTENT), summary=Summary(("x" * 5000,) * 3000, "", ()))
    one = signed(report=much, answer=decision.WITHHOLD)
    assert one.stated[-1] == ("Not repeated here", "2,001 more texts")
    assert decision.read(decision.to_json(one).decode()) == one
    assert decision.holds(one, much)


def test_a_decision_fits_the_report_that_it_was_signed_over_alone() -> None:
    one = signed()
    assert decision.holds(one, report())
    assert decision.differences(one, report()) == ()
    assert not decision.holds(one, replace(report(), sha256=OTHER))
    assert decision.differences(one, replace(report(), sha256=OTHER)) == (), "that is another question"


@pytest.mark.parametrize(
    ("now", "said"),
    [
        (report(PARTLY), ["was consistent; here it is consistent as far as checked", "open questions: none. Here they are: Does it"]),
        (
            report(INCONSISTENT),
            ["not consistent here: the answer “publish” must not be relied on", "was consistent; here it is not consistent"],
        ),
        (replace(report(), summary=Summary(("Rows are few.",), "It is (1, 1e-9)-private.", ())), ["statements: Population, Warning"]),
        (replace(report(), summary=None), ["statements: Guarantee, Population, Warning"]),
    ],
)
def test_where_it_differs_from_the_report_at_hand_is_said(now: Report, said: list[str]) -> None:
    found = decision.differences(signed(), now)
    assert len(found) == len(said)
    assert all(part in sentence for part, sentence in zip(said, found, strict=True))
    assert not decision.holds(signed(), now)


def test_not_to_publish_contradicts_no_check() -> None:
    withheld = signed(answer=decision.WITHHOLD)
    assert not any("must not be relied on" in sentence for sentence in decision.differences(withheld, report(INCONSISTENT)))


def test_a_code_is_compared_whole_however_it_was_written_down() -> None:
    one = signed()
    grouped = " ".join(one.code[start : start + 8] for start in range(0, 64, 8)).upper()
    assert decision.has_code(one, one.code)
    assert decision.has_code(one, f" {grouped}\n")
    assert not any(decision.has_code(one, given) for given in ("", one.code[:8], one.code + "0", OTHER))


@pytest.mark.parametrize(
    "changes",
    [
        {"checked": "consistent, says the minister"},
        {"checked": "CONSISTENT"},
        {"open": ["Is it\u202e?"]},
        {"open": ["a\nb"]},
        {"open": ["x" * 2001]},
        {"open": ["?"] * 3001},
        {"stated": [["Population\x00", "people"]]},
        {"stated": [["Population", "x" * 2001]]},
    ],
)
def test_forged_fields_of_the_check_are_refused_also_with_a_fresh_code(changes: dict[str, Any]) -> None:
    """A forger computes the code of the forged text, as anyone can."""
    document = {name: value for name, value in json.loads(decision.to_json(signed())).items() if name != "code"} | changes
    fresh = sha256(json.dumps(document, sort_keys=True, separators=(",", ":")).encode()).hexdigest()
    refused(decision.read, json.dumps(document | {"code": fresh}), saying="state the result of the check|very long or holds characters")


def test_any_change_of_the_file_shows() -> None:
    document = json.loads(decision.to_json(signed()))
    changes: dict[str, Any] = {
        "bundle": OTHER,
        "checked": PARTLY,
        "open": ["Another?"],
        "stated": [["Population", "Others"]],
        "answer": decision.PURPOSES,
        "reason": REASON + " And more.",
        "name": "Bob Ross",
        "role": "Clerk",
        "signed": "2026-11-24",
        "code": OTHER,
    }
    assert set(changes) == set(document) - {"format"}, "every field is tried"
    for field, value in changes.items():
        refused(decision.read, json.dumps(document | {field: value}), saying="changed after it was signed")


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": None}, "answer"),
        ({"reason": "x"}, "reason"),
        ({"reason": REASON + "\u202e"}, "reason"),
        ({"name": " "}, "name"),
        ({"role": "a\nb"}, "role"),
        ({"report": report(INCONSISTENT)}, "answer"),
    ],
)
def test_what_is_missing_hidden_or_unfounded_is_refused_by_field(changes: dict[str, Any], field: str) -> None:
    error = refused(signed, **changes)
    assert error.field == field


def test_a_bundle_that_is_not_sound_can_be_rejected() -> None:
    assert signed(report=report(INCONSISTENT), answer=decision.WITHHOLD).checked == INCONSISTENT


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"format": 1}', '{"format": 1, "open": 3}'])
def test_files_that_are_no_decision_are_refused(text: str) -> None:
    refused(decision.read, text)


def test_fields_of_other_types_are_refused() -> None:
    document = json.loads(decision.to_json(signed()))
    for field, value in (("open", "x"), ("stated", [["one"]]), ("name", 3)):
        refused(decision.read, json.dumps(document | {field: value}), saying="not those of a decision")
