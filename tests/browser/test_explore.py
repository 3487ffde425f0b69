"""explore.html, opened from a file: it answers as the core does, reaches no network, and takes hostile names for text."""

from __future__ import annotations

import csv
import itertools
import json
import math
import re
from collections.abc import Callable
from dataclasses import asdict, replace
from functools import partial
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core import report
from dpsynth_core.evaluation.questions.answer import Stated, answer
from dpsynth_core.evaluation.questions.breakdown import STATISTICS, Line, breakdown
from dpsynth_core.evaluation.questions.known import RANGED
from dpsynth_core.evaluation.questions.light import CLOSELY, UNKNOWN, light
from dpsynth_core.evaluation.questions.question import Question
from dpsynth_core.evaluation.questions.worst import worst
from dpsynth_core.foundation.visible import visible
from dpsynth_core.release.release import Brand, Release
from dpsynth_core.report import explore
from dpsynth_core.report.answers import PHRASES, breakdown_sentences, cells_phrase, number, rounded, sentences
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import listed
from tests.browser.conftest import opened
from tests.browser.test_accessibility import AXE
from tests.bundle.bundles import run, spec
from tests.golden import goldens
from tests.report import wizard
from tests.report.explorable import HOSTILE, PRINTABLE, as_json, hostile, of_means, questions
from tests.servers import Server

pytestmark = pytest.mark.browser

RELEASES: dict[str, Callable[[], Release]] = {
    **{name: partial(goldens.kept, name) for name in ("aim", "gaussian", *listed("GOLDEN_ROWS"))},
    "hostile": hostile,
    "means": of_means,
}


ANSWER = """const got = answer(question);
return got && [got, sentences(question, got), (got.cells.length ? got.cells : [got.stated]).map((one) => light(question, one))];"""
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
            if key == "cut":  # the page offers whole groups alone
                assert not value, where
            else:
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
        said = on_page(page, ANSWER, question)
        if said is None:
            continue
        expected = answer(known, question)
        answered += 1
        assert_alike(said[0], asdict(expected), json.dumps(as_json(question)))
        assert said[1] == sentences(made.domain, question, expected)
        assert said[2] == [light(known, question, one) for one in expected.cells or (expected.stated,)], question
    return answered


@pytest.mark.parametrize("name", RELEASES)
def test_the_page_answers_as_the_core_does(name: str, page: Page, tmp_path: Path) -> None:
    made = RELEASES[name]()
    window = shown(page, made, tmp_path)
    assert compare(window, made, 90) >= 50


def test_the_page_lights_what_is_certain_as_the_core_does(page: Page, tmp_path: Path) -> None:
    """Also where both round otherwise, as sums of fractions do that are added in another order."""
    made = RELEASES["aim"]()
    window, known, bit = shown(page, made, tmp_path), explore.knowledge(made), 2.0**-52
    differs, share = {"among": {"sex": (0,)}, "versus": {"sex": (1,)}}, Question("share", cells={"sex": (0,)})
    shares = Question("difference", cells={"work": (0,)}, **differs).checked(made.domain)
    certain = [(shares, value, 0.0, value) for value in (0.0, 1.0, -1.0, 0.4)] + [(share, value, 0.0, value) for value in (0.0, 1.0)]
    words = []
    for question, value, off, around in certain:
        for low, high in ((0.0, 0.0), (-bit, 0.0), (0.0, bit), (-bit, bit)):
            stated = Stated(value + off, around + low, around + high)
            words.append(on_page(window, f"return light(question, {json.dumps(asdict(stated))});", question))
            assert words[-1] == light(known, question, stated) == CLOSELY, (question, stated)
    for question, least in ((shares, -1.0), (share, 0.0)):
        for off in (0.0, bit, -bit):
            stated = Stated(0.5, least + off, 1.0 - off)
            said = on_page(window, f"return light(question, {json.dumps(asdict(stated))});", question)
            assert said == light(known, question, stated) == UNKNOWN


@pytest.mark.parametrize("mechanism", ["aim", *listed("WITHOUT_COUNTS")])
def test_the_page_answers_about_ranges_as_the_core_does(mechanism: str, page: Page, tmp_path: Path) -> None:
    """With noisy counts beside the largest error of a range, and without."""
    settings = {"rounds": 5, "records": 5} if mechanism == "fem" else {}
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.1, "ranges": 0.1}
    made = run(spec(workload={"kind": "ranges"}, budget=budget, mechanism={"name": mechanism, "settings": settings}))
    window, known, ranged = shown(page, made, tmp_path), explore.knowledge(made), 0
    groups: list[dict[str, tuple[int, ...]]] = [{}, {"sex": (0,)}, {"health": (1, 2)}]
    for cells, among in itertools.product([(0,), (1, 2), (2, 3, 4), (0, 2)], groups):
        age = {"age": cells}
        medians = [Question("median", among, column="age"), Question("median", age | among, column="age")]
        for question in (Question("count", age | among), Question("share", among, age), *medians):
            expected = answer(known, question)
            said = on_page(window, ANSWER, question)
            assert_alike(said[0], asdict(expected), json.dumps(as_json(question)))
            assert said[1] == sentences(made.domain, question, expected)
            ranged += expected.support == RANGED
    assert ranged == 6 + 3 + 8 + 6, "counts, shares, medians of all ages, medians of a range"


