"""What the page of questions says around its answers; that it answers rightly is seen in a browser."""

from __future__ import annotations

from dpsynth_core.report import explore


def test_the_page_promises_no_more_for_many_questions_than_for_one() -> None:
    page = "".join(explore.frame())
    assert "in twenty" not in page
    assert "All intervals of one release rest on the same noise. They can be wrong together" in page
    assert "those of several tables do not hold together with 95 %" in page
