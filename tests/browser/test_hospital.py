"""A hospital's export in a real browser, in four formats: every column that identifies nobody is used, and nothing of it becomes other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests import hospital
from tests.browser.conftest import Server, fill, in_project, press_continue, settled

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", sorted(hospital.EXPORTS))
def test_all_of_the_export_is_used(page: Page, server: Server, tmp_path: Path, name: str) -> None:
    codebook = tmp_path / "codebook.json"
    codebook.write_text(json.dumps(hospital.domain_of(name)), encoding="utf-8")
    in_project(page, server, name)
    page.locator("input[type=file]").first.set_input_files(hospital.EXPORTS[name](tmp_path / name))
    expect(page.get_by_text("30 columns")).to_be_visible()
    fill(page, "Name of the population", "Patients of 2023")
    page.get_by_text("A person may have several rows").click()
    settled(page)
    page.get_by_role("combobox", name="Column that tells people apart").click()
    page.get_by_role("option", name="patient").click()
    settled(page)
    fill(page, "Rows each, at most", "5")
    press_continue(page, "Domain")
    page.get_by_role("button", name="Load a codebook").click()
    page.locator("input[type=file]").first.set_input_files(codebook)
    expect(page.get_by_text("26 of 30 columns used")).to_be_visible()
    page.get_by_role("button", name="Compare them now").click()
    expect(page.get_by_text("Every value has a cell of its own.")).to_be_visible()
    press_continue(page, "Workload")
