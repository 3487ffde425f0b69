"""explore.html, opened from a file: it answers as the core does, reaches no network, and takes hostile names for text."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core import report
from dpsynth_core.evaluation.questions.answer import answer
from dpsynth_core.evaluation.questions.breakdown import STATISTICS, breakdown
from dpsynth_core.evaluation.questions.question import Question
from dpsynth_core.evaluation.questions.worst import worst
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.release import Brand, Release
from dpsynth_core.report import explore
from dpsynth_core.report.answers import breakdown_sentences, line_texts, sentences, subgroup_texts, worst_sentences
from tests.browser.test_accessibility import AXE
from tests.golden import goldens
from tests.report import wizard
from tests.report.explorable import HOSTILE, PRINTABLE, as_json, hostile, questions

pytestmark = pytest.mark.browser

RELEASES: dict[str, Callable[[], Release]] = {
    **{name: partial(goldens.kept, name) for name in ("aim", "gaussian", "mwem", "oraclequery")},
    "hostile": hostile,
}


BREAKDOWN = """const lines = breakdown(question, by);
return lines && [lines, breakdownSentences(question, by), lines.map((line) => lineTexts(question, by, line))];"""


def shown(page: Page, made: Release, folder: Path) -> Page:
    """The page in the browser, as from a USB stick. Fails for anything that it asks of a network, and for errors of its script."""
    place = folder / explore.EXPLORE
    place.write_bytes(report.parts(made)[explore.EXPLORE].value)
    wrong: list[str] = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text))
    page.on("request", lambda request: wrong.append(request.url) if request.url != place.as_uri() else None)
    page.goto(place.as_uri())
    expect(page.get_by_label("What do you want to know?")).to_be_visible()
    assert not wrong
    return page


def assert_alike(theirs: Any, ours: Any, where: str) -> None:
    if isinstance(ours, float) and isinstance(theirs, int | float):
        assert math.isclose(theirs, ours, rel_tol=1e-7, abs_tol=1e-9), f"{where}: {theirs} on the page, {ours} by the core"
    elif isinstance(ours, dict):
        for key, value in ours.items():
            assert_alike(theirs[key], value, f"{where}.{key}")
    elif isinstance(ours, list | tuple):
        assert len(theirs) == len(ours), where
        for number, (a, b) in enumerate(zip(theirs, ours, strict=True)):
            assert_alike(a, b, f"{where}[{number}]")
    else:
        assert theirs == ours, where


def on_page(page: Page, script: str, question: Question, by: str = "") -> Any:
    """What a script makes of a question and of a column by which it is broken down; None where the page holds too little for it."""
    return page.evaluate(f"([text, by]) => {{ const question = JSON.parse(text); {script} }}", [json.dumps(as_json(question)), by])


def compare(page: Page, made: Release, number: int) -> int:
    """Ask both the same questions; returns how many the page could answer."""
    known, answered = explore.knowledge(made), 0
    for question in questions(made.domain, number, seed=20261122):
        said = on_page(page, "const got = answer(question); return got && [got, sentences(question, got)];", question)
        if said is None:
            continue
        expected = answer(known, question)
        answered += 1
        assert_alike(said[0], asdict(expected), json.dumps(as_json(question)))
        assert said[1] == sentences(made.domain, question, expected)
    return answered


@pytest.mark.parametrize("name", RELEASES)
def test_the_page_answers_as_the_core_does(name: str, page: Page, tmp_path: Path) -> None:
    made = RELEASES[name]()
    window = shown(page, made, tmp_path)
    assert compare(window, made, 90) >= 50


def compare_breakdowns(page: Page, made: Release, number: int) -> int:
    """Ask both for the same breakdowns; returns how many lines the page could answer."""
    known, lines, names = explore.knowledge(made), 0, made.domain.names
    for place, question in enumerate(questions(made.domain, number, seed=20261123)):
        by = names[place % len(names)]
        if question.statistic not in STATISTICS:
            continue
        said = on_page(page, BREAKDOWN, question, by)
        if said is None:
            continue
        expected = breakdown(known, question, by)
        lines += len(expected)
        assert_alike(said[0], [{**asdict(line), "standing": line.standing} for line in expected], f"{question} by {by}")
        assert said[1] == breakdown_sentences(made.domain, question, by)
        assert said[2] == [line_texts(made.domain, question, by, line) for line in expected]
    return lines


@pytest.mark.parametrize("name", RELEASES)
def test_the_page_breaks_down_and_finds_the_worst_subgroups_as_the_core_does(name: str, page: Page, tmp_path: Path) -> None:
    made = RELEASES[name]()
    window = shown(page, made, tmp_path)
    assert compare_breakdowns(window, made, 90) >= 80
    said = window.evaluate("() => { const found = worst(); return [found, worstSentences(found), found.map(subgroupTexts)]; }")
    expected = worst(explore.knowledge(made))
    assert bool(expected) == (name != "mwem")  # of its tables the certificate says nothing for all of them together
    ours = [{"codes": one.codes, "value": one.value, "low": one.low, "high": one.high, "measured": one.measured} for one in expected]
    assert_alike(said[0], ours, "worst")
    assert said[1] == worst_sentences(made.domain, expected)
    assert said[2] == [subgroup_texts(made.domain, one) for one in expected]


@pytest.mark.parametrize("name", wizard.RELEASES)
def test_the_page_of_a_release_as_the_wizard_makes_it_answers_as_the_core_does(name: str, page: Page, tmp_path: Path) -> None:
    made = wizard.RELEASES[name]()
    window = shown(page, made, tmp_path)
    assert compare(window, made, 18) >= 10
    assert compare_breakdowns(window, made, 6) >= 5


def test_the_answer_that_is_read_lies_in_the_interval_that_is_drawn(page: Page, tmp_path: Path) -> None:
    """Of each value of a column whose noisy counts say another number than the rows."""
    made = wizard.by_default()
    window = shown(page, made, tmp_path)
    for column in made.domain.names:
        window.get_by_label("Broken down by").select_option(label=column)
        for line in window.locator("#table tbody tr").all():
            value, low, high, rows = (int(text.replace(",", "")) for text in line.locator("td.n").all_text_contents())
            assert low <= value <= high, column
            assert low <= rows <= high, column
        drawn = window.locator("#bar rect.range").all()
        assert len(drawn) == made.domain[column].size
        assert min(float(band.get_attribute("width") or 0) for band in drawn) >= 3


def test_of_many_rows_the_page_has_tables(page: Page, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It answers the same about columns of a table that it holds, and says of others that it does not."""
    made = goldens.kept("aim")
    monkeypatch.setattr(explore, "CODE_BYTES", 1)
    window = shown(page, made, tmp_path)
    expect(window.get_by_text("There are too many synthetic rows (294) for this page")).to_be_visible()
    assert 30 <= compare(window, made, 60) < 60


