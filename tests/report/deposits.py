"""A release with all that archives and catalogues ask for."""

from __future__ import annotations

import io
import zipfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, files, run, spec

UNINSTALLED = "it is not installed; `make check` installs what requirements-dev.txt names"
ABOUT: dict[str, Any] = {
    "licence": "CC-BY-4.0",
    "creators": ["Statistics Office", "Doe, Jane"],
    "contact": "data@office.example",
    "period": "2024-01/2024-12-31",
    "place": "Norway",
}
KINDS: list[dict[str, Any]] = [
    {"name": 'pay <&"', "kind": "numeric", "lower": 0.0, "upper": 10.0, "decimals": 2, "missing": True, "bins": 4, "label": "Pay,\x07 <b>"},
    {"name": "born", "kind": "date", "lower": "1900-03-01", "upper": "2030-12-31", "bins": 4, "missing": True},
    {"name": "seen", "kind": "timestamp", "lower": "2020-01-01 00:00", "upper": "2020-12-31 00:00", "bins": 4, "missing": True},
    {"name": "at", "kind": "time", "lower": "00:00", "upper": "23:59", "bins": 4, "missing": True},
    {"name": "code", "kind": "ordinal", "dtype": "int64", "categories": ["1", "9"], "labels": ["poor", "best"], "other": True},
    {"name": "smokes", "kind": "categorical", "dtype": "bool", "categories": ["false", "true"], "missing": True, "other": False},
    {"name": "person", "kind": "identifier", "pattern": "P001"},
    {"name": "country", "kind": "constant", "value": "NO"},
]


@cache
def deposited() -> dict[str, bytes]:
    """The bundle of a release with a column of each kind, of which is stated what archives ask for."""
    domain = DOMAIN | {"attributes": [*DOMAIN["attributes"], *KINDS]}
    more = {"domain": domain, "workload": {"kind": "all", "k": 1}, "mechanism": {"name": "independent"}, "about": ABOUT}
    return files(pack.pack(run(spec(data={"kind": "standin", "standin": {"rows": 300}}, **more))))


def unpacked(held: dict[str, bytes], place: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(pack.zipped(held))) as archive:
        archive.extractall(place)
    return place
