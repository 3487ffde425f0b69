"""Charts of finished releases: columns and pairs of columns, answers, models, and two releases side by side.

"Noisy measurement" is what the mechanism received; "Synthetic rows" is what is published. "Private data" appears in curator-only frames
alone, whose charts carry a watermark.
"""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import INK, Drawing, finish, gradient, hover, names_limit
from dpsynth_core.evaluation import beside_real
from dpsynth_core.evaluation.comparison import MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.foundation.zones import Zoned

_LEVEL_LETTERS = 36
"""Number of letters that fit below a heat map on half a page."""
_LABELLED, _LABELLED_DOWN = 18, 20
"""Number of slanted labels that fit there, and of labels beside it."""
SERIES = [SYNTHETIC, PRIVATE, MEASURED]
"""The series in the order of their colours: the first three of the theme's categorical palette (blue, vermilion, green)."""


def one_way(zoned: Zoned[pd.DataFrame], column: str, *, ordered: bool) -> Drawing:
    """Draw the distribution of one column in each series, in people, with the cells in the order of `position`.

    Args:
        zoned: Columns cell (label), position (order of the cells), series (one of `SERIES`), count,
            low and high (95 % interval of a noisy count; equal to count in other series).
        column: The name of the column, for the title.
        ordered: Whether the cells have an order: they are then vertical bars, otherwise horizontal ones.
    """
    frame = zoned.value
    present = [name for name in SERIES if name in set(frame["series"])]
    colour = alt.Color("series:N", scale=alt.Scale(domain=SERIES), legend=alt.Legend(values=present) if len(present) > 1 else None)
    position = alt.EncodingSortField("position", op="min", order="ascending")
    label_axis = alt.Axis(labelOverlap="greedy" if ordered else False, labelAngle=_tilt(frame["cell"]) if ordered else 0, labelLimit=150)
    cells = (alt.X if ordered else alt.Y)("cell:N", sort=position, title=None, axis=label_axis)
    counts = (alt.Y if ordered else alt.X)("count:Q", title="People", axis=alt.Axis(format=",d", tickCount=6))
    low, high = (alt.Y, alt.Y2) if ordered else (alt.X, alt.X2)
    tooltip = hover(cell="Cell", series="Series", count=("People", ",.0f"))
    along = {"x": cells, "y": counts} if ordered else {"y": cells, "x": counts}
    bars = alt.Chart(frame[frame["series"] == SYNTHETIC]).mark_bar(opacity=0.75).encode(**along, color=colour, tooltip=tooltip)
    layers = [bars]
    measured = frame[frame["series"] == MEASURED]
    if len(measured):
        span = {"y" if ordered else "x": low("low:Q", title="People"), "y2" if ordered else "x2": high("high:Q")}
        layers.append(alt.Chart(measured).mark_rule(strokeWidth=1.5).encode(**{**along, **span}, color=colour, tooltip=tooltip))
        layers.append(alt.Chart(measured).mark_point(filled=True, size=38, opacity=1).encode(**along, color=colour, tooltip=tooltip))
    private = frame[frame["series"] == PRIVATE]
    if len(private):
        diamonds = alt.Chart(private).mark_point(shape="diamond", size=60, strokeWidth=2, opacity=1)
        layers.append(diamonds.encode(**along, color=colour, tooltip=tooltip))
    caption = "Dots: the noisy count.\nLines: where the true one is (95%)." if len(measured) else "Not measured."
    cell_count = frame["cell"].nunique()
    height = 300 if ordered else alt.Step(max(18, min(30, 320 // max(1, cell_count))))
    return finish(alt.layer(*layers), zoned, f"How many people are there by “{column}”?", caption, height=height)


def two_way(zoned: Zoned[pd.DataFrame], title: str, *, limit: float) -> Drawing:
    """Draw the counts of a pair of columns as a heat map, in people.

    Args:
        zoned: Columns row and column (labels), row_position and column_position, and count.
        title: The title.
        limit: Largest count of the colour scale. Heat maps that are compared need the same limit.
    """
    colour = alt.Color("count:Q", scale=alt.Scale(domain=[0, limit], clamp=True), legend=gradient(",d"))
    return finish(_heat(zoned.value, colour, ",.0f"), zoned, title, height=300)


def two_way_difference(zoned: Zoned[pd.DataFrame], title: str, *, people: float, wanted: float) -> Drawing:
    """Draw the difference between two tables of a pair of columns as a heat map, in people.

    A cell whose difference noise alone may make is blank. The strongest colour stands for `wanted * people`
    people or more, so that charts of different releases can be compared.

    Args:
        zoned: Columns row and column (labels), row_position and column_position, count (the signed
            difference), and noise (its 95 % half width).
        title: The title.
        people: Number of people.
        wanted: The largest acceptable error, as a share of people.
    """
    frame, most = zoned.value, max(1.0, wanted * people)
    beyond = frame["count"].abs() > frame["noise"]
    scale = alt.Scale(type="sqrt", domain=[-most, 0, most], clamp=True, range="diverging")  # small differences beside large ones
    colour = alt.Color("count:Q", scale=scale, legend=gradient("+,d"))
    chart = alt.layer(_heat(frame, alt.value("transparent"), "+,.0f"), _heat(frame[beyond], colour, "+,.0f"))
    caption = f"{int(beyond.sum()):,} of {len(frame):,} cells beyond noise (95%). Strongest: {wanted:.0%} of the people."
    return finish(chart, zoned, title, caption, height=300)


def shares_of_lines(zoned: Zoned[pd.DataFrame], title: str, caption: str) -> Drawing:
    """Draw shares as a heat map, in which the shares of each line add up to 1.

    Shares from about 10% on are written into their squares.

    Args:
        zoned: Columns row and column (labels), row_position and column_position, and count (the share, from 0 to 1; NaN in an empty line).
        title: The title.
        caption: The sentence below.
    """
    frame = zoned.value
    colour = alt.Color("count:Q", scale=alt.Scale(domain=[0, 1], clamp=True), legend=gradient(".0%"))
    squares = _heat(frame, colour, ".0%", "Share of the line")
    place = {side: squares.encoding[side] for side in ("x", "y")} | {"text": alt.Text("count:Q", format=".0%")}
    written = alt.Chart(frame[frame["count"] >= _WRITTEN])
    edge = written.mark_text(fontSize=12, fontWeight="bold", color="black", stroke="black", strokeWidth=3, strokeJoin="round", opacity=0.6)
    text = written.mark_text(fontSize=12, fontWeight="bold", color="white")  # with an edge, for a square is light or dark by the theme
    return finish(alt.layer(squares, edge.encode(**place), text.encode(**place)), zoned, title, caption, height=alt.Step(28))


_WRITTEN = 0.095
"""The smallest share that is written into its square."""


def _heat(frame: pd.DataFrame, colour: object, form: str, of: str = "People") -> alt.Chart:
    """Draw a heat map of two columns with a colour channel, and a format and name of counts. The last labels of both axes always stand."""
    below = alt.Axis(labelAngle=_tilt(frame["column"]), values=_labelled(frame, "column", _LABELLED), labelOverlap=False, labelLimit=90)
    beside = alt.Axis(values=_labelled(frame, "row", _LABELLED_DOWN), labelOverlap=False, labelLimit=90)
    x = alt.X("column:N", sort=alt.EncodingSortField("column_position", op="min"), title=None, axis=below)
    y = alt.Y("row:N", sort=alt.EncodingSortField("row_position", op="min"), title=None, axis=beside)
    tooltip = hover(row="Row", column="Column", count=(of, form))
    return alt.Chart(frame).mark_rect().encode(x=x, y=y, color=colour, tooltip=tooltip)


def _labelled(frame: pd.DataFrame, side: str, most: int) -> list[str]:
    """Return the labels to write along a side: all, or every second, third and so on, and the last."""
    labels = frame.sort_values(f"{side}_position")[side].drop_duplicates().tolist()
    step = -(-len(labels) // most)
    kept = labels[: len(labels) - 1 : step] if labels else []
    return [*(kept[:-1] if len(kept) > 1 and (len(labels) - 1) % step and step > 1 else kept), labels[-1]] if labels else []


def _tilt(labels: Iterable[str]) -> int:
    """Return the angle of axis labels in degrees: 0 if all fit side by side, otherwise slanted."""
    return 0 if sum(len(label) + 2 for label in set(labels)) <= _LEVEL_LETTERS else -40


_SHAPES = ["circle", "square", "triangle-up", "diamond"]


def contest(zoned: Zoned[pd.DataFrame], measure: str, unit: str, *, show: int = 18) -> Drawing:
    """Draw the errors of several releases on the `show` tables with the largest errors.

    True errors are drawn if the frame has them, otherwise best estimates, or bounds where no estimate is known.

    Args:
        zoned: One row per table and run, from `evaluation.side_by_side.side_by_side`: columns marginal,
            run, error, low, limit, place (of the table, from 0, by its largest true error or else its largest
            bound), and true if it is known; errors are shares.
        measure: Title of the error.
        unit: The words for what the error is a share of.
        show: Number of tables drawn.
    """
    frame = zoned.value[zoned.value["place"] < show]
    exact = "true" in frame
    frame = frame.assign(shown=frame["true"] if exact else frame["error"].fillna(frame["limit"]), low=frame["low"].fillna(0.0))
    order, runs = list(dict.fromkeys(frame["marginal"])), list(dict.fromkeys(zoned.value["run"]))
    y = alt.Y("marginal:N", sort=order, title=None, axis=alt.Axis(labelLimit=names_limit(250), labelOverlap=False))
    offset = alt.YOffset("run:N", scale=alt.Scale(domain=runs))
    axis = alt.Axis(format="~%", tickCount=6, orient="top", titleAnchor="end")
    colour = alt.Color("run:N", scale=alt.Scale(domain=runs), legend=alt.Legend(symbolType="circle"))
    tooltip = hover(marginal="Table", run="Run", shown=(measure, ".2%"), limit=("At most (95%)", ".2%"))
    shape = alt.Shape("run:N", scale=alt.Scale(domain=runs, range=_SHAPES[: len(runs)]), legend=None)
    x = alt.X("shown:Q", title=f"{measure} ({unit})", axis=axis)
    dots = alt.Chart(frame).mark_point(filled=True, opacity=1, size=60)
    dots = dots.encode(y=y, yOffset=offset, x=x, color=colour, shape=shape, tooltip=tooltip)
    layers: list[Drawing] = [dots]
    if not exact:
        rules = alt.Chart(frame).mark_rule(strokeWidth=2, opacity=0.6, color=INK)
        layers.insert(0, rules.encode(y=y, yOffset=offset, x=alt.X("low:Q"), x2="limit:Q", color=colour, tooltip=tooltip))
    hidden = zoned.value["place"].nunique() - len(order)
    measured = "Dots: best estimates, or bounds. Lines: 95% confidence."
    caption = "True errors." if exact else measured
    caption += f" The worst {len(order)} of {len(order) + hidden:,} tables." if hidden > 0 else ""
    return finish(alt.layer(*layers), zoned, "Where does one win?", caption, height=alt.Step(8 * len(runs) + 6, **{"for": "position"}))


_TRAINED = alt.Color("trained:N", scale=alt.Scale(domain=[beside_real.SYNTHETIC, beside_real.REAL]))
_SHARE = alt.Axis(format=".0%", tickCount=6)


def accuracy_by_value(zoned: Zoned[pd.DataFrame], model: str, column: str) -> Drawing:
    """Draw for which share of people a model is right, by the value of a column.

    Args:
        zoned: Columns value (label), position (order of the values), trained (on which rows, as in
            `beside_real`), share (from 0 to 1) and people (number).
        model: The name of the model.
        column: The name of the column.
    """
    frame, order = zoned.value, alt.EncodingSortField("position", op="min", order="ascending")
    tooltip = hover(value="Value", trained="Model", share=("Right", ".1%"), people=("People", ",d"))
    values = alt.Y("value:N", sort=order, title=None, axis=alt.Axis(labelOverlap=False))
    shares = alt.X("share:Q", title="Share of the people about whom it is right", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    points = alt.Chart(frame).mark_point(filled=True, size=90, opacity=0.9)
    points = points.encode(y=values, x=shares, color=_TRAINED, shape=alt.Shape("trained:N", legend=None), tooltip=tooltip)
    between = alt.Chart(frame).mark_line(color=INK, strokeWidth=1).encode(y=values, x=shares, detail="value:N")
    title = f"About whom is {model} right, by “{column}”?"
    return finish(alt.layer(between, points), zoned, title, "People who were held out.", height=alt.Step(26))


def calibration(zoned: Zoned[pd.DataFrame], model: str) -> Drawing:
    """Draw how often a model is right against the probability that it states for its guesses.

    Args:
        zoned: Columns certainty (mean stated probability), share (that was right, from 0 to 1), people
            (number) and trained (on which rows, as in `beside_real`).
        model: The name of the model.
    """
    frame = zoned.value
    tooltip = hover(trained="Model", certainty=("Held probable", ".1%"), share=("Right", ".1%"), people=("People", ",d"))
    certain = alt.X("certainty:Q", title="How probable it held its guess", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    shares = alt.Y("share:Q", title="Share that was right", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    ideal = alt.Chart(pd.DataFrame({"certainty": [0.0, 1.0], "share": [0.0, 1.0]}))
    diagonal = ideal.mark_line(color=INK, strokeDash=[4, 4], strokeWidth=1).encode(x=certain, y=shares)
    points = alt.Chart(frame).mark_line(point=True, strokeWidth=2).encode(x=certain, y=shares, color=_TRAINED, tooltip=tooltip)
    caption = "Dashed: right as often as it says.\nPeople who were held out."
    return finish(alt.layer(diagonal, points), zoned, f"Is {model} as often right as it says?", caption, height=300)
