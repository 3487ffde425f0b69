"""What the server does around every page: response headers, the cookie that names a browser's owner, the start-up pass over runs.

Pure ASGI, so that uploads are not buffered. Knows nothing of pages or drafts.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from collections.abc import AsyncIterator
from http.cookies import CookieError, SimpleCookie

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit.runtime.pages_manager import PagesManager

from dpsynth_core.store import runs, sweeps

OWNER_COOKIE = "dpsynth_owner"
OWNER_DIGITS = 32
_YEAR_SECONDS = 365 * 24 * 3600
_PUMP_SECONDS = 2.0

# Streamlit's page needs one inline script and inline styles; Vega compiles expressions, hence 'unsafe-eval'. Nothing may come from
# or go to another host, and no other page may frame this one.
CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'self'",
        "script-src 'self' 'unsafe-inline' 'unsafe-eval'",
        "style-src 'self' 'unsafe-inline'",
        "img-src 'self' data: blob:",
        "font-src 'self' data:",
        "connect-src 'self'",
        "worker-src 'self' blob:",
        "object-src 'none'",
        "base-uri 'none'",
        "form-action 'self'",
        "frame-ancestors 'none'",
    )
)
HEADERS = (
    (b"content-security-policy", CONTENT_SECURITY_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

_log = logging.getLogger(__name__)


class Harden:
    """ASGI middleware: `HEADERS` on every response, and an owner cookie for a browser that has none."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        known = is_owner(_cookie(scope, OWNER_COOKIE))

        async def send_hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = [*message.get("headers", ()), *HEADERS]
                if not known and b"text/html" in dict(headers).get(b"content-type", b""):
                    headers.append((b"set-cookie", _new_cookie(scope.get("scheme") == "https").encode()))
                message = {**message, "headers": headers}
            await send(message)

        await self.app(scope, receive, send_hardened)


MIDDLEWARE = [Middleware(Harden)]


def is_owner(text: str) -> bool:
    """Whether a cookie's value is one that we give out."""
    return len(text) == OWNER_DIGITS and all(c in "0123456789abcdef" for c in text)


@contextlib.asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, object]]:
    """Settle what an earlier server left behind (runs whose worker died are lost, sweeps go on), load the pages, keep the queues moving."""
    await _pump_once()
    await asyncio.to_thread(_warm_up)
    task = asyncio.create_task(_pump_forever())
    try:
        yield {}
    finally:
        task.cancel()


def forbid_legacy_pages() -> None:
    """A folder named pages/ makes a fresh server run page files directly, around app.py, until st.navigation ran once: never do that."""
    PagesManager.uses_pages_directory = False


def _warm_up() -> None:
    from dpsynth_core.web.shell import warmup  # knows all pages, which this module does not

    warmup.load()


async def _pump_forever() -> None:
    while True:
        await asyncio.sleep(_PUMP_SECONDS)
        await _pump_once()


async def _pump_once() -> None:
    try:
        await asyncio.to_thread(runs.pump)
        await asyncio.to_thread(sweeps.pump)
    except Exception as error:  # the wizard must come up even if the queue cannot; the type alone, a message could quote data
        _log.error("the queue of runs and sweeps could not be checked: %s", type(error).__name__)


def _cookie(scope: Scope, name: str) -> str:
    cookies: SimpleCookie = SimpleCookie()
    with contextlib.suppress(CookieError):
        cookies.load(dict(scope["headers"]).get(b"cookie", b"").decode("latin-1"))
    return cookies[name].value if name in cookies else ""


def _new_cookie(secure: bool) -> str:
    value = secrets.token_hex(OWNER_DIGITS // 2)
    return f"{OWNER_COOKIE}={value}; Path=/; HttpOnly; SameSite=Lax; Max-Age={_YEAR_SECONDS}" + ("; Secure" if secure else "")
