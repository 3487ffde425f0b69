"""Nobody but the person who runs the server comes in: not a page on another port, not another account of the machine, not an old cookie."""

from __future__ import annotations

import http.client
import http.server
import re
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.browser.conftest import go_to, new_project, opened, settled
from tests.browser.test_accessibility import findings
from tests.patience import SECONDS
from tests.servers import Server, serving

pytestmark = pytest.mark.browser

SECRET_NAME = "Hospital stays of 2025"
_TRY_SOCKET = """url => new Promise(done => {
  const socket = new WebSocket(url, ['streamlit']);
  socket.onopen = () => { socket.close(); done('open'); };
  socket.onerror = () => done('refused');
})"""
_TRY_FETCH = """async ([url, method]) => {
  try { return await (await fetch(url, {method, credentials: 'include'})).text(); } catch { return 'refused'; }
}"""
_TRY_IMAGE = """url => new Promise(done => {
  const image = new Image();
  image.onload = () => done('shown'); image.onerror = () => done('refused'); image.src = url;
})"""


class _Elsewhere(http.server.BaseHTTPRequestHandler):
    """Another server of this machine, with a link for each ?to=..."""

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("content-type", "text/html")
        self.end_headers()
        target = re.sub(r".*\?to=", "", self.path)
        self.wfile.write(f'<h1>Elsewhere</h1><a href="{urllib.parse.unquote(target)}">Open the wizard</a>'.encode())

    def log_message(self, *_: object) -> None:
        """Nothing: a test prints no requests."""


