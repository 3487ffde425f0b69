"""The site of the documentation, opened from a disk."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.browser.test_accessibility import findings
from tests.docs.site import built

PAGES = ("index", "docs/tutorials/first-release", "docs/explanation/other-programs")


@pytest.mark.browser
@pytest.mark.slow  # Sphinx reads and writes every page
def test_the_site_loads_nothing_fits_a_phone_finds_words_and_is_accessible(page: Page, tmp_path: Path) -> None:
    site, _ = built(tmp_path)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    for name in PAGES:
        page.set_viewport_size({"width": 1280, "height": 720})
        page.goto((site / f"{name}.html").as_uri())
        assert findings(page) == [], name
        page.set_viewport_size({"width": 390, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= 390, name
    page.goto(f"{(site / 'search.html').as_uri()}?q=ledger")
    expect(page.locator("#search-results").get_by_role("link", name="The ledger")).to_be_visible()
    assert [url for url in asked if not url.startswith(("file:", "data:"))] == []
