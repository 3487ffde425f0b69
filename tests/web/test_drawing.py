"""A curator-only chart carries its rows inside the picture, where no toolbar finds them; others are drawn as they are."""

from __future__ import annotations

import json
from typing import Any

import altair as alt
import pandas as pd
import pytest

from dpsynth_core import charts
from dpsynth_core.evaluation.comparison import MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.foundation.zones import ZoneError, curator_only, released
from dpsynth_core.web.shell.figures import self_contained, specification
from tests.refusals import refused

one_way = charts.one_way
FRAME = pd.concat(
    pd.DataFrame({"cell": ["a", "b"], "position": [0, 1], "series": s, "count": [3.25, 4.5], "low": [2.0, 3.0], "high": [4.0, 6.0]})
    for s in (SYNTHETIC, MEASURED, PRIVATE)
)


def data_sets(node: Any) -> list[dict[str, Any]]:
    """Every "data" entry anywhere in a specification."""
    if isinstance(node, dict):
        inner = [data_set for key, value in node.items() if key != "data" for data_set in data_sets(value)]
        return [node["data"], *inner] if "data" in node else inner
    return [data_set for item in node for data_set in data_sets(item)] if isinstance(node, list) else []


def test_no_data_set_is_named_or_stands_at_the_top() -> None:
    spec = self_contained(charts.one_way(curator_only(FRAME), "x", ordered=True).to_dict())
    assert "datasets" not in spec
    assert "data" not in spec
    assert all(set(data) == {"values"} for data in data_sets(spec))


def test_every_layer_keeps_its_rows_and_the_chart_stays_valid() -> None:
    chart = charts.one_way(curator_only(FRAME), "x", ordered=True).to_dict()
    spec = self_contained(chart)
    alt.LayerChart.from_dict(spec, validate=True)
    named = [chart["datasets"][data["name"]] for data in data_sets({key: value for key, value in chart.items() if key != "datasets"})]
    assert json.dumps([data["values"] for data in data_sets(spec)], sort_keys=True) == json.dumps(named, sort_keys=True)


def test_rows_shared_by_layers_reach_each_of_them() -> None:
    shared = {"data": {"name": "d"}, "datasets": {"d": [{"x": 1}]}, "layer": [{"mark": "bar"}, {"layer": [{"mark": "tick"}]}]}
    spec = self_contained(shared)
    assert data_sets(spec) == [{"values": [{"x": 1}]}] * 2


def test_only_what_is_not_curator_only_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    made = []
    monkeypatch.setattr(charts, "one_way", lambda *given, **options: made.append(given) or one_way(*given, **options))
    monkeypatch.setattr(charts.one_way, "__name__", "one_way", raising=False)
    for _ in range(2):
        assert specification(charts.one_way, released(FRAME), "kept once", ordered=True)["layer"]
    assert len(made) == 1
    refused(specification, charts.one_way, curator_only(FRAME), "x", ordered=True, kind=ZoneError)
