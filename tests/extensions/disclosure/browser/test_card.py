"""The card on Budget in front of a real browser: it is folded away until somebody looks for it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.extensions.disclosure.view import LABEL
from tests.browser.conftest import Server, in_project, settled, simulated, unfold

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a real browser


def test_a_question_is_asked_and_its_widths_are_shown(page: Page, server: Server) -> None:
    in_project(page, server, "Officer", "budget", simulated())
    field = page.get_by_role("textbox", name=LABEL)
    expect(field).to_be_hidden()
    unfold(page, "Row checks")
    field.fill("occupation from age, sex, region")
    field.press("Control+Enter")
    settled(page)
    expect(page.get_by_text("How many are named rightly, and how many wrongly, will be known to").first).to_be_visible()
    if folder := os.environ.get("PICTURES"):
        field.scroll_into_view_if_needed()
        page.screenshot(path=Path(folder) / "disclosure.png")
