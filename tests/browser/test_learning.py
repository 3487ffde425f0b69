"""Learning values as a step of its own, in a real browser: asked for, charged, watched, mended and taken."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from playwright.sync_api import Page, expect

from tests.browser.conftest import Server, fill, in_project, settled, use_table
from tests.browser.test_domain import draft_of
from tests.patience import SECONDS

pytestmark = pytest.mark.browser

PEOPLE = 4_000


@pytest.fixture
def table(tmp_path: Path) -> Path:
    """A table of which a column is named like a number, and holds words."""
    rng = np.random.default_rng(2)
    amounts = rng.choice(["under 10", "10 to 20", "over 20"], PEOPLE)
    path = tmp_path / "people.csv"
    pd.DataFrame({"grade": rng.choice(list("abc"), PEOPLE), "income": amounts}).to_csv(path, index=False)
    return path


def _learn(page: Page) -> None:
    if (later := page.get_by_role("button", name="Learn what I do not know")).count():  # the first time the form stands on the page
        later.click()
    fill(page, "ε for learning", "2")
    page.get_by_role("button", name="and learn").click()


def test_values_are_learnt_first_and_what_went_wrong_is_learnt_again(page: Page, server: Server, table: Path) -> None:
    in_project(page, server, "Learn first")
    use_table(page, table, 2, "Learners")
    _learn(page)
    expect(page.get_by_text("Learnt for ε 2")).to_be_visible(timeout=1000 * SECONDS)
    page.get_by_role("button", name="Learn as categories").click()
    settled(page)
    _learn(page)
    expect(page.get_by_text("Learnt in 2 runs")).to_be_visible(timeout=1000 * SECONDS)
    learnt = {one["name"]: one for one in draft_of(server, page)["domain"]["attributes"]}
    assert learnt["grade"]["categories"] == ["a", "b", "c"]
    assert learnt["income"]["categories"] == ["10 to 20", "over 20", "under 10"]
