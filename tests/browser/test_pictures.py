"""Charts can be taken away as pictures, drawn in the browser as they are on the screen and sent nowhere; curator-only ones cannot."""

from __future__ import annotations

import xml.etree.ElementTree as ElementTree
from base64 import b64encode
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from tests.app.demo_project import finished_run, project
from tests.browser.conftest import Server, choose, cut_on_a_phone, opened, settled, unfold

pytestmark = pytest.mark.browser

SVG = "{http://www.w3.org/2000/svg}"
CHARTS = 3
"""On the first view of the Results page."""
GROUND = {"light": "rgb(255, 255, 255)", "dark": "rgb(16, 21, 28)"}


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_chart_is_saved_as_the_drawing_on_the_screen(page: Page, server: Server, released: str, scheme: str) -> None:
    page.emulate_media(color_scheme="dark" if scheme == "dark" else "light")
    opened(page, server, f"/results?project={released}")
    unfold(page, "Every table")
    expect(page.get_by_test_id("stVegaLiteChart").locator("svg.marks")).to_have_count(CHARTS)
    offers = page.get_by_role("button", name="Download as SVG", include_hidden=True)
    expect(offers).to_have_count(CHARTS)
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    chart = page.locator(".stElementContainer", has=page.locator("svg", has_text="How far off is each table?"))
    with page.expect_download() as taken:
        chart.locator(offers).press("Enter")
    assert taken.value.suggested_filename == "how-far-off-is-each-table.svg"
    assert [url for url in asked if not url.startswith("blob:")] == []
    drawing = ElementTree.fromstring(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert drawing.tag == f"{SVG}svg"
    assert drawing.find(f"{SVG}rect").get("fill") == GROUND[scheme]  # type: ignore[union-attr]
    assert "Released: differentially private." in " ".join(drawing.itertext())
    assert not [node for node in drawing.iter() if node.tag.endswith(("script", "image", "foreignObject"))]


def test_a_curator_only_chart_is_not_offered(page: Page, server: Server, released: str) -> None:
    opened(page, server, f"/results?project={released}")
    unfold(page, "Every table")
    page.get_by_text("Show true values (curator-only)").click()
    settled(page)
    guarded = page.locator('[class*="st-key-curator_chart"]')
    expect(guarded.locator("svg.marks").first).to_be_visible()
    assert guarded.locator('[data-testid="stElementToolbar"]').count() > 0
    expect(guarded.locator(".save-as-svg")).to_have_count(0)


def test_errors_bounds_and_baselines_are_drawn_and_no_phone_cuts_them(page: Page, server: Server) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        place = project(mechanism={"name": "mst", "settings": {}})
        assert finished_run(place).state == "done"
    opened(page, server, f"/results?project={place}")
    unfold(page, "Every table")
    views = page.locator(".st-key-results_picture")
    asked = {
        "Bound against error": ["How near are AIM's bounds", "AIM's bound, sharpened", "measured"],
        "Against bounds and baselines": ["How far off is each table, beside", "best estimate", "AIM's bound, as printed", "Columns alone"],
    }
    for view, told in asked.items():
        views.get_by_text(view, exact=True).click()
        settled(page)
        drawing = page.locator("svg.marks", has_text=told[0])
        expect(drawing).to_have_count(1)
        for words in told:
            expect(drawing.get_by_text(words).first).to_be_visible()
    choose(page, "Sort by", "Columns alone")
    expect(page.locator("svg.marks", has_text="By: columns alone")).to_have_count(1)
    assert cut_on_a_phone(page) == []
    views.get_by_text("Bound against error", exact=True).click()
    assert cut_on_a_phone(page) == []
    views.get_by_text("Errors", exact=True).click()
    expect(page.locator("svg.marks", has_text="How far off is each table?")).to_have_count(1)


_SHADES = """async (png) => {  // how light each point of the words is, from 0 to 255
    const picture = new Image(), canvas = document.createElement("canvas"), kept = []
    picture.src = "data:image/png;base64," + png
    await picture.decode()
    canvas.width = picture.width, canvas.height = picture.height
    const pen = canvas.getContext("2d"), left = Math.round(picture.width / 3)
    pen.drawImage(picture, 0, 0)
    const points = pen.getImageData(left, 0, picture.width - left, picture.height).data
    for (let i = 0; i < points.length; i += 4) kept.push((points[i] + points[i + 1] + points[i + 2]) / 3)
    return kept
}"""


def test_the_word_mark_is_as_light_as_the_theme_is_dark(page: Page, server: Server) -> None:
    """Also where the theme is changed in the menu, of which the script hears nothing."""
    opened(page, server)
    logo, shades = page.get_by_test_id("stSidebarLogo"), []
    page.get_by_test_id("stMainMenu").get_by_role("button").click()
    for theme in ("Light", "Dark"):
        page.get_by_test_id(f"stMainMenuItem-theme-{theme}").click()
        expect(logo).to_have_css("color-scheme", theme.lower())
        shades.append(page.evaluate(_SHADES, b64encode(logo.screenshot()).decode()))
    light, dark = shades
    assert min(light) < 80 < 200 < max(light)
    assert min(dark) < 80 < 200 < max(dark)
    assert sum(light) / len(light) > 128 > sum(dark) / len(dark), "the ground is what most of it is"
