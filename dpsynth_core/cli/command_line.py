"""The command line: make a release without the app, from options or from a spec.

Tools are built on it, so its output and exit codes stay stable. It is called `dpsynth-studio` where the program is installed, and
`python -m dpsynth_core` anywhere.

Files: DIR/synthetic.csv, DIR/release.json, and DIR/release.zip with both and all other published files. DIR/times.json is for the curator
only: the duration may depend on the records, so no published file has it. stderr has one line per round, warnings, and exactly one line for
bad input. Exact facts about the table are printed on a terminal only, or with --private-notes, because logs are kept.

Exit codes: 0 done, 1 the run itself failed, 2 bad input (nothing was read and nothing charged), 5 the output could not be printed to its
end, 130 interrupted. The charge of a run that ended early stays charged, and its measurements are kept: `recover` finishes its release
without spending again. For recipients of a bundle, `verify` prints one line per check and ends with 0 (consistent), 1 (inconsistent) or 4
(consistent as far as checked); `reproduce` writes the rows again and ends with 0 (the same) or 1.

The ledger is used only with --population, and then as in the app; `ledger` checks it (0 intact, 1 not), exports and restores it.
"""

from __future__ import annotations

import argparse
import json
import os
import socket
import sys
from collections.abc import Sequence
from importlib.util import find_spec
from typing import NoReturn

from dpsynth_core.cli import (
    bundle_commands,
    domain_command,
    learn_command,
    ledger_commands,
    next_command,
    release_commands,
)
from dpsynth_core.cli.options import Parser, add_command, check_given, whole
from dpsynth_core.cli.terminal import BAD_INPUT, FAILED, UNPRINTED, Unprinted, print_message, print_text
from dpsynth_core.foundation import allocation, extension
from dpsynth_core.foundation.causes import cause_of, command
from dpsynth_core.foundation.errors import ChargedError, InputError, shown
from dpsynth_core.foundation.interrupts import INTERRUPTED
from dpsynth_core.foundation.places import APP


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command of the command line, print its errors to stderr, and return the exit code.

    Errors of unexpected kinds are printed without their text, which could quote a record; with
    DPSYNTH_DEBUG in the environment they, and failures after a charge, are raised as well.

    Args:
        arguments: The command and its options; by default the arguments of this process.

    Returns:
        The command's own code, which is 0 if it succeeded; `BAD_INPUT` (2) for wrong input, and if a package
        or memory is missing; `FAILED` (1) for other failures, also those after a charge; `INTERRUPTED` (130)
        after Ctrl-C; and `UNPRINTED` (5) if stdout could not be written.

    Raises:
        SystemExit: The arguments ask for --help, which is printed.
    """
    try:
        options = parser().parse_args(arguments)
        check_given(options)
        allocation.check_room()
        return options.command(options) or 0
    except ChargedError as error:
        print_message(f"error: {error}; no release was written, and what was charged stays charged")
        if os.environ.get("DPSYNTH_DEBUG"):
            raise
        return FAILED
    except InputError as error:
        print_message(f"error: {error}")
        return BAD_INPUT
    except KeyboardInterrupt:
        print_message("error: interrupted; no release was written")
        return INTERRUPTED
    except Unprinted:
        print_message("error: the result could not be printed to the end")
        return UNPRINTED
    except Exception as error:
        if (cause := cause_of(error)) is not None:
            print_message(f"error: {cause}")
            return BAD_INPUT
        print_message(f"error: the run failed with {type(error).__name__}; no release was written")  # its text could quote a record
        if os.environ.get("DPSYNTH_DEBUG"):
            raise
        return FAILED


def parser() -> Parser:
    """Return the argument parser with all commands and their options."""
    every = Parser(prog="python -m dpsynth_core", description="Synthetic tables under differential privacy.", allow_abbrev=False)
    commands = every.add_subparsers(title="commands", required=True, metavar="COMMAND")
    before = (release_commands, next_command, domain_command, learn_command)
    groups = (*before, bundle_commands, ledger_commands)
    for group in groups:
        group.add(commands)
    for path in extension.commands():
        extension.load(path)(commands)
    studio = add_command(commands, "studio", _studio, "start the app on this machine; what happens without any command")
    studio.add_argument("--port", metavar="N", default="8501", help="of this machine (default: %(default)s)")
    studio.add_argument("--no-browser", action="store_true", help="print the address and open nothing")
    add_command(commands, "mechanisms", _mechanisms, "print the mechanisms and their parameters as JSON")
    return every


def _mechanisms(_: argparse.Namespace) -> None:
    from dpsynth_core.mechanisms import registry

    print_text(json.dumps(registry.describe(), indent=1))


def _studio(options: argparse.Namespace) -> NoReturn:
    """Replace this process by the Streamlit server of the app, on 127.0.0.1.

    Raises:
        InputError: A package is missing, or the port is invalid or in use.
    """
    for package in ("streamlit", "altair"):
        if find_spec(package) is None:
            raise InputError("packages", f"{package} is missing", command(package))
    port = whole(options.port)
    if port is None or not 1 <= port <= 65_535:
        raise InputError("--port", f"{shown(options.port)} is not a port", "give a whole number from 1 to 65535")
    with socket.socket() as place:
        place.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)  # of a server that has just ended
        try:
            place.bind(("127.0.0.1", port))
        except OSError:
            raise InputError("--port", f"{port} is not free", "give another one: --port 8502, or make run PORT=8502") from None
    flags = {"address": "127.0.0.1", "port": port, "showEmailPrompt": "false", "headless": str(options.no_browser).lower()}
    stated = [f"--server.{name}={value}" for name, value in flags.items()]
    os.execv(sys.executable, [sys.executable, "-m", "streamlit", "run", str(APP), *stated])
