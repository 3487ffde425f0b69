"""The door of this server and the middleware that guards it: strangers, and pages of other servers, are served nothing.

There are two doors, and never both: sign-in if it is set up, else the token of the person who runs the server, if browsers of this
machine alone reach it. A server that others reach does not start without sign-in.

A browser sends our cookie with every request to this host, also for pages of other servers on other ports, and it lets any page open a
websocket to any server. But no page can forge its origin. So a request with an origin must have exactly ours, and a websocket or a request
that changes something must have one. And the name in the address must be one of this server's: an attacker's name may point here as well,
and then the attacker's page has our origin.
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import Mapping

from starlette.requests import HTTPConnection, Request
from starlette.responses import PlainTextResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.web.server.starlette.starlette_websocket import is_host_allowed

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.planning import machine
from dpsynth_core.store import roles
from dpsynth_core.web.shell.door import address, page, sign_in
from dpsynth_core.web.shell.door.given import Given
from dpsynth_core.web.shell.door.personal import Personal
from dpsynth_core.web.shell.door.sign_in import SignIn

Door = Personal | SignIn
"""The two kinds of doors, which share these members.

    one_person: whether every admitted visitor is the person who runs the server
    strangers_may: paths that a stranger may request in order to come in
    owner: the owner id by a visitor's cookies, "" for a stranger
    name: the visitor's name by the cookies (hostile text), "" without sign-in
    origin: the scheme://host[:port] of this server's pages for a browser that requested `host`
    entry: the answer to a visitor who is coming in, None for every other request
    refusal: the page for a stranger, with the way to come in
"""


@functools.cache
def chosen() -> Door:
    """Return the door of this process: sign-in, or the token of one person. It is made once and then cached.

    The first call adds the server's host name to those that Streamlit answers to.

    Raises:
        InputError: The server would be open to strangers, or its settings are wrong. Then nothing
            may be served.
    """
    signing_in = sign_in.wanted()
    if not signing_in and not address.for_one_person():
        raise InputError("sign-in", "other machines may reach this server, and it is not set up", _FOR_OTHERS)
    door: Door = sign_in.from_secrets() if signing_in else Personal()
    stated = address.configured()
    if stated and isinstance(door, SignIn) and stated != door.origin(""):
        problem = f"it is another address than {door.origin('')}, which redirect_uri in secrets.toml names"
        raise InputError(address.VARIABLE, problem, "write the same, or leave it out")
    address.answer_to(stated or door.origin(""))
    return door


def by_https() -> bool:
    """Return whether browsers reach this server by https, as its settings state, not as a request says.

    Raises:
        InputError: `DPSYNTH_URL` is not an address, or the server has no door (`chosen`).
    """
    return (address.configured() or chosen().origin("")).startswith("https://")


def admitted(cookies: Mapping[str, str]) -> str:
    """Return the owner id of a visitor; "" for a stranger.

    On a server with sign-in this also stores the name and roles of an admitted visitor.

    Args:
        cookies: The visitor's cookies, by name.

    Raises:
        InputError: The server has no door (`chosen`).
        StoreFault: The store cannot be written.
    """
    door = chosen()
    owner = door.owner(cookies)
    if owner and isinstance(door, SignIn):
        roles.greet(owner, door.name(cookies), door.roles(cookies), door.signed_in(cookies))
    return owner


_FOR_OTHERS = (
    "add [auth] to secrets.toml, as docs/office.md says; for one person let it listen on 127.0.0.1, or publish the container's port there "
    f"and set {address.VARIABLE}=http://localhost:PORT"
)


HEALTH, WORKS, METRICS = "_stcore/health", "health", "metrics"
"""The paths of Streamlit's health check and of `web.shell.health`."""
FOR_PROGRAMS = "books"
"""The path where programs with a person's token charge the ledger of an office (`web.ledger.programs`)."""
_SAFE = ("GET", "HEAD")
_POLICY_VIOLATION = 1008
_UPLOAD_SHARE = 0.25
"""The share of the free memory that uploads may occupy at a time."""
_under_way: list[int] = []
"""The bytes of each upload. Only the server's event loop reads and changes the list, so it needs no lock."""
_given = Given()
"""Addresses of files in memory that the pages of each person were given."""


