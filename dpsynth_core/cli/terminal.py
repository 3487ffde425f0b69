"""The output of the command line, and its exit codes."""

from __future__ import annotations

import io
import os
import sys
from contextlib import suppress

BAD_INPUT, FAILED, UNCHECKED, UNPRINTED = 2, 1, 4, 5


def print_message(line: str) -> None:
    """Print a line to stderr. Characters that are not printable, as in column names, become "?"."""
    print(_printable(line), file=sys.stderr, flush=True)


def print_result(line: str) -> None:
    """Print a line of a requested result to stdout. Characters that are not printable become "?".

    Raises:
        Unprinted: The write fails.
    """
    print_text(_printable(line))


class Unprinted(Exception):
    """The error of a write to stdout: the disk is full, or the reading program ended."""


def print_text(text: str) -> None:
    """Print a text to stdout. Characters that stdout's encoding lacks become "?".

    Raises:
        Unprinted: The write fails. The command then ends with an exit code of its own, so that the
            failure is not taken for a result.
    """
    try:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(errors="replace")
        print(text, flush=True)
    except OSError:
        with suppress(OSError, ValueError):  # what Python would try to write once more when it ends
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise Unprinted from None


def _printable(line: str) -> str:
    return line if line.isprintable() else "".join(c if c.isprintable() else "?" for c in line)
