"""One small table of every kind of source, for the suite that asks the same of all of them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray

from dpsynth_core.sources import demo_households, memory
from dpsynth_core.sources.demo import demo_domain
from dpsynth_core.sources.registry import LINKED_DEMO
from dpsynth_core.vocabulary.domain import Domain
from tests.additions import added
from tests.sources.written import WRITERS

THREE = Domain.from_json({"a": 2, "b": 3, "c": 4})
HELD: list[memory.NamedTable] = []
"""So that they stay."""


@dataclass(frozen=True, eq=False)
class Example:
    """section: the `data` section of a spec. codes: the records as cells of the domain, int32, where they are known."""

    section: Mapping[str, Any]
    domain: Domain
    codes: NDArray[np.int32] | None = None


def codes() -> NDArray[np.int32]:
    return np.random.default_rng(3).integers(0, THREE.sizes(THREE.names), size=(200, 3)).astype(np.int32)


def _csv(folder: Path) -> Example:
    path = folder / "table.csv"
    pd.DataFrame(codes(), columns=THREE.names).to_csv(path, index=False)
    return Example({"path": str(path), "kind": "csv"}, THREE, codes())


def _parquet(folder: Path) -> Example:
    path = folder / "table.parquet"
    pq.write_table(pa.Table.from_pandas(pd.DataFrame(codes(), columns=THREE.names)), path)
    return Example({"path": str(path), "kind": "parquet"}, THREE, codes())


def as_file(kind: str, ending: str) -> Callable[[Path], Example]:
    """A function that writes a table in a folder as a file with this ending."""

    def make(folder: Path) -> Example:
        path = folder / f"table{ending}"
        WRITERS[ending](pa.Table.from_pandas(pd.DataFrame(codes(), columns=THREE.names)), path)
        return Example({"path": str(path), "kind": kind}, THREE, codes())

    return make


def _memory(_folder: Path) -> Example:
    held = memory.hold(pa.Table.from_pandas(pd.DataFrame(codes(), columns=THREE.names)))
    HELD.append(held)
    return Example({"path": held.name, "kind": "memory"}, THREE, codes())


def _demo(_folder: Path) -> Example:
    some = Domain(tuple(attribute for attribute in demo_domain() if attribute.name in demo_domain().names[:3]))
    return Example({"kind": "demo"}, some)


def _linked_demo(kind: str) -> Callable[[Path], Example]:
    return lambda _folder: Example({"kind": kind}, demo_households.domains()[LINKED_DEMO.index(kind)])


def _standin(_folder: Path) -> Example:
    return Example({"kind": "standin", "standin": {"rows": 300, "strength": 0.5, "seed": 4}}, THREE)


EXAMPLES: dict[str, Callable[[Path], Example]] = {
    "csv": _csv,
    "jsonl": as_file("jsonl", ".jsonl"),
    "parquet": _parquet,
    "feather": as_file("feather", ".feather"),
    "memory": _memory,
    "demo": _demo,
    **{kind: _linked_demo(kind) for kind in LINKED_DEMO},
    "standin": _standin,
}
for module in added("sources.examples"):
    EXAMPLES |= module.EXAMPLES
