"""Charts say their zone, watermark private values, and never read a name as anything but text."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from functools import cache
from typing import Any

import altair as alt
import numpy as np
import pandas as pd
import pytest

from dpsynth_core import charts
from dpsynth_core.charts.theme import ALERT, CAPTION_WIDTH, LONG_TITLE, SHORT_TITLE, TITLE_WIDTH, WIDE_TITLE_WIDTH, ZONE_CAPTION
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.against_bounds import SERIES
from dpsynth_core.evaluation.comparison import MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.evaluation.standing import GOOD, ODD, POOR, UNKNOWN, Standing
from dpsynth_core.foundation.zones import Zone, Zoned
from tests.additions import added
from tests.charts.names import HOSTILE

WORDS = "CURATOR-ONLY · NOT PRIVATE"


def _one_way() -> pd.DataFrame:
    parts = []
    for series in (SYNTHETIC, MEASURED, PRIVATE):
        parts.append(pd.DataFrame({"cell": HOSTILE, "position": range(7), "series": series, "count": 5.0, "low": 4.0, "high": 6.0}))
    return pd.concat(parts)


def _two_way() -> pd.DataFrame:
    return pd.DataFrame(
        [
            {"row": r, "column": c, "row_position": i, "column_position": j, "count": float(i - j)}
            for i, r in enumerate(HOSTILE)
            for j, c in enumerate(HOSTILE)
        ]
    )


def _marginals(**others: object) -> pd.DataFrame:
    known = [0.2] * 5 + [np.nan] * 2
    shares = dict.fromkeys(("error", "low", "together", "bound", "paper", "limit", "independent", "gaussian", "residuals", "sample"), known)
    support = [quality.MEASURED] * 4 + [quality.INFERRED] + [quality.GUESS] * 2
    facts = {"marginal": HOSTILE, "rank": range(7), "cells": 12, "support": support, "good": [True] * 4 + [False] * 3}
    return pd.DataFrame({**facts, **shares, **others})


def _nothing_known() -> pd.DataFrame:
    return _marginals(**dict.fromkeys(("error", "low", "bound", "paper", "limit", "independent", "gaussian", "residuals"), np.nan))


def _means() -> pd.DataFrame:
    series = [quality.OURS, quality.GAUSSIAN, quality.RESIDUALS, quality.TRUE]
    return pd.DataFrame({"series": series, "error": [0.1, 0.2, 0.15, 0.09], "high": [0.11, np.nan, np.nan, np.nan]})


def _bought() -> pd.DataFrame:
    return pd.DataFrame({"epsilon": [0.1, 1.0], "guess": 0.6, "error": 0.1, "low": 0.05, "high": 0.2})


def _map() -> pd.DataFrame:
    return pd.DataFrame([{"row": r, "column": c, "limit": 0.1 if r < c else np.nan, "basis": r} for r in HOSTILE for c in HOSTILE])


def _steps() -> pd.DataFrame:
    return pd.DataFrame({"step": range(1, 8), "marginal": HOSTILE, "share_used": np.linspace(0.1, 1, 7), "sigma": [9.0] * 7})


def _pairs() -> pd.DataFrame:
    return pd.DataFrame([{"row": r, "column": c, "marginals": int(r < c)} for r in HOSTILE for c in HOSTILE])


def _contest() -> pd.DataFrame:
    known = {"error": 0.1, "low": 0.05, "limit": 0.2}
    return pd.DataFrame([{"marginal": m, "run": run, "place": i, **known} for i, m in enumerate(HOSTILE) for run in HOSTILE[:2]])


def _histogram() -> pd.DataFrame:
    places = {"start": [0.0, 0, 10, 20, 40, np.nan, np.nan], "end": [1e-9, 10, 20, 40, 80, np.nan, np.nan]}
    shape: dict[str, Any] = {**places, "stick": [True] + [False] * 6, "factor": [1, 1, 1, 0.5, 0.25, 1, 1]}
    known = {**shape, "outside": [False] * 5 + [True] * 2, "axis": "moment", "unit": "10 days"}
    parts = [part.assign(**known) for _, part in _one_way().groupby("series", sort=False)]
    return pd.concat(parts)


def _bars() -> pd.DataFrame:
    bars = {"cell": HOSTILE[0], "count": 3.0, "left": 0.1, "right": 0.3, "height": 1.0, "low": 0.5, "high": np.nan, "stick": False}
    return pd.DataFrame([{"column": name, "place": i, **bars, "outside": i % 2 == 0} for i, name in enumerate(HOSTILE)])


_TOLD = [(ODD, "all missing"), (POOR, "not good enough"), *[(GOOD, "")] * 4, (UNKNOWN, "")]
_STANDINGS = [Standing(name, kind, why) for name, (kind, why) in zip(HOSTILE, _TOLD, strict=True)]
_KINDS = {"first": HOSTILE[0], "second": HOSTILE[1]}
CHARTS: dict[str, tuple[Callable[[Zoned[pd.DataFrame]], charts.Drawing], pd.DataFrame]] = {
    "tradeoff": (charts.tradeoff, pd.DataFrame({"false_positive": [0.0, 0.3, 1.0], "true_positive": [0.0, 0.7, 1.0]})),
    "bought": (lambda z: charts.bought(z, 1.0, 0.1), _bought()),
    "coverage": (charts.coverage, _pairs()),
    "split": (charts.split, pd.DataFrame({"stage": HOSTILE, "share": [1 / 7] * 7, "rho": [0.1] * 7})),
    "one_way upright": (lambda z: charts.one_way(z, HOSTILE[0], ordered=True), _one_way()),
    "one_way bars": (lambda z: charts.one_way(z, HOSTILE[0], ordered=False), _one_way()),
    "histogram": (lambda z: charts.histogram(z, HOSTILE[0]), _histogram()),
    "histogram of numbers": (lambda z: charts.histogram(z, HOSTILE[0]), _histogram().assign(axis="number", unit="")),
    "wall": (lambda z: charts.wall(z, _STANDINGS, _STANDINGS), _bars()),
    "wall with noise": (lambda z: charts.wall(z, _STANDINGS, _STANDINGS), _bars().assign(high=0.9)),
    "wall of nothing known": (lambda z: charts.wall(z, _STANDINGS, _STANDINGS[-1:]), _bars().head(0)),
    "two_way": (lambda z: charts.two_way(z, SYNTHETIC, limit=3), _two_way()),
    "shares_of_lines": (lambda z: charts.shares_of_lines(z, "What follows what?", "At most 3%."), _two_way().assign(count=0.5)),
    "two_way_difference": (lambda z: charts.two_way_difference(z, SYNTHETIC, people=30, wanted=0.1), _two_way().assign(noise=1.5)),
    "marginals": (lambda z: charts.marginals(z, 0.05), _marginals()),
    "marginals with truth": (lambda z: charts.marginals(z, 0.05), _marginals(true=0.1)),
    "marginals without certificate": (lambda z: charts.marginals(z, 0.05), _marginals(error=np.nan, low=np.nan, together=np.nan)),
    "overview": (lambda z: charts.overview(z, 0.05), _marginals()),
    "overview with truth": (lambda z: charts.overview(z, 0.05), _marginals(true=0.1)),
    "overview without certificate": (lambda z: charts.overview(z, 0.05), _marginals(error=np.nan, low=np.nan, together=np.nan)),
    "against_bounds": (lambda z: charts.against_bounds(z, 0.05, "paper"), _marginals()),
    "against_bounds beyond": (lambda z: charts.against_bounds(z, 0.05), _marginals(independent=0.7, paper=1.0)),
    "against_bounds with truth": (lambda z: charts.against_bounds(z, 0.05, "true"), _marginals(true=0.1)),
    "against_bounds without certificate": (lambda z: charts.against_bounds(z, 0.05), _marginals(error=np.nan, low=np.nan)),
    "against_bounds of nothing known": (lambda z: charts.against_bounds(z, 0.05), _nothing_known()),
    "bound_against_error": (charts.bound_against_error, _marginals()),
    "bound_against_error with truth": (charts.bound_against_error, _marginals(true=0.1)),
    "bound_against_error without certificate": (charts.bound_against_error, _marginals(error=np.nan, low=np.nan)),
    "by_kind": (lambda z: charts.by_kind(z, 0.05, _KINDS, "households"), _marginals(kind="first")),
    "by_kind without certificate": (lambda z: charts.by_kind(z, 0.05, _KINDS, "households"), _marginals(kind="second", error=np.nan)),
    "means": (charts.means, _means()),
    "pair_map": (lambda z: charts.pair_map(z, 0.05), _map()),
    "budget_used": (charts.budget_used, _steps()),
    "noise_level": (charts.noise_level, _steps()),
    "contest": (lambda z: charts.contest(z, "Error", "% of all"), _contest()),
}
for _module in added("charts.frames"):
    CHARTS |= _module.CHARTS
every_chart = pytest.mark.parametrize("name", CHARTS)


@cache
def spec_of(name: str, zone: Zone) -> dict:
    """Drawn once, for all tests to read."""
    draw, frame = CHARTS[name]
    return draw(Zoned(zone, frame)).to_dict()


def without_data(spec: object) -> object:
    """The specification without the rows it draws."""
    if isinstance(spec, dict):
        return {key: without_data(value) for key, value in spec.items() if key not in ("datasets", "values", "data")}
    return [without_data(item) for item in spec] if isinstance(spec, list) else spec


@every_chart
def test_only_curator_only_charts_carry_the_watermark(name: str) -> None:
    assert WORDS in json.dumps(spec_of(name, Zone.CURATOR), ensure_ascii=False)
    for zone in (Zone.PUBLIC, Zone.RELEASED):
        assert WORDS not in json.dumps(spec_of(name, zone), ensure_ascii=False)


def title_of(spec: dict[str, Any], lines: str = SHORT_TITLE) -> list[str]:
    """The lines of a chart's title as a phone shows them, or a wide screen."""
    if isinstance(spec["title"]["text"], list):
        return spec["title"]["text"]
    assert spec["title"]["text"]["expr"].endswith(f"{SHORT_TITLE} : {LONG_TITLE}")
    (said,) = [param["value"] for param in spec["params"] if param["name"] == lines]
    return said


