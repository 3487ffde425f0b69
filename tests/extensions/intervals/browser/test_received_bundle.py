"""From a bundle that somebody received to a table of coefficients, without a ledger, a project or the table of people."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import dpsynth_core as dps
from tests.browser.conftest import LONG_MS, Server, opened, settled, unfold
from tests.bundle.invented_people import COLUMNS, people

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole run, a check of the bundle, and a process of its own for the analysis


def test_a_received_bundle_gives_a_table_of_coefficients(
    page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "publisher"))
    release = dps.plan(people(1), COLUMNS, epsilon=8, tables=2).run(progress=False)
    release.save(tmp_path / "received.zip")
    opened(page, server, "/verify")
    page.locator("input[type=file]").first.set_input_files(tmp_path / "received.zip")
    expect(page.get_by_text("This bundle is consistent")).to_be_visible(timeout=LONG_MS)
    settled(page)
    unfold(page, "Standard errors of analyses")
    field = page.get_by_label("Analysis", exact=True)
    field.fill("income ~ age + sex")
    field.press("Enter")
    settled(page)
    page.get_by_role("button", name="Analyse").click()
    settled(page)
    expect(page.get_by_test_id("stDataFrame")).to_be_visible(timeout=LONG_MS)
    expect(page.get_by_text("The intervals are of noise and of sampling.")).to_be_visible()
    if folder := os.environ.get("PICTURES"):
        page.get_by_text("Standard errors of analyses").scroll_into_view_if_needed()
        page.screenshot(path=str(Path(folder) / "received.png"), full_page=True)
