"""Curators, from the first page to the last, with each of their interactions counted; and two people who made nothing of a release: a
privacy officer, from the finished run to a signed decision, and an analyst, from the bundle alone to an answer with its interval."""

from __future__ import annotations

import io
import re
import zipfile
from hashlib import sha256
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

from benchmarks.journeys import TASKS, Hand, bundle_of
from benchmarks.table import ADULT_FOLDER
from dpsynth_core.bundle import decision
from dpsynth_core.store import runs
from dpsynth_core.store.home import LOCAL_OWNER
from tests.browser.conftest import LONG_MS, Server, download, fits, go_to, in_project, opened, settled
from tests.browser.test_accessibility import findings
from tests.bundle import pack

pytestmark = pytest.mark.browser

MOST = {"demo": 9, "titanic": 15, "adult": 15}
"""Interactions that a whole task of `benchmarks/journeys.py` may take, from the first page on. Where one needs more, shorten the pages."""
MOST_OF_A_RUN = {"verdict": 8, "analyst": 3}
"""The same from a finished run on."""
WALKS = {task.name: task for task in TASKS}


@pytest.mark.slow
@pytest.mark.parametrize("name", MOST)
def test_a_curator_needs_no_more_interactions_than_these(page: Page, server: Server, tmp_path: Path, name: str) -> None:
    task = WALKS[name]
    if name != "demo" and not ADULT_FOLDER.exists():
        pytest.skip("the tables are not part of this project")
    in_project(page, server, name)
    hand = Hand(page, tmp_path)
    if task.needs is not None:
        task.needs(hand)
    task.run(hand)
    assert hand.interactions <= MOST[name]


def test_an_officer_and_an_analyst_need_no_more_than_these(page: Page, server: Server, released: str, tmp_path: Path) -> None:
    opened(page, server, f"/results?project={released}")
    taken = sha256(bundle_of(Hand(page, tmp_path)).read_bytes()).hexdigest()
    for name, most in MOST_OF_A_RUN.items():
        hand = Hand(page, tmp_path)
        WALKS[name].run(hand)
        assert hand.interactions <= most, name
        if name == "verdict":  # what was checked without a download is what is downloaded
            expect(page.get_by_text(taken).first).to_be_visible()


REASON = "Good enough for teaching; one person can hardly be recognised."


def test_an_officer_signs_a_verdict_in_three_screens(page: Page, server: Server, released: str) -> None:
    opened(page, server, f"/results?project={released}")  # the first screen: the verdict, and what it is about
    expect(page.get_by_text("May this be published?").first).to_be_visible()
    bundle = download(page, "bundle")

    go_to(page, "Verify")  # the second: is the bundle what it says?
    page.locator("input[type=file]").first.set_input_files({"name": "release.zip", "mimeType": "application/zip", "buffer": bundle})
    expect(page.get_by_text("This bundle is consistent")).to_be_visible(timeout=LONG_MS)
    page.get_by_role("radiogroup", name="Your decision").get_by_text("Publish", exact=True).click()
    settled(page)
    for label, text in (("Reason", REASON), ("Your name", "Ann Ross"), ("Your role", "Data protection officer")):
        field = page.get_by_label(label, exact=True)
        field.fill(text)
        field.press("Tab")
    settled(page)
    assert findings(page) == []
    page.get_by_role("button", name="Sign", exact=True).press("Enter")

    expect(page.get_by_text("Signed by Ann Ross, Data protection officer")).to_be_visible()  # the third: the decision with its code
    with page.expect_download() as taken:
        page.get_by_role("button", name="Save the decision").click()
    signed = decision.read(Path(taken.value.path()).read_text(encoding="utf-8"))
    assert (signed.bundle, signed.answer, signed.reason) == (sha256(bundle).hexdigest(), decision.PUBLISH, REASON)
    expect(page.get_by_text(signed.code)).to_be_visible()
    assert findings(page) == []

    page.get_by_text("Check a decision that was signed").click()  # as somebody else does, who has file and code
    page.locator("input[type=file]").last.set_input_files(
        {"name": taken.value.suggested_filename, "mimeType": "application/json", "buffer": decision.to_json(signed)}
    )
    expect(page.get_by_text("this does not prove the signer's name")).to_be_visible()
    code = page.get_by_label("Code that the signer gave you", exact=True)
    code.fill(signed.code)
    code.press("Tab")
    expect(page.get_by_text("This is the decision whose code you entered")).to_be_visible()
    settled(page)
    assert findings(page) == []
    page.set_viewport_size({"width": 390, "height": 800})
    assert fits(settled(page), 390)


def test_an_analyst_gets_an_answer_with_its_interval_from_the_bundle_alone(
    page: Page, server: Server, released: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(server.home))
    content = pack.pack(runs.release(LOCAL_OWNER, runs.list(LOCAL_OWNER, released)[0].id))
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        place = Path(archive.extract("explore.html", tmp_path))
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(place.as_uri())
    page.get_by_label("What do you want to know?").select_option("share")
    page.locator("select:visible").nth(1).select_option(label="sex")
    page.locator("input[type=checkbox]:visible").first.check()
    answer = page.locator("#answer")
    expect(answer).to_contain_text(re.compile(r"\d+(\.\d+)?%.*with 95% confidence", re.DOTALL))
    assert asked == [place.as_uri()], "nothing but the file itself"
