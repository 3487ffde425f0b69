"""The report of what changed between two releases: the same in HTML and Markdown, and hostile names are text in both."""

from __future__ import annotations

from dataclasses import replace
from html import unescape

from dpsynth_core.report import change
from dpsynth_core.report.facts import counted
from tests.golden import goldens
from tests.refusals import refused
from tests.report.explorable import HOSTILE, hostile


def test_both_formats_say_the_same_lines() -> None:
    before, after = goldens.kept("aim"), goldens.kept("gaussian")
    found = change.changed(before, after)
    page, text = change.html(before, after, found), change.markdown(before, after, found).replace("\\", "")
    for line in (*change.summary(before, after, found), *change.READING):
        assert line in unescape(page)
        assert line in text
    for shift in found.shifts:
        for word in change.texts(before.domain, shift):
            assert word in unescape(page)
            assert word in text
    assert "<script" not in page
    assert "src=" not in page


def test_a_release_is_the_same_as_itself() -> None:
    one = goldens.kept("aim")
    found = change.changed(one, one)
    assert found.shifts
    assert not found.sure
    assert all(shift.before == shift.after for shift in found.shifts)


def test_names_that_mean_harm_are_text_in_both_formats() -> None:
    one = hostile()
    found = change.changed(one, one)
    page, text = change.html(one, one, found), change.markdown(one, one, found)
    assert HOSTILE not in page
    assert "<img" not in page + text.replace("\\<", "")
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert all(line.replace("\\|", "").count("|") == len(change.TITLES) + 1 for line in rows)
    assert "\u202e" not in page + text


def test_warnings_of_either_release_and_what_numbers_count_are_said() -> None:
    one, several = goldens.kept("aim"), goldens.like("aim", unit=goldens.SEVERAL_ROWS)
    found = change.changed(one, several)
    said = " ".join(change.summary(one, several, found))
    assert counted(several.spec) in said
    assert "golden aim, 2026-01-01: " in said


def test_releases_of_other_columns_are_refused() -> None:
    one, other = goldens.kept("aim"), goldens.like("aim", domain=goldens.BINARY)
    refused(change.changed, one, other, saying="no column with the same values in common")
    assert change.changed(one, replace(one, codes=None)).shifts
