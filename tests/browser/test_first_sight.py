"""What a person meets at first sight of each page of a release is no more than was decided (`benchmarks/first_sight.py`)."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import Page

from benchmarks.first_sight import MOST, PAGES, SCREENS, sums, walk
from benchmarks.journeys import Hand
from tests.browser.conftest import Server, opened

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # a whole release in front of a real browser


def test_six_pages_show_no_more_than_was_decided(page: Page, start_server: Callable[..., Server], tmp_path: Path) -> None:
    opened(page, start_server())  # a server of its own: a first release, before the ledger knows any population
    seen = dict(walk(Hand(page, tmp_path)))
    page.set_viewport_size({"width": 1280, "height": 720})
    assert set(PAGES) < set(seen)
    total = sums(seen)
    assert all(total[measure] <= most for measure, most in MOST.items()), (total, seen)
    assert seen["Results"].screens <= SCREENS
    assert all(seen[one].screens <= 1 for one in PAGES if one != "Results"), seen