@pytest.fixture(scope="module")
def elsewhere() -> Iterator[int]:
    """The port of another server on this machine."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_port
    server.shutdown()


@pytest.fixture
def stranger(browser: Browser) -> Iterator[Page]:
    """A browser without the cookie."""
    context = browser.new_context()
    yield context.new_page()
    context.close()


def handshake(server: Server, headers: Mapping[str, str]) -> int:
    """The status of the answer to a program that asks for the websocket: 101 if it may."""
    upgrade = {"Connection": "Upgrade", "Upgrade": "websocket", "Sec-WebSocket-Version": "13", "Sec-WebSocket-Key": "A" * 22 + "=="}
    connection = http.client.HTTPConnection("localhost", server.port, timeout=SECONDS)
    try:
        connection.request("GET", "/_stcore/stream", headers=upgrade | headers)
        return connection.getresponse().status
    finally:
        connection.close()


def socket_at(url: str) -> str:
    return url.replace("http", "ws") + "/_stcore/stream"


def test_a_page_on_another_port_reaches_nothing_with_the_owners_cookie(page: Page, server: Server, elsewhere: int) -> None:
    opened(page, server)
    new_project(page, SECRET_NAME)
    assert page.evaluate(_TRY_SOCKET, socket_at(server.url)) == "open", "the wizard's own page may"
    picture = f"{server.url}/favicon.png"
    assert page.evaluate(_TRY_IMAGE, picture) == "shown"
    other = page.context.new_page()
    for host in ("localhost", "127.0.0.1"):
        other.goto(f"http://{host}:{elsewhere}/")
        for target in (server.url, server.url.replace("localhost", "127.0.0.1")):
            assert other.evaluate(_TRY_SOCKET, socket_at(target)) == "refused"
            for method in ("GET", "PUT", "POST", "DELETE"):
                assert other.evaluate(_TRY_FETCH, [f"{target}/_stcore/upload_file/a/b", method]) == "refused"
        assert other.evaluate(_TRY_IMAGE, picture) == "refused"


def test_another_account_of_the_machine_gets_nothing(page: Page, server: Server) -> None:
    opened(page, server)
    new_project(page, SECRET_NAME)
    paths = {"/", "/results", "/_stcore/metrics", "/_stcore/host-config", "/_stcore/agent/openapi.json"}
    served = page.evaluate("performance.getEntriesByType('resource').map(entry => entry.name)")
    paths |= {url.removeprefix(server.url) for url in served if url.startswith(server.url) and "/_stcore/" not in url}
    assert any("/static/" in path for path in paths)
    assert any("/media/" in path for path in paths)
    for path in sorted(paths):
        with pytest.raises(urllib.error.HTTPError) as refused:
            urllib.request.urlopen(server.url + path, timeout=SECONDS)
        assert refused.value.code == 403, path
        assert SECRET_NAME not in refused.value.read().decode()
    for headers in ({}, {"Cookie": "dpsynth_owner=" + "0" * 32}, {"X-Forwarded-For": "127.0.0.1", "X-Forwarded-User": "local"}):
        assert handshake(server, {"Origin": server.url} | headers) == 403
    ours = "; ".join(f"{cookie['name']}={cookie['value']}" for cookie in page.context.cookies())
    assert handshake(server, {"Cookie": ours}) == 403, "a program has no origin"
    assert handshake(server, {"Cookie": ours, "Origin": server.url}) == 101, "the owner may: the refusals were for a reason"


def test_a_stranger_sees_how_to_open_the_wizard_and_the_token_opens_it(stranger: Page, server: Server) -> None:
    stranger.goto(f"{server.url}/guide?project=1")
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Open it with your token")
    field = stranger.get_by_label("Token, or the whole address that contains it")
    expect(field).to_be_focused()
    field.fill("0" * 48)
    stranger.get_by_role("button", name="Open").click()
    expect(stranger.get_by_role("alert")).to_contain_text("not the token of this server")
    assert stranger.context.cookies() == []
    field.fill(server.opening())
    stranger.get_by_role("button", name="Open").click()
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Guide")
    assert "token" not in stranger.url


def test_the_page_for_strangers_has_no_serious_finding_and_asks_for_nothing(stranger: Page, server: Server) -> None:
    requests: list[str] = []
    stranger.on("request", lambda request: requests.append(request.url))
    stranger.goto(f"{server.url}/?token=wrong")
    assert requests == [f"{server.url}/?token=wrong"]
    for width in (1280, 390):
        stranger.set_viewport_size({"width": width, "height": 720})
        assert stranger.evaluate("document.documentElement.scrollWidth") <= width
    assert findings(stranger) == []


def test_the_token_leaves_the_address_and_scripts_never_see_the_cookie(page: Page, server: Server) -> None:
    opened(page, server, "/ledger")
    expect(page).to_have_url(re.compile(f"^{re.escape(server.url)}" + r"/ledger\?project=\w+$"))
    (cookie,) = [c for c in page.context.cookies() if c["name"].startswith("dpsynth")]
    assert cookie["httpOnly"]
    assert cookie["sameSite"] == "Strict"
    assert server.token not in str(page.context.cookies())
    assert cookie["name"] not in page.evaluate("document.cookie")
    assert server.token not in page.content()
    page.go_back()
    assert "token" not in page.url


def test_reload_deep_link_and_a_second_tab_need_the_token_no_more(page: Page, server: Server) -> None:
    opened(page, server)
    new_project(page, "Kept")
    address = page.url
    settled(page)
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Data")
    expect(page).to_have_url(address)
    second = page.context.new_page()
    second.goto(address.replace("/?", "/results?"))
    expect(second.get_by_role("heading", level=1)).to_have_text("Results")
    expect(second).to_have_url(re.compile(f"project={address.split('project=')[1]}$"))
    expect(second.get_by_role("combobox", name="Project")).to_have_value("Kept")


def test_a_link_in_a_message_opens_the_wizard_for_who_is_in(page: Page, server: Server, elsewhere: int) -> None:
    opened(page, server)
    other = page.context.new_page()
    other.goto(f"http://127.0.0.1:{elsewhere}/?to={server.url}/guide")
    other.get_by_role("link", name="Open the wizard").click()
    expect(other.get_by_role("heading", level=1)).to_have_text("Guide")


def test_a_file_of_the_owner_leads_a_new_browser_in(stranger: Page, server: Server, tmp_path: Path) -> None:
    leading = tmp_path / "open.html"
    leading.write_text(f'<meta http-equiv="refresh" content="0; url={server.opening()}">', encoding="ascii")
    stranger.goto(leading.as_uri())
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Data")
    assert "token" not in stranger.url


def test_an_open_tab_goes_on_after_a_restart_of_the_server(page: Page, start_server: Callable[..., Server]) -> None:
    server = start_server()
    opened(page, server, "/guide")
    server.process.terminate()
    server.process.wait(20)
    start_server(home=server.home, port=server.port)
    go_to(page, "Ledger")
    page.reload()
    expect(page.get_by_role("heading", level=1)).to_have_text("Ledger")


def test_browsers_are_one_owner_with_the_token_and_nobody_without_it(
    page: Page, stranger: Page, start_server: Callable[..., Server]
) -> None:
    shared = start_server("--server.address=0.0.0.0", environment={"DPSYNTH_URL": "http://localhost:8501"})
    opened(page, shared)
    new_project(page, SECRET_NAME)
    stranger.context.add_cookies([{"name": "dpsynth_owner", "value": "0" * 32, "url": shared.url}])
    stranger.goto(page.url)
    expect(stranger.get_by_role("heading", level=1)).to_have_text("Open it with your token")
    opened(stranger, shared)
    expect(stranger.get_by_role("combobox", name="Project")).to_have_value(SECRET_NAME)


def test_the_token_reaches_no_log(tmp_path: Path) -> None:
    """Everything that the server writes while somebody comes in, or tries to, with its log at its most talkative."""
    with serving(tmp_path / "home", "--logger.level=debug", log=tmp_path / "log") as server:
        token = server.token
        for address in (server.opening(), server.opening("/results?x=1"), f"{server.opening()}0"):
            request = urllib.request.Request(address, headers={"accept": "text/html"})
            with pytest.raises(urllib.error.HTTPError):  # urllib sends no cookie on, so that it ends before the door
                urllib.request.urlopen(request, timeout=SECONDS)
        assert handshake(server, {"Origin": server.url}) == 403
        time.sleep(0.5)
    written = (tmp_path / "log").read_text(encoding="utf-8", errors="replace")
    assert "DPSynth Studio is ready" in written
    assert str(tmp_path / "home" / "token") in written
    assert token not in written
