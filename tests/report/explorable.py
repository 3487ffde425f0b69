"""Releases and questions that the answers of the core and of the page are compared on."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from dpsynth_core.evaluation.questions import question as asking
from dpsynth_core.evaluation.questions.question import STATISTICS, Question
from dpsynth_core.release import document as releases
from dpsynth_core.release.release import Release
from dpsynth_core.vocabulary.domain import Domain
from tests.bundle import bundles
from tests.golden import goldens

HOSTILE = "</script><script>alert(1)</script><!--<img src=x onerror=alert(1)>\u2028\u202e{value}$&"
PRINTABLE = HOSTILE.replace("\u2028", "").replace("\u202e", "")
PROTO = "__proto__"


def hostile() -> Release:
    """The release of the golden of AIM, whose names mean harm."""
    text = (goldens.folder("aim") / "release.json").read_text()
    for name, harm in (("sex", HOSTILE), ("work", PROTO), ("part", HOSTILE), ("full", "constructor"), ("golden aim", PRINTABLE)):
        text = text.replace(json.dumps(name), json.dumps(harm))
    kept = goldens.kept("aim")
    return releases.from_json(json.loads(text), kept.codes, kept.values)


def questions(domain: Domain, number: int, seed: int) -> Iterator[Question]:
    """Questions of every kind, with filters that may be empty, in columns and cells drawn evenly."""
    rng = np.random.default_rng(seed)
    numeric = [a.name for a in domain if asking.cell_values(a) is not None]
    ordered = [a.name for a in domain if a.ordered]

    def cells(least: int) -> dict[str, list[int]]:
        chosen = rng.permutation(domain.names)[: max(least, int(rng.integers(0, 3)))]
        return {str(name): sorted(rng.permutation(domain[str(name)].size)[: int(rng.integers(1, 3))].tolist()) for name in chosen}

    for i in range(number):
        statistic = STATISTICS[i % len(STATISTICS)]
        fields: dict[str, Any] = {"among": cells(0)}
        if statistic == asking.SHARE:
            fields["cells"] = cells(1)
        elif statistic in (asking.MEAN, asking.MEDIAN):
            of = numeric if statistic == asking.MEAN else ordered
            if not of:
                continue
            fields["column"] = str(rng.choice(of))
        elif statistic == asking.DIFFERENCE:
            fields |= {"among": cells(1), "versus": cells(1)}
            fields |= {"column": str(rng.choice(numeric))} if numeric and i % 4 else {"cells": cells(1)}
        elif statistic == asking.TABLE:
            fields["columns"] = [str(name) for name in rng.permutation(domain.names)[: int(rng.integers(1, 3))]]
        yield Question(statistic, **fields).checked(domain)


def as_json(question: Question) -> Mapping[str, Any]:
    """As the page is asked."""
    filters = {name: {column: list(codes) for column, codes in getattr(question, name).items()} for name in ("among", "cells", "versus")}
    return {"statistic": question.statistic, "column": question.column, "columns": list(question.columns), **filters}


@cache
def of_means() -> Release:
    """A release that states means: of a column with a cell for each value, of one whose values are cut, and of one with missing values."""
    numbers = [
        {"name": "household_size", "kind": "integer", "lower": 1, "upper": 9, "width": 1, "missing": False, "other": "nearest"},
        {"name": "income", "kind": "numeric", "lower": 0, "upper": 60_000, "bins": 6, "decimals": 0, "missing": True, "other": "nearest"},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "width": 10, "missing": False, "other": False},
    ]
    sex = {"name": "sex", "kind": "categorical", "categories": ["female", "male"], "missing": False, "other": False}
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "inside": 0.1, "means": 0.05}
    domain = {"version": 1, "attributes": [*numbers, sex]}
    return bundles.run(bundles.spec(domain=domain, budget=budget, mechanism={"name": "independent"}, output={"rows": 2000, "seed": 5}))


def generated(seed: int, folder: Path) -> Release:
    """A release of an invented table in `folder`: numbers of several kinds, of which some lie beyond their bounds, groups, and two days in
    order. seed: draws table, domain, epsilon and mechanism, and is the seed of the noise."""
    rng = np.random.default_rng(seed)
    rows, table, columns = 1500, dict[str, Any](), list[dict[str, Any]]()
    for number in range(3):
        low, wide, whole = int(rng.choice([-500, 0, 18, 1900])), int(rng.choice([6, 60, 5000])), bool(rng.integers(2))
        values = low - wide / 20 + rng.gamma(2.0, wide / 5, rows)  # a few below the bounds, and a tail above them
        cut = [{"missing": False, "other": "nearest"}, {"missing": True, "other": "nearest"}, {"missing": True, "other": True}]
        kind = {"kind": "integer"} if whole else {"kind": "numeric", "decimals": int(rng.integers(0, 4))}
        bins = {"bins": int(rng.choice([1, 3, 6])), **cut[int(rng.integers(3))]}
        columns.append({"name": f"number {number}", "lower": low, "upper": low + wide, **kind, **bins})
        told = pd.Series(np.round(values, 0 if whole else 3)).astype("Int64" if whole else float)
        table[f"number {number}"] = told.mask(pd.Series(rng.random(rows) < 0.1)) if bins["missing"] else told
    for number in range(2):
        values = [f"value {i}" for i in range(int(rng.integers(2, 6)))]
        columns.append({"name": f"group {number}", "kind": "categorical", "categories": values, "missing": False, "other": True})
        table[f"group {number}"] = rng.choice([*values, "strange"], rows)
    days = {"kind": "date", "lower": "2020-01-01", "upper": "2020-12-31", "missing": False, "other": "nearest"}
    days["bins"] = int(rng.integers(2, 13))
    came = np.datetime64("2020-01-01") + rng.integers(0, 300, rows)
    table |= {"came": came, "went": came + rng.integers(0, 60, rows)}
    columns += [{"name": "came", **days}, {"name": "went", **days}]
    pd.DataFrame(table).to_csv(folder / "table.csv", index=False)
    budget = {"epsilon": float(rng.choice([0.5, 1.0, 5.0])), "delta": 1e-9, "certificate": 0.05, "inside": 0.1, "means": 0.05}
    more = {"mechanism": {"name": str(rng.choice(["independent", "mst", "aim"]))}, "output": {"rows": 900, "seed": seed}}
    order = {"column": "came", "at_most": "went"}
    domain = {"version": 1, "attributes": columns, "impossible": [order]}
    data = {"kind": "csv", "path": str(folder / "table.csv")}
    return bundles.run(bundles.spec(data=data, domain=domain, workload={"kind": "all", "k": 2}, budget=budget, **more))