@every_chart
@pytest.mark.parametrize("zone", list(Zone))
def test_a_picture_saved_from_the_chart_names_its_zone(name: str, zone: Zone) -> None:
    spec = spec_of(name, zone)
    assert spec["title"]["subtitle"][-len(ZONE_CAPTION[zone]) :] == list(ZONE_CAPTION[zone])
    assert all(len(line) <= CAPTION_WIDTH for line in spec["title"]["subtitle"])
    assert (spec["title"]["subtitleColor"] == ALERT) == (zone is Zone.CURATOR)
    assert all(len(line) <= TITLE_WIDTH for line in title_of(spec))
    assert all(len(line) <= WIDE_TITLE_WIDTH for line in title_of(spec, LONG_TITLE))
    assert " ".join(title_of(spec)) == " ".join(title_of(spec, LONG_TITLE))
    assert "".join(spec["description"].split()).startswith("".join("".join(title_of(spec)).split()))


@every_chart
def test_every_chart_is_a_drawing_that_can_be_saved_as_one(name: str) -> None:
    assert spec_of(name, Zone.RELEASED)["usermeta"]["embedOptions"] == {"renderer": "svg"}


def test_errors_name_their_measure_and_unit() -> None:
    assert "Error (% of all)" in json.dumps(spec_of("contest", Zone.RELEASED))


