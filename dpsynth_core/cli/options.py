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
    """Mistakes on the command line are InputErrors like all others: one line, no usage text."""

    @override
    def error(self, message: str) -> NoReturn:
        raise InputError("command line", message, f"see {self.prog} --help")


def add_command(commands: Commands, name: str, run: Command, purpose: str) -> argparse.ArgumentParser:
    """Return a command without options yet; purpose is its line in --help."""
    parser = commands.add_parser(name, help=purpose, allow_abbrev=False)
    parser.set_defaults(command=run)
    return parser


def check_given(options: argparse.Namespace) -> None:
    """InputError for text that no document can hold and for paths that no system can open, before a command looks at them."""
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
    """Return a whole number or float if it reads as one; otherwise the text, which the spec refuses with the name of the field."""
    if text is not None and len(text) > MAX_DIGITS:
        return text
    for read in (int, float):
        try:
            return None if text is None else read(text)
        except ValueError:
            continue
    return text


def whole(text: str) -> int | None:
    """Return a whole number of a few ordinary digits, None for anything else: other digits, such as superscripts, are no numbers to `int`.
    """
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _FEW_DIGITS else None


def add_setting(parser: argparse.ArgumentParser) -> None:
    """Declare the option `--set`."""
    parser.add_argument("--set", metavar="NAME=VALUE", action="append", default=[], help="a parameter of the mechanism; may be repeated")


def settings(pairs: Sequence[str]) -> dict[str, str]:
    """Read the values of `--set` into settings by name.

    Raises:
        InputError: A value is not NAME=VALUE, or a name is there twice.
    """
    settings: dict[str, str] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip() or name.strip() in settings:
            raise InputError("--set", f"{shown(pair)} is not one name=value, or the name was given before", "write --set name=value")
        settings[name.strip()] = value.strip()
    return settings


def check_writable(out: Path) -> None:
    """Raise InputError unless the folder, and files in it, can be made."""
    try:
        lasting_directory(out)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError:
        raise InputError("--out", f"no files can be written in {shown(out)}", "name a folder that you may write to") from None


def write_new(option: str, path: Path, content: Any) -> None:
    """Write a JSON document to a file that must not be there yet. Raises InputError if the file exists or cannot be written."""
    try:
        with path.open("x", encoding="utf-8") as stream:
            stream.write(json.dumps(content, indent=1, ensure_ascii=False) + "\n")
    except FileExistsError:
        raise InputError(option, f"{shown(path)} is there already", "name another file") from None
    except OSError:
        raise InputError(option, f"{shown(path)} cannot be written", "name a file that you may write") from None
