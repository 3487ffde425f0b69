"""Charts on a page. A curator-only chart has no toolbar of Streamlit and no data set that Streamlit could show or save."""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.charts import Drawing
from dpsynth_core.foundation.zones import Zone, Zoned, ZoneError

CURATOR_KEY = "curator_chart"
"""The beginning of the keys of containers with curator-only charts; the app's style sheet hides their toolbars."""


def draw(chart: Drawing, name: str) -> None:
    """Draw a curator-only chart, without Streamlit's toolbar and without a data set to download.

    Args:
        chart: The chart.
        name: Part of the chart's key, different for each curator-only chart on a page.
    """
    with st.container(key=f"{CURATOR_KEY}_{name}"):
        st.vega_lite_chart(self_contained(chart.to_dict(validate=False)))


def show(make: Callable[..., Drawing], zoned: Zoned[pd.DataFrame], *arguments: Any, name: str = "", **options: Any) -> None:
    """Make the chart of a frame and draw it. The chart of a curator-only frame is never cached.

    Args:
        make: A function of `charts`, called as make(zoned, *arguments, **options).
        zoned: The frame with its zone.
        arguments: Further arguments of `make`.
        name: Part of the key of a curator-only chart, different for each on a page; ignored for
            charts of other zones.
        options: Keyword arguments of `make`.
    """
    if zoned.zone is Zone.CURATOR:
        draw(make(zoned, *arguments, **options), name)
    else:
        st.vega_lite_chart(specification(make, zoned, *arguments, **options))


_TOLD_APART = {Zoned: lambda zoned: (zoned.zone.name, zoned.value), FunctionType: lambda make: make.__name__}


@st.cache_data(max_entries=256, show_spinner=False, hash_funcs=_TOLD_APART)
def specification(make: Callable[..., Drawing], zoned: Zoned[pd.DataFrame], *arguments: Any, **options: Any) -> dict[str, Any]:
    """Return the chart of a frame as Vega-Lite, cached by function, frame and arguments.

    The cache is there because building a chart takes longer than the rest of a page. The chart is
    not validated; tests do that.

    Raises:
        ZoneError: The frame is curator-only, and must not be cached.
    """
    if zoned.zone is Zone.CURATOR:
        raise ZoneError("a curator-only chart is not kept")
    return make(zoned, *arguments, **options).to_dict(validate=False)


def self_contained(spec: dict[str, Any]) -> dict[str, Any]:
    """Return a copy of a Vega-Lite specification with layers, in which the rows are written into each layer.

    Rows in a named or top-level data set would be offered by Streamlit as a table with a download.
    """
    datasets, top = spec.get("datasets", {}), spec.get("data")
    rest = {key: value for key, value in spec.items() if key not in ("datasets", "data")}
    layers = [{"data": top, **layer} if top is not None else layer for layer in rest["layer"]]
    return rest | {"layer": [_with_rows(layer, datasets) for layer in layers]}


def _with_rows(layer: dict[str, Any], datasets: dict[str, Any]) -> dict[str, Any]:
    """Return a layer in which names of data sets are replaced by their rows, at all depths."""
    filled = dict(layer)
    if "layer" in filled:
        inherited = {"data": filled.pop("data")} if "data" in filled else {}
        return filled | {"layer": [_with_rows({**inherited, **inner}, datasets) for inner in filled["layer"]]}
    if (name := filled.get("data", {}).get("name")) in datasets:
        filled["data"] = {"values": datasets[name]}
    return filled