def test_a_reader_asks_with_the_keyboard_and_gets_a_sentence(page: Page, tmp_path: Path) -> None:
    """From a bundle alone to an answer with an interval on one screen, with nothing stored and no network."""
    page.set_viewport_size({"width": 390, "height": 800})
    window = shown(page, goldens.kept("aim"), tmp_path)
    window.get_by_label("What do you want to know?").focus()
    window.keyboard.type("What share")
    window.keyboard.press("Tab")
    window.keyboard.type("age")
    for _ in range(4):  # the button to remove it, and both ends of a range
        window.keyboard.press("Tab")
    window.keyboard.press("Space")
    answered = window.locator("#answer")
    expect(answered).to_contain_text("of everybody have age “0 to 24”.")
    expect(answered).to_contain_text("with 95% confidence")
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone has to scroll sideways"


def test_warnings_and_verdict_stand_above_the_form(page: Page, tmp_path: Path) -> None:
    made = replace(goldens.kept("aim"), brands=(Brand("simulated", "These people are \u202einvented <b>."),))
    window = shown(page, made, tmp_path)
    said = window.locator("main").inner_text()
    assert said.index("Do not publish this as it is.") < said.index("These people are invented <b>.") < said.index("What do you want")


def test_names_that_mean_harm_are_text(page: Page, tmp_path: Path) -> None:
    window = shown(page, hostile(), tmp_path)
    assert PRINTABLE in window.title()
    assert window.evaluate("document.querySelectorAll('img, iframe, object').length + document.scripts.length") == 2
    window.get_by_label("What do you want to know?").select_option("table")
    window.get_by_label("First column").select_option(label=visible(HOSTILE))
    expect(window.locator("#table th").first).to_have_text(visible(HOSTILE))
    assert "\u202e" not in window.locator("main").inner_text()


def test_a_reader_breaks_a_share_down_and_looks_for_the_worst_subgroups(page: Page, tmp_path: Path) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    window = shown(page, goldens.kept("aim"), tmp_path)
    window.get_by_label("Broken down by").select_option(label="sex")
    expect(window.locator("#answer")).to_contain_text("How many people, by sex: everybody.")
    expect(window.locator("#table tbody tr")).to_have_count(3)
    expect(window.locator("#bar .range")).to_have_count(3)
    expect(window.locator("#table tbody td").last).to_have_text("measured")
    window.get_by_label("What do you want to know?").select_option("worst")
    expect(window.locator("#answer")).to_contain_text("All intervals of the subgroups hold together")
    expect(window.locator("#table tbody tr")).to_have_count(10)
    expect(window.get_by_label("Broken down by")).to_be_hidden()
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone has to scroll sideways"


@pytest.mark.parametrize("asked", ["difference", "breakdown", "worst"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(scheme: Literal["light", "dark"], asked: str, page: Page, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    window = shown(page, goldens.kept("aim"), tmp_path)
    if asked == "breakdown":
        window.get_by_label("Broken down by").select_option(label="age")
    else:
        window.get_by_label("What do you want to know?").select_option(asked)
    if asked == "difference":
        window.locator("#versus").get_by_label("Column").select_option(label="age")
    assert window.locator("#table table").count() == (asked != "difference")
    window.evaluate(AXE)
    findings = window.evaluate("axe.run()")["violations"]
    assert not findings, [finding["id"] for finding in findings]
