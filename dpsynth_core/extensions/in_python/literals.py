"""Values of plans as Python writes them, in lines of a readable length."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

_WIDTH = 100


class Code(str):
    """Text that is code already."""


def literal(value: Any, depth: int = 0, room: int = _WIDTH) -> str:
    """Return a value as code that evaluates to it: on one line where it fits, else with an entry a line.

    Invisible characters, also characters that turn the direction of a line, are escaped, so that
    the code reads as what it does.

    Args:
        value: A text, number, truth, None, list, tuple or mapping of such values, or `Code`.
        depth: Number of indentations of the line in which the value begins.
        room: Number of characters that are left on this line.
    """
    short = _short(value)
    if len(short) <= room or not isinstance(value, Mapping | list | tuple) or not value:
        return short
    indent, end = "    " * (depth + 1), "\n" + "    " * depth
    left = _WIDTH - len(indent)
    if isinstance(value, Mapping):
        entries = [f"{_short(name)}: {literal(entry, depth + 1, left - len(_short(name)) - 3)}" for name, entry in value.items()]
    elif all(not isinstance(entry, Mapping | list | tuple) for entry in value):
        entries = list(_filled(map(_short, value), left))
    else:
        entries = [literal(entry, depth + 1, left - 1) for entry in value]
    first, last = "{}" if isinstance(value, Mapping) else "[]" if isinstance(value, list) else "()"
    return first + "".join(f"\n{indent}{entry}," for entry in entries) + end + last


def _short(value: Any) -> str:
    if isinstance(value, Code):
        return str(value)
    if isinstance(value, str):
        written = repr(value)
        return f'"{written[1:-1]}"' if written[0] == "'" and '"' not in written else written
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_short(name)}: {_short(entry)}" for name, entry in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(_short, value)) + "]"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_short, value)) + ("," if len(value) == 1 else "") + ")"
    return repr(value)


def _filled(entries: Iterable[str], room: int) -> Iterable[str]:
    """Yield lines of several short entries each, without the comma behind the last one."""
    line = ""
    for entry in entries:
        if line and len(line) + len(entry) + 3 > room:
            yield line
            line = ""
        line = f"{line}, {entry}" if line else entry
    if line:
        yield line
