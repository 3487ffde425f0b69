"""Names, values, labels, populations and projects that are markup stay text in Chromium: on every page, and in every file of a bundle."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Dialog, Page, expect

from dpsynth_core.store import projects, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import steps
from tests.app.demo_project import draft, finished_run
from tests.browser.conftest import LONG_MS, Server, opened, settled
from tests.bundle import pack

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # every page, over a release of its own

IMAGE = "<img id=hurt src=//evil.invalid/a onerror=alert(1)>"
SCRIPT = "</script></style></textarea></title><script id=hurt>alert(2)</script>"
LINK = "[go](javascript:alert(3)) ![x](//evil.invalid/b) <javascript:alert(4)>"
EXPRESSION = "'+alert(5)+' ${alert(6)} {{constructor.constructor('alert(7)')()}} datum['x']"
DRAWING = "\"'></text></svg><svg id=hurt onload=alert(8)><animate onbegin=alert(9) attributeName=x>"
TEXTS = (IMAGE, SCRIPT, LINK, EXPRESSION, DRAWING)
POPULATION, PROJECT, ABOUT = f"people {IMAGE}", f"project {DRAWING}", f"about {SCRIPT}"
VIEWS = ("tables", "columns", "pairs", "rows", "downloads", "about")

_HURT = """() => [...document.querySelectorAll('*')].filter((one) => one.id === 'hurt' || [...one.attributes].some((attribute) =>
    /^on[a-z]+$/i.test(attribute.name)
    || (/(href|src|srcdoc|action|data)$/i.test(attribute.name) && /javascript:|evil\\.invalid/i.test(attribute.value))
)).map((one) => one.outerHTML.slice(0, 200))"""

_UNFOLD = "() => document.querySelectorAll('summary').forEach((one) => one.click())"


@pytest.fixture(scope="module")
def marked(server: Server) -> Iterator[tuple[str, bytes]]:
    """A project with two finished runs, all of whose words are markup, and the bundle of the first."""
    labels = [f"label {text}" for text in TEXTS]
    listed = {"kind": "categorical", "other": False, "missing": True, "categories": list(TEXTS), "labels": labels}
    domain = {"version": 1, "attributes": [{"name": name, "label": f"what {name} is", **listed} for name in TEXTS]}
    fields = draft(domain=domain, population=POPULATION, domain_justification=ABOUT)
    fields["wizard"] |= {"columns": list(TEXTS), "source": "upload", "label": IMAGE}
    table = pd.DataFrame({name: [*TEXTS[at:], *TEXTS[:at]] * 200 for at, name in enumerate(TEXTS)})
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        place = projects.create(LOCAL_OWNER, PROJECT, fields).id
        path = projects.upload(LOCAL_OWNER, place, "people.csv", io.BytesIO(table.to_csv(index=False).encode()))
        projects.save(LOCAL_OWNER, place, fields | {"data": {"path": str(path), "kind": "csv"}})
        first, _ = (finished_run(place, PROJECT) for _ in range(2))
        assert first.state == "done"
        yield place, pack.pack(runs.release(LOCAL_OWNER, first.id))


@pytest.fixture
def asked(page: Page) -> list[str]:
    """The hosts beside ours that a page asks for something."""
    elsewhere: list[str] = []
    page.on("request", lambda request: elsewhere.append(request.url) if "evil.invalid" in request.url else None)
    return elsewhere


def test_what_runs_is_seen(page: Page, asked: list[str]) -> None:
    """Without this, no finding below would mean anything. Tests fail when a dialog opens in their window; this is another."""
    window, said = page.context.new_page(), []

    def noted(dialog: Dialog) -> None:
        said.append(dialog.message)
        dialog.dismiss()

    window.on("dialog", noted)
    for text in (IMAGE, DRAWING):
        window.set_content(f"<p>{text}</p>")
        window.wait_for_timeout(200)
        assert window.evaluate(_HURT), text
    assert {"1", "8"} <= set(said)
    assert not asked


@pytest.mark.parametrize("name", [step.name for step in (*steps.STEPS, *steps.ALWAYS)])
def test_on_a_page_markup_is_text(page: Page, server: Server, marked: tuple[str, bytes], asked: list[str], name: str) -> None:
    place, bundle = marked
    for view in VIEWS if name == "results" else ("",):
        opened(page, server, f"/{name}?project={place}" + (f"&view={view}" if view else ""))
        page.evaluate(_UNFOLD)
        if name == "verify":
            page.locator("input[type=file]").first.set_input_files({"name": "release.zip", "mimeType": "application/zip", "buffer": bundle})
            expect(page.get_by_text("This bundle is consistent")).to_be_visible(timeout=LONG_MS)
        settled(page)
        assert page.evaluate(_HURT) == [], view
    assert "onload=alert(8)" in page.get_by_role("combobox", name="Project").input_value(), "or another project is open"
    assert asked == []


def test_in_every_file_of_a_bundle_markup_is_text(page: Page, marked: tuple[str, bytes], asked: list[str], tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(marked[1])) as archive:
        archive.extractall(tmp_path)
    files = sorted(path for path in tmp_path.rglob("*") if path.suffix in (".html", ".svg", ".xml", ".md", ".json"))
    assert {"report.html", "explore.html"} <= {path.name for path in files}
    for path in files:
        page.goto(path.as_uri())
        page.evaluate(_UNFOLD)
        assert page.evaluate(_HURT) == [], path.name
    page.goto((tmp_path / "explore.html").as_uri())
    for question in page.get_by_label("What do you want to know?").locator("option").all():
        page.get_by_label("What do you want to know?").select_option(question.get_attribute("value"))
        for choice in page.locator("select:visible").all()[1:]:
            choice.select_option(index=choice.locator("option").count() - 1)
        for box in page.locator("input[type=checkbox]:visible").all()[:2]:
            box.check()
        assert page.evaluate(_HURT) == []
    expect(page.get_by_text(IMAGE).first).to_be_attached()
    assert asked == []
