"""One server (free port, own DPSYNTH_HOME) and a real Chromium in front of it, both warm: starting them takes longer than most tests.

Tests share neither projects nor cookies. Chromium: the file named by CHROMIUM, else /usr/bin/chromium, else Playwright's own.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Error, Locator, Page, TimeoutError, expect, sync_playwright

from dpsynth_core.sources import demo
from dpsynth_core.store import projects
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.web.shell import document
from tests.app.demo_project import draft, finished_run, project
from tests.patience import SECONDS
from tests.servers import Server, serving

FLAGS = ("--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update", "--no-first-run")
PATIENCE_MS = 1000 * SECONDS
LONG_MS = 2 * PATIENCE_MS
"""For a whole run or sweep."""
SOON_MS, TRIES = 20_000, 5
"""For what comes at once where the machine has time: an option of a list that is open, a page in another width."""

expect.set_options(timeout=PATIENCE_MS)


@pytest.fixture(scope="package")  # not longer: while Playwright runs, nothing else in the process may run coroutines
def browser() -> Iterator[Browser]:
    named = os.environ.get("CHROMIUM") or shutil.which("chromium", path="/usr/bin")
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=named or None, args=list(FLAGS))
        yield chromium
        chromium.close()


@pytest.fixture
def start_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[..., Server]]:
    """Start a fresh server; it is stopped at the end of the test. Takes what `serving` takes; home: a new one unless given."""
    with ExitStack() as running:

        def start(*options: str, home: Path | None = None, **settings: Any) -> Server:
            place = home or tmp_path_factory.mktemp("server") / "home"
            return running.enter_context(serving(place, *options, **settings))

        yield start


@pytest.fixture(scope="package")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One server for all tests that need no fresh one."""
    with serving(tmp_path_factory.mktemp("server") / "home") as running:
        yield running


@pytest.fixture(scope="package")
def released(server: Server) -> str:
    """A project with a finished run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        place = project()
        assert finished_run(place).state == "done"
    return place


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """What the window shows when a test fails stands in its report: on a machine that nobody can look at, it is all there is."""
    report = yield
    window = getattr(item, "funcargs", {}).get("page")
    if report.when == "call" and report.failed and window is not None:
        report.sections.append(("what the window shows", _shown(window)))
    return report


def _shown(page: Page) -> str:
    try:
        state = page.locator('[data-testid="stApp"]').first.get_attribute("data-test-script-state", timeout=1000)
        return f"script: {state}\n{page.locator('body').inner_text(timeout=1000)}"
    except Error as error:
        return f"nothing: {error.message}"


@pytest.fixture(scope="package")
def profile(browser: Browser) -> BrowserContext:
    """What the windows of all tests share: the wizard's compiled scripts. Compiling them takes longer than drawing a page.

    It asks for less motion, as people can: a quarter of what Chromium computes, without a graphics card, was animation.
    """
    context = browser.new_context(viewport={"width": 1280, "height": 720}, accept_downloads=True, reduced_motion="reduce")
    context.set_default_timeout(PATIENCE_MS)
    return context


@pytest.fixture
def page(profile: BrowserContext) -> Iterator[Page]:
    """A new browser window of 1280 x 720 with nothing stored. Fails the test if anything on it tried to open a dialog."""
    window = profile.new_page()
    opened: list[str] = []
    window.on("dialog", lambda dialog: (opened.append(dialog.message), dialog.dismiss()))
    yield window
    for each in profile.pages:
        each.close()
    profile.set_storage_state({"cookies": [], "origins": []})
    profile.unroute_all()
    profile.clear_permissions()
    assert not opened, "a script from the data ran"


def settled(page: Page) -> Page:
    """Wait until the script has run and the page is drawn."""
    page.wait_for_timeout(200)
    page.wait_for_selector('[data-testid="stApp"][data-test-script-state="notRunning"]', timeout=PATIENCE_MS)
    return page


def go_to(page: Page, title: str) -> None:
    """Open a page of the sidebar. The hand leaves what it clicked last: a tooltip there may lie over the sidebar while it rests."""
    page.mouse.move(0, 0)
    page.get_by_test_id("stSidebarNavLink").filter(has_text=title).click()
    expect(page.get_by_role("heading", level=1, name=title)).to_be_visible()
    settled(page)


def fits(page: Page, width: int) -> bool:
    """Whether nothing has to be scrolled sideways in a window of this width, as soon as all is drawn anew in it."""
    try:
        page.wait_for_function(_FITS, arg=width, timeout=SOON_MS)
    except TimeoutError:
        return False
    return True


_FITS = """(width) => [document.documentElement, document.querySelector(".stMainBlockContainer")]
    .every((part) => !part || part.scrollWidth <= width)"""


def cut_on_a_phone(page: Page) -> list[str]:
    """Texts of charts that a phone cuts at a side. The window is as narrow from here on; charts are drawn anew in it a moment later."""
    page.set_viewport_size({"width": 390, "height": 800})
    end = time.monotonic() + SOON_MS / 1000
    while (texts := settled(page).evaluate(_CUT)) and time.monotonic() < end:
        pass
    return list(texts)


_CUT = """() => [...document.querySelectorAll("[data-testid=stVegaLiteChart] svg")].flatMap((drawing) => {
    const sides = drawing.getBoundingClientRect()
    return [...drawing.querySelectorAll("text")].filter((text) => {
        const box = text.getBoundingClientRect()
        return box.width && (box.left < sides.left - 2 || box.right > sides.right + 2)
    }).map((text) => text.textContent)
})"""


def opened(page: Page, server: Server, path: str = "/") -> Page:
    """The page at an address of the server, drawn."""
    page.goto(server.opening(path))
    page.wait_for_selector("h1", timeout=PATIENCE_MS)
    return settled(page)


def in_project(page: Page, server: Server, name: str, step: str = "data", fields: Mapping[str, Any] | None = None) -> Page:
    """A step of a project of the test's own, so that tests on one server do not see each other's. fields: its draft, new unless given.

    It is made in the store: how a person makes one, and what the steps before this one do, is for other tests.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(server.home))
        made = projects.create(LOCAL_OWNER, name, fields or document.new())
    return opened(page, server, f"/{step}?project={made.id}")


