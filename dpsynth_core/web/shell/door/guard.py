"""ASGI middleware: nothing is served to a stranger, and nothing to a page that is not ours.

A browser sends our cookie with every request to this host, also for pages of other servers on other ports, and it lets any page open a
websocket to any server. What it does not let them do is to lie about their origin. So a request with an origin must have exactly ours,
and a websocket or a request that changes something must have one.
"""

from __future__ import annotations

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from dpsynth_core.web.shell.door import address, doors, page

HEALTH = "_stcore/health"
_SAFE = ("GET", "HEAD")
_POLICY_VIOLATION = 1008


class Guard:
    """Pure ASGI, so that uploads are not buffered."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        door, visit = doors.chosen(), HTTPConnection(scope)
        if not _from_our_pages(visit, door):
            await _refuse(scope, receive, send)
        elif scope["type"] == "websocket":
            await (self.app if door.owner(visit.cookies) else _refuse)(scope, receive, send)
        else:
            request = Request(scope, receive)
            answer = door.entry(request) or (None if _may_pass(request, door) else page.for_stranger(request, door.refusal))
            await (answer or self.app)(scope, receive, send)


def _from_our_pages(visit: HTTPConnection, door: doors.Door) -> bool:
    """Whether no other page made this request, as far as browsers tell."""
    named = visit.headers.getlist("origin")
    if not named:
        return visit.scope["type"] == "http" and visit.scope["method"] in _SAFE
    return named == [door.origin(visit.headers.get("host", ""))]


def _may_pass(request: Request, door: doors.Door) -> bool:
    """The server's health is no secret, and a container's own check has no cookie."""
    open_to_all = request.method in _SAFE and request.scope["path"] in {address.path(HEALTH), *door.strangers_may}
    return open_to_all or bool(door.owner(request.cookies))


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
    else:
        await PlainTextResponse(page.OTHER_PAGE, 403, page.NOT_KEPT)(scope, receive, send)
