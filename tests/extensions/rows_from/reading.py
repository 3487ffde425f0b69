"""Work that tries to read a table, in the place of the work that makes rows from tables."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any


def work(stated: dict[str, Any]) -> Iterator[Any]:
    """Yield the beginning of a table, or the error of opening it, as the content of a file."""
    yield {"file": "found"}
    try:
        yield Path(stated["table"]).read_bytes()
    except OSError as error:
        yield type(error).__name__.encode()