def test_a_phone_shows_the_whole_title_whatever_a_column_is_called() -> None:
    name = "of_days_in_hospital_" * 10
    lines = title_of(charts.one_way(Zoned(Zone.PUBLIC, _one_way()), name, ordered=True).to_dict())
    assert max(map(len, lines)) <= TITLE_WIDTH
    assert name in "".join(lines)


@every_chart
def test_legends_are_no_wider_than_two_entries_which_a_phone_has_room_for(name: str) -> None:
    spec = spec_of(name, Zone.RELEASED)
    assert spec["config"]["legend"]["columns"] == 2
    own = json.dumps(without_data(spec["layer"] if "layer" in spec else spec["encoding"]))
    assert not re.search(r'"columns": \d', own)  # no legend states its own, unless it asks how wide the drawing is
    assert all(width.startswith("width < ") for width in re.findall(r'"columns": {"expr": "([^"]*)"', own))


@every_chart
def test_titles_ask_or_answer(name: str) -> None:
    title = " ".join(title_of(spec_of(name, Zone.PUBLIC)))
    assert title.endswith("?") or title == SYNTHETIC


@every_chart
def test_cells_and_names_are_never_fields_or_expressions(name: str) -> None:
    """Hostile text may appear as data, as a literal domain or sort order, or in a title; nowhere as something Vega evaluates."""

    def visit(node: object) -> None:
        if isinstance(node, dict):
            for key in ("field", "expr", "signal", "test", "filter", "calculate", "shorthand", "as", "image", "href", "url"):
                assert not any(text in str(node.get(key, "")) for text in HOSTILE), (key, node)
            for value in node.values():
                visit(value)
        elif isinstance(node, list):
            for item in node:
                visit(item)

    visit(without_data(spec_of(name, Zone.CURATOR)))


