"""Rows of a person in order in a real browser: from one file, or two, and codebooks to a bundle that is consistent."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import Hand, bundle_of, lock_and_run
from tests.browser.conftest import Server, choose, in_project, settled
from tests.extensions.sequences.stays import GAP, MOST, PERSON, STAY, domain, files

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole release in front of a real browser
PATIENTS = 20_000
"""So many that the release may be published whatever the noise: a bundle is offered at first sight only then."""


def test_from_one_file_to_a_consistent_bundle(page: Page, server: Server, tmp_path: Path) -> None:
    files(tmp_path, PATIENTS)
    (tmp_path / "whole.json").write_text(json.dumps(domain(*PERSON, *STAY, GAP)))  # the rule of WHOLE is not what the table says
    in_project(page, server, "stays")
    hand = Hand(page, tmp_path)
    hand.choose_file(tmp_path / "stays.csv")
    hand.type("Name of the population", "Patients of 2024")
    hand.type("About how many people?", f"{PATIENTS:,}")
    expect(page.get_by_text("belong together")).to_have_count(0)
    hand.text("A person may have several rows")
    choose(page, "Column that tells people apart", "patient")
    hand.type("Most rows per person", str(MOST))
    hand.text("Rows of one person belong together, in an order")
    choose(page, "In the order of", "admitted")
    pictures(page, "data")
    hand.go_on("Domain")
    hand.text("Add the time since the row before as a column")
    hand.type("Name of this column", "days_before")
    hand.button("Load a codebook")
    hand.choose_file(tmp_path / "whole.json")
    hand.button("Take sex, born")
    expect(page.get_by_text("5 of 7 columns used")).to_be_visible()
    hand.button("Compare them now")
    expect(page.get_by_text("Every value has a cell of its own.")).to_be_visible()
    pictures(page, "domain")
    hand.go_on("Workload")
    hand.sees("A row and the row before")
    pictures(page, "workload")
    hand.go_on("Budget")
    pictures(page, "budget")
    hand.go_on("Mechanism")
    hand.sees("This is the only mechanism for rows of a person in order.")
    pictures(page, "mechanism")
    lock_and_run(hand)
    hand.sees("What follows what?")
    if os.environ.get("PICTURES"):
        page.get_by_text("What follows what?").first.scroll_into_view_if_needed()
    pictures(page, "results")
    with zipfile.ZipFile(bundle_of(hand)) as bundle:
        whole = pd.read_csv(bundle.open("rows-in-order.csv"))
    assert list(whole.columns) == ["patient", "sex", "born", "diagnosis", "alive", "days_before"]
    assert whole["patient"].is_monotonic_increasing
    assert whole.groupby("patient").size().max() <= MOST
    pictures(page, "downloads")
    hand.button("Check it")
    hand.sees("This bundle is consistent")
    pictures(page, "verify")


def test_from_two_files_to_a_consistent_bundle(page: Page, server: Server, tmp_path: Path) -> None:
    files(tmp_path, PATIENTS)
    in_project(page, server, "two files")
    hand = Hand(page, tmp_path)
    hand.choose_file(tmp_path / "persons.csv")
    hand.click(page.locator("summary").filter(has_text="no second table"))
    hand.choose_file(tmp_path / "rows.csv")
    expect(page.get_by_text("A person here is a row of the first table")).to_be_visible()
    hand.type("Members of each, at most", str(MOST))
    hand.text("Rows of one person belong together, in an order")
    choose(page, "In the order of", "admitted")
    hand.type("Name of the population", "Patients in two files")
    hand.type("About how many people?", f"{PATIENTS:,}")
    hand.go_on("Domain")
    hand.text("Add the time since the row before as a column")
    hand.type("Name of this column", "days_before")
    for book in ("persons", "rows"):
        hand.button("Load a codebook")
        hand.choose_file(tmp_path / f"{book}.json")
    hand.button("Compare them now")
    expect(page.get_by_text("Every value has a cell of its own.")).to_be_visible()
    hand.go_on("Workload", "Budget", "Mechanism")
    lock_and_run(hand)
    with zipfile.ZipFile(bundle_of(hand)) as bundle:
        persons, rows = (pd.read_csv(bundle.open(name)) for name in ("synthetic.csv", "members.csv"))
    assert rows["patient"].is_monotonic_increasing
    assert rows["patient"].isin(persons["patient"]).all()
    hand.button("Check it")
    hand.sees("This bundle is consistent")


def pictures(page: Page, name: str) -> None:
    """Pictures of the whole page in light and dark, where somebody asks for them."""
    if folder := os.environ.get("PICTURES"):
        page.set_viewport_size({"width": 1280, "height": 2400})
        for scheme in ("dark", "light"):
            page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
            settled(page)
            page.wait_for_timeout(1500)
            page.screenshot(path=Path(folder) / f"{name}-{scheme}.png")
        page.set_viewport_size({"width": 1280, "height": 720})
        settled(page)
