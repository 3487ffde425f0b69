"""Combinations that cannot occur, stated and ticked in a real browser."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, choose, in_project, settled, simulated

pytestmark = pytest.mark.browser


def test_what_is_ticked_in_the_grid_survives_a_reload_and_is_downloaded(page: Page, server: Server) -> None:
    in_project(page, server, "Impossible", "domain", simulated())
    page.get_by_text("Combinations that cannot occur").click()
    page.get_by_text("Tick it in a grid").click()
    settled(page)
    choose(page, "Down", "employment")
    choose(page, "Across", "marital_status")
    grid = page.get_by_test_id("stDataFrame").last
    grid.scroll_into_view_if_needed()
    box = grid.bounding_box()
    assert box is not None
    grid.click(position={"x": 0.4 * box["width"], "y": 52})  # a cell of the first line
    expect(grid.locator("[id^=glide-cell][aria-selected=true]")).to_have_count(1)  # keys that come before that are lost
    page.keyboard.press("Enter")
    expect(page.get_by_text("never goes with").first).to_be_visible()
    settled(page)
    page.reload()
    expect(page.get_by_text("never goes with").first).to_be_visible()
    settled(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download").click()
    (rule,) = json.loads(Path(taken.value.path()).read_text())["impossible"]
    assert sorted(rule["columns"]) == ["employment", "marital_status"]
    assert len(rule["cells"]) == 1
    page.get_by_role("button", name="Delete").last.click()
    expect(page.get_by_text("never goes with")).to_have_count(0)