@every_chart
def test_the_specification_is_valid(name: str) -> None:
    spec = spec_of(name, Zone.RELEASED)
    (alt.LayerChart if "layer" in spec else alt.Chart).from_dict(spec, validate=True)


def test_a_series_keeps_its_colour_whichever_others_are_shown() -> None:
    def domain_of(frame: pd.DataFrame) -> list[str]:
        return charts.one_way(Zoned(Zone.RELEASED, frame), "age", ordered=True).to_dict()["layer"][0]["encoding"]["color"]["scale"][
            "domain"
        ]

    everything = _one_way()
    assert (
        domain_of(everything)
        == domain_of(everything[everything["series"] != PRIVATE])
        == domain_of(everything[everything["series"] == SYNTHETIC])
    )


def test_short_labels_stand_level_and_long_ones_are_slanted() -> None:
    def angle(frame: pd.DataFrame) -> object:
        layer = charts.one_way(Zoned(Zone.RELEASED, frame), "class", ordered=True).to_dict()["layer"][0]
        return layer["encoding"]["x"]["axis"]["labelAngle"]

    assert angle(_one_way()) == -40
    assert angle(_one_way().query("position < 3").replace({"cell": dict(zip(HOSTILE, "123", strict=False))})) == 0


def test_tables_that_nothing_bounds_say_so_and_others_do_not() -> None:
    text = json.dumps(charts.marginals(Zoned(Zone.RELEASED, _marginals()), 0.05).to_dict())
    assert text.count("nothing that was released bounds it") == 2


def test_what_is_not_known_reads_as_a_dash_on_hovering() -> None:
    text = json.dumps(charts.marginals(Zoned(Zone.RELEASED, _marginals(gaussian=np.nan)), 0.05).to_dict(), ensure_ascii=False)
    assert '"told_gaussian": "–"' in text
    assert "NaN" not in text.replace('"NaN"', "")


def test_the_estimate_of_a_table_of_households_is_joined_to_its_limit() -> None:
    drawn = charts.by_kind(Zoned(Zone.RELEASED, _marginals(kind="first")), 0.05, _KINDS, "households").to_dict()
    (joined,) = [layer["encoding"] for layer in drawn["layer"] if "x2" in layer["encoding"]]
    assert (joined["x"]["field"], joined["x2"]["field"]) == ("error", "limit")
    assert "Households in the wrong group" in json.dumps(drawn)
    assert "People in the wrong group" not in json.dumps(drawn)


@pytest.mark.parametrize("columns", [1, 2, 12, 19, 36])
def test_the_first_and_the_last_column_of_a_pair_are_always_named(columns: int) -> None:
    cells = [{"row": "r", "column": f"a long label {i}", "row_position": 0, "column_position": i, "count": 1.0} for i in range(columns)]
    axis = charts.two_way(Zoned(Zone.RELEASED, pd.DataFrame(cells)), "Pair", limit=1.0).to_dict()["encoding"]["x"]["axis"]
    assert axis["labelOverlap"] is False
    assert (axis["values"][0], axis["values"][-1]) == ("a long label 0", f"a long label {columns - 1}")
    assert len(axis["values"]) == columns if columns <= 12 else len(axis["values"]) < 20


def test_the_same_colour_means_the_same_share_of_people_in_every_difference() -> None:
    drawn = charts.two_way_difference(Zoned(Zone.RELEASED, _two_way().assign(noise=1.5)), "Pair", people=30, wanted=0.1).to_dict()
    blank, coloured = drawn["layer"]
    assert coloured["encoding"]["color"]["scale"]["domain"] == [-3, 0, 3]
    assert all(abs(row["count"]) > 1.5 for row in drawn["datasets"][coloured["data"]["name"]])
    assert len(drawn["datasets"][blank["data"]["name"]]) == len(HOSTILE) ** 2
    assert blank["encoding"]["color"] == {"value": "transparent"}


