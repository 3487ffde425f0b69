"""What was measured, as a table in Markdown and as charts. Knows the record that `compare` writes, and nothing else."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from statistics import mean
from typing import Any

import altair as alt
import pandas as pd

Run = Mapping[str, Any]


def write_markdown(record: Mapping[str, Any], path: Path) -> None:
    """One line a program and epsilon: means over runs, with the range where there is more than one."""
    runs = record["runs"]
    head = (
        f"{record['table']}: {record['rows']:,} rows, {record['columns']} columns, {record['marginals']:,} marginals ({record['workload']})"
        f" of {record['cells']:,} cells. {record['cores']} cores. {_days(runs)}."
    )
    lines = [
        *(head, ""),
        "| program | epsilon | runs | workload error | seconds | processor seconds | peak MB | load |",
        "|---|---|---|---|---|---|---|---|",
        *(_line(group) for group in _groups(runs)),
        *("", *_versions(runs)),
    ]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_charts(record: Mapping[str, Any], place: Path) -> None:
    """Error, seconds and memory of every run: Vega-Lite (.vl.json) and a page (.html), which loads Vega from the net without vl-convert."""
    frame = pd.DataFrame(record["runs"])[["title", "epsilon", "error", "seconds", "peak_mb"]]
    panels = [
        _panel(frame, "error", "Workload error of the rows", "linear"),
        _panel(frame, "seconds", "Seconds", "log"),
        _panel(frame, "peak_mb", "Peak memory in MB", "log"),
    ]
    title = f"Every run on {record['table']}, {record['workload']}: further left is better"
    chart = alt.vconcat(*panels).properties(title=title)
    chart.save(place.with_suffix(".vl.json"), format="json")
    chart.save(place.with_suffix(".html"), inline=find_spec("vl_convert") is not None)


def _panel(frame: pd.DataFrame, field: str, title: str, scale: str) -> alt.LayerChart:
    across = alt.X(f"{field}:Q", title=title, scale=alt.Scale(type=scale, zero=scale == "linear"))
    base = alt.Chart(frame).encode(y=alt.Y("title:N", title=None), color=alt.Color("epsilon:N", title="epsilon"))
    runs = base.mark_point(filled=True, size=60, opacity=0.7).encode(x=across, tooltip=["title", "epsilon", "error", "seconds", "peak_mb"])
    means = base.mark_tick(thickness=2, size=18).encode(x=alt.X(f"mean({field}):Q", title=title))
    return alt.layer(runs, means).properties(width=520, height=alt.Step(30))


def _groups(runs: Sequence[Run]) -> list[list[Run]]:
    keys = sorted({(run["epsilon"], run["program"]) for run in runs}, key=lambda key: key[0])
    return [[run for run in runs if (run["epsilon"], run["program"]) == key] for key in keys]


def _line(group: Sequence[Run]) -> str:
    def over(name: str, form: Callable[[float], str]) -> str:
        values = [run[name] for run in group if run[name] is not None]
        if not values:
            return "not known"
        alone = form(mean(values))
        return alone if len(values) == 1 else f"{alone} ({form(min(values))} to {form(max(values))})"

    cells = (
        group[0]["title"],
        f"{group[0]['epsilon']:g}",
        str(len(group)),
        over("error", "{:.4f}".format),
        *(over(name, "{:.0f}".format) for name in ("seconds", "cpu_seconds", "peak_mb")),
        over("load", "{:.1f}".format),
    )
    return f"| {' | '.join(cells)} |"


def _versions(runs: Sequence[Run]) -> list[str]:
    """Each distinct set once, with the programs it belongs to."""
    users: dict[str, set[str]] = {}
    for run in runs:
        users.setdefault(json.dumps(run["versions"]), set()).add(run["program"])
    named = [(", ".join(sorted(names)), json.loads(text)) for text, names in users.items()]
    return [f"- {names}: {', '.join(f'{what} {version}' for what, version in libraries.items())}" for names, libraries in named]


def _days(runs: Sequence[Run]) -> str:
    days = sorted({run["began"][:10] for run in runs})
    return f"Measured on {days[0]}" if len(days) == 1 else f"Measured from {days[0]} to {days[-1]}"
