"""Releases of each kind, of invented people, whose bundles have programs: each is made once for all tests."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpsynth_core.mechanisms.graphical.households import workload
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link
from tests.additions import added
from tests.bundle import pack
from tests.bundle.bundles import DOMAIN, files, spec
from tests.homes import MOST, PEOPLE, tables
from tests.releases import run
from tests.report.deposits import KINDS
from tests.specs import usual

BUDGET = {"epsilon": 8.0, "delta": 1e-9}
WEIGHED = Domain((
    Attribute.categorical("region", ["n", "s", "w"], labels=["North", "South", "West"], missing=True),
    Attribute.numeric("w", 0.0, 8.0, bins=8, nearest=True, missing=True),
    Attribute.integer("age", 0, 5),
))  # fmt: skip
MORE_KINDS: list[dict[str, Any]] = [
    *KINDS,
    {"name": "lasted", "kind": "duration", "lower": "-10:00", "upper": "36:00", "precision": "minute", "bins": 4, "missing": True},
    {"name": "tenth", "kind": "ordinal", "dtype": "float64", "categories": ["0.1", "0.2", "0.7"], "other": False, "missing": False},
    {"name": "third", "kind": "numeric", "lower": 0.0, "upper": 1.0, "edges": [0.0, 0.1, 1 / 3, 1.0], "own_cells": [0.0], "missing": True},
    {"name": "level", "kind": "ordinal", "dtype": "int64", "categories": ["1", "2", "3"], "other": False, "missing": False},
]
"""A column of each kind, with identifiers and constants, truth values, times, and edges that no short decimal is."""


def people() -> bytes:
    return packed(spec())


def kinds() -> bytes:
    domain = DOMAIN | {"attributes": [*DOMAIN["attributes"], *MORE_KINDS]}
    more = {"domain": domain, "workload": {"kind": "all", "k": 1}, "mechanism": {"name": "independent"}}
    return packed(spec(data={"kind": "standin", "standin": {"rows": 300}}, **more))


def several() -> bytes:
    return packed(spec(output={"rows": 200, "tables": 3}, workload={"kind": "all", "k": 1}, mechanism={"name": "independent"}))


def weights() -> bytes:
    rng = np.random.default_rng(3)
    region = rng.choice(["n", "s", "w"], 2000, p=[0.6, 0.3, 0.1])
    table = pd.DataFrame({"region": region, "w": rng.gamma(4.0, np.where(region == "n", 0.4, 1.0)), "age": rng.integers(0, 6, 2000)})
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "people.csv"
        table.to_csv(path, index=False)
        budget = {"budget": BUDGET | {"certificate": 0.05, "weighted": 0.1}, "mechanism": "independent", "weight": {"column": "w"}}
        return packed(Spec.from_json(usual({"kind": "csv", "path": str(path)}, WEIGHED.to_json(), **budget)))


def linked() -> bytes:
    homes, members = Domain.from_json({"region": 2}), Domain.from_json(PEOPLE)
    with tempfile.TemporaryDirectory() as folder:
        paths = tables(Path(folder))
        return packed(
            Spec.from_json({
                "population": "trial", "data": {"path": str(paths[0])}, "domain": homes.to_json(),
                "members": {"path": str(paths[1]), "domain": PEOPLE}, "unit": {"person_column": "id", "max_rows_per_person": MOST},
                "workload": workload(Link(homes, members, MOST)).to_json(), "budget": BUDGET, "mechanism": {"name": "households"},
            })
        )


EXAMPLES: dict[str, Callable[[], bytes]] = {one.__name__: one for one in (people, kinds, several, weights, linked)}


@cache
def bundle(kind: str) -> bytes:
    """The bundle of this kind."""
    return EXAMPLES[kind]()


def stated_domain(content: bytes) -> dict[str, Any]:
    """The domain of the spec in a bundle."""
    return dict(json.loads(files(content)["spec.json"])["domain"])


def packed(of: Spec) -> bytes:
    """The bundle of a release of this spec."""
    return pack.pack(run(of))


for module in added("programs.examples"):
    EXAMPLES |= module.EXAMPLES
