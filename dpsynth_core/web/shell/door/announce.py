"""What the server says when it is ready, and how it opens the browser of the person who started it.

The token is written where only that person looks. A terminal shows it. What is not a terminal may be a log that others read, so it gets the
place of the token instead. A browser is started with the address of a file that leads on, because every account can read the arguments of
a process.
"""

from __future__ import annotations

import contextlib
import os
import sys
import threading
import webbrowser
from html import escape
from pathlib import Path
from typing import TextIO

from streamlit import config

from dpsynth_core.foundation.private_files import private_file
from dpsynth_core.store import access_token, home
from dpsynth_core.web.shell import brand
from dpsynth_core.web.shell.door import address, doors, personal

_LEADING = "open.html"


def ready(door: doors.Door) -> None:
    """Say where the wizard is, and open it unless `server.headless` says that no person sits here."""
    url = address.url()
    token = door.token if isinstance(door, personal.Personal) else ""
    say(sys.stdout, url, token)
    if not config.get_option("server.headless") and _has_desktop():
        target = _leading_file(personal.opening(url, token)).as_uri() if token else url
        threading.Thread(target=webbrowser.open, args=(target,), daemon=True).start()


def say(stream: TextIO, url: str, token: str) -> None:
    """token: "" where people sign in."""
    lines = ["", *_lines(url, token, stream.isatty()), ""]
    with contextlib.suppress(OSError):  # no reader is left; the server is no worse for it
        print("\n".join(f"  {line}".rstrip() for line in lines), file=stream, flush=True)


def _lines(url: str, token: str, terminal: bool) -> list[str]:
    if not token:
        return [f"{brand.NAME} is ready: {url}", "People sign in with the provider that secrets.toml names. Ctrl-C stops the server."]
    if terminal:
        opening = ["Open it with this address:", "", f"  {personal.opening(url, token)}", ""]
        opening += ["It opens all your projects and tables: do not pass it on. Ctrl-C stops the server."]
    else:
        opening = [f"Open it there with the token in {access_token.place()}, which only its owner can read."]
    return [f"{brand.NAME} is ready: {url}", "It is for one person, the one who started it.", *opening, *_elsewhere()]


def _elsewhere() -> list[str]:
    """For a server in a container, or for several machines."""
    if address.only_this_machine():
        return []
    return [
        "",
        f"In a container, this shows the token: docker exec CONTAINER cat {access_token.place()}",
        f"Other machines may reach the server: put it behind https, and set {address.VARIABLE} to the address that browsers use.",
        "For several people set sign-in up, as docs/guide/operations.md says.",
    ]


def _has_desktop() -> bool:
    return not sys.platform.startswith("linux") or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))


def _leading_file(opening: str) -> Path:
    """A file that only its owner can read, which sends the browser to `opening`."""
    path = home.home() / _LEADING
    with private_file(path) as stream:
        stream.write(f'<!doctype html><meta http-equiv="refresh" content="0; url={escape(opening)}">'.encode())
    return path
