"""Every page, light and dark, without a serious finding of axe-core; and the report, which has to stand alone."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.claims.criteria.registry import KINDS
from dpsynth_core.sources import demo
from dpsynth_core.store import dispatch, runs
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import steps
from tests.additions import added, listed
from tests.app.demo_project import draft, finished_run, hostile_project, project
from tests.app.test_linked_pages import linked
from tests.browser.conftest import LONG_MS, Server, cut_on_a_phone, fits, go_to, opened, settled, unfold
from tests.bundle import pack
from tests.patience import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # every page in both colour schemes

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text(encoding="utf-8")
COLOURS = {"type": "rule", "values": ["color-contrast", "link-in-text-block"]}
"""The rules about colours that axe-core runs unless told otherwise."""
LOOKS = 20
FILLING = added("browser.filled_pages")
VIEWS = ("Pairs", "Downloads", "About this run")


@pytest.fixture(scope="module")
def done(server: Server) -> Iterator[str]:
    """A project whose every step is open, with two finished runs and what extensions have on their pages."""
    names = list(demo.demo_domain().names)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        fields = draft(domain=demo.demo_domain().to_json())
        fields["wizard"] |= {"columns": names}
        for module in FILLING:
            fields["wizard"] |= module.NOTES
        place = project(**fields)
        has_ended = [module.begin(place, fields) for module in FILLING]
        assert [finished_run(place).state for _ in range(2)] == ["done", "done"]
        wait_until(lambda: all(ended() for ended in has_ended), dispatch.pump)
        yield place


DRAWN = "() => [...document.querySelectorAll('[data-testid=stVegaLiteChart]')].every(chart => chart.querySelector('canvas, svg'))"
"""Charts are drawn after the script has run."""


def findings(page: Page) -> list[str]:
    """What axe-core calls serious or critical, with the first place of each. The dark scheme differs in nothing but colours, so it is
    asked about those alone."""
    return [*_lasting(page, "light", {}), *_lasting(page, "dark", {"runOnly": COLOURS})]


def _lasting(page: Page, scheme: Literal["light", "dark"], only: dict[str, Any]) -> list[str]:
    """What is still found when the page has been drawn again: while the script runs, after a change of colours say, it is drawn dimmed."""
    page.emulate_media(color_scheme=scheme)
    for _ in range(LOOKS):
        settled(page) if page.get_by_test_id("stApp").count() else page.wait_for_timeout(100)
        page.evaluate(AXE)
        result: dict[str, Any] = page.evaluate("only => axe.run(document, {resultTypes: ['violations'], ...only})", only)
        serious = [one for one in result["violations"] if one["impact"] in ("serious", "critical")]
        if not serious:
            return []
        page.wait_for_timeout(1000)
    return [f"{scheme}: {one['id']} in {len(one['nodes'])} places, first {one['nodes'][0]['html'][:200]}" for one in serious]


def copy_dialog(page: Page) -> None:
    page.get_by_role("button", name="Copy", exact=True).press("Enter")
    expect(page.get_by_role("dialog").get_by_text("Whom is the new table about?")).to_be_visible()


def unfolded(title: str, page: Page) -> None:
    """What stands one click deeper."""
    unfold(page, title)
    page.mouse.move(0, 0)


def view(name: str, page: Page) -> None:
    """Another part of the results."""
    page.get_by_text(name, exact=True).first.click()
    settled(page)
    page.mouse.move(0, 0)  # off the charts: buttons that fade in over them are pale for a moment


ACTS: Mapping[str, Sequence[Callable[[Page], None]]] = {
    "workload": [copy_dialog],
    "data": [partial(unfolded, "More")],
    "budget": [partial(unfolded, "Row checks"), partial(unfolded, "δ")],
    "mechanism": [partial(unfolded, "Parameters")],
    "results": [partial(unfolded, "Every table"), *(partial(view, name) for name in VIEWS)],
    **{page: acts for module in FILLING for page, acts in module.ACTS.items()},
}
"""What is looked at on a page besides what it opens with."""


def test_no_page_has_a_serious_finding(page: Page, server: Server, done: str) -> None:
    """One window goes through all of them, as people do."""
    opened(page, server, f"/?project={done}")
    for step in (*steps.STEPS, *steps.ALWAYS):
        go_to(page, step.title)
        assert page.get_by_text("This step opens when").count() == 0
        for act in (settled, *ACTS.get(step.name, ())):
            act(page)
            page.wait_for_function(DRAWN)
            assert findings(page) == [], (step.name, act)
        assert cut_on_a_phone(page) == [], step.name
        assert fits(page, 390), f"a phone has to scroll {step.name} sideways"
        page.keyboard.press("Escape")
        page.set_viewport_size({"width": 1280, "height": 720})


def test_pages_of_two_linked_tables_have_no_serious_finding(
    page: Page, server: Server, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    place = linked(tmp_path)
    assert finished_run(place).state == "done"
    for step in ("data", "domain", "workload", "budget", "results"):
        opened(page, server, f"/{step}?project={place}")
        page.wait_for_function(DRAWN)
        assert findings(page) == [], step
        assert cut_on_a_phone(page) == [], step
        assert fits(page, 390), f"a phone has to scroll {step} sideways"
        page.set_viewport_size({"width": 1280, "height": 720})


def test_models_beside_those_of_real_rows_have_no_serious_finding(page: Page, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    place = hostile_project(("a", "b", "c"), models=[{"column": "a"}])  # few records: trained in a moment
    assert finished_run(place).state == "done"
    opened(page, server, f"/results?project={place}")
    page.get_by_role("button", name="Train on the real rows").press("Enter")
    expect(page.locator("[class*=st-key-curator_chart] svg.marks").first).to_be_visible(timeout=LONG_MS)
    page.wait_for_function(DRAWN)
    assert findings(page) == []


CONDITIONS = (
    {"kind": "tables", "limit": 0.1},
    {"kind": "subgroup", "where": {"sex": "male"}, "limit": 0.2},
    {"kind": "ranges", "column": "age", "limit": 0.02},
    {"kind": "share", "of": {"sex": "female"}, "among": {"region": "north"}, "tolerance": 0.02},
    {"kind": "mean", "column": "age", "among": {"sex": "female"}, "against": {"sex": "male"}, "tolerance": 1.0},
    *listed("CRITERIA"),
    {"kind": "model", "column": "sex", "at_least": 0.5},
    {"kind": "model-gain", "column": "health", "above_guess": 0.02},
)


def test_no_condition_of_the_budget_has_a_serious_finding(page: Page, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every kind, reached by the arrow keys; light and dark in turn, as the fields of the kinds are much the same."""
    assert [one["kind"] for one in CONDITIONS] == list(KINDS)
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    fields = draft(domain=demo.demo_domain().to_json(), criteria=[dict(one) for one in CONDITIONS])
    fields["wizard"] |= {"columns": list(demo.demo_domain().names)}
    place = project(**fields)
    opened(page, server, f"/budget?project={place}")
    conditions = page.get_by_role("radiogroup", name="Criteria", exact=True).get_by_role("radio")
    conditions.first.focus()
    for number in range(len(CONDITIONS)):
        expect(conditions.nth(number)).to_be_checked()
        page.wait_for_function(DRAWN)
        assert _lasting(page, "dark" if number % 2 else "light", {}) == [], CONDITIONS[number]["kind"]
        conditions.nth(number).press("ArrowDown")
        settled(page)
    page.set_viewport_size({"width": 390, "height": 800})
    assert fits(settled(page), 390), "a phone has to scroll sideways"


def test_the_report_has_no_serious_finding_and_asks_for_nothing(page: Page, done: str, tmp_path: Path) -> None:
    with zipfile.ZipFile(io.BytesIO(pack.pack(runs.release(LOCAL_OWNER, runs.list(LOCAL_OWNER, done)[0].id)))) as archive:
        (tmp_path / "report.html").write_bytes(archive.read("report.html"))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto((tmp_path / "report.html").as_uri())
    assert findings(page) == []
    assert asked == [(tmp_path / "report.html").as_uri()]
    for width in (1280, 390):
        page.set_viewport_size({"width": width, "height": 800})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    assert page.locator("figure svg").count() == 3
    assert page.locator(".wall svg").count() == len(demo.demo_domain().names)
