"""Combinations that cannot occur, stated and ticked in a real browser."""

from __future__ import annotations

import json
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import finished_run
from tests.browser.conftest import Server, choose, choose_in, in_project, settled, simulated

pytestmark = pytest.mark.browser


def test_what_is_ticked_survives_a_reload_and_what_is_said_is_kept_in_every_row(
    page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_project(page, server, "Impossible", "domain", simulated(workload={"kind": "all", "k": 1}))
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
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download the domain").click()
    page.keyboard.press("Escape")
    (rule,) = json.loads(Path(taken.value.path()).read_text())["impossible"]
    assert sorted(rule["columns"]) == ["employment", "marital_status"]
    assert len(rule["cells"]) == 1
    page.get_by_role("button", name="Delete").last.click()
    expect(page.get_by_text("never goes with")).to_have_count(0)

    page.get_by_text("Say it in a sentence").click()
    settled(page)
    for column, side, value in (("sex", "If", "female"), ("employment", "then", "employed")):
        choose(page, side, column)
        choose_in(page, page.get_by_placeholder("Choose values").first, value)
        page.keyboard.press("Escape")
        settled(page)
    page.get_by_role("button", name="Add rule").click()
    expect(page.get_by_text("never goes with").first).to_be_visible()
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    made = runs.release(LOCAL_OWNER, finished_run(parse_qs(urlsplit(page.url).query)["project"][0]).id)
    assert made.codes is not None
    sex, employment = (np.asarray(made.codes[:, made.domain.names.index(name)]) for name in ("sex", "employment"))
    female, employed = (made.domain[name].cell_labels().index(label) for name, label in (("sex", "female"), ("employment", "employed")))
    both = [(sex == female).sum(), (employment == employed).sum()]
    assert min(both) > 5_000  # independent columns would put thousands of rows there
    assert not ((sex == female) & (employment == employed)).any()
