"""What a proxy says counts if it is the named one; a request that is never finished ends, and what takes its time does not."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable, Coroutine
from contextlib import closing
from typing import Any

import pytest
import uvicorn
import uvicorn.config
from starlette.requests import ClientDisconnect
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from dpsynth_core.web.shell import security
from dpsynth_core.web.shell.door import connections
from tests.patience import SECONDS

SOON = 1.0
FORGED = {"X-Forwarded-For": "203.0.113.9", "X-Forwarded-Proto": "https", "X-Forwarded-Host": "evil.example", "X-Real-IP": "203.0.113.9"}


@pytest.fixture(autouse=True)
def in_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """As the server starts, with less patience; taken back afterwards."""
    monkeypatch.setattr(uvicorn.config, "ProxyHeadersMiddleware", uvicorn.config.ProxyHeadersMiddleware)
    monkeypatch.setattr(H11Protocol, "connection_made", H11Protocol.connection_made)
    monkeypatch.setattr(connections, "PATIENCE_SECONDS", SOON)
    connections.put_in_place()


async def _app(scope: Scope, receive: Receive, send: Send) -> None:
    """Takes what is sent, says from where and by which scheme it came and which headers a proxy wrote; /slow takes its time."""
    if scope["type"] != "http":
        return
    content = b""
    while True:
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ClientDisconnect
        content += message.get("body", b"")
        if not message.get("more_body"):
            break
    await send({"type": "http.response.start", "status": 200, "headers": []})
    if scope["path"] == "/slow":
        for _ in range(2):
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(receive(), SOON)
            await send({"type": "http.response.body", "body": b".", "more_body": True})
    wrote = [name.decode() for name, _ in scope["headers"] if b"forwarded" in name or name == b"x-real-ip"]
    told = f"{scope['client'][0]} {scope['scheme']} {' '.join(wrote)} {len(content)}"
    await send({"type": "http.response.body", "body": told.encode()})


def served(work: Callable[[Callable[..., Coroutine[Any, Any, str]]], Coroutine[Any, Any, Any]]) -> Any:
    """What `work` returns, which is given how to send the parts of a request with pauses between them, and gets the whole answer."""

    async def go() -> Any:
        with closing(socket.create_server(("127.0.0.1", 0))) as listening:
            server = uvicorn.Server(uvicorn.Config(connections.Patient(_app), log_level="critical", lifespan="off"))
            serving = asyncio.create_task(server.serve(sockets=[listening]))

            async def ask(*parts: bytes, pause: float = 0.0) -> str:
                reader, writer = await asyncio.open_connection(*listening.getsockname())
                for part in parts:
                    writer.write(part)
                    await asyncio.sleep(pause)
                answer = await asyncio.wait_for(reader.read(), SECONDS)
                writer.close()
                return answer.decode()

            try:
                return await work(ask)
            finally:
                server.should_exit = True
                await serving

    return asyncio.run(go())


def request(path: str = "/", content: bytes = b"", **headers: str) -> bytes:
    named = {"Host": "localhost", "Connection": "close", "Content-Length": str(len(content)), **headers}
    lines = "".join(f"{name.replace('_', '-')}: {value}\r\n" for name, value in named.items())
    return f"POST {path} HTTP/1.1\r\n{lines}\r\n".encode() + content


@pytest.mark.parametrize("proxy", [None, "", "192.0.2.7", "10.0.0.0/8,192.0.2.7"])
def test_what_a_program_writes_that_is_not_the_named_proxy_does_not_arrive(proxy: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORWARDED_ALLOW_IPS", "*")
    if proxy is not None:
        monkeypatch.setenv(connections.VARIABLE, proxy)
    answer = served(lambda ask: ask(request(Forwarded="for=203.0.113.9", **FORGED)))
    assert "127.0.0.1 http  0" in answer


@pytest.mark.parametrize("proxy", ["127.0.0.1", "192.0.2.7, 127.0.0.0/8"])
def test_what_the_named_proxy_says_counts(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(connections.VARIABLE, proxy)
    answer = served(lambda ask: ask(request(**FORGED)))
    assert "203.0.113.9 https x-forwarded-for" in answer


@pytest.mark.parametrize("proxy", ["*", "proxy", "127.0.0.1;192.0.2.7", "10.0.0.0/99"])
def test_a_proxy_is_named_by_its_address_or_the_server_does_not_start(proxy: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(connections.VARIABLE, proxy)
    with pytest.raises(SystemExit, match="DPSYNTH_PROXY: this is not an address of a proxy"):
        security.check_settings()


@pytest.mark.parametrize(
    "parts",
    [(b"",), (b"GET / HTTP/1.1\r\nHost: local",), (request(content=b"1" * 9)[:-4],)],
    ids=["nothing", "half of the headers", "half of the content"],
)
def test_a_request_that_is_never_finished_ends(parts: tuple[bytes, ...]) -> None:
    answer = served(lambda ask: ask(*parts))
    assert "200" not in answer


def test_a_request_whose_content_stops_arriving_is_told_so_and_is_no_error_of_the_server() -> None:
    answer = served(lambda ask: ask(request(content=b"1" * 9)[:-4]))
    assert answer.startswith("HTTP/1.1 408 ")
    assert answer.endswith("The rest of the request did not arrive; send it again.")


def test_what_takes_its_time_does_not_end() -> None:
    content = b"1" * 8
    whole = request(content=content)
    parts = [whole[:-8], *(content[number : number + 2] for number in range(0, 8, 2))]
    assert " 8\r" in served(lambda ask: ask(*parts, pause=0.3 * SOON))
    slow = served(lambda ask: ask(request("/slow")))
    assert slow.count(".\r\n") >= 2
    assert "127.0.0.1 http" in slow