def line_texts(domain: Domain, question: Question, by: str, line: Line) -> list[str]:
    """Which cell, the answer, both ends of its interval, what the rows say if there are any, and how it is known."""
    stated = line.answer.stated
    told = (stated.value, stated.low, stated.high, *(() if line.answer.rows is None else (stated.rows,)))
    numbers = ("–" if one is None else number(domain, question, one) for one in told)
    return [visible(domain[by].cell_labels()[line.code]), *numbers, PHRASES[f"{'disagree' if stated.disagree else line.standing} line"]]


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
    expected = worst(explore.knowledge(made))
    assert bool(expected) == (name != "mwem")  # of its tables the certificate says nothing for all of them together
    said = window.evaluate("() => [worstSentences(data.worst), data.worst.map(subgroupTexts)]")
    cells = [dict(zip(one.table, ((code,) for code in one.codes), strict=True)) for one in expected]
    people = [[rounded(number, 0) for number in (one.value, one.low, one.high)] for one in expected]
    assert [line[:4] for line in said[1]] == [[cells_phrase(made.domain, c), *p] for c, p in zip(cells, people, strict=True)]
    for line, one in zip(said[1], expected, strict=True):
        shares = ["over 100%" if share > 1 else f"{rounded(100 * share, 1)}%" for share in (one.surely, one.perhaps)]
        assert line[4:] == [*shares, "measured" if one.measured else "bound"]
    assert not expected or said[1][0][0] in said[0][0]


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
    expect(window.get_by_text(f"There are too many synthetic rows ({len(made.codes)}) for this page")).to_be_visible()
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
    expect(window.locator("#answer")).to_contain_text("This counts everybody by sex.")
    expect(window.locator("#table tbody tr")).to_have_count(3)
    expect(window.locator("#bar .range")).to_have_count(3)
    expect(window.locator("#table tbody td").last).to_have_text("measured")
    window.get_by_label("What do you want to know?").select_option("worst")
    expect(window.locator("#answer")).to_contain_text("All intervals of the subgroups hold together")
    expect(window.locator("#table tbody tr")).to_have_count(10)
    expect(window.get_by_label("Broken down by")).to_be_hidden()
    assert window.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone has to scroll sideways"
    assert window.locator("#table").get_attribute("tabindex") == "0", "a table that is wider than the phone cannot be moved by keys"


@pytest.mark.parametrize("name", ["aim", "hostile"])
def test_each_question_has_an_address_that_asks_it_again(name: str, page: Page, tmp_path: Path) -> None:
    """Whatever its columns and values are called; the form that the address fills in asks the same."""
    made = RELEASES[name]()
    window, names = shown(page, made, tmp_path), made.domain.names
    for place, question in enumerate(questions(made.domain, 60, seed=20261124)):
        by = names[place % len(names)] if question.statistic in STATISTICS and place % 2 else ""
        address = on_page(window, "return addressOf(question, by);", question, by)
        read = on_page(window, "return JSON.stringify(questionAt(addressOf(question, by)));", question, by)
        assert json.loads(read) == {"question": as_json(question), "by": by}
        window.goto(f"{window.url.partition('#')[0]}#{address}")
        window.wait_for_function("(wanted) => addressOf(asked(), brokenDownBy(asked())) === wanted", arg=address)
        expect(window.locator("#lost")).to_be_hidden()


