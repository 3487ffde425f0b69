"""Trade-offs in a real browser: from the demo over a sweep to a release, and a sweep that outlives its server."""

from __future__ import annotations

import io
import re
import signal
import zipfile
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest
from playwright.sync_api import Locator, Page, expect

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.store import processes
from dpsynth_core.store.database import reading
from dpsynth_core.store.home import LOCAL_OWNER
from tests.app.demo_project import draft, project
from tests.browser.conftest import LONG_MS, Server, choose_in, fill, go_to, in_project, opened, settled, simulated
from tests.patience import wait_until

pytestmark = [pytest.mark.browser, pytest.mark.slow]  # whole runs in front of a real browser


def toggle(page: Page, mechanism: str) -> None:
    page.get_by_test_id("stMain").get_by_role("button", name=mechanism, exact=True).click()
    settled(page)


def click_on(page: Page, point: Locator) -> None:
    """Click where the point is: what receives the click is the chart's area around the point, not its picture."""
    point.scroll_into_view_if_needed()
    box = point.bounding_box()
    assert box is not None
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    settled(page)


def download(page: Page, button: str) -> pd.DataFrame:
    with page.expect_download() as taken:
        page.get_by_role("button", name=button).click()
    return pd.read_csv(io.BytesIO(Path(taken.value.path()).read_bytes()))


def test_from_the_demo_over_a_sweep_to_a_release(page: Page, server: Server) -> None:
    in_project(page, server, "Explore", "mechanism", simulated())
    page.get_by_role("button", name="Change").click()
    page.get_by_role("link", name="Try several on simulated data first").click()
    expect(page.get_by_role("heading", level=1, name="Trade-offs")).to_be_visible()
    settled(page)

    fill(page, "Rows", "2000")
    toggle(page, "AIM")  # takes longest, and two of its trials are enough elsewhere
    toggle(page, "Gaussian answers")
    choose_in(page, page.get_by_role("combobox", name=re.compile("How strongly")), "medium")
    choose_in(page, page.get_by_role("combobox", name=re.compile("Repeats")), "1")
    page.get_by_role("button", name="Start 15 trials").click()
    expect(page.get_by_text(re.compile(r"\d+ of 15 trials · about .* left"))).to_be_visible()
    expect(page.get_by_text("15 of 15 trials")).to_be_visible(timeout=LONG_MS)
    settled(page)

    trials = download(page, "Every trial")
    assert len(trials) == 15
    assert set(trials["mechanism"]) == {"MST", "Independent", "Gaussian answers"}
    assert trials.groupby("mechanism")["mean"].apply(lambda errors: errors.iloc[0] > errors.iloc[-1]).all()  # epsilon 0.1 against 10

    points = page.get_by_test_id("stVegaLiteChart").first.locator("path[aria-roledescription='point']")
    expect(points).to_have_count(15)
    click_on(page, points.and_(page.locator("[aria-label^='ε: 0.1;'][aria-label*='Mechanism: MST']")))
    expect(page.get_by_role("combobox", name=re.compile("Mechanism"))).to_have_value("MST")
    page.get_by_role("button", name="Take MST at ε 0.1 into the plan").click()
    expect(page.get_by_role("heading", level=1, name="Mechanism")).to_be_visible()
    settled(page)

    page.get_by_role("button", name="Lock the plan and run it").click()
    page.get_by_role("button", name="Spend ε 0.1 and run").click()
    page.get_by_role("link", name="See the results").click(timeout=LONG_MS)
    settled(page)
    page.get_by_text("Downloads", exact=True).click()
    settled(page)
    with page.expect_download() as taken:
        page.locator(".st-key-offer_bundle").get_by_role("link").click()
    packed = Path(taken.value.path()).read_bytes()
    with zipfile.ZipFile(io.BytesIO(packed)) as bundle:
        assert len(pd.read_csv(io.BytesIO(bundle.read("synthetic.csv")))) > 40_000

    go_to(page, "Verify")
    page.locator("input[type=file]").first.set_input_files({"name": "release.zip", "mimeType": "application/zip", "buffer": packed})
    expect(page.get_by_text("This bundle is consistent")).to_be_visible(timeout=LONG_MS)


def test_a_sweep_goes_on_after_it_was_stopped_and_after_server_and_workers_were_killed(
    page: Page, start_server: Callable[..., Server], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("DPSYNTH_HOME", str(home))
    ready = draft()
    aim_last = ["mst", "independent", "aim"]  # its trials take longest
    ready["wizard"]["tradeoffs"] = {"rows": 2000, "strength": 0.5, "mechanisms": aim_last, "repeats": 10}
    place = project(**ready)
    server = start_server(home=home)
    opened(page, server, f"/tradeoffs?project={place}")
    page.get_by_role("button", name="Start 150 trials").click()
    expect(page.get_by_text(re.compile(r"\d+ of 150 trials"))).to_be_visible(timeout=LONG_MS)
    (sweep,) = (stored.id for stored in sweeps.list(LOCAL_OWNER, place))
    wait_until(lambda: any(point.state == "done" for point in sweeps.points(LOCAL_OWNER, sweep)))  # a fast machine is ahead of its page
    page.get_by_test_id("stMain").get_by_role("button", name="Stop").click()
    expect(page.get_by_role("button", name="Go on")).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Go on").click()
    (ended,) = re.findall(r"\d+ of 150 trials", page.get_by_text(re.compile(r"trials · about .* left")).inner_text())
    expect(page.get_by_text(re.compile(rf"^{ended}"))).to_have_count(0)  # the page goes on, too

    server.process.send_signal(signal.SIGKILL)
    server.process.wait()
    with reading() as db:
        workers = [(row["pid"], row["birth"]) for row in db.execute("SELECT * FROM workers WHERE pid IS NOT NULL")]
    for pid, birth in workers:
        processes.signal_group(pid, birth, signal.SIGKILL)
    before = {point.number: point for point in sweeps.points(LOCAL_OWNER, sweep) if point.state == "done"}
    assert 0 < len(before) < 150

    restarted = start_server(home=home)
    opened(page, restarted, f"/tradeoffs?project={place}")
    expect(page.get_by_text("150 of 150 trials")).to_be_visible(timeout=LONG_MS)
    after = sweeps.points(LOCAL_OWNER, sweep)
    assert {point.state for point in after} == {"done"}
    assert all(after[number] == point for number, point in before.items())  # same time, same single attempt
    settled(page)
    page.get_by_test_id("stMain").get_by_role("button", name="Delete").click()
    expect(page.get_by_role("button", name="Start 150 trials")).to_be_visible()
