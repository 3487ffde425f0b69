"""Several people at one server: each signs in with the provider and sees only their own; a stranger sees nothing."""

from __future__ import annotations

import re
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from dpsynth_core.store import ledger
from dpsynth_core.store.home import LOCAL_OWNER
from dpsynth_core.store.roles import SIGNED_IN_SECONDS
from tests.browser.conftest import new_project, settled
from tests.browser.test_accessibility import findings
from tests.browser.test_door import handshake
from tests.patience import SECONDS
from tests.provider import Provider, providing, secrets
from tests.servers import Server, free_port, serving

pytestmark = pytest.mark.browser

ANN = {"sub": "1", "email": "ann@example.org", "email_verified": True}
BEN = {"sub": "2", "email": "ben@example.org", "email_verified": True}
EVE = {"sub": "3", "email": "eve@elsewhere.example", "email_verified": True}


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with providing() as running:
        yield running


@pytest.fixture(scope="module")
def shared(provider: Provider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server for the people of example.org, on an address that other machines reach, as in the container."""
    folder, port = tmp_path_factory.mktemp("shared"), free_port()
    (folder / "secrets.toml").write_text(secrets(provider, port, '"@example.org"'), encoding="utf-8")
    options = ("--server.address=0.0.0.0", f"--secrets.files={folder / 'secrets.toml'}")
    with serving(folder / "home", *options, port=port, log=folder / "log") as server:
        yield server


def sign_in(page: Page, server: Server, provider: Provider, person: dict[str, object]) -> Page:
    provider.person = person
    page.goto(server.url)
    page.get_by_role("link", name="Sign in").click()
    page.wait_for_selector("h1")
    return page


def test_people_see_their_own_projects_and_nobody_elses(page: Page, browser: Browser, shared: Server, provider: Provider) -> None:
    sign_in(page, shared, provider, ANN)
    settled(page)
    new_project(page, "Hospital stays of 2025")
    hers = page.url
    expect(page.get_by_text("Signed in as ann")).to_be_visible()
    other = browser.new_context().new_page()
    sign_in(other, shared, provider, BEN)
    other.goto(hers)
    expect(other.get_by_role("combobox", name="Project")).to_have_value("First release")
    expect(other).not_to_have_url(hers)
    again = browser.new_context().new_page()
    sign_in(again, shared, provider, ANN)
    again.goto(hers)
    expect(again.get_by_role("combobox", name="Project")).to_have_value("Hospital stays of 2025")
    for window in (other, again):
        window.context.close()


def test_a_link_to_a_file_in_memory_opens_for_the_person_who_was_given_it_alone(
    page: Page, browser: Browser, shared: Server, provider: Provider, tmp_path: Path
) -> None:
    """Her upload arrives, and her ledger is downloaded; with either address another person who signed in gets nothing."""
    table = tmp_path / "people.csv"
    table.write_text("sex,age\n" + "f,30\nm,40\n" * 50, encoding="utf-8")
    settled(sign_in(page, shared, provider, ANN))
    new_project(page, "Hers")
    with page.expect_request(re.compile("/_stcore/upload_file/")) as sent:
        page.locator("input[type=file]").first.set_input_files(table)
    expect(page.get_by_text("2 columns")).to_be_visible()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DPSYNTH_HOME", str(shared.home))
        ledger.open_population(LOCAL_OWNER, "people", (1.0, 1e-9))
    page.goto(f"{shared.url}/ledger")
    settled(page)
    with page.expect_download() as taken:
        page.get_by_role("button", name="Export CSV").first.click()
    assert "/media/" in taken.value.url
    other = browser.new_context().new_page()
    settled(sign_in(other, shared, provider, BEN))
    asks = "([url, method]) => fetch(url, {method, headers: {'X-Xsrftoken': 'x'}}).then((answer) => answer.status)"
    for window, status in ((page, 200), (other, 404)):
        assert window.evaluate(asks, [taken.value.url, "GET"]) == status
    for method in ("PUT", "DELETE"):
        assert other.evaluate(asks, [sent.value.url, method]) == 404
    other.context.close()


def test_signing_out_shuts_the_door(page: Page, shared: Server, provider: Provider) -> None:
    settled(sign_in(page, shared, provider, ANN))
    page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    page.goto(f"{shared.url}/ledger")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_page_that_is_open_when_the_hour_ends_asks_to_sign_in_again(page: Page, shared: Server, provider: Provider) -> None:
    seconds_left = 30
    sign_in(page, shared, provider, ANN | {"iat": int(time.time()) - SIGNED_IN_SECONDS + seconds_left})
    expect(page.get_by_text("Signed in as ann")).to_be_visible()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in", timeout=1000 * SECONDS)
    expect(page.get_by_text("A sign-in counts for an hour")).to_be_visible()


def test_somebody_who_is_not_on_the_list_gets_no_further_than_the_door(page: Page, shared: Server, provider: Provider) -> None:
    sign_in(page, shared, provider, EVE)
    expect(page.get_by_role("heading", level=1)).to_have_text("You are not on the list")
    expect(page.get_by_text("eve@elsewhere.example")).to_be_visible()
    assert findings(page) == []
    theirs = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in page.context.cookies())
    assert handshake(shared, {"Cookie": theirs, "Origin": shared.url}) == 403
    page.get_by_role("link", name="Sign out").click()
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")


def test_a_stranger_gets_nothing_and_a_token_opens_nothing(page: Page, shared: Server) -> None:
    assert not (shared.home / "token").exists()
    for path in ("/", "/results", "/_stcore/metrics", "/_stcore/host-config", "/favicon.png", f"/?token={'0' * 48}"):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(shared.url + path, timeout=SECONDS)
        assert refused.value.code == 403, path
    assert handshake(shared, {"Origin": shared.url}) == 403
    assert handshake(shared, {"Origin": shared.url, "X-Forwarded-User": "ann@example.org"}) == 403
    page.goto(f"{shared.url}/guide")
    expect(page.get_by_role("heading", level=1)).to_have_text("Sign in")
    assert findings(page) == []


def test_who_signed_in_reaches_no_log(page: Page, shared: Server, provider: Provider) -> None:
    settled(sign_in(page, shared, provider, ANN))
    written = (shared.home.parent / "log").read_text(encoding="utf-8", errors="replace")
    assert "People sign in" in written
    assert "example.org" not in written
    assert "code=" not in written
