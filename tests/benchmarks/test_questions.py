"""What is counted of intervals: how often they hold, and by how much they could be narrowed."""

from __future__ import annotations

import pytest

from benchmarks.questions import DOMAIN, Outcome, questions, summary


def test_an_interval_that_is_twice_as_wide_as_needed_is_found() -> None:
    told = summary([Outcome("", off=i / 100, half=1.9) for i in range(101)])
    assert told["coverage"] == 1
    assert told["excess"] == pytest.approx(2)


def test_the_questions_can_be_asked() -> None:
    asked = [question.checked(DOMAIN) for _, question in questions(40)]
    assert len({question.statistic for question in asked}) == 5
