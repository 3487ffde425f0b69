"""A signed decision: bound to one bundle, complete, and different from itself after any change."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest

from dpsynth_core.bundle import decision
from dpsynth_core.bundle.decision import Decision
from dpsynth_core.bundle.verify import PARTLY, SOUND, UNSOUND, Check, Report, Summary
from dpsynth_core.foundation.errors import InputError

BUNDLE, OTHER = "a" * 64, "b" * 64
DAY = date(2026, 11, 23)
REASON = "The tables of age by sex are good enough for teaching."


def report(verdict: str = SOUND) -> Report:
    outcome = {SOUND: "passed", PARTLY: "not checked", UNSOUND: "failed"}[verdict]
    return Report((Check("Does it hold?", outcome, "it was looked at"),), BUNDLE, Summary((), "", (("Population", "Müller & <b>"),)))


def signed(**changes: Any) -> Decision:
    given = {"answer": decision.PUBLISH, "reason": REASON, "name": "Ann Ross", "role": "Data protection officer", "day": DAY}
    return decision.of(changes.pop("report", report()), **(given | changes))


def test_what_is_signed_is_read_back_and_is_about_its_bundle_alone() -> None:
    one = signed(report=report(PARTLY))
    again = decision.read(decision.to_json(one).decode())
    assert again == one
    assert (again.checked, again.open, again.stated) == (PARTLY, ("Does it hold?",), (("Population", "Müller & <b>"),))
    decision.check_bundle(again, BUNDLE)
    with pytest.raises(InputError, match="another bundle"):
        decision.check_bundle(again, OTHER)


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
        with pytest.raises(InputError, match="changed after it was signed"):
            decision.read(json.dumps(document | {field: value}))


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"answer": None}, "answer"),
        ({"reason": "x"}, "reason"),
        ({"reason": REASON + "\u202e"}, "reason"),
        ({"name": " "}, "name"),
        ({"role": "a\nb"}, "role"),
        ({"report": report(UNSOUND)}, "answer"),
    ],
)
def test_what_is_missing_hidden_or_unfounded_is_refused_by_field(changes: dict[str, Any], field: str) -> None:
    with pytest.raises(InputError) as refused:
        signed(**changes)
    assert refused.value.field == field


def test_a_bundle_that_is_not_sound_can_be_rejected() -> None:
    assert signed(report=report(UNSOUND), answer=decision.WITHHOLD).checked == UNSOUND


@pytest.mark.parametrize("text", ["[]", "{}", "no json", '{"format": 1}', '{"format": 1, "open": 3}'])
def test_files_that_are_no_decision_are_refused(text: str) -> None:
    with pytest.raises(InputError):
        decision.read(text)


def test_fields_of_other_types_are_refused() -> None:
    document = json.loads(decision.to_json(signed()))
    for field, value in (("open", "x"), ("stated", [["one"]]), ("name", 3)):
        with pytest.raises(InputError, match="not those of a decision"):
            decision.read(json.dumps(document | {field: value}))