class Guard:
    """ASGI middleware that lets only admitted visitors and requests of our own pages through.

    It is pure ASGI, so that uploads are not buffered.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a request or websocket on to the app, or answer it with a refusal.

        A refused request gets status 403, 404 for a file that this person's pages were not given, or 413 for an upload
        without room; a refused websocket is closed.
        """
        if scope["type"] not in ("http", "websocket"):
            await self.app(scope, receive, send)
            return
        door, visit = chosen(), HTTPConnection(scope)
        if _is_program(visit, door):
            await self.app(scope, receive, send)
        elif not _from_our_pages(visit, door):
            await _refuse(scope, receive, send)
        elif scope["type"] == "websocket":
            owner = door.owner(visit.cookies)
            may_pass = is_host_allowed(visit.headers.get("host")) and owner
            await (self.app if may_pass else _refuse)(scope, _while_admitted(receive, send, door, visit), _given.noting(owner, send))
        else:
            answer = _answer(request := Request(scope, receive), door)
            length = int(request.headers["content-length"]) if request.method == "PUT" and answer is None else 0
            _under_way.append(length)
            try:
                await (answer or self.app)(scope, receive, send)
            finally:
                _under_way.remove(length)


def _while_admitted(receive: Receive, send: Send, door: Door, visit: HTTPConnection) -> Receive:
    """Return a `receive` that closes the websocket when the admission of its visitor ends.

    Args:
        receive: The server's `receive`.
        send: The server's `send`.
        door: The door of the server.
        visit: The websocket's request, with the visitor's cookies.
    """

    async def checked() -> Message:
        with contextlib.suppress(TimeoutError):  # a page that is left open ends with its sign-in
            message = await asyncio.wait_for(receive(), door.seconds_left(visit.cookies))
            if message["type"] != "websocket.receive" or door.owner(visit.cookies):
                return message
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
        return {"type": "websocket.disconnect", "code": _POLICY_VIOLATION}

    return checked


def _is_program(visit: HTTPConnection, door: Door) -> bool:
    """Return whether a program, and no page in a browser, makes a request with a token of its own.

    Such requests go to the route `FOR_PROGRAMS`, which never reads cookies.
    """
    place, _, act = visit.scope["path"].rpartition("/")
    asks = place == address.path(FOR_PROGRAMS) and act.isalpha() and visit.scope.get("method") == "POST"
    named = "authorization" in visit.headers and "origin" not in visit.headers
    return asks and named and not door.one_person and is_host_allowed(visit.headers.get("host"))


def _from_our_pages(visit: HTTPConnection, door: Door) -> bool:
    """Return whether a request is from this server's own pages, by its Origin header.

    A request without the header passes only if it changes nothing and is not a websocket.
    """
    named = visit.headers.getlist("origin")
    if not named:
        return visit.scope["type"] == "http" and visit.scope["method"] in _SAFE
    return named == [door.origin(visit.headers.get("host", ""))]


def _answer(request: Request, door: Door) -> Response | None:
    """Return the door's answer to a request; None if the request may pass to the app.

    Health checks and metrics pass without a cookie, because programs request them.
    """
    asks = request.scope["path"] if request.method in _SAFE else ""
    if asks in map(address.path, (HEALTH, WORKS, METRICS)):
        return None
    if not is_host_allowed(request.headers.get("host")):
        return page.for_stranger(request, page.wrong_name)
    if answer := door.entry(request):
        return answer
    if asks in door.strangers_may:
        return None
    if not (owner := door.owner(request.cookies)):
        return page.for_stranger(request, door.refusal)
    if not door.one_person and not _given.may_ask(owner, request.scope["path"].removeprefix(address.path(""))):
        return PlainTextResponse(page.NOT_GIVEN, 404, page.NOT_KEPT)
    return PlainTextResponse(page.NO_ROOM, 413, page.NOT_KEPT) if request.method == "PUT" and not _has_room(request) else None


def _has_room(request: Request) -> bool:
    """Return whether there is memory for an upload, which stays in memory until it is stored.

    An upload without a stated length gives False.
    """
    length, free = request.headers.get("content-length", ""), machine.free_mb()
    return length.isdigit() and (free is None or int(length) + sum(_under_way) <= _UPLOAD_SHARE * free * machine.MEGABYTE)


async def _refuse(scope: Scope, receive: Receive, send: Send) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": _POLICY_VIOLATION})
    else:
        await PlainTextResponse(page.OTHER_PAGE, 403, page.NOT_KEPT)(scope, receive, send)
