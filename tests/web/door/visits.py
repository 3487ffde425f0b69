"""Requests to an app behind the middleware, without a network."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Receive, Scope, Send

from dpsynth_core.web.shell import security

HOST = "127.0.0.1:8501"
OURS = f"http://{HOST}"
BROWSER = {"accept": "text/html,*/*"}


@dataclass
class Inside:
    """The app behind the door: what reached it."""

    seen: list[Scope] = field(default_factory=list)

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        self.seen.append(scope)
        if scope["type"] == "http":
            await send({"type": "http.response.start", "status": 200, "headers": [(b"content-type", b"text/html")]})
            await send({"type": "http.response.body", "body": b"inside"})
        else:
            await send({"type": "websocket.accept"})


@dataclass(frozen=True)
class Answer:
    """headers: the last of each name, in lower case. let_in: whether the request reached the app."""

    status: int
    headers: Mapping[str, str]
    body: str
    let_in: bool


def visit(
    path: str = "/",
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    query: str = "",
    kind: str = "http",
    extra: tuple[tuple[str, str], ...] = (),
) -> Answer:
    """One request to an app that answers anything. extra: more headers, which may repeat a name. Status 101: a websocket was accepted."""
    inside = Inside()
    started, *rest = exchange(inside, path, headers, method=method, query=query, kind=kind, extra=extra)
    status = started.get("status") or {"websocket.accept": 101, "websocket.close": 403}[started["type"]]
    body = b"".join(message.get("body", b"") for message in rest)
    return Answer(status, headers_of(started), body.decode(), bool(inside.seen))


def exchange(
    app: ASGIApp,
    path: str,
    headers: Mapping[str, str] | None = None,
    *,
    method: str = "GET",
    query: str = "",
    kind: str = "http",
    extra: tuple[tuple[str, str], ...] = (),
    content: bytes = b"",
) -> list[dict[str, Any]]:
    """What an app behind the middleware sends in answer to one request, message by message."""
    sent: list[dict[str, Any]] = []

    async def send(message: Any) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": content, "more_body": False}

    named = [*{"host": HOST, **(headers or {})}.items(), *extra]
    scope = {
        "type": kind,
        "asgi": {"version": "3.0", "spec_version": "2.4"},
        "method": method,
        "scheme": "http" if kind == "http" else "ws",
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode("latin-1")) for name, value in named],
        "client": ("127.0.0.1", 50_000),
        "server": ("127.0.0.1", 8501),
    }
    asyncio.run(_behind(security.MIDDLEWARE, app)(scope, receive, send))
    return sent


def headers_of(started: Mapping[str, Any]) -> dict[str, str]:
    return {name.decode().lower(): value.decode() for name, value in started.get("headers", ())}


def _behind(middleware: list[Middleware], app: ASGIApp) -> ASGIApp:
    for layer in reversed(middleware):
        app = layer.cls(app, *layer.args, **layer.kwargs)
    return app