def test_the_colour_of_a_pair_depends_on_its_own_error_alone() -> None:
    def scale(limit: float) -> dict:
        return charts.pair_map(Zoned(Zone.RELEASED, _map().replace({0.1: limit})), 0.05).to_dict()["layer"][0]["encoding"]["color"]["scale"]

    assert scale(0.004) == scale(0.9)


def test_tables_after_the_first_stand_on_the_same_scale_and_so_do_both_pictures() -> None:
    frame = _marginals(limit=[0.9, 0.5, 0.4, 0.3, 0.2, 0.1, 0.1])
    both = charts.marginals, charts.against_bounds
    pictures = [draw(Zoned(Zone.RELEASED, frame), 0.05, show=3, skip=skip).to_dict() for draw in both for skip in (0, 3)]
    ends = {tuple(json.loads(found)) for one in pictures for found in re.findall(r'"domain": (\[0, [\d.]+\])', json.dumps(one))}
    assert len(ends) == 1
    drawn = [{row["marginal"] for rows in one["datasets"].values() for row in rows if "marginal" in row} for one in pictures]
    assert drawn == [{*HOSTILE[:3]}, {*HOSTILE[3:6]}] * 2


def _kinds_drawn(spec: dict) -> dict[str, str]:
    return {row["column"]: row["colour"] for rows in spec["datasets"].values() for row in rows if "told" in row}


def test_the_wall_counts_and_names_what_stands_out_and_tells_it_apart_by_more_than_colour() -> None:
    spec = spec_of("wall", Zone.RELEASED)
    assert spec["title"]["subtitle"][0].startswith("2: ")
    told = {row["column"]: row["told"] for rows in spec["datasets"].values() for row in rows if "told" in row}
    assert told == dict(zip(HOSTILE, ["✕ all missing", "✕ not good enough", "✓", "✓", "✓", "✓", "?"], strict=True))
    assert len(set(_kinds_drawn(spec).values())) == 3


def test_only_a_released_wall_can_be_clicked() -> None:
    assert {charts.OPENED, charts.PAIRED} <= {one["name"] for one in spec_of("wall", Zone.RELEASED)["params"]}
    assert {one["name"] for one in spec_of("wall", Zone.CURATOR)["params"]} == {"across"}


def test_true_errors_are_drawn_only_where_there_are_any() -> None:
    assert "true:Q" not in str(charts.overview(Zoned(Zone.RELEASED, _marginals()), 0.05).to_json())
    for draw in (lambda z: charts.marginals(z, 0.05), lambda z: charts.overview(z, 0.05)):
        assert "told_true" not in json.dumps(draw(Zoned(Zone.RELEASED, _marginals())).to_dict())
        assert "told_true" in json.dumps(draw(Zoned(Zone.CURATOR, _marginals(true=0.1))).to_dict())


def test_an_overview_of_very_many_tables_stays_small() -> None:
    many = pd.concat([_marginals().head(5)] * 2000, ignore_index=True).assign(rank=range(10_000))
    drawn = charts.overview(Zoned(Zone.RELEASED, many), 0.05).to_dict()
    assert max(len(rows) for rows in drawn["datasets"].values()) <= 1200
    assert max(row["place"] for rows in drawn["datasets"].values() for row in rows if "place" in row) > 9_900


def _marks(frame: pd.DataFrame, order: str = "limit", zone: Zone = Zone.RELEASED) -> list[dict]:
    """What `against_bounds` draws at places of its scale: marginal, series, share, told."""
    drawn = charts.against_bounds(Zoned(zone, frame), 0.05, order).to_dict()
    return [row for rows in drawn["datasets"].values() for row in rows if "series" in row]


def test_every_series_is_drawn_and_told_apart_by_more_than_colour() -> None:
    drawn = charts.against_bounds(Zoned(Zone.CURATOR, _marginals(true=0.1)), 0.05).to_dict()
    assert {row["series"] for rows in drawn["datasets"].values() for row in rows if "series" in row} == set(SERIES.values())
    points = next(layer for layer in drawn["layer"][0]["layer"] if "shape" in layer["encoding"])["encoding"]
    shapes, fills = (points[channel]["scale"]["range"] for channel in ("shape", "fill"))
    assert len({(shape, fill == "transparent") for shape, fill in zip(shapes, fills, strict=True)}) == len(SERIES)


