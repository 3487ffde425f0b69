"""A release in a real browser, from the file to the downloaded rows: what a new user does, and what happens to the run meanwhile."""

from __future__ import annotations

import io
import json
import re
import zipfile
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from playwright.sync_api import Page, Route, expect

from dpsynth_core.sources import demo
from dpsynth_core.vocabulary.codebook import load_domain
from dpsynth_core.vocabulary.domain import Domain
from tests.app.demo_project import finished_run, hostile_project, project
from tests.browser.conftest import (
    LONG_MS,
    Server,
    cut_on_a_phone,
    decline_comparison,
    download,
    fill,
    go_to,
    in_project,
    new_project,
    opened,
    press_continue,
    seal_and_run,
    settled,
    simulated,
    unfold,
    use_demo,
    use_table,
    wait_until_done,
)

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # whole runs in front of a real browser

ADULT = Path(__file__).resolve().parents[3] / "shared" / "data" / "adult.csv"
ADULT_DOMAIN = Path(__file__).with_name("adult_domain.json")
HOSTILE = ("<img src=x onerror=alert(1)>", "**bold** :smile:", "=1+1")


def go_to_mechanism(page: Page, purpose: str) -> None:
    """From a finished Domain page through Workload and Budget."""
    press_continue(page, "Workload")
    page.get_by_text(purpose, exact=True).click()
    settled(page)
    press_continue(page, "Budget")
    press_continue(page, "Mechanism")


def check_rows(csv: bytes, domain: Domain) -> pd.DataFrame:
    """The CSV opens in pandas with the domain's columns, in order, with their types, bounds and labels."""
    rows = pd.read_csv(io.BytesIO(csv))
    assert list(rows.columns) == list(domain.names)
    assert len(rows) > 1000
    for attribute in domain:
        values = rows[attribute.name]
        empty = attribute.missing or (attribute.other and attribute.is_number)
        assert empty or not values.isna().any()
        if attribute.kind == "integer":
            assert values.dtype.kind in ("if" if empty else "i"), attribute.name
            assert values.dropna().mod(1).eq(0).all()
            assert attribute.lower <= values.min() <= values.max() <= attribute.upper
        else:
            assert set(values.dropna()) <= set(attribute.categories), attribute.name
    return rows


def check_quality(page: Page) -> None:
    """The headline, the tables to trust, and the map of pairs, whose click shows the pair."""
    expect(page.get_by_text("May this be published?").first).to_be_visible()
    expect(page.get_by_text("On average over the 66 tables asked for").first).to_be_visible()
    unfold(page, "Every table")
    expect(page.get_by_text(re.compile(r"(All|of the) 66 tables can be trusted")).first).to_be_visible()
    fill(page, "Good enough up to (%)", "100")
    expect(page.get_by_text("All 66 tables can be trusted").first).to_be_visible()
    for title in ("Which of the 12 columns look odd?", "How far off is each table, beside", "Would a simpler way have done better?"):
        expect(page.locator("svg", has_text=title).first).to_be_visible()

    page.get_by_text("Pairs", exact=True).first.click()
    settled(page)
    cells = page.get_by_test_id("stVegaLiteChart").first.locator("path[aria-roledescription='rect mark']")
    expect(cells).to_have_count(12 * 12)
    cells.and_(page.locator("[aria-label*='Column: sex; With: income']")).click()
    for label, column in (("Down", "sex"), ("Across", "income")):
        expect(page.get_by_role("combobox", name=re.compile(label))).to_have_value(column)


def check_errors(document: dict[str, Any], errors: pd.DataFrame) -> None:
    """A certificate of every table, and a bound of each that was known before it."""
    certificate = document["certificate"]
    assert len(certificate["marginals"]) == len(document["bounds"]) == len(errors) == 66
    assert 0 < certificate["mean_error"] < certificate["mean_bound95"] < 0.2
    assert certificate["rho"] == pytest.approx(0.05 * document["budget"]["rho"], rel=1e-3)
    assert {bound["support"] for bound in document["bounds"]} == {"supported", "unsupported"}
    assert errors["share_at_most_95"].median() < errors["bound_share_95"].median()  # what the certificate is for


@pytest.mark.skipif(not ADULT.exists(), reason="the UCI Adult table is not part of this project")
def test_adult_from_upload_to_rows(page: Page, server: Server) -> None:
    new_project(opened(page, server), "Adult")
    use_table(page, ADULT, 15, "Adults of 1994")
    page.get_by_role("button", name="Load a codebook").click()
    page.locator("input[type=file]").first.set_input_files(ADULT_DOMAIN)
    expect(page.get_by_text("15 of 15 columns used")).to_be_visible()
    settled(page)
    decline_comparison(page)
    go_to_mechanism(page, "Tables of two columns")
    seal_and_run(page)
    expect(page.get_by_text("How much of the budget is used?").first).to_be_visible(timeout=LONG_MS)

    page.reload()  # in the middle of the run
    expect(page.get_by_role("heading", level=1)).to_have_text("Mechanism")
    expect(page.get_by_text("Adults of 1994").first).to_be_visible()
    wait_until_done(page)
    page.get_by_role("link", name="See the results").click()
    expect(page.get_by_text("the synthetic rows put").first).to_be_visible()
    page.get_by_text("Downloads", exact=True).click()
    rows = check_rows(download(page, "csv"), load_domain(ADULT_DOMAIN))
    assert rows["income"].eq(">50K").mean() == pytest.approx(0.2408, abs=0.02)  # the true share; noise moves it by less than 1 %


