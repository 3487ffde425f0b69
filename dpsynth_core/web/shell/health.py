"""Health and metrics for programs that watch the server. The answers contain nothing about a table, a plan or a person.

`health` is public: it states that the queue of runs was checked a moment ago, so the server answers and its database opens. `metrics` needs
the token that the installation states; without a token the page does not exist. The metrics show when a run ends, and so how long it took,
which the guarantee does not cover.
"""

from __future__ import annotations

import hmac
import os
import shutil
import time

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from dpsynth_core.planning import machine
from dpsynth_core.store import faults
from dpsynth_core.store.database import reading
from dpsynth_core.store.home import home
from dpsynth_core.web.shell.door import address, doors, page

VARIABLE = "DPSYNTH_METRICS_TOKEN"
STILL_SECONDS = 60.0
_last_look = float("-inf")
"""The monotonic time of the last check of the queue."""


def looked() -> None:
    """Note that the queue of runs was checked now. The health check fails 60 seconds after the last call."""
    global _last_look
    _last_look = time.monotonic()


def routes() -> list[Route]:
    """Return the routes of health check and metrics, in this order, for the server's list.

    The health check answers "ok" or status 503. Metrics are text for Prometheus. A request for them gets 404 unless
    it brings the token in the environment variable `DPSYNTH_METRICS_TOKEN`, and 503 if the database cannot be read.
    """
    return [Route(address.path(doors.WORKS), _works), Route(address.path(doors.METRICS), _metrics)]


def _works(_: Request) -> Response:
    works = time.monotonic() - _last_look < STILL_SECONDS
    return PlainTextResponse("ok\n" if works else "the queue of runs stands still\n", 200 if works else 503, page.NOT_KEPT)


async def _metrics(request: Request) -> Response:
    token, (kind, _, given) = os.environ.get(VARIABLE, ""), request.headers.get("authorization", "").partition(" ")
    if not token or kind.lower() != "bearer" or not hmac.compare_digest(token.encode(), given.strip().encode()):
        return PlainTextResponse("There is no such page.\n", 404, page.NOT_KEPT)
    try:
        return PlainTextResponse(await run_in_threadpool(_numbers), 200, page.NOT_KEPT)
    except faults.StoreFault:
        return PlainTextResponse("the database cannot be read\n", 503, page.NOT_KEPT)


def _numbers() -> str:
    """Return the metrics in the text format of Prometheus."""
    with reading() as db:
        jobs = db.execute(
            "SELECT kind, points.state, COUNT(*) FROM points JOIN jobs ON jobs.id = job GROUP BY kind, points.state"
        ).fetchall()
        workers = db.execute("SELECT COUNT(*) FROM workers").fetchone()[0]
    lines = [f'dpsynth_jobs{{kind="{kind}",state="{state}"}} {count}' for kind, state, count in jobs]
    lines += [f"dpsynth_workers {workers}", f"dpsynth_queue_age_seconds {time.monotonic() - _last_look:.1f}"]
    lines += [f"dpsynth_disk_free_bytes {shutil.disk_usage(home()).free}"]
    if (free := machine.free_mb()) is not None:
        lines += [f"dpsynth_memory_free_bytes {free * machine.MEGABYTE:.0f}"]
    return "\n".join([*lines, ""])
