"""The server around the pages: headers on every answer, a cookie that scripts cannot read, no legacy pages, start-up that cannot fail."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from streamlit.runtime.pages_manager import PagesManager

from dpsynth_core.store import runs
from dpsynth_core.web.shell import security

Headers = list[tuple[bytes, bytes]]


def answered(headers: Headers, *, content_type: bytes = b"text/html; charset=utf-8", scheme: str = "http") -> Headers:
    """The headers of the answer to a request with `headers`, from an application behind the middleware."""
    sent: list[dict[str, Any]] = []

    async def app(_scope: object, _receive: object, send: Any) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", content_type)]})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {"type": "http", "scheme": scheme, "headers": headers}
    asyncio.run(security.Harden(app)(scope, None, send))  # type: ignore[arg-type]
    return sent[0]["headers"]


def cookies(headers: Headers) -> list[str]:
    return [value.decode() for name, value in headers if name == b"set-cookie"]


def test_every_answer_carries_the_headers() -> None:
    found = dict(answered([], content_type=b"application/json"))
    assert found[b"x-content-type-options"] == b"nosniff"
    assert found[b"x-frame-options"] == b"DENY"
    policy = found[b"content-security-policy"].decode()
    assert "frame-ancestors 'none'" in policy
    assert "default-src 'self'" in policy
    assert "http:" not in policy
    assert "https:" not in policy
    assert "*" not in policy


def test_a_new_browser_gets_a_cookie_that_scripts_cannot_read() -> None:
    (cookie,) = cookies(answered([]))
    name, _, rest = cookie.partition("=")
    value, *attributes = rest.split("; ")
    assert name == security.OWNER_COOKIE
    assert security.is_owner(value)
    assert {"HttpOnly", "SameSite=Lax", "Path=/"} <= set(attributes)
    assert "Secure" not in attributes
    assert "Secure" in cookies(answered([], scheme="https"))[0]


def test_every_browser_gets_another_cookie() -> None:
    assert cookies(answered([])) != cookies(answered([]))


def test_a_known_browser_keeps_its_cookie() -> None:
    known = f"{security.OWNER_COOKIE}={'0' * security.OWNER_DIGITS}; other=1".encode()
    assert cookies(answered([(b"cookie", known)])) == []


@pytest.mark.parametrize("value", ["", "local", "../../etc", "A" * 32, "0" * 31, "0" * 33])
def test_a_made_up_cookie_is_replaced(value: str) -> None:
    assert len(cookies(answered([(b"cookie", f"{security.OWNER_COOKIE}={value}".encode())]))) == 1


def test_a_broken_cookie_header_is_no_crash() -> None:
    assert len(cookies(answered([(b"cookie", b"\xff\xfe;;;=;\x00")]))) == 1


def test_only_pages_set_the_cookie() -> None:
    assert cookies(answered([], content_type=b"text/javascript")) == []


def test_websockets_pass_untouched() -> None:
    seen: list[dict[str, Any]] = []

    async def app(scope: Any, _receive: object, _send: object) -> None:
        seen.append(scope)

    scope = {"type": "websocket", "headers": []}
    asyncio.run(security.Harden(app)(scope, None, None))  # type: ignore[arg-type]
    assert seen == [scope]


def test_legacy_pages_are_off(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(PagesManager, "uses_pages_directory", None)
    security.forbid_legacy_pages()
    assert PagesManager.uses_pages_directory is False


def test_starting_settles_the_runs_and_survives_a_failure(monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    calls: list[int] = []

    def pump() -> None:
        calls.append(1)
        raise RuntimeError("age of person 17")

    monkeypatch.setattr(runs, "pump", pump)

    async def serve() -> None:
        async with security.lifespan(None):
            assert calls == [1]

    asyncio.run(serve())
    assert "RuntimeError" in caplog.text
    assert "person 17" not in caplog.text