def test_demo_from_one_click_to_rows_with_reload_and_second_tab(page: Page, server: Server) -> None:
    new_project(opened(page, server), "Demo")
    use_demo(page)
    go_to_mechanism(page, "Tables of two columns")
    seal_and_run(page)
    second = page.context.new_page()  # another tab shows the same run
    second.goto(page.url)
    expect(second.get_by_text(re.compile("Under way|Waiting for its turn|Done")).first).to_be_visible()
    page.reload()
    for tab in (page, second):
        wait_until_done(tab)

    page.get_by_role("link", name="See the results").click()
    check_quality(page)
    page.get_by_text("Downloads", exact=True).click()
    check_rows(download(page, "csv"), demo.demo_domain())
    packed = download(page, "bundle")
    bundle = zipfile.ZipFile(io.BytesIO(packed))
    assert {"synthetic.csv", "release.json", "report.html", "DATA_CARD.md", "spec.json", "errors.csv"} <= set(bundle.namelist())
    document = json.loads(bundle.read("release.json"))
    assert document["private"] is True
    assert 0 < document["budget"]["rho_spent"] <= document["budget"]["rho"]
    check_errors(document, pd.read_csv(io.BytesIO(bundle.read("errors.csv"))))

    go_to(page, "Verify")
    page.locator("input[type=file]").first.set_input_files({"name": "release.zip", "mimeType": "application/zip", "buffer": packed})
    expect(page.get_by_text("This bundle is consistent")).to_be_visible(timeout=LONG_MS)
    page.get_by_text(re.compile(r"checks, all right")).click()
    expect(page.get_by_text("66 measured errors, their bounds and their mean follow from each other")).to_be_visible()
    forged = packed[:5000] + bytes([packed[5000] ^ 1]) + packed[5001:]
    page.locator("input[type=file]").first.set_input_files({"name": "forged.zip", "mimeType": "application/zip", "buffer": forged})
    expect(page.get_by_text("not a whole ZIP file")).to_be_visible(timeout=LONG_MS)


def test_chart_images_are_made_in_the_browser_without_any_network(page: Page, server: Server, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    place = project()
    assert finished_run(place).state == "done"
    opened(page, server, f"/results?project={place}")
    elsewhere: list[str] = []

    def stop(route: Route) -> None:
        elsewhere.append(route.request.url)
        route.abort()

    page.context.route(lambda url: not url.startswith((server.url, "blob:", "data:")), stop)
    page.get_by_text("Pairs", exact=True).first.click()
    settled(page)
    chart = page.get_by_test_id("stVegaLiteChart").first
    expect(chart.locator("svg").first).to_be_visible()
    chart.hover()
    with page.expect_download() as taken:
        page.get_by_role("button", name="Download as PNG").first.click()
    content = Path(taken.value.path()).read_bytes()
    assert content.startswith(b"\x89PNG")
    assert len(content) > 5000
    assert elsewhere == []


def test_a_cancelled_run_stays_charged_and_says_so(page: Page, server: Server) -> None:
    in_project(page, server, "Cancelled", "mechanism", simulated(workload={"kind": "all", "k": 3}))
    seal_and_run(page)
    expect(page.get_by_text("charge is final")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("whole budget stays charged")).to_be_visible()
    page.get_by_role("button", name="Stop the run").click()
    expect(page.get_by_text(re.compile(r"Cancelled\. .*ε 1 .*is charged"))).to_be_visible(timeout=LONG_MS)
    go_to(page, "Ledger")
    expect(page.get_by_text("complete and unaltered")).to_be_visible()
    go_to(page, "Results")
    expect(page.get_by_text("This step opens when")).to_be_visible()


def test_results_draw_hostile_names_as_text_and_true_values_without_a_way_out(
    page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    place = hostile_project(HOSTILE)
    assert finished_run(place).state == "done"
    opened(page, server, f"/results?project={place}")
    for view in ("Columns", "Pairs", "Rows", "About this run", "Tables"):
        page.get_by_text(view, exact=True).first.click()
        settled(page)
        assert page.locator("img[src=x]").count() == 0
        assert page.locator("strong", has_text="bold").count() == 0
    unfold(page, "Every table")
    chart = page.get_by_test_id("stVegaLiteChart").filter(has_text="How far off is each table")
    expect(chart.locator("svg")).to_contain_text(HOSTILE[0][:20])
    chart.hover()
    expect(page.get_by_role("button", name="Download as PNG").last).to_be_visible()

    page.get_by_text("Show true values").click()
    page.get_by_role("button", name="Show them").click()  # once: later looks are not asked about
    settled(page)
    expect(chart.locator("svg")).to_contain_text("CURATOR-ONLY · NOT PRIVATE")
    chart.hover()
    for way_out in ("Show data", "Download as PNG", "Fullscreen"):
        expect(page.locator("[class*=st-key-curator_chart]").get_by_role("button", name=way_out)).to_have_count(0)
    page.set_viewport_size({"width": 390, "height": 800})
    for view in ("Columns", "Tables"):
        page.get_by_text(view, exact=True).first.click()
        settled(page)
        if view == "Tables":  # its fold is closed again, and true values are not shown until they are asked for again
            unfold(page, "Every table")
            page.get_by_text("Show true values").click()
            settled(page)
        expect(page.locator("[class*=st-key-curator_chart] svg.marks").first).to_contain_text("CURATOR-ONLY · NOT PRIVATE")
        assert cut_on_a_phone(page) == [], view
