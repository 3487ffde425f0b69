"""evidence.json states the answer of noise.json."""

from __future__ import annotations

from dataclasses import replace

from dpsynth_core.extensions.evidence.files import document
from dpsynth_core.extensions.noise_check.evidence_part import statement
from dpsynth_core.extensions.noise_check.operations import noise_as_charged
from tests.extensions.noise_check.test_noise_check import released


def test_the_answer_is_that_of_the_release() -> None:
    assert document(released())["noise"] == {"as_charged": True}
    without = tuple(one for one in released().transcript if one.operation != noise_as_charged.name)
    assert statement(replace(released(), transcript=without)) == {}
