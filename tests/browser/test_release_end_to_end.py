"""A release in a real browser, from the file to the downloaded rows: what a new user does, and what they do wrong meanwhile."""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import sys
import time
import urllib.request
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from dpsynth_core import demo
from dpsynth_core.domain import Domain, load_domain

pytestmark = pytest.mark.browser

ROOT = Path(__file__).resolve().parents[2]
ADULT = ROOT.parent / "shared" / "data" / "adult.csv"
ADULT_DOMAIN = Path(__file__).with_name("adult_domain.json")
CHROMIUM = ["--no-sandbox", "--disable-gpu", "--disable-background-networking"]
LONG = 180_000  # ms; a run on a machine that other tests keep busy


@pytest.fixture
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A freshly started server with an empty home; nothing else uses its port."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    command = [sys.executable, "-m", "streamlit", "run", "app.py", "--server.port", str(port), "--server.address", "127.0.0.1"]
    home = tmp_path_factory.mktemp("home")
    server = subprocess.Popen(
        command, cwd=ROOT, env={**os.environ, "DPSYNTH_HOME": str(home)}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(f"http://127.0.0.1:{port}/_stcore/health")
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait(20)


def wait_for(url: str, seconds: float = 60) -> None:
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        try:
            with urllib.request.urlopen(url, timeout=1):
                return
        except OSError:
            time.sleep(0.2)
    raise TimeoutError(url)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with sync_playwright() as play:
        running = play.chromium.launch(executable_path=os.environ.get("CHROMIUM", "/usr/bin/chromium"), args=CHROMIUM)
        yield running
        running.close()


@pytest.fixture
def page(browser: Browser, address: str) -> Iterator[Page]:
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    opened.goto(address)
    yield opened
    context.close()


def go_on(page: Page) -> None:
    button = page.get_by_role("button", name="Continue")
    expect(button).to_be_enabled(timeout=60_000)
    button.click()


def at(page: Page, title: str) -> None:
    expect(page.get_by_role("heading", name=title, exact=True)).to_be_visible(timeout=60_000)


def plan_with_demo(page: Page, per_table: str = "pairs") -> None:
    """From the first page to the Mechanism page with the simulated people."""
    page.get_by_text("Try the simulated demo").click()
    page.get_by_role("button", name="Use the simulated demo").click()
    go_on(page)
    at(page, "Domain")
    go_on(page)
    at(page, "Workload")
    page.get_by_text(per_table, exact=True).click()
    go_on(page)
    at(page, "Budget")
    go_on(page)
    at(page, "Mechanism")


def seal_and_run(page: Page) -> None:
    page.get_by_role("button", name="Seal the plan and run it").click()
    page.get_by_role("button", name="Spend ε 1 and run").click()
    expect(page.get_by_text("Under way").first).to_be_visible(timeout=60_000)


def wait_until_done(page: Page) -> None:
    expect(page.get_by_role("link", name="See the results")).to_be_visible(timeout=LONG)


def download(page: Page, what: str, place: Path) -> Path:
    """Take one of the offered files."""
    with page.expect_download(timeout=60_000) as taken:
        page.locator(f".st-key-offer_{what}").get_by_role("button").click()
    path = place / taken.value.suggested_filename
    taken.value.save_as(path)
    return path


def check_rows(path: Path, domain: Domain, dtypes: dict[str, str]) -> None:
    """The CSV opens in pandas with the domain's columns, in order, their types, and no label but theirs."""
    rows = pd.read_csv(path)
    assert list(rows.columns) == list(domain.names)
    assert len(rows) > 1000
    for attribute in domain:
        values = rows[attribute.name]
        assert attribute.missing or not values.isna().any()
        if attribute.is_number:
            assert pd.api.types.is_numeric_dtype(values), attribute.name
            assert values.min() >= attribute.lower
            assert values.max() <= attribute.upper
        else:
            assert set(values.dropna()) <= set(attribute.categories), attribute.name
    for name, kind in dtypes.items():
        assert rows[name].dtype.kind == kind, name


@pytest.mark.skipif(not ADULT.exists(), reason="the UCI Adult table is not part of this project")
def test_adult_from_upload_to_rows(page: Page, tmp_path: Path) -> None:
    page.locator("input[type=file]").first.set_input_files(ADULT)
    expect(page.get_by_text("15 columns")).to_be_visible(timeout=60_000)
    population = page.get_by_label("Name of the population")
    population.fill("Adults of 1994")
    population.press("Tab")
    go_on(page)
    at(page, "Domain")
    page.get_by_role("button", name="Load a codebook").click()
    page.locator("input[type=file]").first.set_input_files(ADULT_DOMAIN)
    expect(page.get_by_text("15 of 15 columns used")).to_be_visible()
    go_on(page)
    at(page, "Workload")
    page.get_by_text("pairs", exact=True).click()
    expect(page.get_by_text("105", exact=True).first).to_be_visible()
    go_on(page)
    at(page, "Budget")
    go_on(page)
    at(page, "Mechanism")
    seal_and_run(page)

    page.reload()  # in the middle of the run
    at(page, "Mechanism")
    expect(page.get_by_text("Adults of 1994").first).to_be_visible()
    wait_until_done(page)
    page.get_by_role("link", name="See the results").click()
    at(page, "Results")
    expect(page.get_by_text("The synthetic rows follow")).to_be_visible(timeout=60_000)
    page.get_by_text("Downloads", exact=True).click()
    path = download(page, "csv", tmp_path)
    check_rows(path, load_domain(ADULT_DOMAIN), {"age": "i", "fnlwgt": "i", "hours-per-week": "i", "capital-gain": "i"})
    high = pd.read_csv(path)["income"].eq(">50K").mean()
    assert high == pytest.approx(0.2408, abs=0.02)  # the true share; noise of about 100 of 32,561 people moves it by less than 1 %


def test_demo_from_one_click_to_rows_with_reload_and_second_tab(page: Page, tmp_path: Path) -> None:
    plan_with_demo(page, "triples")
    seal_and_run(page)
    expect(page.get_by_text("How much of the budget is used?").first).to_be_visible(timeout=60_000)

    second = page.context.new_page()  # another tab sees the same run
    second.goto(page.url)
    at(second, "Mechanism")
    expect(second.get_by_text(re.compile("Under way|Done")).first).to_be_visible(timeout=60_000)
    page.reload()
    at(page, "Mechanism")
    for tab in (page, second):
        wait_until_done(tab)

    page.get_by_role("link", name="See the results").click()
    at(page, "Results")
    page.get_by_text("Downloads", exact=True).click()
    people = demo.demo_domain()
    check_rows(download(page, "csv", tmp_path), people, {"age": "i", "household_size": "i"})
    bundle = zipfile.ZipFile(download(page, "bundle", tmp_path))
    assert {"synthetic.csv", "release.json", "report.html", "DATA_CARD.md", "spec.json", "marginals/index.csv"} <= set(bundle.namelist())
    document = json.loads(bundle.read("release.json"))
    assert document["private"] is True
    assert document["budget"]["rho_spent"] <= document["budget"]["rho"]


def test_a_cancelled_run_stays_charged_and_says_so(page: Page) -> None:
    plan_with_demo(page, "triples")
    seal_and_run(page)
    expect(page.get_by_text("charge is final")).to_be_visible(timeout=60_000)
    page.get_by_role("button", name="Cancel").click()
    expect(page.get_by_text("whole budget stays charged")).to_be_visible()
    page.get_by_role("button", name="Stop the run").click()
    expect(page.get_by_text(re.compile(r"Cancelled after .*ε 1 .* is charged"))).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Ledger").first.click()
    at(page, "Ledger")
    expect(page.get_by_text("is whole")).to_be_visible()
    page.get_by_role("link", name="6. Results").click()
    expect(page.get_by_text("This step opens when")).to_be_visible()