def test_back_and_forward_go_through_the_questions(page: Page, tmp_path: Path) -> None:
    window = shown(page, goldens.kept("aim"), tmp_path)
    window.get_by_label("What do you want to know?").select_option("mean")
    window.locator("#column").select_option(label="age")
    window.get_by_label("Broken down by").select_option(label="sex")
    expect(window).to_have_url(re.compile("explore.html#mean:age;by:sex$"))
    window.go_back()
    expect(window.locator("#answer .claim")).to_contain_text("The mean of age is")
    window.go_forward()
    expect(window.locator("#answer .claim")).to_have_text("This is the mean of age for everybody, by sex.")
    expect(window.get_by_label("Broken down by")).to_have_value("1")
    window.reload()
    expect(window.locator("#answer .claim")).to_have_text("This is the mean of age for everybody, by sex.")


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("mean:wealth", "there is no column “wealth”"),
        ("count;in:sex=x", "column “sex” has no value “x”"),
        ("mean:sex", "Choose a column"),
        ("table:age,sex,work,age,sex", "this page does not ask in that way"),
        ("nonsense", "it names no question of this page"),
        ("count;in:%E0%A4%A", "it is not written as an address is"),
    ],
)
def test_an_address_that_the_release_cannot_answer_is_refused_by_name(address: str, said: str, page: Page, tmp_path: Path) -> None:
    window = shown(page, goldens.kept("aim"), tmp_path)
    window.goto(f"{window.url}#{address}")
    expect(window.locator("#lost")).to_contain_text(f"The address asked what this page cannot answer: {said}.")
    expect(window.locator("#answer .claim")).to_contain_text("people in all.")
    window.get_by_label("What do you want to know?").select_option("worst")
    expect(window.locator("#lost")).to_be_hidden()


def test_an_answer_is_cited_and_copied_as_it_stands(page: Page, tmp_path: Path) -> None:
    """With a light before it, in words; as lines of CSV of which a spreadsheet runs none."""
    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    window = shown(page, hostile(), tmp_path)
    expect(window.locator("#answer .light")).to_have_text("Known closely")
    expect(window.locator("#cite")).to_contain_text("(released on 2026-01-01, NOT PRIVATE, made with predictable noise). ")
    window.goto(f"{window.url}#count;by:__proto__")
    expect(window.locator("#table .light")).to_have_count(3)
    window.get_by_role("button", name="Copy as CSV").click()
    expect(window.get_by_role("status")).to_have_text("The numbers are copied.")
    titles, *lines = csv.reader(window.evaluate("navigator.clipboard.readText()").splitlines())
    assert titles[:3] == ["__proto__", "known", "answer"]
    assert [line[-1] for line in lines] == ["count;by:__proto__"] * 3
    shown_counts = [text.replace(",", "") for text in window.locator("#table td.n:nth-child(3)").all_text_contents()]
    assert [f"{float(line[2]):.0f}" for line in lines] == shown_counts
    window.get_by_role("button", name="Copy the citation").click()
    expect(window.get_by_role("status")).to_have_text("The citation is copied.")
    assert window.evaluate("navigator.clipboard.readText()") == window.locator("#cite").text_content()
    assert window.evaluate("['=1+1', '-2 to 0', 'a\"b,c', -3.5].map(csvField)") == ["'=1+1", "'-2 to 0", '"a""b,c"', "-3.5"]


def test_where_a_browser_copies_nothing_the_text_is_there_to_copy(page: Page, tmp_path: Path) -> None:
    window = shown(page, goldens.kept("aim"), tmp_path)
    window.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(new Error('no')); }")
    window.get_by_role("button", name="Copy the citation").click()
    expect(window.get_by_label("Text to copy")).to_have_value(str(window.locator("#cite").text_content()))


@pytest.mark.parametrize("asked", ["difference", "breakdown", "worst", "table"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_page_is_accessible(scheme: Literal["light", "dark"], asked: str, page: Page, tmp_path: Path) -> None:
    page.emulate_media(color_scheme=scheme)
    window = shown(page, goldens.kept("aim"), tmp_path)
    if asked == "breakdown":
        window.get_by_label("Broken down by").select_option(label="age")
    else:
        window.get_by_label("What do you want to know?").select_option(asked)
    if asked == "table":
        window.get_by_label("First column").select_option(label="age")
    if asked == "difference":
        window.locator("#versus").get_by_label("Column").select_option(label="age")
    assert window.locator("#table table").count() == (asked != "difference")
    window.evaluate(AXE)
    findings = window.evaluate("axe.run()")["violations"]
    assert not findings, [finding["id"] for finding in findings]


@pytest.mark.slow
def test_results_open_it_as_a_page_of_no_server(page: Page, server: Server, released: str) -> None:
    """In a tab of its own, as a reader sees it: its script runs, and reaches neither the cookies nor the pages of the wizard."""
    opened(page, server, f"/results?project={released}")
    with page.context.expect_page() as popped:
        page.get_by_role("link", name="Ask a question").click()
    tab = popped.value
    expect(tab.locator("#answer .claim")).to_contain_text("people in all.")
    assert tab.evaluate("self.origin") == "null"
    tab.get_by_label("What do you want to know?").select_option("worst")
    expect(tab.locator("#answer .claim")).to_contain_text("furthest off")
    expect(tab).to_have_url(re.compile("/questions#worst$"))
