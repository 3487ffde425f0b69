"""A server of its own for each test file (free port, own DPSYNTH_HOME) and a real Chromium in front of it.

Chromium: the file named by CHROMIUM, else /usr/bin/chromium, else Playwright's own.
"""

from __future__ import annotations

import os
import re
import shutil
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

ROOT = Path(__file__).resolve().parents[2]
FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run")
PATIENCE_MS = 30_000
LONG_MS = 400_000  # a run, on a machine that other tests keep busy
STARTUP_SECONDS = 60

expect.set_options(timeout=PATIENCE_MS)  # 5 s are too few where other tests keep the machine busy


@dataclass(frozen=True)
class Server:
    """A running wizard. home: its DPSYNTH_HOME."""

    url: str
    home: Path


@pytest.fixture(scope="module")  # not longer: Playwright allows one at a time in a process
def browser() -> Iterator[Browser]:
    named = os.environ.get("CHROMIUM") or shutil.which("chromium", path="/usr/bin")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=named or None, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start a fresh server; it is stopped at the end of the test."""
    running: list[subprocess.Popen[bytes]] = []

    def start(*options: str, script: str = "app.py") -> Server:
        home = tmp_path_factory.mktemp("server") / "home"
        process, server = _launch(home, script, options)
        running.append(process)
        return server

    yield start
    for process in running:
        _stop(process)


@pytest.fixture
def start_process() -> Iterator[Callable[[Path], tuple[subprocess.Popen[bytes], Server]]]:
    """Start a server on a home that is given, and give its process too, so that a test may kill it and start another one there."""
    running: list[subprocess.Popen[bytes]] = []

    def start(home: Path) -> tuple[subprocess.Popen[bytes], Server]:
        process, server = _launch(home)
        running.append(process)
        return process, server

    yield start
    for process in running:
        _stop(process)


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for the tests of a file."""
    process, running = _launch(tmp_path_factory.mktemp("server") / "home")
    yield running
    _stop(process)


@pytest.fixture
def page(browser: Browser) -> Iterator[Page]:
    """A new browser window of 1280 x 720 with nothing stored. Fails the test if anything on it tried to open a dialog."""
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True)
    context.set_default_timeout(PATIENCE_MS)
    window = context.new_page()
    opened: list[str] = []
    window.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield window
    context.close()
    assert not opened, "a script from the data ran"


def settled(page: Page) -> Page:
    """Wait until the script has run and the page is drawn."""
    page.wait_for_timeout(200)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=PATIENCE_MS)
    return page


def opened(page: Page, server: Server, path: str = "/") -> Page:
    """The page at an address of the server, drawn."""
    page.goto(server.url + path)
    page.wait_for_selector("h1", timeout=PATIENCE_MS)
    return settled(page)


def new_project(page: Page, name: str) -> None:
    """Make a project and open it, so that tests on one server do not see each other's."""
    page.get_by_test_id("stSidebar").get_by_role("button", name="New").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Name").press("Enter")
    settled(page)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_be_hidden()
    settled(page)


def fill(page: Page, label: str, text: str) -> None:
    """Type into a field and leave it."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")
    settled(page)


def press_continue(page: Page, following: str) -> None:
    """Continue, and wait for the title of the following page."""
    page.get_by_test_id("stBottom").get_by_role("button", name="Continue").click()
    expect(page.get_by_role("heading", level=1, name=following)).to_be_visible()
    settled(page)


def use_table(page: Page, table: Path, columns: int, population: str) -> None:
    """Upload a project's table, name the people in it, and go on to the domain."""
    page.locator("input[type=file]").first.set_input_files(table)
    expect(page.get_by_text(f"{columns} columns")).to_be_visible()
    fill(page, "Name of the population", population)
    press_continue(page, "Domain")


def use_demo(page: Page) -> None:
    """Take the simulated people as the project's table."""
    page.get_by_text("Try the simulated demo").click()
    page.get_by_role("button", name="Use the simulated demo").click()
    expect(page.get_by_text("simulated, 12 columns")).to_be_visible()
    settled(page)


def seal_and_run(page: Page) -> None:
    page.get_by_role("button", name="Seal the plan and run it").click()
    page.get_by_role("button", name="Spend ε 1 and run").click()
    expect(page.get_by_text(re.compile("Under way|Waiting for its turn")).first).to_be_visible()


def wait_until_done(page: Page) -> None:
    expect(page.get_by_role("link", name="See the results")).to_be_visible(timeout=LONG_MS)


def download(page: Page, what: str) -> bytes:
    """One of the offered files."""
    with page.expect_download() as taken:
        page.locator(f".st-key-offer_{what}").get_by_role("button").click()
    return Path(taken.value.path()).read_bytes()


def _launch(home: Path, script: str = "app.py", options: tuple[str, ...] = ()) -> tuple[subprocess.Popen[bytes], Server]:
    port = _free_port()
    command = [sys.executable, "-m", "streamlit", "run", script, f"--server.port={port}", *options]
    process = subprocess.Popen(
        command,
        cwd=ROOT,
        env={**os.environ, "DPSYNTH_HOME": str(home), "PYTHONPATH": str(ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    server = Server(f"http://localhost:{port}", home)
    try:
        _wait(server, process)
    except BaseException:
        _stop(process)
        raise
    return process, server


def _wait(server: Server, process: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + STARTUP_SECONDS
    while time.monotonic() < until and process.poll() is None:
        try:
            with urllib.request.urlopen(f"{server.url}/_stcore/health", timeout=2) as answer:
                if re.search(rb"ok", answer.read()):
                    return
        except OSError:
            time.sleep(0.2)
    raise RuntimeError("the server did not start")


def _stop(process: subprocess.Popen[bytes]) -> None:
    process.terminate()
    try:
        process.wait(10)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
