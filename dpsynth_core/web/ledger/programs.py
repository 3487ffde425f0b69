"""The ledger's route for programs of people with a token (`store.ledger_api`). Cookies decide nothing here, so that no page can use it."""

from __future__ import annotations

import asyncio
import json
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response
from starlette.routing import Route

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.store import database, faults, ledger_api, tokens
from dpsynth_core.web.shell.door import address, connections, doors, page

_MOST_BYTES = 1 << 16


def routes() -> list[Route]:
    """Return the route by which programs ask the ledger, as a list of one, for the server's list.

    It takes POST requests with a person's token and a JSON body, and answers in JSON: status 401 without a
    valid token, 409 for a refusal, 503 if the store cannot be read. A request that arrives too slowly gets 408.
    """
    return [Route(address.path(f"{doors.FOR_PROGRAMS}/{{act}}"), _answer, methods=["POST"])]


async def _answer(request: Request) -> Response:
    kind, _, token = request.headers.get("authorization", "").partition(" ")
    try:
        if kind.lower() != "bearer":
            raise tokens.NotAdmitted
        await run_in_threadpool(_check, token.strip())  # a stranger's request is not read
        async with asyncio.timeout(connections.PATIENCE_SECONDS):
            asked = await _asked(request)
        return JSONResponse(await run_in_threadpool(_told, token.strip(), request.path_params["act"], asked), headers=page.NOT_KEPT)
    except TimeoutError:
        return PlainTextResponse("The request took too long.\n", 408, page.NOT_KEPT)
    except InputError as error:
        status = 401 if isinstance(error, tokens.NotAdmitted) else 503 if isinstance(error, faults.StoreFault) else 409
        parts = {"field": error.field, "problem": error.problem, "remedy": error.remedy}
        return JSONResponse(parts, status, headers=page.NOT_KEPT)


def _check(token: str) -> None:
    with faults.explained(), database.reading() as db:
        tokens.owner_of(db, token)


def _told(token: str, act: str, asked: Any) -> dict[str, Any]:
    with faults.explained():
        return ledger_api.answer(token, act, asked)


async def _asked(request: Request) -> Any:
    """Return the JSON value of a request's body.

    Raises:
        InputError: It is longer than `_MOST_BYTES` or not JSON.
    """
    content = b""
    async for part in request.stream():
        content += part
        if len(content) > _MOST_BYTES:
            break
    try:
        if len(content) <= _MOST_BYTES:
            return json.loads(content)
    except (ValueError, RecursionError):
        pass
    raise InputError("request", "it is no JSON of this size", "use the version of the program that the office's server has")
