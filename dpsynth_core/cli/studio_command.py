"""`studio`: the app on this machine."""

from __future__ import annotations

import argparse
import os
import sys
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from dpsynth_core.cli.options import add_command, whole
from dpsynth_core.foundation.causes import command
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.places import APP

if TYPE_CHECKING:
    from dpsynth_core.cli.options import Commands


def add(commands: Commands) -> None:
    studio = add_command(commands, "studio", _studio, "start the app on this machine; what happens without any command")
    studio.add_argument("--port", metavar="N", default="8501", help="of this machine (default: %(default)s)")
    studio.add_argument("--no-browser", action="store_true", help="print the address and open nothing")


def _studio(options: argparse.Namespace) -> NoReturn:
    """This process becomes the server."""
    for package in ("streamlit", "altair"):
        if find_spec(package) is None:
            raise InputError("packages", f"{package} is missing", command(package))
    port = whole(options.port)
    if port is None or not 1 <= port <= 65_535:
        raise InputError("--port", f"{shown(options.port)} is no port", "give a whole number from 1 to 65535")
    flags = {"address": "127.0.0.1", "port": port, "showEmailPrompt": "false", "headless": str(options.no_browser).lower()}
    stated = [f"--server.{name}={value}" for name, value in flags.items()]
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(APP), *stated])
