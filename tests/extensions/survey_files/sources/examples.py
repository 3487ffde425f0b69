"""A small table in a file of each kind. For `tests/sources/examples.py`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from tests.sources.examples import Example, as_file

EXAMPLES: dict[str, Callable[[Path], Example]] = {
    "spreadsheet": as_file("spreadsheet", ".xlsx"),
    "spss": as_file("spss", ".sav"),
    "stata": as_file("stata", ".dta"),
    "sas": as_file("sas", ".xpt"),
}
