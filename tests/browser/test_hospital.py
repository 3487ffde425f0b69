"""A hospital's export in a real browser, in four formats, to its verdict: all that identifies nobody is used, and nothing becomes other."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import Hand, lock_and_run
from tests import hospital
from tests.browser.conftest import Server, choose, in_project

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole walk each, in front of a real browser
MOST = 25
"""Interactions from the first page to the verdict."""


@pytest.mark.parametrize("name", sorted(hospital.EXPORTS))
def test_all_of_the_export_is_used(page: Page, server: Server, tmp_path: Path, name: str) -> None:
    codebook = tmp_path / "codebook.json"
    codebook.write_text(json.dumps(hospital.domain_of(name)), encoding="utf-8")
    in_project(page, server, name)
    hand = Hand(page, tmp_path)
    hand.choose_file(hospital.EXPORTS[name](tmp_path / name))
    expect(page.get_by_text("30 columns")).to_be_visible()
    if name == "stays.csv":  # of an office's German program
        hand.button("Use cp1252")
    hand.type("Name of the population", "Patients of 2023")
    hand.type("About how many people?", "300")
    hand.text("A person may have several rows")
    choose(page, "Column that tells people apart", "patient")
    hand.interactions += 2
    hand.type("Most rows per person", "5")
    hand.go_on("Domain")
    hand.button("Load a codebook")
    hand.choose_file(codebook)
    expect(page.get_by_text("26 of 30 columns used")).to_be_visible()
    hand.button("Compare them now")
    expect(page.get_by_text("Every value has a cell of its own.")).to_be_visible()
    hand.go_on("Workload", "Budget")
    expect(page.get_by_text("Red:").first).to_be_visible()  # 300 people in 325 tables: it is said before anything is spent
    hand.go_on("Mechanism")
    lock_and_run(hand)
    hand.sees("May this be published?")
    assert hand.interactions <= MOST
