"""The server around every page: the headers of every response, and the start of the server.

Admission is decided behind it, in `door/`. Pure ASGI, so that uploads are not buffered. Knows nothing of pages or drafts.

When the server is ready it announces this and opens the browser of the person who started it. The token is written only where that person
looks. A terminal shows it. Another stream may be a log that others read, so it gets the place of the token instead. A browser is started
with the address of a file that leads on, because every account can read the arguments of a process.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib
import logging
import os
import pkgutil
import sys
import threading
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any, TextIO

from starlette.middleware import Middleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config
from streamlit.runtime.pages_manager import PagesManager

from dpsynth_core import web
from dpsynth_core.foundation import extension, sandbox, settings
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.store import access_token, dispatch, faults, home, retention, verified_books
from dpsynth_core.web.shell import brand, descriptors, health
from dpsynth_core.web.shell.door import address, connections, doors, personal
from dpsynth_core.web.shell.door.connections import Patient
from dpsynth_core.web.shell.door.doors import Guard

_PUMP_SECONDS, _EXPIRE_SECONDS, _STEADY_SECONDS = 2.0, 3600.0, 60.0
_CHECK_SECONDS = 20 * 3600.0
"""Age of the last full check of the ledger at which the server makes the next, before a charge would have to."""

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
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), geolocation=(), microphone=()"),
)

_ONLY_HTTPS = (b"strict-transport-security", b"max-age=31536000")
"""Header by which a browser uses https alone for a year."""

_log = logging.getLogger(__name__)


class Harden:
    """ASGI middleware that adds `HEADERS` to every response, unless the response sets them itself.

    Where browsers reach the server by https, it also keeps them from coming by http, and every
    cookie from being sent there, also the one that Streamlit sets at the sign-in.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, with `HEADERS` added to the response."""

        async def send_hardened(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = list(message.get("headers", ()))
                if doors.by_https():
                    own = [(name, _secure(value) if name.lower() == b"set-cookie" else value) for name, value in own]
                    own.append(_ONLY_HTTPS)
                named = {name.lower() for name, _ in own}
                message = {**message, "headers": own + [header for header in HEADERS if header[0] not in named]}
            await send(message)

        await self.app(scope, receive, send_hardened)


def _secure(cookie: bytes) -> bytes:
    """Return the text of a Set-Cookie header with the attribute Secure."""
    attributes = [part.strip().lower() for part in cookie.split(b";")[1:]]
    return cookie if b"secure" in attributes else cookie + b"; Secure"


MIDDLEWARE = [Middleware(Harden), Middleware(Patient), Middleware(Guard)]


def check_settings() -> None:
    """Check the server's settings and install the limits for connections.

    Raises:
        SystemExit: A setting cannot be used, or would let strangers in; the message has one line.
    """
    try:
        for variable in settings.NUMBERS:
            settings.number(variable)
        settings.data_roots()
        connections.put_in_place()
        with faults.explained():
            doors.chosen()
    except InputError as error:
        raise SystemExit(f"The wizard does not start. {error}") from None


def describe_exceptions() -> None:
    """Make every log of this process show only type and place of an exception.

    The text of an exception may quote a cell of the private table.
    """
    config.set_option("logger.enableRich", False)  # it prints tracebacks around the log
    made = logging.getLogRecordFactory()

    def described(*arguments: Any, **further: Any) -> logging.LogRecord:
        record = made(*arguments, **further)
        if record.exc_info and record.exc_info[1] is not None:
            record.msg, record.args = "uncaught: %s", (faults.describe(record.exc_info[1]),)
            record.exc_info = record.exc_text = None
        else:
            record.msg, record.args = _described(record.msg), _described(record.args)
        return record

    logging.setLogRecordFactory(described)
    threading.excepthook = lambda ended: _log.error("uncaught in a thread", exc_info=ended.exc_value)
    sys.unraisablehook = lambda ended: _log.error("uncaught where nothing waits for it", exc_info=ended.exc_value)


def _described(said: Any) -> Any:
    """Return an object to log with its exceptions replaced by their descriptions, at all depths."""
    if isinstance(said, BaseException):
        return faults.describe(said)
    if isinstance(said, dict):
        return {key: _described(value) for key, value in said.items()}
    return type(said)(map(_described, said)) if type(said) in (tuple, list) else said


@contextlib.asynccontextmanager
async def lifespan(_app: object) -> AsyncIterator[dict[str, object]]:
    """Start the app's background work before the server's first request, and stop it when the block ends.

    Jobs of an earlier server are settled first: runs whose worker died are marked lost, and
    other jobs continue. Then the pages are loaded, and the address is announced (`announce`). The queue of jobs is
    checked every 2 seconds; every hour, what is older than an administrator allows is deleted, and the ledger is
    checked if its last check is 20 hours old. The context's value is {}.
    """
    await _pump_once()
    await asyncio.to_thread(_warm_up)
    tasks = [asyncio.create_task(_pump_forever()), asyncio.create_task(_expire_forever())]
    announce(doors.chosen())
    try:
        yield {}
    finally:
        for task in tasks:
            task.cancel()


def forbid_legacy_pages() -> None:
    """Keep Streamlit from running page files without app.py.

    Because there is a folder named pages/, a new server would do so until st.navigation has run
    once.
    """
    PagesManager.uses_pages_directory = False


def _warm_up() -> None:
    """Load the pages. If a package is missing, end the program with a message of one line."""
    try:
        load_pages()
    except ImportError as error:
        if (cause := cause_of(error)) is None:
            raise
        print(f"The wizard does not start. {cause}", file=sys.stderr, flush=True)
        os._exit(1)  # from a thread, before anything was served


def load_pages() -> None:
    """Import the modules of all pages and build one chart, so that the first visit need not wait.

    The first chart reads Vega-Lite's schema; it shows public facts, and is discarded. All takes about half
    a second.

    Raises:
        ImportError: A package is missing.
    """
    from dpsynth_core import charts
    from dpsynth_core.planning import precision

    for module in pkgutil.walk_packages(web.__path__, f"{web.__name__}."):
        importlib.import_module(module.name)
    for page in extension.pages():
        extension.load(page.draw)
    charts.tradeoff(precision.attacker(rho=0.01)).to_dict()


async def _pump_forever() -> None:
    while True:
        await asyncio.sleep(_PUMP_SECONDS)
        await _pump_once()


async def _expire_forever() -> None:
    """Delete expired data every hour, in a task of its own, so that the queue does not wait.

    An hour in which the clock was set is skipped: the clock may be wrong by years.
    """
    while True:
        ahead = time.time() - time.monotonic()
        await asyncio.sleep(_EXPIRE_SECONDS)
        if abs(time.time() - time.monotonic() - ahead) < _STEADY_SECONDS:
            await _attempt(retention.expire, "what is older than an administrator allows could not be deleted")
        await _attempt(partial(verified_books.check_if_due, _CHECK_SECONDS), "the ledger is not whole, or could not be checked")


async def _pump_once() -> None:
    if await _attempt(dispatch.pump, "the queue of jobs could not be checked"):
        health.looked()


async def _attempt(action: Callable[[], object], failed: str) -> bool:
    """Return whether the action succeeded. A failure is logged as `failed` with the type of the error."""
    try:
        await asyncio.to_thread(action)
    except Exception as error:  # noqa: BLE001
        _log.error("%s: %s", failed, type(error).__name__)  # the type alone, a message could quote data
        return False
    return True


def announce(door: doors.Door) -> None:
    """Print the app's address on standard output, and open it in a browser.

    A server that is headless (`server.headless`) or has no desktop opens nothing; where a token is needed, the
    browser gets the file open.html, written to DPSYNTH_HOME. This process's limit of open files is raised as far
    as the system allows. Missing protections of the system and a low limit are logged as warnings.
    """
    for lacking in filter(None, (sandbox.lacking(), descriptors.make_room())):
        _log.warning("%s", lacking)
    url = address.url()
    token = door.token if isinstance(door, personal.Personal) else ""
    say(sys.stdout, url, token)
    if not config.get_option("server.headless") and _has_desktop():
        target = _leading_file(personal.opening(url, token)).as_uri() if token else url
        threading.Thread(target=webbrowser.open, args=(target,), daemon=True).start()


def say(stream: TextIO, url: str, token: str) -> None:
    """Print the app's address and how to open it. A stream without a reader is ignored.

    Args:
        stream: Where to print. The token is only shown on a terminal, because another stream may be
            a log that others read.
        url: The address.
        token: The token of the person who runs the server; "" if people sign in.
    """
    lines = ["", f"{brand.NAME} is ready: {url}"]
    if not token:
        lines += ["People sign in with the provider that secrets.toml names. Ctrl-C stops the server."]
    else:
        lines += ["It is for one person, the one who started it."]
        if stream.isatty():
            lines += ["Open it with this address:", "", f"  {personal.opening(url, token)}", ""]
            lines += ["It opens all your projects and tables: do not pass it on. Ctrl-C stops the server."]
        else:
            lines += [f"Open it there with the token in {access_token.place()}, which only its owner can read."]
        if not address.only_this_machine():  # in a container
            lines += ["", f"In a container, this shows the token: docker exec CONTAINER cat {access_token.place()}"]
            lines += ["Publish its port on this machine alone. For several people set sign-in up, as docs/office.md says."]
    with contextlib.suppress(OSError):  # no reader is left; the server is no worse for it
        print("\n".join(f"  {line}".rstrip() for line in [*lines, ""]), file=stream, flush=True)


def _has_desktop() -> bool:
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _leading_file(opening: str) -> Path:
    """Write a page that sends the browser to `opening`, readable by its owner only, and return its path."""
    path = home.home() / "open.html"
    with private_file(path) as stream:
        stream.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(opening)}">'.encode())
    return path
