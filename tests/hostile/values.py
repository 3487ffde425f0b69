"""Values of the wrong kind or size, and JSON that holds them: also what Python's own writer would refuse."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any


class Raw(str):
    """JSON as it stands."""


LONG = "x" * 20_000
TEXTS = (
    "",
    " ",
    "\t",
    "x",
    "0",
    "-1",
    "1e999",
    "²",
    "٣",
    "\ufeff",
    " lead",
    "a\nb",
    "\u202eevil",
    "=1+1",
    "<script>",
    "$x$",
    LONG,
    "true",
    "../../etc/passwd",
    "/dev/zero",
    "~nosuchuser/x",
    "%s%n",
    "a\x00b",
    "NaN",
    "null",
    "{}",
    "café",
    "𝔘",
    "a" * 300,
)
NUMBERS = (0, 1, -1, 2, 3, 17, 2.5, -0.0, 1e-9, 1e-300, 5e-324, 1e18, 1e308, 2**31, 2**53, 2**63, 2**64, 10**30)
ODD = (
    Raw("NaN"),
    Raw("-Infinity"),
    Raw("1e999"),
    Raw("9" * 5000),
    Raw("1" + "0" * 400),
    Raw('"\\ud800"'),
    Raw("[" * 3000 + "]" * 3000),
    Raw('{"a": 1, "a": 2}'),
)


def any_value(rng: random.Random) -> Any:
    return rng.choice(
        [
            lambda: None,
            lambda: rng.choice([True, False]),
            lambda: rng.choice(NUMBERS),
            lambda: rng.choice(TEXTS),
            lambda: rng.choice(ODD),
            lambda: rng.choice([[], [None], [1], ["a"], [[]], [{}], ["a"] * 3, list(range(1000)), [LONG] * 3, [True, "x", 1.5]]),
            lambda: rng.choice([{}, {"a": 1}, {"": ""}, {LONG: 1}, {"kind": "all"}, {"name": {"name": {}}}]),
        ]
    )()


def encode(obj: Any) -> str:
    """JSON with Raw values as they stand."""
    raw: list[str] = []

    def hide(value: Any) -> Any:
        if isinstance(value, Raw):
            raw.append(value)
            return f"@raw{len(raw) - 1}@"
        if isinstance(value, dict):
            return {key: hide(inner) for key, inner in value.items()}
        return [hide(inner) for inner in value] if isinstance(value, list | tuple) else value

    text = json.dumps(hide(obj))
    for number, value in enumerate(raw):
        text = text.replace(f'"@raw{number}@"', value)
    return text


Path = tuple[str | int, ...]


def paths(obj: Any, so_far: Path = ()) -> Iterator[Path]:
    """Where the values of a document are, itself first."""
    yield so_far
    pairs = obj.items() if isinstance(obj, dict) else enumerate(obj) if isinstance(obj, list) else ()
    for key, value in pairs:
        yield from paths(value, (*so_far, key))


def spoiled(rng: random.Random, obj: Any, path: Path) -> Any:
    """A copy in which the value at a path is another one, gone, there twice, or beside an entry that nobody knows."""
    if not path:
        return any_value(rng)
    copy = json.loads(json.dumps(obj))
    at = copy
    for key in path[:-1]:
        at = at[key]
    change = rng.randrange(8)
    if change == 0:
        del at[path[-1]]
    elif change == 1 and isinstance(at, dict):
        at[rng.choice(["extra", "Kind", "", LONG])] = any_value(rng)
    elif change == 2 and isinstance(at, list):
        at.append(at[path[-1]])
    else:
        at[path[-1]] = any_value(rng)
    return copy