def simulated(**fields: Any) -> dict[str, Any]:
    """The draft of a project that takes the simulated people with all of their columns, ready to run with every default, as if AIM had been
    chosen by hand."""
    ready = draft(domain=demo.demo_domain().to_json(), mechanism=document.new()["mechanism"])
    ready["wizard"] |= {"columns": list(demo.demo_domain().names), "recommended": None}
    return ready | fields


def new_project(page: Page, name: str) -> None:
    """Make a project and open it, as a person does."""
    page.get_by_test_id("stSidebar").get_by_role("button", name="New").click()
    dialog = page.get_by_role("dialog")
    dialog.get_by_label("Name").fill(name)
    dialog.get_by_label("Name").press("Enter")
    settled(page)
    dialog.get_by_role("button", name="Create").click()
    expect(dialog).to_be_hidden()
    settled(page)


def unfold(page: Page, title: str) -> None:
    """Open what is folded away under a title with these letters."""
    page.locator("summary").filter(has_text=re.compile(re.escape(title))).first.click()
    settled(page)


def fill(page: Page, label: str, text: str) -> None:
    """Type into a field and leave it."""
    field = page.get_by_label(label, exact=True)
    field.fill(text)
    field.press("Enter")
    settled(page)


def choose(page: Page, label: str, option: str) -> None:
    """Pick an option of a select box."""
    choose_in(page, page.get_by_role("combobox", name=label, exact=True), option)


def choose_in(page: Page, box: Locator, option: str | None = None) -> None:
    """Pick an option of the list that a box opens, the first unless it is named. A list that is opened while the page is still being drawn
    closes again, and a click on a list that opened late closes it: then it is opened once more, as a person does."""
    wanted = page.get_by_role("option", name=option, exact=True).first
    expect(box).to_be_visible()
    for _ in range(TRIES):
        settled(page)
        box.click()
        with suppress(TimeoutError):
            wanted.click(timeout=SOON_MS)
            break
    else:
        wanted.click()
    settled(page)


def select_column(page: Page, column: str) -> None:
    """Select a column in the list of the Domain page."""
    page.locator(".st-key-column_list").get_by_test_id("stRadioOption").filter(has_text=re.compile(f"{re.escape(column)}$")).click()
    settled(page)


def read_column(page: Page, column: str, reason: str) -> None:
    """Read the values of a column from the data, which has to be justified before anything goes on."""
    select_column(page, column)
    choose(page, "Values from", "Read them from the data")
    page.get_by_role("button", name="Read this column all the same").click()
    expect(page.get_by_role("button", name="Read this column all the same")).to_have_count(0)
    settled(page)
    justification = page.get_by_label("Why these values give nobody away")
    justification.fill(reason)
    justification.press("Control+Enter")
    settled(page)


def paste_codebook(page: Page, lines: str) -> None:
    """Paste columns and values as from a spreadsheet."""
    page.get_by_role("button", name="Paste two columns").click()
    page.get_by_role("textbox", name="Lines from a spreadsheet").fill(lines)
    page.get_by_role("button", name="Take these values").click()
    expect(page.get_by_role("textbox", name="Lines from a spreadsheet")).to_be_hidden()
    settled(page)


def decline_comparison(page: Page) -> None:
    """Go on without a comparison, which opens Workload, and come back to Domain."""
    page.get_by_role("button", name="Go on without").click()
    expect(page.get_by_role("heading", level=1, name="Workload")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Back").click()
    expect(page.get_by_role("heading", level=1, name="Domain")).to_be_visible()
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
    """Take the simulated people as the project's table, of which the first page asks nothing more."""
    page.get_by_role("button", name="Or try it with simulated people").click()
    expect(page.get_by_role("heading", level=1, name="Domain")).to_be_visible()
    settled(page)


def seal_and_run(page: Page) -> None:
    page.get_by_role("button", name="Lock the plan and run it").click()
    page.get_by_role("button", name="Spend ε 1 and run").click()
    expect(page.get_by_text(re.compile("Under way|Waiting for its turn")).first).to_be_visible()


def wait_until_done(page: Page) -> None:
    expect(page.get_by_role("link", name="See the results")).to_be_visible(timeout=LONG_MS)


def download(page: Page, what: str) -> bytes:
    """One of the offered files."""
    if what != "bundle":
        page.get_by_text("Single files", exact=True).click()
    with page.expect_download() as taken:
        page.locator(f".st-key-offer_{what}").get_by_role("link").click()
    return Path(taken.value.path()).read_bytes()
