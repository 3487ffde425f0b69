"""The wall on the Results page: a click on a picture opens its column, two with Shift their pair; a phone shows two pictures in a row."""

from __future__ import annotations

import re

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.app.demo_project import COLUMNS, finished_run, hostile_project
from tests.browser.conftest import Server, cut_on_a_phone, fits, opened, settled

pytestmark = pytest.mark.browser

HOSTILE = ("<script>alert(1)</script>", "**bold** :smile: $x$", "=HYPERLINK(1)")


def wall(page: Page) -> Locator:
    drawing = page.locator("svg.marks", has_text="columns look odd?")
    expect(drawing).to_have_count(1)
    return drawing


def name_of(drawing: Locator, column: str) -> Locator:
    """The name of a column on its picture, which is a place of it that can be clicked."""
    return drawing.locator(".mark-text text").filter(has_text=re.compile(f"^{re.escape(column)}$"))


def test_a_click_opens_a_column_and_two_with_shift_their_pair(page: Page, server: Server, released: str) -> None:
    opened(page, server, f"/results?project={released}")
    name_of(wall(page), "region").click()
    expect(page.locator("svg.marks", has_text="How many people are there by “region”?")).to_have_count(1)
    assert "view=columns" in page.url
    page.go_back()
    settled(page)
    drawing = wall(page)
    for column in ("sex", "health"):
        name_of(drawing, column).click(modifiers=["Shift"])
        settled(page)
    expect(page.get_by_role("combobox", name="Down")).to_have_value("sex")
    expect(page.get_by_role("combobox", name="Across")).to_have_value("health")


def test_pictures_stand_beside_each_other_as_the_window_has_room(page: Page, server: Server, released: str) -> None:
    opened(page, server, f"/results?project={released}")

    def rows() -> int:
        tops = [name_of(wall(page), column).bounding_box() for column in COLUMNS]
        return len({round(box["y"]) for box in tops if box})

    assert rows() == 1
    assert cut_on_a_phone(page) == []
    assert fits(page, 390)
    assert rows() == 2


def test_names_on_pictures_are_text(page: Page, server: Server) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        place = hostile_project(HOSTILE)
        assert finished_run(place).state == "done"
    opened(page, server, f"/results?project={place}")
    for name in HOSTILE:
        expect(name_of(wall(page), name)).to_have_count(1)
