"""The wall: every column of a release as a small picture with its standing, as many side by side as the page has room for.

One drawing holds all pictures, since hundreds of drawings would take seconds. Places in it are pixels worked out in the browser from the
width of the page; its height follows from the number of rows of pictures.
"""

from __future__ import annotations

from collections.abc import Sequence

import altair as alt
import numpy as np
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, MIDDLE, STRONG, Drawing, finish, hover
from dpsynth_core.evaluation.standing import GOOD, ODD, POOR, UNKNOWN, Standing
from dpsynth_core.foundation.zones import Zone, Zoned
from dpsynth_core.statistics.distances import percent

OPENED, PAIRED = "opened", "paired"
"""Names of the selections: a click on one column, and clicks with Shift on two."""
_STEP, _TILE, _NARROWEST = 140, 128, 158
"""Height from one row of pictures to the next, height and least width of a picture, in pixels."""
_TOP, _FLOOR, _LABEL = 26, 98, 116
"""Upper end and floor of the bars, and the line of the standing, from the top of a picture."""
_COLOURS = {GOOD: STRONG, POOR: ALERT, ODD: ALERT, UNKNOWN: INK}
_ROOM = "((width + 12) / across - 12)"
_LEFT = "(datum.place % across) * (width + 12) / across"
_ABOVE = f"floor(datum.place / across) * {_STEP}"
_NAMED = 3


def wall(zoned: Zoned[pd.DataFrame], standings: Sequence[Standing], shown: Sequence[Standing]) -> Drawing:
    """Draw a small picture of each of some columns.

    A click selects a column (`OPENED`), clicks with Shift select two (`PAIRED`), except in
    curator-only charts.

    Args:
        zoned: The frame of `wall.bars` for the columns of `shown`, in their order.
        standings: The standings of all columns, those that stand out first.
        shown: The standings of the columns that are drawn.
    """
    tiles = pd.DataFrame(
        {
            "column": [one.column for one in shown],
            "place": range(len(shown)),
            "colour": [_COLOURS[one.kind] for one in shown],
            "told": [one.caption for one in shown],
            "most": [f"at most {percent(one.limit)} (95%)" if one.limit == one.limit else "not known" for one in shown],
        }
    )
    about = hover(column="Column", told="Standing", most="People in the wrong group")
    text = {"align": "left", "fontSize": 12, "fontWeight": 600}
    limit = alt.ExprRef(f"{_ROOM} - 18")
    row = alt.Y("row:O", axis=None, scale=alt.Scale(paddingInner=1 - _TILE / _STEP, paddingOuter=0))
    ground = alt.Chart(tiles).transform_calculate(row="floor(datum.place / across)").mark_rect(cornerRadius=4, fill=INK, fillOpacity=0.08)
    ground = ground.encode(x=_at(_LEFT), x2=_at(f"{_LEFT} + {_ROOM}"), y=row, tooltip=about)
    edges = alt.Chart(tiles).mark_rect().encode(**_box("0", "4", "0", str(_TILE)), color=_at("datum.colour"), tooltip=about)
    names = alt.Chart(tiles).mark_text(color=INK, limit=limit, **text)
    words = alt.Chart(tiles).mark_text(limit=limit, **text).encode(color=_at("datum.colour"))
    layers: list[Drawing] = [ground, edges]
    if len(frame := zoned.value):
        alarming = frame["place"].isin([place for place, one in enumerate(shown) if one.kind == ODD])
        colours = np.where(~frame["outside"].astype(bool), MIDDLE, np.where(alarming, ALERT, INK))
        layers += _bars(frame.assign(colour=colours))
    layers.append(names.encode(x=_at(f"{_LEFT} + 12"), y=_at(f"{_ABOVE} + 17"), text="column:N", tooltip=about))
    layers.append(words.encode(x=_at(f"{_LEFT} + 12"), y=_at(f"{_ABOVE} + {_LABEL}"), text="told:N", tooltip=about))
    chart = alt.layer(*layers).add_params(alt.param(name="across", expr=f"max(2, floor(width / {_NARROWEST}))"))
    if zoned.zone is not Zone.CURATOR:
        choices = {"fields": ["column"], "empty": False, "clear": False}
        opened = alt.selection_point(OPENED, on="click[!event.shiftKey]", toggle=False, **choices)
        paired = alt.selection_point(PAIRED, on="click[event.shiftKey]", toggle="true", **choices)
        chart.layer[0] = chart.layer[0].add_params(opened, paired)
    return finish(chart, zoned, _title(standings), _caption(standings), height=alt.Step(_STEP))


def _bars(frame: pd.DataFrame) -> list[alt.Chart]:
    told = hover(column="Column", cell="Cell", count=("People", ",.0f"))
    wide = f"{_ROOM} - 24"
    box = _box(f"12 + datum.left * ({wide})", f"12 + max(datum.right * ({wide}), datum.left * ({wide}) + 2)", _up("height"), str(_FLOOR))
    layers = [alt.Chart(frame).mark_rect().encode(**box, color=_at("datum.colour"), tooltip=told)]
    measured = frame[frame["high"].notna()]
    if len(measured):
        middle = _at(f"{_LEFT} + 12 + (datum.left + datum.right) / 2 * ({wide})")
        ends = {"y": _at(f"{_ABOVE} + {_up('low')}"), "y2": _at(f"{_ABOVE} + {_up('high')}")}
        layers.append(alt.Chart(measured).mark_rule(color=INK, strokeWidth=1.5).encode(x=middle, **ends, tooltip=told))
    return layers


def _up(name: str) -> str:
    """Return the expression of a height on a picture, from its top, in pixels."""
    return f"{_FLOOR} - datum.{name} * {_FLOOR - _TOP}"


def _at(expression: str) -> object:
    """Return the channel of a place in pixels, or of a colour, that the browser works out."""
    return alt.value(alt.ExprRef(expression))


def _box(left: str, right: str, top: str, bottom: str) -> dict[str, object]:
    """Return the channels of a rectangle on a picture, from expressions in pixels from its upper left corner."""
    across = {"x": _at(f"{_LEFT} + {left}"), "x2": _at(f"{_LEFT} + {right}")}
    return across | {"y": _at(f"{_ABOVE} + {top}"), "y2": _at(f"{_ABOVE} + {bottom}")}


def _title(standings: Sequence[Standing]) -> str:
    return f"Which of the {len(standings):,} columns look odd?"


def _caption(standings: Sequence[Standing]) -> str:
    odd = [f"{one.column} ({one.why})" for one in standings if one.stands_out]
    more = f", and {len(odd) - _NAMED:,} more" if len(odd) > _NAMED else ""
    named = f"{len(odd):,}: {', '.join(odd[:_NAMED])}{more}.\n" if odd else "None. "
    unknown = ", ? unknown" if any(one.kind == UNKNOWN for one in standings) else ""
    return f"{named}✓ good enough{unknown}. Line: noise (95%).\nClick to open; Shift and click two for a pair."
