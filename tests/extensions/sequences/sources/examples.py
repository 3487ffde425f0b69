"""The invented hospital among the tables that tests of all sources go through, with columns that the table has."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dpsynth_core.extensions.sequences import EXTENSION, hospital
from tests.sources.examples import Example

EXAMPLES: dict[str, Callable[[Path], Example]] = {
    demo.kind: lambda _folder, kind=demo.kind: Example({"kind": kind}, hospital.domain().keep(("sex", "region", "ward")))  # type: ignore[misc]
    for demo in EXTENSION.demos
}
