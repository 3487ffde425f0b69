"""A column in short: its mean as every other place states it, and quantiles of what was published."""

from __future__ import annotations

import re

from dpsynth_core import report
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.question import MEAN, Question
from dpsynth_core.report.answers import number
from tests.golden import goldens


def test_the_mean_is_that_of_the_questions_and_quantiles_rise_within_the_bounds() -> None:
    release = goldens.kept("aim")
    columns = [one for one in release.domain if one.is_number]
    assert columns
    for one in columns:
        told, asked = report.column_in_short(release, one.name), Question(MEAN, column=one.name)
        if one.dtype in ("int64", "float64"):
            assert f" is {number(release.domain, asked, answer(report.knowledge(release), asked).stated.value or 0.0)} (" in told
            below = [float(text.replace(",", "")) for text in re.findall(r"% below (-?[\d,.]*\d)", told)]
            assert below == sorted(below)
            assert one.lower <= below[0] <= below[-1] <= one.upper


def test_a_column_without_numbers_has_neither() -> None:
    release = goldens.kept("aim")
    assert [report.column_in_short(release, one.name) for one in release.domain if not one.is_number] != []
    assert not any(report.column_in_short(release, one.name) for one in release.domain if not one.is_number)
