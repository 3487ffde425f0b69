"""The charts of the report: what is drawn is what the numbers say, and names are never markup."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ET

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.evaluation.against_bounds import AGAINST, SERIES
from dpsynth_core.report import errors_svg
from dpsynth_core.report import svg as drawing

HOSTILE = "</svg><script>alert(1)</script>"


def parsed(svg: str) -> ET.Element:
    root = ET.fromstring(svg)
    assert root.get("role") == "img"
    assert root.get("aria-label")
    return root


def tables(limits: list[float], errors: list[float], name: str = "a × b", **others: object) -> pd.DataFrame:
    """As `quality.marginal_table`; what is not stated is not known."""
    unknown = dict.fromkeys(("low", "bound", "paper", "independent", "gaussian", "residuals"), float("nan"))
    stated = {"marginal": [name] * len(limits), "limit": limits, "error": errors, "support": "measured"}
    return pd.DataFrame({**stated, **unknown, **others})


def marks(root: ET.Element, of: int) -> list[tuple[str, float]]:
    """Style and place of the marks of a table, in the order of the tables; the legend stands before them."""
    found = root.findall("g")[of].findall("path")
    return [(str(path.get("class")), float(str(path.get("transform"))[10:].split()[0])) for path in found]


def test_bars_run_from_the_least_to_the_most_on_one_scale_from_zero() -> None:
    root = parsed(errors_svg.against_bounds(tables([0.4, 0.2, float("nan")], [0.3, float("nan"), 0.1], low=[0.2, float("nan"), 0.0])))
    groups = root.findall("g")
    assert len(groups) == 2  # nothing is known of the third
    first, second = (group.find("rect") for group in groups)
    ends = [float(rect.get("x")) + float(rect.get("width")) for rect in (first, second)]
    zero = float(second.get("x"))
    assert (ends[0] - zero) / (ends[1] - zero) == pytest.approx(2, abs=0.01)
    assert (float(first.get("x")) - zero) / (ends[0] - zero) == pytest.approx(0.5, abs=0.01)
    [(_, dot)] = marks(root, 0)
    assert (dot - zero) / (ends[0] - zero) == pytest.approx(0.75, abs=0.01)
    assert marks(root, 1) == []


def test_everything_that_is_known_of_a_table_is_drawn_beside_it_and_named_in_the_legend() -> None:
    series = {"bound": 0.25, "paper": 0.3, "gaussian": 0.15, "residuals": 0.1, "independent": 0.05}
    svg = errors_svg.against_bounds(tables([0.2], [0.18], low=0.16, **series))
    root = parsed(svg)
    places = sorted(place for _, place in marks(root, 0))
    assert len(places) == len({(path.get("class"), path.get("d")) for path in root.findall("g")[0].findall("path")}) == 6
    shares = sorted([*series.values(), 0.18])
    assert np.diff(places) / np.diff(shares) == pytest.approx([np.diff(places)[0] / np.diff(shares)[0]] * 5, rel=0.02)
    assert all(svg.count(f">{drawing.escape(words)}<") == 1 for name, words in SERIES.items() if name != "true")


def test_what_the_scale_does_not_reach_is_written_beside_it() -> None:
    root = parsed(errors_svg.against_bounds(tables([0.2], [0.1], low=0.0, independent=0.9, paper=1.0)))
    assert len(marks(root, 0)) == 1
    assert root.findall("g")[0].find("line") is None
    assert [text.text for text in root.findall("g")[0].findall("text")][-1] == "◁ 100%  × 90%"


def test_columns_alone_are_as_unsure_as_the_table_they_come_from() -> None:
    root = parsed(errors_svg.against_bounds(tables([0.2, 0.1], [0.1, 0.1], low=0.0, independent=[0.15, 0.05])))
    (x1, x2), (_, place) = ([float(root.findall("g")[1].find("line").get(x)) for x in ("x1", "x2")], marks(root, 1)[0])
    assert x1 == pytest.approx(6)  # nothing is below 0
    assert (x2 - x1) / (place - x1) == pytest.approx(3, abs=0.05)


def test_bounds_stand_over_errors_with_their_doubt_and_without_a_certificate_over_noisy_answers() -> None:
    known = tables([0.2, 0.3], [0.1, 0.2], low=0.05, bound=[0.4, 0.1], residuals=0.1)
    root = parsed(errors_svg.bound_against_error(known))
    assert len(root.findall("g")) == 2
    line, (_, x) = root.findall("g")[0].find("line"), marks(root, 0)[0]
    assert float(line.get("x1")) < x < float(line.get("x2"))
    assert f">{AGAINST['error']}<" in errors_svg.bound_against_error(known)
    assert f">{AGAINST['residuals']}<" in errors_svg.bound_against_error(known.assign(error=float("nan")))


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
    known = tables([0.1], [0.1], HOSTILE, bound=0.2, low=0.0, independent=0.9)
    for svg in (
        errors_svg.against_bounds(known),
        errors_svg.bound_against_error(known),
        drawing.pair_map(pairs({(HOSTILE, HOSTILE): 0.1})),
    ):
        root = parsed(svg)
        assert {element.tag for element in root.iter()} <= {"svg", "g", "title", "text", "rect", "line", "path", "polygon", "polyline"}
