"""A raw table of a few people, as it is found: an index without a name, missing ages, fares with decimals. Every other default is kept."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import TITANIC_CODEBOOK
from dpsynth_core.vocabulary.domain import Domain
from tests.browser.conftest import (
    Server,
    decline_comparison,
    download,
    in_project,
    paste_codebook,
    press_continue,
    read_column,
    seal_and_run,
    settled,
    unfold,
    use_table,
    wait_until_done,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # whole runs in front of a real browser

TITANIC = Path(__file__).resolve().parents[3] / "shared" / "data" / "titanic.csv"
TABLES = 84
"""Triples of the 9 columns that are left without the index."""


CODEBOOK = "\n".join(line for line in TITANIC_CODEBOOK.splitlines() if not line.startswith("Embarked"))


def state_domain(page: Page) -> None:
    """Eight columns are pasted, the index is left out by its name, and one is read, which has to be justified before anything goes on."""
    paste_codebook(page, CODEBOOK)
    expect(page.get_by_text("9 of 10 columns used")).to_be_visible()
    forward = page.get_by_test_id("stBottom").get_by_role("button", name="Continue")
    expect(forward).to_be_disabled()
    read_column(page, "Embarked", "The list of passengers has been public since 1912.")
    decline_comparison(page)
    expect(forward).to_be_enabled()


def check_rows(rows: pd.DataFrame, domain: Domain) -> None:
    """Columns, types and values are the table's; ages are missing as in it; no value is outside of the domain."""
    assert list(rows.columns) == ["Pclass", "Sex", "Age", "SibSp", "Parch", "Fare", "Cabin", "Embarked", "Survived"]
    assert list(rows.columns) == list(domain.names)
    assert 900 < len(rows) < 1700  # 1,306 people; how many is as noisy as the sum of a table of some dozen cells
    assert rows[["Age", "Fare"]].dtypes.eq("float64").all()
    assert rows[["Pclass", "SibSp", "Parch", "Survived"]].stack().dropna().mod(1).eq(0).all()  # empty for "other"
    assert {"female", "male"} <= set(rows["Sex"].dropna()) <= {"female", "male", "other"}
    assert rows["Age"].isna().mean() > rows["Fare"].isna().mean()
    for attribute in domain:
        values = rows[attribute.name].dropna()
        if attribute.is_number:
            assert attribute.lower <= values.min() <= values.max() <= attribute.upper
        else:
            assert set(values) <= {*attribute.categories, "other"}


def check_release(document: dict[str, Any]) -> None:
    """The default mechanism, a certificate on every table, the domain's origin told with its reason; and better than noise."""
    assert document["spec"]["mechanism"]["name"] == "aim"
    assert document["private"] is True
    sentences = [brand["sentence"] for brand in document["brands"]]
    assert any("read from the private data" in sentence and "public since 1912" in sentence for sentence in sentences)
    assert len(document["certificate"]["marginals"]) == len(document["bounds"]) == TABLES
    assert document["certificate"]["mean_error"] < 1  # L1: answers that say nothing are about 2 away
    assert 0.9 * document["budget"]["rho"] < document["budget"]["rho_spent"] <= document["budget"]["rho"]


@pytest.mark.skipif(not TITANIC.exists(), reason="the table is not part of this project")
def test_titanic_from_the_raw_file_to_rows_with_every_default(page: Page, server: Server) -> None:
    in_project(page, server, "Titanic")
    use_table(page, TITANIC, 10, "Passengers of the Titanic")
    state_domain(page)
    press_continue(page, "Workload")
    page.get_by_text("Tables of three columns", exact=True).click()
    settled(page)
    expect(page.get_by_text(f"{TABLES} tables, ").first).to_be_visible()
    press_continue(page, "Budget")
    press_continue(page, "Mechanism")
    seal_and_run(page)
    wait_until_done(page)

    page.get_by_role("link", name="See the results").click()
    expect(page.get_by_text("The domain was read from the private data").first).to_be_visible()
    expect(page.get_by_text("May this be published?").first).to_be_visible()
    unfold(page, "Every table")
    expect(page.get_by_text(re.compile(f"of the {TABLES} tables can be trusted|any of the {TABLES} tables")).first).to_be_visible()
    page.get_by_text("Downloads", exact=True).click()
    bundle = zipfile.ZipFile(io.BytesIO(download(page, "bundle")))
    document = json.loads(bundle.read("release.json"))
    check_release(document)
    check_rows(pd.read_csv(io.BytesIO(download(page, "csv"))), Domain.from_json(document["spec"]["domain"]))
