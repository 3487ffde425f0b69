"""Two linked tables in a real browser: from two files and two codebooks to a bundle that is consistent and holds both."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import Hand, bundle_of, lock_and_run
from tests.browser.conftest import Server, in_project
from tests.homes import MOST, PEOPLE, tables

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole release in front of a real browser
HOUSEHOLDS = 5_000
"""So many that a release at epsilon 1 shows that its tables are good enough, whatever its noise."""
INTERACTIONS = 20
"""From the first page to a bundle that was checked; one table with a codebook takes fourteen of them."""


def test_from_two_files_to_a_consistent_bundle(page: Page, server: Server, tmp_path: Path) -> None:
    homes, people = tables(tmp_path, HOUSEHOLDS)
    books = {"homes": {"region": 2}, "people": PEOPLE}
    for name, book in books.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(book), encoding="utf-8")
    in_project(page, server, "homes")
    hand = Hand(page, tmp_path)
    hand.choose_file(homes)
    hand.click(page.locator("summary").filter(has_text="no second table"))
    hand.choose_file(people)
    expect(page.get_by_text("A person here is a row of the first table")).to_be_visible()
    hand.type("Members of each, at most", str(MOST))
    hand.type("Name of the population", "Homes of 2026")
    hand.type("About how many people?", "2,000")
    hand.go_on("Domain")
    for name in books:
        hand.button("Load a codebook")
        hand.choose_file(tmp_path / f"{name}.json")
    expect(page.get_by_text("3 of 4 columns used")).to_be_visible()
    hand.button("Compare them now")
    expect(page.get_by_text("Every value has a cell of its own.")).to_be_visible()
    hand.go_on("Workload")
    page.reload()
    hand.sees("Within")
    hand.go_on("Budget", "Mechanism")
    hand.sees("This is the only mechanism for two linked tables.")
    lock_and_run(hand)
    hand.sees("Which kinds of tables are further off?")
    with zipfile.ZipFile(bundle_of(hand)) as bundle:
        rows, members = (pd.read_csv(bundle.open(name)) for name in ("synthetic.csv", "members.csv"))
    assert members["id"].isin(rows["id"]).all()
    assert members.groupby("id").size().max() <= MOST
    hand.button("Check it")
    hand.sees("This bundle is consistent")
    assert hand.interactions <= INTERACTIONS
