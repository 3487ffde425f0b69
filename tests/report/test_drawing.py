"""The charts of the report: what is drawn is what the numbers say, and names are never markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.report import svg as drawing

HOSTILE = "</svg><script>alert(1)</script>"


def parsed(svg: str) -> ET.Element:
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    return root


def bars(limits: list[float], errors: list[float], name: str = "a × b") -> str:
    return drawing.bars(pd.DataFrame({"marginal": [name] * len(limits), "limit": limits, "error": errors}))


def test_bars_are_as_long_as_the_errors_and_lines_end_at_the_bounds() -> None:
    root = parsed(bars([0.4, 0.2, float("nan")], [0.3, float("nan"), 0.1]))
    rects, lines = root.findall(".//rect"), root.findall(".//line")
    assert len(rects) == 2  # nothing is known of the third
    assert float(rects[0].get("width")) / (float(lines[0].get("x2")) - float(rects[0].get("x"))) == pytest.approx(0.75, abs=0.01)
    assert float(rects[1].get("width")) == 0
    ends = [float(line.get("x2")) - float(rects[0].get("x")) for line in (lines[0], lines[2])]
    assert ends[1] / ends[0] == pytest.approx(0.5, abs=0.01)


def test_the_curve_runs_from_corner_to_corner_and_names_its_marks() -> None:
    svg = drawing.tradeoff(np.array([0.0, 0.1, 1.0]), np.array([0.0, 0.3, 1.0]), [(0.1, 0.3)])
    root = parsed(svg)
    points = [tuple(map(float, pair.split(","))) for pair in root.find(".//polyline").get("points").split()]
    assert points[0][0] < points[1][0] < points[2][0]
    assert points[0][1] > points[1][1] > points[2][1]  # down is larger in SVG
    assert (float(root.find(".//circle").get("cx")), float(root.find(".//circle").get("cy"))) == pytest.approx(points[1])
    assert "at 10%: finds at most 30.0%" in svg


def pairs(limits: dict[tuple[str, str], float]) -> pd.DataFrame:
    return pd.DataFrame([{"row": a, "column": b, "limit": v, "basis": "asked for"} for (a, b), v in limits.items()])


def test_the_map_shades_small_errors_first_and_marks_what_is_not_known() -> None:
    limits = {("a", "a"): 0.01, ("a", "b"): 0.2, ("b", "a"): 0.2, ("b", "b"): float("nan")}
    root = parsed(drawing.pair_map(pairs(limits)))
    cells = [rect.get("class") for rect in root.findall(".//rect") if rect.find("title") is not None]
    assert cells[0] == "shade0"
    assert cells[1] == cells[2] != "shade0"
    assert cells[3] == "unknown"


def test_every_shade_has_words_in_the_legend() -> None:
    values = {(str(i), str(j)): (i * 7 + j) / 60 for i in range(7) for j in range(7)}
    svg = drawing.pair_map(pairs(values))
    used = set(re.findall(r'class="(shade\d)"', svg))
    root = parsed(svg)
    legend = {rect.get("class") for rect in root.findall(".//rect") if rect.find("title") is None}
    assert used <= legend
    assert len(used) == 5


def test_hostile_names_are_text() -> None:
    for svg in (bars([0.1], [0.1], HOSTILE), drawing.pair_map(pairs({(HOSTILE, HOSTILE): 0.1}))):
        root = parsed(svg)
        assert {element.tag for element in root.iter()} <= {"svg", "g", "title", "text", "rect", "line"}
