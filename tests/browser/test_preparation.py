"""The preparation pages in a real browser: nothing is lost on reload, hostile text stays text, real rows stay on the screen."""

from __future__ import annotations

import json
import re
from itertools import pairwise
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from dpsynth_core.web.shell import brand
from tests.browser.conftest import (
    Server,
    decline_comparison,
    fill,
    fits,
    in_project,
    new_project,
    opened,
    press_continue,
    read_column,
    settled,
    simulated,
    unfold,
)

pytestmark = pytest.mark.browser

PEOPLE = "id,age,sex,eye\n" + "".join(f"{i},{20 + i % 60},{'fm'[i % 2]},{('blue', 'brown', 'green')[i % 3]}\n" for i in range(300))
HOSTILE = [
    "<script>alert('x')</script>",
    "<img src=x onerror=alert('y')>",
    '=HYPERLINK("http://evil.example","x")',
    "$E=mc^2$",
    ":red[danger] :smile: :material/lock:",
    "[link](http://evil.example) **bold**",
    "http://evil.example/x",
]


def upload(page: Page, folder: Path, name: str, content: str | bytes) -> None:
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    page.locator("input[type=file]").first.set_input_files(path)
    settled(page)


def type_into_cell(page: Page, x: int, y: int, cell: str, text: str) -> None:
    """Replace what a cell of the first grid holds. x, y: a point in it; cell: its column and row, as the grid numbers them.

    The grid is a canvas: it selects a cell and opens its editor some time after the click and the key, and keys that come before that go
    to the grid. So every step waits for what it needs.
    """
    grid = page.get_by_test_id("stDataFrame").first
    grid.click(position={"x": x, "y": y})
    expect(grid.locator(f"#glide-cell-{cell}")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Enter")
    editor = page.locator("textarea.gdg-input")
    editor.fill(text)
    editor.press("Enter")
    expect(editor).to_have_count(0)


def main(page: Page) -> Locator:
    return page.get_by_test_id("stMain")


def test_a_reload_loses_nothing_on_any_page(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Reload")
    upload(page, tmp_path, "people.csv", PEOPLE)
    fill(page, "Name of the population", "People of Springfield")
    unfold(page, "More")
    page.get_by_text("Whether a person's record was replaced").click()
    settled(page)
    page.reload()
    settled(page)
    expect(page.get_by_text("people.csv")).to_be_visible()
    expect(page.get_by_label("Name of the population", exact=True)).to_have_value("People of Springfield")
    unfold(page, "More")
    expect(page.get_by_role("radio", name="Whether a person's record was replaced")).to_be_checked()

    press_continue(page, "Domain")
    page.get_by_role("button", name="Load a codebook").click()
    codebook = tmp_path / "codebook.csv"
    codebook.write_text("column,value\nage,0..99\nsex,f\nsex,m\neye,blue\neye,brown\neye,*\n")
    page.locator("input[type=file]").first.set_input_files(codebook)
    decline_comparison(page)
    forward = page.get_by_test_id("stBottom").get_by_role("button", name="Continue")
    expect(forward).to_be_enabled()
    page.reload()
    expect(forward).to_be_enabled()
    settled(page)

    press_continue(page, "Workload")
    page.get_by_text("How one column depends").click()
    settled(page)
    page.reload()
    expect(page.get_by_text("Which column is to be explained?")).to_be_visible()
    settled(page)

    press_continue(page, "Budget")
    fill(page, "ε (epsilon)", "0.7")
    expect(page.get_by_text("53%")).to_be_visible()
    page.reload()
    expect(page.get_by_label("ε (epsilon)", exact=True)).to_have_value("0.7")
    settled(page)
    press_continue(page, "Mechanism")


def test_hostile_text_shows_as_itself_everywhere(page: Page, server: Server, tmp_path: Path) -> None:
    requests: list[str] = []
    page.on("request", lambda request: requests.append(request.url))
    opened(page, server)
    new_project(page, HOSTILE[0])
    quoted = ['"' + text.replace('"', '""') + '"' for text in HOSTILE]
    lines = [quoted, *([list(reversed(quoted)), quoted[3:] + quoted[:3]] * 40)]
    upload(page, tmp_path, "a $x$ :red[y] `z`.csv", "\n".join(",".join(line) for line in lines))
    expect(page.get_by_text("a $x$ :red[y] `z`.csv")).to_be_visible()
    fill(page, "Name of the population", HOSTILE[4])
    unfold(page, "Look at the records")
    page.get_by_text("Show the first rows").click()
    settled(page)
    press_continue(page, "Domain")
    still_open = page.get_by_test_id("stBottom")
    for name in HOSTILE[:3]:
        expect(still_open.get_by_text(name, exact=False)).to_be_visible()
    read_column(page, HOSTILE[0], "These people are invented.")
    expect(page.locator(".cells")).to_contain_text(HOSTILE[3])
    page.get_by_role("button", name="Learn what I do not know").click()
    page.get_by_role("button", name="Learn them with the release").click()
    settled(page)
    decline_comparison(page)
    press_continue(page, "Workload")
    press_continue(page, "Budget")
    unfold(page, "δ")
    expect(page.get_by_text("The largest table,")).to_be_visible()
    settled(page)
    inside = main(page)
    shown = [text.replace("\u2060", "") for text in inside.locator("code").all_text_contents()]
    assert HOSTILE[4] in shown
    assert inside.locator("img[src='x'], .katex, a[href*='evil']").count() == 0
    ours = brand.script().removeprefix("<script>").removesuffix("</script>")
    assert {text.strip() for text in inside.locator("script").all_text_contents()} <= {ours.strip()}
    assert not [url for url in requests if "evil.example" in url or url.endswith("/x")]


def test_what_is_said_of_a_hostile_column_shows_its_name_as_it_is(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Errors")
    name = HOSTILE[4]
    upload(page, tmp_path, "twice.csv", f'"{name}","{name}"\n1,2\n3,4\n')
    alert = page.get_by_role("alert").first
    expect(alert).to_contain_text("_2'. If the first line is a record")
    assert ":red[danger]" in (alert.text_content() or "").replace("\u2060", "")
    assert ":smile:" in (alert.text_content() or "").replace("\u2060", "")


def test_real_rows_are_watermarked_and_cannot_be_exported(page: Page, server: Server, tmp_path: Path) -> None:
    in_project(page, server, "Rows")
    upload(page, tmp_path, "people.csv", PEOPLE)
    assert page.get_by_test_id("stDataFrame").count() == 0
    unfold(page, "Look at the records")
    page.get_by_text("Show the first rows").click()
    table = page.get_by_test_id("stDataFrame").first
    expect(table).to_be_visible()
    mark = page.locator("[class*=st-key-zone_curator]").first.evaluate("e => getComputedStyle(e, '::after').backgroundImage")
    assert "CURATOR-ONLY" in mark
    expect(page.get_by_text("Curator-only").first).to_be_visible()
    table.hover()
    assert page.get_by_role("button", name=re.compile("download", re.I)).count() == 0


def test_the_watermark_of_compared_columns_is_behind_their_text_and_headings_show_that_they_fold(
    page: Page, server: Server, tmp_path: Path
) -> None:
    in_project(page, server, "Compared")
    upload(page, tmp_path, "people.csv", PEOPLE)
    fill(page, "Name of the population", "People compared")
    press_continue(page, "Domain")
    page.get_by_role("button", name="Load a codebook").click()
    codebook = tmp_path / "codebook.csv"
    codebook.write_text("column,value\nage,30..99\nsex,f\nsex,m\neye,blue\neye,brown\n")
    page.locator("input[type=file]").first.set_input_files(codebook)
    settled(page)
    page.get_by_role("button", name="Compare them now").click()
    for part in ("list", "fit"):
        marked = page.locator(f".st-key-zone_curator_{part}")
        expect(marked).to_be_visible()
        look = marked.evaluate("e => (s => [s.zIndex, s.backgroundImage])(getComputedStyle(e, '::after'))")
        assert look[0] == "-1"
        assert "CURATOR-ONLY" in look[1]
    for arrow in page.get_by_test_id("stNavSectionHeader").locator("> :last-child").all():
        assert arrow.evaluate("e => getComputedStyle(e).visibility") == "visible"


def test_the_domain_is_edited_in_the_table_and_downloaded(page: Page, server: Server) -> None:
    in_project(page, server, "Edit", "domain", simulated())
    expect(page.get_by_text("96 cells").first).to_be_visible()
    page.get_by_role("button", name="More", exact=True).click()
    page.get_by_text("As a table").click()
    settled(page)
    page.keyboard.press("Escape")
    type_into_cell(page, x=730, y=50, cell="7-0", text="8")  # the width of the groups of the first row
    expect(page.get_by_text("90 cells").first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="More", exact=True).click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download the domain").click()
    domain = json.loads(Path(taken.value.path()).read_text())
    age = {"name": "age", "kind": "integer", "lower": 16, "upper": 95, "bins": 10, "other": False, "missing": False}
    assert domain["attributes"][0] == age
    page.reload()
    expect(page.get_by_text("90 cells").first).to_be_visible()


CUT_FIGURES = """() => [...document.querySelectorAll("[data-testid=stMetricLabel] *")]
    .filter((part) => part.clientWidth && part.scrollWidth > part.clientWidth + 1).map((part) => part.textContent)"""


def test_no_page_scrolls_sideways_or_cuts_a_figure(page: Page, server: Server) -> None:
    in_project(page, server, "Width", "data", simulated())
    for shown, following in pairwise(("Data", "Domain", "Workload", "Budget", "Mechanism", None)):
        for width in (390, 1280):
            page.set_viewport_size({"width": width, "height": 720})
            assert fits(settled(page), width), shown
            names = ("Continue",) if shown == "Data" else ("Back", "Continue")  # nothing comes before the first page
            buttons = [page.get_by_test_id("stBottom").get_by_role("button", name=name).bounding_box() for name in names]
            assert len({box["y"] for box in buttons if box}) == 1, f"Back and Continue of {shown} are not on one line"
            assert page.evaluate(CUT_FIGURES) == [], shown
        if following:
            press_continue(page, following)


def test_light_and_dark_follow_the_browser(page: Page, server: Server) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        page.emulate_media(color_scheme=scheme)  # type: ignore[arg-type]
        opened(page, server)
        grounds.append(page.evaluate("getComputedStyle(document.querySelector('.stApp')).backgroundColor"))
    assert grounds == ["rgb(255, 255, 255)", "rgb(16, 21, 28)"]
