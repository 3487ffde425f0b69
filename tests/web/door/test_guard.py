"""Nothing is served to a stranger, and nothing to a page of another server, whatever headers either sends."""

from __future__ import annotations

import pytest
from starlette.types import Receive, Scope, Send
from streamlit import config

from dpsynth_core.planning import machine
from dpsynth_core.web.shell.door import doors
from dpsynth_core.web.shell.door.personal import Personal
from tests.web.door.visits import BROWSER, HOST, OURS, exchange, visit

STREAM = "/_stcore/stream"
UPLOAD = "/_stcore/upload_file/session/file"
FOREIGN = [
    "http://127.0.0.1:9479",
    "http://127.0.0.1",
    "http://localhost:8501",
    "https://127.0.0.1:8501",
    "http://0.0.0.0:8501",
    "http://127.0.0.1:8501.evil.example",
    "http://127.0.0.1:8501/",
    "HTTP://127.0.0.1:8501",
    "http://evil.example",
    "null",
    "",
]
FORWARDED = {
    "x-forwarded-for": "127.0.0.1",
    "x-forwarded-host": HOST,
    "x-forwarded-proto": "http",
    "x-forwarded-user": "curator",
    "x-real-ip": "127.0.0.1",
    "forwarded": f"for=127.0.0.1;host={HOST};proto=http",
}


def test_the_wizards_own_page_opens_its_websocket(cookie: dict[str, str]) -> None:
    assert visit(STREAM, cookie | {"origin": OURS}, kind="websocket").status == 101


@pytest.mark.parametrize("origin", FOREIGN)
def test_a_page_of_another_server_opens_no_websocket_with_the_owners_cookie(cookie: dict[str, str], origin: str) -> None:
    answer = visit(STREAM, cookie | {"origin": origin}, kind="websocket")
    assert (answer.status, answer.let_in) == (403, False)


def test_a_websocket_without_an_origin_is_refused(cookie: dict[str, str]) -> None:
    assert not visit(STREAM, cookie, kind="websocket").let_in


def test_two_origins_are_no_origin(cookie: dict[str, str]) -> None:
    assert not visit(STREAM, cookie | {"origin": OURS}, kind="websocket", extra=(("origin", "http://evil.example"),)).let_in
    assert not visit(STREAM, cookie | {"origin": "http://evil.example"}, kind="websocket", extra=(("origin", OURS),)).let_in


def test_a_stranger_opens_no_websocket_even_with_the_right_origin(door: Personal) -> None:
    assert not visit(STREAM, {"origin": OURS}, kind="websocket").let_in
    assert not visit(STREAM, {"origin": OURS, "cookie": f"{door.cookie}=guess"}, kind="websocket").let_in
    assert not visit(STREAM, {"origin": OURS}, kind="websocket", query=f"token={door.token}").let_in


@pytest.mark.parametrize("method", ["PUT", "POST", "DELETE", "PATCH"])
def test_a_request_that_changes_something_needs_exactly_our_origin(cookie: dict[str, str], method: str) -> None:
    assert visit(UPLOAD, cookie | {"origin": OURS, "content-length": "1"}, method=method).let_in
    assert not visit(UPLOAD, cookie, method=method).let_in
    for origin in FOREIGN:
        assert not visit(UPLOAD, cookie | {"origin": origin}, method=method).let_in, origin


def test_another_page_reads_nothing_either(cookie: dict[str, str]) -> None:
    answer = visit("/media/report.zip", cookie | {"origin": "http://127.0.0.1:9479"})
    assert (answer.status, answer.let_in) == (403, False)
    assert visit("/media/report.zip", cookie).headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/results",
        "/static/js/index.js",
        "/media/0123.zip",
        "/favicon.png",
        "/_stcore/host-config",
        "/_stcore/metrics",
        "/_stcore/script-health-check",
        "/_stcore/agent/openapi.json",
        "/_stcore/health/",
        "/_stcore/health/../metrics",
        "//_stcore/health",
        "/_STCORE/HEALTH",
        "/auth/login",
        "/oauth2callback",
        UPLOAD,
    ],
)
@pytest.mark.parametrize("accept", [BROWSER, {}])
def test_a_stranger_gets_nothing_but_the_way_in(path: str, accept: dict[str, str]) -> None:
    answer = visit(path, accept)
    assert (answer.status, answer.let_in) == (403, False)
    assert answer.headers["cache-control"] == "no-store"
    assert "set-cookie" not in answer.headers


def test_health_needs_no_token_but_can_only_be_asked(door: Personal) -> None:
    assert visit("/_stcore/health").let_in
    assert visit("/_stcore/health", method="HEAD").let_in
    assert not visit("/_stcore/health", {"origin": OURS}, method="POST").let_in
    assert door.owner({}) == ""


