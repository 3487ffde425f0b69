"""The report of what changed between two releases, opened from a file."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.report import change
from tests.browser.test_accessibility import AXE
from tests.golden import goldens
from tests.report.explorable import hostile

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_report_of_a_change_is_accessible_and_fits_a_phone(scheme: Literal["light", "dark"], page: Page, tmp_path: Path) -> None:
    before, after = goldens.kept("aim"), goldens.kept("gaussian")
    place = tmp_path / "changed.html"
    place.write_text(change.html(before, after, change.changed(before, after)), encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": 390, "height": 800})
    page.goto(place.as_uri())
    expect(page.get_by_role("heading", level=1)).to_have_text("What changed: golden aim to golden gaussian")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth"), "a phone has to scroll sideways"
    page.evaluate(AXE)
    findings = page.evaluate("axe.run()")["violations"]
    assert not findings, [finding["id"] for finding in findings]
    assert asked == [place.as_uri()]


def test_names_that_mean_harm_are_text_on_it(page: Page, tmp_path: Path) -> None:
    one, place = hostile(), tmp_path / "changed.html"
    place.write_text(change.html(one, one, change.changed(one, one)), encoding="utf-8")
    page.goto(place.as_uri())
    assert page.evaluate("document.querySelectorAll('img, script').length") == 0
