"""The Domain page in a real browser: few interactions describe a table, thirty columns fit, and the keyboard does what it should."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import NUMBERS, Hand
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from tests.browser.conftest import Server, choose, fill, in_project, press_continue, settled, use_table
from tests.patience import wait_until

pytestmark = pytest.mark.browser

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
MOST = 15
"""Interactions that describing Adult may take, beside reading."""


def column(hand: Hand, name: str) -> None:
    hand.click(hand.page.locator(".st-key-column_list").get_by_test_id("stRadioOption").filter(has_text=re.compile(f"{name}$")))


def codebook() -> str:
    """The two columns that a person copies from a codebook in a spreadsheet."""
    listed = json.loads(Path(__file__).with_name("adult_domain.json").read_text())["attributes"]
    lines = [f"{column}\t{bounds}" for column, bounds in NUMBERS.items()]
    return "\n".join(lines + [f"{one['name']}\t{value}" for one in listed for value in one.get("categories", ())])


def draft_of(server: Server, page: Page) -> dict[str, Any]:
    """What the project of the page has stored."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        newest = projects.list(LOCAL_OWNER)[0]
    assert newest.id in page.url
    return dict(newest.draft)


def domain_in(server: Server, page: Page) -> dict[str, Any]:
    """Its domain, by column."""
    return {one["name"]: one for one in draft_of(server, page)["domain"]["attributes"]}


def check_missing(domain: dict[str, Any]) -> None:
    """Empty values have a cell of their own in every column, and no category stands for them."""
    for name, declared in domain.items():
        assert declared.get("missing", True) is True, name
        assert not {"?", ""} & set(declared.get("categories", ())), name


@pytest.mark.skipif(not ADULT.exists(), reason="the UCI Adult table is not part of this project")
def test_adult_is_described_by_pasting_in_few_interactions(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Pasted")
    use_table(page, ADULT, 15, "Adults of 1994")
    hand = Hand(page, tmp_path)
    hand.button("Paste two columns")
    hand.type("Lines from a spreadsheet", codebook())
    hand.button("Take these values")
    hand.button("Compare them now")
    expect(page.get_by_text("Every value has a cell of its own")).to_be_visible()
    hand.go_on("Workload")
    assert hand.interactions <= MOST
    domain = domain_in(server, page)
    assert len(domain) == 15
    check_missing(domain)


@pytest.mark.skipif(not ADULT.exists(), reason="the UCI Adult table is not part of this project")
def test_adult_is_described_by_learning_in_few_interactions(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Learnt")
    use_table(page, ADULT, 15, "Adults of 1994")
    hand = Hand(page, tmp_path)
    column(hand, "fnlwgt")
    hand.text("Use it")
    for name in ("capital-gain", "capital-loss"):
        column(hand, name)
        choose(page, "Kind", "Whole number")
        hand.interactions += 2
    expect(page.get_by_text("must be shared by about").first).to_be_visible()
    hand.button("Learn them with the release")
    hand.button("Go on without")
    expect(page.get_by_text("no value of the first 1,000 records can be read as a number")).to_be_visible()
    column(hand, "income")  # its name suggests a number, and the first records show that it has none
    choose(page, "Kind", "Categories")
    hand.interactions += 2
    hand.go_on("Workload")
    assert hand.interactions <= MOST
    domain = domain_in(server, page)
    assert [name for name, one in domain.items() if not one.get("discover")] == ["age", "hours-per-week"]
    assert domain["capital-gain"]["kind"] == "integer"
    assert domain["income"]["kind"] == "categorical"
    check_missing(domain)


def test_thirty_columns_are_all_in_sight_and_the_keyboard_goes_through_them(page: Page, server: Server) -> None:
    page.set_viewport_size({"width": 1440, "height": 900})
    in_project(page, server, "Thirty")
    page.get_by_text("Plan first", exact=True).click()
    settled(page)
    names = ["age", "sex", *(f"measure_{number}" for number in range(28))]
    page.get_by_role("textbox", name="Or paste names").fill("\t".join(names))
    page.get_by_role("button", name="Plan with these columns").click()
    expect(page.get_by_text("30 columns are planned")).to_be_visible()
    fill(page, "Name of the population", "People")
    press_continue(page, "Domain")
    columns = page.locator(".st-key-column_list")
    expect(columns.get_by_role("radio")).to_have_count(30)
    assert columns.evaluate("e => e.scrollHeight <= e.clientHeight + 1 && e.clientHeight <= 700")  # 700 of 900: the rest is the frame
    page.get_by_role("button", name="29 still open").click()
    settled(page)
    expect(page.locator(".st-key-column_panel").get_by_role("heading", name="measure_0", exact=True)).to_be_visible()
    columns.get_by_role("radio").nth(2).focus()
    page.keyboard.press("ArrowDown")
    settled(page)
    panel = page.locator(".st-key-column_panel")
    expect(panel.get_by_role("heading", name="measure_1", exact=True)).to_be_visible()
    values = panel.get_by_role("textbox", name="Values, one per line")
    values.fill("1 = low\n2 = high")
    values.press("Control+Enter")
    expect(panel.locator(".cells")).to_contain_text("lowhighothermissing")
    expect(columns).to_contain_text("2 values · typed")

    page.context.grant_permissions(["clipboard-read", "clipboard-write"])
    page.set_viewport_size({"width": 1280, "height": 720})  # at which no column of the grid is wider than it has to be
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("As a table").click()
    settled(page)
    page.keyboard.press("Escape")
    grid = page.get_by_test_id("stDataFrame")
    expect(grid.locator("#glide-cell-5-0")).to_be_attached()
    grid.click(position={"x": 130 + 65 + 125 + 60 + 150 + 30, "y": 55})  # the widths of the columns before “From”, and into it
    expect(grid.locator("#glide-cell-5-0")).to_have_attribute("aria-selected", "true")
    page.evaluate("navigator.clipboard.writeText('1\\t90\\n2\\t200')")
    page.keyboard.press("Control+V")
    expect(grid.locator("#glide-cell-6-1")).to_have_text("200")
    wait_until(lambda: draft_of(server, page)["wizard"]["rows"][1].get("upper") is not None)  # the grid tells it some time later
    rows = draft_of(server, page)["wizard"]["rows"]
    assert [(row.get("lower"), row.get("upper")) for row in rows[:3]] == [("1", "90"), ("2", "200"), (None, None)]
