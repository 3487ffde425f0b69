"""What happens to people between two clicks, in a real browser: two tabs, Back and Forward, no mouse, a worker that is killed."""

from __future__ import annotations

import os
import re
import signal
from urllib.parse import parse_qs, urlsplit

import pytest
from playwright.sync_api import Page, expect

from dpsynth_core.store.database import reading
from tests.browser.conftest import LONG_MS, Server, fill, in_project, opened, press_continue, seal_and_run, settled, simulated
from tests.patience import wait_until

pytestmark = pytest.mark.browser


def test_two_tabs_back_forward_and_reload_lose_nothing(page: Page, server: Server) -> None:
    in_project(page, server, "Two tabs", "workload", simulated(workload={"kind": "all", "k": 1}))
    second = page.context.new_page()
    second.goto(page.url.replace("/workload", "/data"))
    expect(second.get_by_role("heading", level=1)).to_have_text("Data")
    settled(second)
    page.get_by_text("Tables of two columns", exact=True).click()  # one tab says what is asked for, the other whom it is about
    settled(page)
    fill(second, "About how many people?", "41,000")
    press_continue(page, "Budget")
    page.go_back()
    expect(page.get_by_role("heading", level=1)).to_have_text("Workload")
    expect(page.get_by_role("radio", name=re.compile("^Tables of two columns"))).to_be_checked()
    page.go_forward()
    expect(page.get_by_role("heading", level=1)).to_have_text("Budget")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Budget")
    second.reload()
    expect(second.get_by_label("About how many people?", exact=True)).to_have_value("41,000")


def reach(page: Page, name: str, most: int = 120) -> None:
    """Press Tab until the button of this name has the focus."""
    expect(page.get_by_role("button", name=name).last).to_be_enabled()
    settled(page)
    for _ in range(most):
        if re.search(name, page.evaluate("document.activeElement.tagName == 'BUTTON' ? document.activeElement.innerText : ''")):
            return
        page.keyboard.press("Tab")
    raise AssertionError(f"no way to {name!r} by the keyboard")


def go_on(page: Page, following: str) -> None:
    reach(page, "Continue")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1)).to_have_text(following)


@pytest.mark.slow
def test_a_run_is_made_by_the_keyboard_alone(page: Page, server: Server) -> None:
    opened(page, server)
    reach(page, "New")
    page.keyboard.press("Enter")
    name = page.get_by_role("dialog").get_by_label("Name")
    expect(name).to_be_focused()
    page.keyboard.type("By keyboard")
    reach(page, "Create")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_hidden()
    reach(page, "Or try it with simulated people")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", level=1, name="Domain")).to_be_visible()
    for step in ("Workload", "Budget", "Mechanism"):
        go_on(page, step)
    reach(page, "Lock the plan and run it")
    page.keyboard.press("Enter")
    expect(page.get_by_role("dialog")).to_be_visible()
    reach(page, "Spend ε 1 and run")
    page.keyboard.press("Enter")
    expect(page.get_by_text(re.compile("Under way|Waiting for its turn")).first).to_be_visible()
    page.get_by_role("button", name="Cancel").click()  # nobody waits for it
    page.get_by_role("button", name="Stop the run").click()
    expect(page.get_by_text(re.compile(r"Cancelled\.")).first).to_be_visible(timeout=LONG_MS)


def worker_of(project: str) -> int:
    """The process that works on its run, as soon as there is one."""
    found: list[int] = []

    def began() -> bool:
        with reading() as db:
            rows = db.execute("SELECT pid FROM workers JOIN jobs ON jobs.id = job WHERE project = ? AND pid IS NOT NULL", (project,))
            found.extend(row["pid"] for row in rows)
        return bool(found)

    wait_until(began)
    return found[0]


@pytest.mark.slow
def test_a_killed_worker_is_said_to_be_lost_its_charge_stays_and_the_next_run_starts(
    page: Page, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    in_project(page, server, "Killed", "mechanism", simulated(workload={"kind": "all", "k": 3}))
    project = parse_qs(urlsplit(page.url).query)["project"][0]
    seal_and_run(page)
    expect(page.get_by_text("charge is final")).to_be_visible(timeout=LONG_MS)
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    os.kill(worker_of(project), signal.SIGKILL)
    expect(page.get_by_text(re.compile(r"Lost\. .*ε 1 .*is charged"))).to_be_visible(timeout=LONG_MS)
    seal_and_run(page)
    page.get_by_role("button", name="Cancel").click()
    page.get_by_role("button", name="Stop the run").click()
    expect(page.get_by_text(re.compile(r"Cancelled\.")).first).to_be_visible(timeout=LONG_MS)
