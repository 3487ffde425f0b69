"""What the page Trade-offs holds when it is looked at. For `tests/browser/test_accessibility.py`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from playwright.sync_api import Page, expect

from dpsynth_core.extensions.tradeoffs import sweep_form, sweeps
from dpsynth_core.store.home import LOCAL_OWNER
from tests.browser.conftest import choose_in

NOTES = {"tradeoffs": {"rows": 200, "mechanisms": ["independent", "gaussian"], "epsilons": [1.0, 2.0], "repeats": 1}}


def begin(place: str, fields: Mapping[str, Any]) -> Callable[[], bool]:
    """Start a sweep in the project, and return whether it has ended."""
    sweep = sweeps.submit(LOCAL_OWNER, place, sweep_form.sweep_of(fields, "Trial"))
    return lambda: not sweeps.get(LOCAL_OWNER, sweep).active


def release_beside(page: Page) -> None:
    """A finished release is chosen beside the curves."""
    choose_in(page, page.get_by_role("combobox", name="Finished releases beside it"))
    page.mouse.move(0, 0)
    expect(page.get_by_text("Diamond with a name").first).to_be_visible()


ACTS = {"tradeoffs": [release_beside]}
