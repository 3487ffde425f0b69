"""From a table of one's own to a light for an analysis that was named before the run."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import (
    LONG_MS,
    Server,
    decline_comparison,
    new_project,
    opened,
    paste_codebook,
    press_continue,
    seal_and_run,
    settled,
    unfold,
    use_table,
    wait_until_done,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole run in front of a real browser

CODEBOOK = "pay\t0-20\nsex\tf\nsex\tm\nschool\t8-18\n"


def table(place: Path) -> Path:
    """A table of invented people whose pay depends on sex and school; so many that noise hides no relation (R2 from 0.999 in 12 of 12)."""
    rng = np.random.default_rng(4)
    sex, school = rng.integers(0, 2, 20_000), rng.integers(8, 19, 20_000)
    pay = np.clip(rng.poisson(school / 2 + 3 * sex), 0, 20)
    lines = [f"{one},{'fm'[which]},{years}" for one, which, years in zip(pay, sex, school, strict=True)]
    place.write_text("\n".join(["pay,sex,school", *lines, ""]), encoding="utf-8")
    return place


def test_an_analysis_is_named_checked_and_passes(page: Page, server: Server, tmp_path: Path) -> None:
    new_project(opened(page, server), "Pay")
    use_table(page, table(tmp_path / "people.csv"), 3, "Employees")
    paste_codebook(page, CODEBOOK)
    decline_comparison(page)
    press_continue(page, "Workload")

    unfold(page, "Analyses")
    field = page.get_by_role("textbox", name="Analyses, one on each line")
    field.fill("pay ~ sex + scool")
    field.press("Control+Enter")
    expect(page.get_by_text("'scool' is not a column of the domain").first).to_be_visible()
    expect(page.get_by_test_id("stBottom").get_by_role("button", name="Continue")).to_be_disabled()
    settled(page)
    _picture(page, "refused")
    field = page.get_by_role("textbox", name="Analyses, one on each line")
    field.fill("pay ~ sex + school")
    field.press("Control+Enter")
    expect(page.get_by_text("needs pay × sex, pay × school, sex × school").first).to_be_visible()
    settled(page)
    _picture(page, "named")

    press_continue(page, "Budget")
    press_continue(page, "Mechanism")
    seal_and_run(page)
    wait_until_done(page)
    page.get_by_role("link", name="See the results").click()
    expect(page.get_by_role("heading", level=1, name="Results")).to_be_visible()
    settled(page)
    expect(page.locator(".stMarkdownBadge", has_text="passes").first).to_be_visible(timeout=LONG_MS)
    settled(page)
    page.get_by_text("Analyses named before the run").scroll_into_view_if_needed()
    _picture(page, "light")


def _picture(page: Page, name: str) -> None:
    """Save a picture of the window in the folder that PICTURES names, if it names one."""
    if folder := os.environ.get("PICTURES"):
        page.screenshot(path=str(Path(folder) / f"{name}.png"))
