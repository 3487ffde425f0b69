"""What the page of questions says around its answers; that it answers rightly is seen in a browser."""

from __future__ import annotations

import json
from dataclasses import replace

from dpsynth_core import report
from dpsynth_core.report import explore
from dpsynth_core.report.facts import counted
from tests.golden import goldens


def test_the_page_promises_no_more_for_many_questions_than_for_one() -> None:
    page = "".join(explore.frame())
    assert "in twenty" not in page
    assert "All intervals of one release rest on the same noise. They can be wrong together" in page
    assert "those of several tables do not hold together with 95%" in page


def test_every_page_says_when_numbers_count_records_and_not_people() -> None:
    several, one = goldens.like("aim", unit=goldens.SEVERAL_ROWS), goldens.kept("aim")
    assert counted(one.spec) == ""
    assert "at most 2 of them" in counted(several.spec)
    for name in (report.REPORT, report.CARD, report.EXPLORE):
        said = counted(several.spec) if name != report.EXPLORE else json.dumps(counted(several.spec))  # a value of its script
        assert said.replace("\\", "") in report.parts(several)[name].value.decode().replace("\\", "")
        assert "means are of records" not in report.parts(one)[name].value.decode()


def test_of_several_tables_of_rows_the_page_says_that_it_answers_from_the_first() -> None:
    one = goldens.kept("aim")
    assert one.values is not None
    several = report.parts(replace(one, further=(one.values, one.values)))[report.EXPLORE].value.decode()
    assert "Of 3 tables of rows it answers from the first, synthetic.csv, alone." in several
    assert "tables of rows it answers" not in report.parts(one)[report.EXPLORE].value.decode()
