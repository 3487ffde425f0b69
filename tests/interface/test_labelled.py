"""Tables of counts are read by their labels at every door: in whatever order the labels are, each count stays with its value."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import dpsynth_core as dps
from tests.refusals import refused

CLOSED: dict[str, Any] = {"missing": False, "other": False}
COLUMNS: dict[str, Any] = {
    "age": {"kind": "integer", "lower": 0, "upper": 9, "bins": 5, **CLOSED},
    "sex": {"kind": "categorical", "categories": ["m", "f"], **CLOSED},
    "region": {"kind": "categorical", "categories": ["n", "s", "w"], **CLOSED},
}
COUNTS = np.arange(1.0, 7.0).reshape(2, 3)  # sex x region
CROSS = pd.DataFrame(COUNTS, pd.Index(["m", "f"], name="sex"), pd.Index(["n", "s", "w"], name="region"))
LINES = pd.DataFrame({"sex": list("mmmfff"), "region": list("nswnsw"), "count": COUNTS.ravel()})

FORMS: dict[str, Callable[[pd.DataFrame], Any]] = {
    "cross table": lambda lines: lines.pivot_table("count", "sex", "region", "sum"),
    "cross table, transposed": lambda lines: lines.pivot_table("count", "region", "sex", "sum"),
    "series": lambda lines: lines.set_index(["sex", "region"])["count"],
    "series, levels exchanged": lambda lines: lines.set_index(["region", "sex"])["count"],
    "frame": lambda lines: lines,
    "frame, columns exchanged": lambda lines: lines[["count", "region", "sex"]],
    "frame whose index has a column": lambda lines: lines.set_index("sex"),
    "frame of categories": lambda lines: lines.astype({"sex": "category", "region": "category"}),
    "Arrow table": lambda lines: pa.Table.from_pandas(lines, preserve_index=False),
    "DuckDB relation": lambda lines: duckdb.from_arrow(pa.Table.from_pandas(lines, preserve_index=False)),
}


@pytest.mark.parametrize("order", [["m", "f"], ["f", "m"]])
def test_totals_of_weights_are_read_by_their_labels(order: list[str]) -> None:
    columns = {**COLUMNS, "w": {"kind": "numeric", "lower": 0, "upper": 4, **CLOSED}}
    data = pd.DataFrame({"age": [1], "sex": ["f"], "region": ["n"], "w": [1.0]})
    series = pd.Series({"m": 6, "f": 15})[order]
    for table in (series, series.rename_axis("sex"), series.rename_axis("sex").reset_index(name="count"), series.to_dict()):
        plan = dps.plan(data, columns, epsilon=1, tables=1, weight="w", weight_totals={"sex": table})
        assert plan.spec["weight"]["totals"] == {"sex": {"m": 6.0, "f": 15.0}}
    refused(dps.plan, data, columns, epsilon=1, tables=1, weight="w", weight_totals={"sex": np.array([6, 15])}, saying="has no labels")
    refused(dps.plan, data, columns, epsilon=1, tables=1, weight="w", weight_totals={"sex": pd.Series({"x": 6})}, saying="no value 'x'")


@pytest.mark.parametrize("form", FORMS)
def test_published_tables_are_read_by_their_labels(form: str) -> None:
    data = pd.DataFrame({"age": [1], "sex": ["f"], "region": ["n"]})
    for order in (slice(None), slice(None, None, -1)):
        table = FORMS[form](LINES[order])
        plan = dps.plan(data, COLUMNS, epsilon=1, tables=2, published=[(table, "Yearbook")])
        assert plan.sealed.domain.published[0].shares.tolist() == (COUNTS / COUNTS.sum()).tolist()
