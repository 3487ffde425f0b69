"""evidence.json states what report and pages state, follows from the release, and cannot be changed unseen."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core.bundle.verdicts import FAILED
from dpsynth_core.extensions.evidence.files import EVIDENCE, document, files
from dpsynth_core.extensions.evidence.sections import ceilings_section, yardsticks_section
from dpsynth_core.extensions.evidence.yardsticks import yardsticks
from dpsynth_core.report.sections import sections
from tests.bundle import bundles
from tests.bundle.bundles import made, packed, repacked, run, spec, verified


def test_a_bundle_has_it_and_is_consistent() -> None:
    held = json.loads(bundles.files()[EVIDENCE])
    assert held == {"format": 1, **document(made())}
    assert not [check for check in verified(packed()).checks if check.verdict == FAILED]


def changed(change: Callable[[Any], None]) -> bytes:
    def apply(held: dict[str, bytes]) -> None:
        found = json.loads(held[EVIDENCE])
        change(found)
        held[EVIDENCE] = json.dumps(found, indent=1).encode() + b"\n"

    return repacked(apply)


@pytest.mark.parametrize(
    "change",
    [
        lambda found: found["accuracy"]["2"].update(estimate=0.999),
        lambda found: found["sample"].update(high=1.0),
        lambda found: found["ceilings"][0].update(most=0.001),
        lambda found: found.pop("sample"),
    ],
)
def test_nothing_in_it_can_be_changed_unseen(change: Callable[[Any], None]) -> None:
    assert [EVIDENCE in check.detail for check in verified(changed(change)).checks if check.verdict == FAILED] == [True]


def test_it_states_the_scores_and_the_sample_of_the_release() -> None:
    found, stated = document(made()), yardsticks(made())
    assert stated is not None
    assert found["accuracy"]["2"]["confidence"] == 0.95
    assert found["accuracy"]["2"]["estimate"] == stated.scores[0].closeness.estimate
    assert found["sample"] == {"tables": 6, "share": stated.sample.estimate, "low": stated.sample.low, "high": stated.sample.high}
    assert [one["without"] for one in found["ceilings"]] == [0.001, 0.01, 0.1, 0.5]


def test_a_release_with_predictable_noise_limits_no_attack() -> None:
    seeded = replace(made(), private=False)
    assert "ceilings" not in document(seeded)
    assert not list(ceilings_section(seeded))
    assert "accuracy" in document(seeded)


def test_answers_have_ceilings_alone_and_without_these_no_file() -> None:
    answers = run(spec(mechanism={"name": "gaussian"}, output={}))
    assert set(document(answers)) == {"ceilings"}
    assert files(replace(answers, private=False), {}) == {}


def test_the_report_has_both_sections_behind_those_of_claims() -> None:
    names = [section.name for section in sections(made())]
    assert names[-2:] == ["ceilings", "yardsticks"]
    (section,) = yardsticks_section(made())
    assert "ContingencySimilarity" in section.lines[0]
    assert "random sample of about" in section.lines[1]


def test_rows_of_one_person_are_called_records() -> None:
    several = made().spec.model_copy(update={"unit": made().spec.unit.model_copy(update={"max_rows_per_person": 3})})
    release = replace(made(), plan=replace(made().plan, spec=several))
    (section,) = yardsticks_section(release)
    assert "of the records" in section.lines[0]
    assert "people" not in " ".join(section.lines[:2])