def test_errors_and_bounds_stand_on_one_scale_that_begins_at_zero() -> None:
    for draw in (lambda z: charts.against_bounds(z, 0.05), charts.bound_against_error):
        text = json.dumps(draw(Zoned(Zone.RELEASED, _marginals())).to_dict())
        assert {json.loads(found)[0] for found in re.findall(r'"domain": (\[[\d.]+, [\d.]+\])', text)} == {0}
        assert not re.search(r'"type": "(log|sqrt|symlog|pow)"', text)


def test_the_caption_says_how_many_of_the_tables_are_drawn() -> None:
    some, every = (charts.against_bounds(Zoned(Zone.RELEASED, _marginals()), 0.05, show=show).to_dict() for show in (3, 7))
    assert "1 to 3 of 7 by:" in some["description"]
    assert "of 7" not in every["description"]


def test_what_the_scale_does_not_reach_is_written_at_its_edge() -> None:
    frame = _marginals(independent=0.75, paper=[0.21] * 5 + [np.nan] * 2)
    drawn = charts.against_bounds(Zoned(Zone.RELEASED, frame), 0.05).to_dict()
    told = [row["told"] for rows in drawn["datasets"].values() for row in rows if "number" in row]
    assert told == ["× 75%"] * 7
    assert not any("high" in row for rows in drawn["datasets"].values() for row in rows)
    assert "Right edge: beyond the scale." in " ".join(drawn["title"]["subtitle"])
    assert all(row["share"] <= 0.21 for row in _marks(frame))


def test_tables_are_sorted_by_what_is_asked_for_and_what_is_not_known_comes_last() -> None:
    frame = _marginals(gaussian=[0.1, np.nan, 0.3, 0.2, 0.1, 0.1, 0.1])
    drawn = charts.against_bounds(Zoned(Zone.RELEASED, frame), 0.05, "gaussian", show=7).to_dict()
    names = next(layer["encoding"]["y"]["sort"] for layer in drawn["layer"] if "y" in layer["encoding"])
    assert names[:2] + names[-1:] == [HOSTILE[2], HOSTILE[3], HOSTILE[1]]
    assert charts.sortable(frame) == [name for name in charts.ORDERS if name != "true"]


def test_columns_alone_are_told_with_the_doubt_of_the_table_they_come_from() -> None:
    told = {row["told"] for row in _marks(_marginals(independent=0.1)) if row["series"] == quality.INDEPENDENT}
    assert told == {"10.00% ± 20.00%", "10.00%"}
    drawn = charts.against_bounds(Zoned(Zone.RELEASED, _marginals(independent=0.1)), 0.05).to_dict()
    ends = {(row["share"], row["high"]) for rows in drawn["datasets"].values() for row in rows if "high" in row}
    assert [(low, round(high, 9)) for low, high in ends] == [(0.0, 0.208)]  # as far as the scale reaches


def test_bounds_are_set_against_the_best_that_is_known() -> None:
    def question(**others: object) -> str:
        return " ".join(title_of(charts.bound_against_error(Zoned(Zone.RELEASED, _marginals(**others))).to_dict()))

    assert question() == question(true=0.1) == "How near are AIM's bounds to the errors?"
    assert question(error=np.nan) == question(error=np.nan, residuals=np.nan) == "Do AIM's bounds promise less than noisy answers err?"


def test_only_released_maps_of_pairs_can_be_clicked() -> None:
    assert charts.PAIR in json.dumps(charts.pair_map(Zoned(Zone.RELEASED, _map()), 0.05).to_dict()["params"])
    assert "params" not in charts.pair_map(Zoned(Zone.CURATOR, _map()), 0.05).to_dict()


def test_coverage_counts_each_pair_once_and_no_diagonal() -> None:
    frame = pd.DataFrame([{"row": r, "column": c, "marginals": int({r, c} == {"a", "b"})} for r in "abc" for c in "abc"])
    assert "1 of 3 pairs" in charts.coverage(Zoned(Zone.PUBLIC, frame)).to_dict()["title"]["subtitle"][0]
