"""Options that several commands share: the declaration of a command, typed values, and folders to write to.

Each command imports its needs when it runs, so that --help and mistakes answer at once.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn, TypeAlias

from typing_extensions import override

from dpsynth_core.foundation.documents import MAX_DIGITS, check_path
from dpsynth_core.foundation.errors import InputError, shown
from dpsynth_core.foundation.private_files import lasting_directory

Commands: TypeAlias = "argparse._SubParsersAction[Parser]"

PRIVATE_NOTES = "--private-notes"
_FEW_DIGITS = 9

Command = Callable[[argparse.Namespace], int | None]
"""Runs with the options as parsed; the exit code, None for 0."""


class Parser(argparse.ArgumentParser):
    """A parser whose errors are InputErrors: one line without the usage text."""

    @override
    def error(self, message: str) -> NoReturn:
        """Raise InputError with the message; nothing is printed."""
        raise InputError("command line", message, f"see {self.prog} --help")


def add_command(commands: Commands, name: str, run: Command, purpose: str) -> argparse.ArgumentParser:
    """Add a command to the command line and return its parser, to which options are added.

    Args:
        commands: The commands of the parser.
        name: The name of the command.
        run: The function that carries out the command.
        purpose: The line about the command in --help.
    """
    parser = commands.add_parser(name, help=purpose, allow_abbrev=False)
    parser.set_defaults(command=run)
    return parser


def check_given(options: argparse.Namespace) -> None:
    """Raise InputError if an option has text that is not valid UTF-8, or a path that cannot be opened.

    This runs before a command reads its options.
    """
    for name, value in vars(options).items():
        texts = [str(text) for text in (value if isinstance(value, list) else [value]) if isinstance(text, str | Path)]
        for text in texts:
            try:
                text.encode()
            except UnicodeEncodeError:
                raise InputError(_option(name), "it is not UTF-8 text", "write it in UTF-8; a file may have to be renamed") from None
        if isinstance(value, Path) or (name == "data" and isinstance(value, str)):
            check_path(str(value), _option(name))


def _option(name: str) -> str:
    return f"option {name.replace('_', '-')}"


def number(text: str | None) -> Any:
    """Return a text as an int, or else as a float; a text that is neither, and None, unchanged.

    A text that is not a number is refused later, by the validation of the spec, which names the
    field. A text of more than 40 characters (`MAX_DIGITS`) is not converted.
    """
    if text is not None and len(text) > MAX_DIGITS:
        return text
    for read in (int, float):
        try:
            return None if text is None else read(text)
        except ValueError:
            continue
    return text


def whole(text: str) -> int | None:
    """Return a text of at most nine ASCII digits as an int; None for any other text.

    Other digits, such as superscripts, are excluded because `int` cannot convert them.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _FEW_DIGITS else None


def add_setting(parser: argparse.ArgumentParser) -> None:
    """Declare the option `--set`."""
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Declare the option `--connect` of a command that runs a spec."""
    trusted = "the database server, cluster or object store that the spec names is one you trust with your credentials and this machine"
    parser.add_argument("--connect", action="store_true", help=trusted)


def add_charging(parser: argparse.ArgumentParser) -> None:
    """Declare the options `--population` and `--private-notes` of a command that charges a release."""
    parser.add_argument("--population", metavar="NAME", help="charge the ledger in DPSYNTH_HOME for these people")
    private = "print what is for the curator alone (exact counts, assumptions, time taken) even if stderr is not a terminal"
    parser.add_argument(PRIVATE_NOTES, dest="private_notes", action="store_true", help=private)


def settings(pairs: Sequence[str]) -> dict[str, str]:
    """Return the mechanism's settings that `--set NAME=VALUE` states, as texts by name; empty without any.

    Spaces around names and values are removed. Neither is checked.

    Raises:
        InputError: An item is not NAME=VALUE, or a name is repeated.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or name.strip() in settings:
            raise InputError("--set", f"{shown(pair)} is not one name=value, or the name was given before", "write --set name=value")
        settings[name.strip()] = value.strip()
    return settings


def check_writable(out: Path) -> None:
    """Make the folder `out` if it is missing. Raises InputError if no files can be written in it."""
    try:
        lasting_directory(out)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError:
        raise InputError("--out", f"no files can be written in {shown(out)}", "name a folder that you may write to") from None


def write_new(option: str, path: Path, content: Any) -> None:
    """Write `content` as JSON in UTF-8 to a file that must not exist yet.

    Args:
        option: The option that errors name.
        path: The file.
        content: A value of JSON.

    Raises:
        InputError: The file exists or cannot be written.
    """
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise InputError(option, f"{shown(path)} is there already", "name another file") from None
    except OSError:
        raise InputError(option, f"{shown(path)} cannot be written", "name a file that you may write") from None
