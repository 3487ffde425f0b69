"""Time limits for slow connections, for which the server itself would wait forever, and the trust in headers of a proxy.

Streamlit starts Uvicorn with its own settings, so both are installed here, in Uvicorn's classes, before the first connection. By default
Uvicorn trusts `X-Forwarded-For` and `-Proto` from any program of this machine.
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
from typing import Any

import uvicorn.config
from starlette.requests import ClientDisconnect
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from typing_extensions import override
from uvicorn.middleware.proxy_headers import ProxyHeadersMiddleware
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpsynth_core.foundation.errors import InputError

VARIABLE = "DPSYNTH_PROXY"
"""Environment variable: addresses or networks of the proxy in front, separated by commas."""
PATIENCE_SECONDS = 30.0
"""The time limit for the headers of a request, and for each part of its content."""
_FORWARDED = (b"forwarded", b"x-real-ip", b"x-client-ip")


class NamedProxy(ProxyHeadersMiddleware):
    """ASGI middleware that takes a request's client and scheme from headers of the proxy in `VARIABLE`.

    If the request comes from any other address, these headers are removed.
    """

    def __init__(self, app: ASGIApp, trusted_hosts: object = None) -> None:  # noqa: ARG002 - Uvicorn's own list
        super().__init__(app, os.environ.get(VARIABLE, ""))  # type: ignore[arg-type]

    @override
    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        client = scope.get("client")
        if scope["type"] != "lifespan" and not (client and client[0] in self.trusted_hosts):
            kept = [one for one in scope["headers"] if one[0] not in _FORWARDED and not one[0].startswith(b"x-forwarded-")]
            scope = {**scope, "headers": kept}
        await super().__call__(scope, receive, send)


class Patient:
    """ASGI middleware that ends a request whose body stops arriving."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; after PATIENCE_SECONDS without a part of its body the app sees a disconnected client.

        The client gets 408 then, unless the answer has begun.
        """
        more, silent, begun = scope["type"] == "http", False, False

        async def soon() -> Message:
            nonlocal more, silent
            if not more:
                return await receive()  # afterwards it only tells that the browser has gone, which may take hours
            try:
                message = await asyncio.wait_for(receive(), PATIENCE_SECONDS)
            except TimeoutError:
                message, silent = {"type": "http.disconnect"}, True
            more = bool(message.get("more_body"))
            return message

        async def answer(message: Message) -> None:
            nonlocal begun
            begun = True
            await send(message)

        try:
            await self.app(scope, soon, answer)
        except ClientDisconnect:
            if not silent or begun:
                raise
            await PlainTextResponse("The rest of the request did not arrive; send it again.", 408)(scope, receive, send)


def _connection_made(self: H11Protocol, transport: asyncio.Transport) -> None:
    _made(self, transport)
    self.loop.call_later(PATIENCE_SECONDS, _look_at, self, transport)


def _look_at(one: H11Protocol, transport: asyncio.Transport) -> None:
    """Close a connection that is idle; otherwise look again after PATIENCE_SECONDS.

    It is idle if no request is being answered and Uvicorn's own waiting time for a next request is
    over.
    """
    if transport.is_closing() or transport.get_protocol() is not one:
        return
    if (one.cycle is None or one.cycle.response_complete) and one.timeout_keep_alive_task is None:
        transport.close()
    else:
        one.loop.call_later(PATIENCE_SECONDS, _look_at, one, transport)


_made = H11Protocol.connection_made


def put_in_place() -> None:
    """Install the time limits and the trust in the proxy's headers for every server that this process starts later.

    The classes of Uvicorn are changed. The proxy's addresses are read from the environment variable
    `DPSYNTH_PROXY`; without it no proxy is trusted.

    Raises:
        InputError: An entry of the variable is not an address or a network.
    """
    try:
        for one in filter(None, os.environ.get(VARIABLE, "").split(",")):
            ipaddress.ip_network(one.strip())
    except ValueError:
        raise InputError(VARIABLE, "this is not an address of a proxy", "write it as 172.18.0.2, or a network as 172.18.0.0/16") from None
    uvicorn.config.ProxyHeadersMiddleware = NamedProxy  # type: ignore[misc, assignment]
    H11Protocol.connection_made = _connection_made  # type: ignore[method-assign]
