"""The command line: make a release without the app, from options or from a spec. Tools are built on it, so it keeps its word. It is called
`dpsynth-studio` where the program is installed, and `python -m dpsynth_core` anywhere.

Files: DIR/synthetic.csv, DIR/release.json, and both with all else that is published in DIR/release.zip. DIR/times.json is for the curator
only: how long it took may say something about the records, so no published file does. stderr: one line per round, warnings, and for bad
input exactly one line; what is exact about the table is only said on a terminal, or with --private-notes, because logs are kept. Exit
codes: 0 done, 1 the run itself failed, 2 bad input (nothing was read and nothing charged), 130 interrupted. What a run was charged that
ended early stays charged, and what it measured is kept: `recover` finishes its release without spending again. For recipients of a bundle:
`verify` prints one line per check and ends with 0 (consistent), 1 (not) or 4 (consistent as far as checked); `reproduce` writes the rows
again and ends with 0 (the same) or 1. `audit` runs the program on invented people and ends with 0 (nothing found) or 3 (a promise is
broken). 5: what was found could not be printed to the end.
The ledger is used only with --population, and then as the app does; `ledger` checks it (0 whole, 1 not), exports and restores it.
"""

from __future__ import annotations

import argparse
import json
import os
from collections.abc import Sequence

from dpsynth_core.cli import (
    audit_command,
    bundle_commands,
    domain_command,
    ledger_commands,
    next_command,
    release_commands,
    studio_command,
)
from dpsynth_core.cli.options import Parser, add_command, check_given
from dpsynth_core.cli.terminal import BAD_INPUT, FAILED, UNPRINTED, Unprinted, print_message, print_text
from dpsynth_core.foundation import allocation
from dpsynth_core.foundation.causes import cause_of
from dpsynth_core.foundation.errors import ChargedError, InputError
from dpsynth_core.foundation.interrupts import INTERRUPTED


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; the exit code."""
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
    """All commands with their options."""
    whole = Parser(prog="python -m dpsynth_core", description="Synthetic tables under differential privacy.", allow_abbrev=False)
    commands = whole.add_subparsers(title="commands", required=True, metavar="COMMAND")
    groups = (release_commands, next_command, domain_command, bundle_commands, audit_command, ledger_commands, studio_command)
    for group in groups:
        group.add(commands)
    add_command(commands, "mechanisms", _mechanisms, "print the mechanisms and their parameters as JSON")
    return whole


def _mechanisms(_: argparse.Namespace) -> None:
    from dpsynth_core.mechanisms import registry

    print_text(json.dumps(registry.describe(), indent=1))