def test_headers_of_a_proxy_open_nothing_and_shut_nothing(cookie: dict[str, str]) -> None:
    assert not visit("/", FORWARDED).let_in
    assert not visit(STREAM, FORWARDED | {"origin": OURS}, kind="websocket").let_in
    strange = {"x-forwarded-proto": "https", "x-forwarded-host": "evil.example", "x-forwarded-for": "203.0.113.7"}
    for lie in ("https://evil.example", "http://evil.example", f"https://{HOST}"):
        assert not visit(STREAM, cookie | strange | {"origin": lie}, kind="websocket").let_in
    assert visit(STREAM, cookie | strange | {"origin": OURS}, kind="websocket").let_in


def test_the_origin_is_the_one_of_the_port_that_was_asked(cookie: dict[str, str]) -> None:
    forwarded_port = {"host": "localhost:9000", "origin": "http://localhost:9000"}
    assert visit(STREAM, cookie | forwarded_port, kind="websocket").let_in
    assert not visit(STREAM, cookie | forwarded_port | {"origin": OURS}, kind="websocket").let_in


def test_behind_https_the_origin_is_the_configured_one_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_URL", "https://localhost:8443/")
    door = Personal()
    cookie = {"cookie": f"{door.cookie}={door.pass_value}", "host": "localhost:8443"}
    assert visit(STREAM, cookie | {"origin": "https://localhost:8443"}, kind="websocket").let_in
    assert not visit(STREAM, cookie | {"origin": OURS}, kind="websocket").let_in
    assert not visit(STREAM, cookie | {"origin": "http://localhost:8443"}, kind="websocket").let_in


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8501", "127.0.0.1.evil.example:8501", "", "[", "a@127.0.0.1"])
def test_a_name_that_an_attacker_made_point_here_reaches_nothing(cookie: dict[str, str], host: str) -> None:
    rebound = cookie | {"host": host}
    assert not visit(STREAM, rebound | {"origin": f"http://{host}"}, kind="websocket").let_in
    assert not visit(UPLOAD, rebound | {"origin": f"http://{host}"}, method="PUT").let_in
    answer = visit("/", rebound | BROWSER)
    assert (answer.status, answer.let_in) == (403, False)
    assert "goes by another name" in answer.body
    assert visit("/_stcore/health", {"host": host}).let_in, "whoever watches over containers asks by number"


def test_a_configured_name_is_known(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DPSYNTH_URL", "http://[::1]:8501")
    door = Personal()
    named = {"host": "[::1]:8501", "cookie": f"{door.cookie}={door.pass_value}"}
    assert visit("/", named).let_in
    assert visit(STREAM, named | {"origin": "http://[::1]:8501"}, kind="websocket").let_in


def test_the_server_under_a_path_has_its_health_there(door: Personal) -> None:
    config.set_option("server.baseUrlPath", "studio")
    assert visit("/studio/_stcore/health").let_in
    assert not visit("/_stcore/health").let_in
    assert door.token


@pytest.mark.parametrize(
    ("length", "let_in"), [("1000", True), ("250000000", True), ("250000001", False), ("", False), ("-1", False), ("many", False)]
)
def test_a_file_that_would_leave_no_memory_for_the_pages_is_not_taken(
    cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch, length: str, let_in: bool
) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 1000.0)
    sent = cookie | {"origin": OURS, "content-length": length}
    answer = visit(UPLOAD, sent, method="PUT")
    assert (answer.let_in, answer.status) == ((True, 200) if let_in else (False, 413))
    assert visit(UPLOAD, {"origin": OURS, "content-length": length}, method="PUT").status == 403, "of a stranger"
    monkeypatch.setattr(machine, "free_mb", lambda: None)
    assert visit(UPLOAD, sent, method="PUT").let_in == length.isdigit()


def test_files_that_are_on_their_way_count_until_they_are_stored(cookie: dict[str, str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(machine, "free_mb", lambda: 1000.0)
    monkeypatch.setattr(doors, "_under_way", held := [150_000_000])
    for length, status in (("100000000", 200), ("100000001", 413)):
        assert visit(UPLOAD, cookie | {"origin": OURS, "content-length": length}, method="PUT").status == status
    meanwhile: list[int] = []
    assert held == [150_000_000]

    async def stores(_scope: Scope, _receive: Receive, send: Send) -> None:
        meanwhile.extend(held)
        await send({"type": "http.response.start", "status": 200, "headers": []})
        raise ConnectionError

    with pytest.raises(ConnectionError):
        exchange(stores, UPLOAD, cookie | {"origin": OURS, "content-length": "7"}, method="PUT")
    assert (meanwhile, held) == ([150_000_000, 7], [150_000_000])
