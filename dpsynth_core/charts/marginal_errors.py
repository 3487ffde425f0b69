"""Charts of the quality of a release: the error of each marginal with its bounds, the baselines, and a map of pairs of columns.

Errors are shares of people in a wrong cell. A bar ends at the upper bound of the error (95 % confidence); a dot marks the best estimate.
Lightness alone separates good tables from others, so that readers need no colour vision.
"""

from __future__ import annotations

from collections.abc import Mapping

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import ALERT, INK, MIDDLE, STRONG, Drawing, finish, gradient, hover, limit, names_limit, square
from dpsynth_core.evaluation.against_bounds import reach
from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, OURS, OURS_BOUND, RESIDUALS, TRUE
from dpsynth_core.foundation.zones import Zone, Zoned

PAIR = "pair"
"""Name of the selection on the map of pairs."""

_GOOD, _POOR = "good enough", "not good enough"
_ERROR = "People in the wrong group"
_TICKS = (0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.75, 1)
_MOST_DRAWN = 1200
_NEARNESS = ["#1f5fa8", STRONG, MIDDLE, "#e8a06a", ALERT]
"""Colours of errors up to a quarter, a half, all and twice of the limit, and beyond."""
_TOLD = {
    "error": "Error, best estimate",
    "limit": "At most (95%)",
    "together": "At most, all tables at once (95%)",
    "bound": "Limit without a certificate (95%)",
    "paper": "The same as the paper bounds it",
    "gaussian": f"Expected of {GAUSSIAN}",
    "residuals": f"Expected of {RESIDUALS}",
    "true": TRUE,
}


def overview(zoned: Zoned[pd.DataFrame], threshold: float) -> Drawing:
    """Draw the errors of all tables with a known bound as vertical bars side by side, worst first (column `rank`).

    Of more than 1,200 tables every second is drawn, of more than 2,400 every third, and so on.

    Args:
        zoned: One row per table, from `evaluation.quality.marginal_table`, with a further column
            good (bool).
        threshold: Largest acceptable error, as a share of people.
    """
    frame = zoned.value[zoned.value["limit"].notna()]
    frame = frame.sort_values("rank").assign(place=range(1, len(frame) + 1), zero=0.0)
    step = -(-len(frame) // _MOST_DRAWN)
    frame = _with_readings(frame.iloc[:: max(1, step)])
    x = alt.X("place:Q", title="Tables, worst first", axis=alt.Axis(tickMinStep=1, format=",d", tickCount=6), scale=alt.Scale(nice=False))
    y = alt.Y("limit:Q", title=_ERROR, axis=alt.Axis(format="~%", tickCount=5), scale=alt.Scale(domainMin=0))
    colour, tooltip = _verdict(frame), _tooltip(frame)
    width = max(1.0, min(9.0, 560 / max(1, len(frame))))
    low = "low:Q" if frame["error"].notna().any() else "zero:Q"
    bars = alt.Chart(frame).mark_rule(strokeWidth=width, opacity=0.55).encode(x=x, y=y, y2=low, color=colour, tooltip=tooltip)
    layers: list[Drawing] = [bars]
    if frame["error"].notna().any():
        size = max(9.0, min(60.0, width**2 * 2))
        layers.append(
            alt.Chart(frame).mark_point(filled=True, opacity=1, size=size).encode(x=x, y="error:Q", color=colour, tooltip=tooltip)
        )
    if "true" in frame:
        diamonds = alt.Chart(frame).mark_point(shape="diamond", size=36, color=ALERT, opacity=1)
        layers.append(diamonds.encode(x=x, y=alt.Y("true:Q", title=_ERROR), tooltip=tooltip))
    layers.append(limit(threshold).encode(y="limit:Q"))
    title, caption = f"How far off are all {len(zoned.value):,} tables?", _caption(zoned.value) + " Dashed: your limit."
    return finish(alt.layer(*layers), zoned, title, caption, height=190)


def marginals(zoned: Zoned[pd.DataFrame], threshold: float, *, show: int = 20, skip: int = 0) -> Drawing:
    """Draw the error of each table on a line of its own, the worst first, on the scale of `against_bounds`.

    A table without a known bound gets words instead of a bar.

    Args:
        zoned: One row per table, from `evaluation.quality.against_limit`; good (bool) is one of the columns.
        threshold: Largest acceptable error, as a share of people.
        show: Number of tables drawn.
        skip: Number of tables before the first that is drawn.
    """
    frame = _with_readings(zoned.value.sort_values("rank").iloc[skip : skip + show]).assign(zero=0.0)
    certified = bool(frame["error"].notna().any())
    order = frame["marginal"].tolist()
    y = alt.Y("marginal:N", sort=order, title=None, axis=alt.Axis(labelLimit=names_limit(250), labelOverlap=False))
    axis = alt.Axis(format="~%", orient="top", tickCount=5)
    scale = alt.Scale(domain=[0, reach(zoned.value, threshold)], clamp=True, nice=False)
    x, tooltip, colour = alt.X("limit:Q", title=_ERROR, axis=axis, scale=scale), _tooltip(frame), _verdict(frame)
    start = "low:Q" if certified else "zero:Q"
    bars = alt.Chart(frame).mark_bar(height=8, opacity=0.6, cornerRadius=2).encode(y=y, x=x, x2=start, color=colour, tooltip=tooltip)
    layers: list[Drawing] = [bars]
    if certified:
        dots = alt.Chart(frame).mark_point(filled=True, size=70, opacity=1)
        layers.append(dots.encode(y=y, x=alt.X("error:Q", scale=scale), color=colour, tooltip=tooltip))
    unknown = frame[frame["limit"].isna()].assign(words="nothing that was released bounds it")
    if len(unknown):
        words = alt.Chart(unknown).mark_text(align="left", dx=4, color=INK, fontSize=12, fontStyle="italic", tooltip=None)
        layers.append(words.encode(y=y, x=alt.X("zero:Q", scale=scale), text="words:N"))
    if "true" in frame:
        diamonds = alt.Chart(frame).mark_point(shape="diamond", filled=True, size=75, opacity=1, color=ALERT)
        layers.append(diamonds.encode(y=y, x=alt.X("true:Q", scale=scale), tooltip=tooltip))
    layers.append(limit(threshold).encode(x=alt.X("limit:Q", scale=scale)))
    worst = f" {skip + 1:,} to {skip + len(frame):,} of {len(zoned.value):,}, worst first." if len(zoned.value) > show else ""
    caption = f"{_caption(zoned.value)} Dashed: your limit.{worst}"
    return finish(alt.layer(*layers), zoned, "How far off is each table?", caption, height=alt.Step(22))


def by_kind(zoned: Zoned[pd.DataFrame], threshold: float, names: Mapping[str, str], who: str) -> Drawing:
    """Draw the errors of the tables of counts of two linked tables, one line per kind of table of counts.

    Tables without a known bound are left out.

    Args:
        zoned: One row per table of counts, from `evaluation.quality.marginal_table`, with a further column kind
            (a key of `names`).
        threshold: Largest acceptable error, as a share of these.
        names: Title of each kind by key, in the order of the chart.
        who: The word for those who count once, such as "households".
    """
    frame = zoned.value[zoned.value["limit"].notna()]
    frame = _with_readings(frame.assign(called=frame["kind"].map(dict(names))))
    y = alt.Y("called:N", sort=list(names.values()), title=None, axis=alt.Axis(labelLimit=names_limit(150)))
    end = 1.2 * min(1.0, max(0.01, threshold, float(frame["limit"].max())))  # a phone has room for the last number
    axis = alt.Axis(format="~%", values=[tick for tick in _TICKS if tick <= end], orient="top")
    scale = alt.Scale(type="sqrt", domain=[0, end], clamp=True, nice=False)  # room for small errors beside large ones
    tooltip = hover(called="Kind", marginal="Table", told_error=_TOLD["error"], told_limit=_TOLD["limit"])
    most = alt.Chart(frame).mark_tick(color=INK, opacity=0.8, thickness=1.5, size=18)
    title = _ERROR.replace("People", who.capitalize())
    layers: list[Drawing] = [most.encode(y=y, x=alt.X("limit:Q", title=title, axis=axis, scale=scale), tooltip=tooltip)]
    if frame["error"].notna().any():
        joined = alt.Chart(frame).mark_rule(color=INK, opacity=0.35, strokeWidth=1.5)
        layers.append(joined.encode(y=y, x=alt.X("error:Q", scale=scale), x2="limit:Q", tooltip=tooltip))
        dots = alt.Chart(frame).mark_point(filled=True, size=55, opacity=0.85, color=STRONG)
        layers.append(dots.encode(y=y, x=alt.X("error:Q", scale=scale), tooltip=tooltip))
    layers.append(limit(threshold).encode(x=alt.X("limit:Q", scale=scale)))
    caption = "Each table: a dot where its error is estimated, a line where it is at most (95%)."
    return finish(alt.layer(*layers), zoned, "Which kinds of tables are further off?", caption, height=alt.Step(34))


def means(zoned: Zoned[pd.DataFrame]) -> Drawing:
    """Draw the mean error of the release next to the mean errors of simpler methods with the same budget.

    Args:
        zoned: Columns series, error, low and high, all shares of people (NaN if no interval is
            known).
    """
    order = [name for name in (OURS, OURS_BOUND, TRUE, RESIDUALS, GAUSSIAN, INDEPENDENT) if name in set(zoned.value["series"])]
    frame = zoned.value.assign(told=[f"{value:.1%}" for value in zoned.value["error"]], ours=zoned.value["series"].isin([OURS, OURS_BOUND]))
    y = alt.Y("series:N", sort=order, title=None, axis=alt.Axis(labelLimit=210))
    reach = float(frame[["error", "high"]].max().max())
    x = alt.X("error:Q", title=None, axis=None, scale=alt.Scale(domain=[0, max(0.01, 1.45 * reach)]))
    tooltip = hover(series="Series", error=(_ERROR, ".2%"), low=("At least (95%)", ".2%"), high=("At most (95%)", ".2%"))
    colour = alt.Color("ours:N", scale=alt.Scale(domain=[True, False], range=[STRONG, INK]), legend=None)
    bars = alt.Chart(frame).mark_bar(height=16, cornerRadiusEnd=2).encode(y=y, x=x, color=colour, tooltip=tooltip)
    doubt = alt.Chart(frame).mark_rule(color=MIDDLE, strokeWidth=2).encode(y=y, x="low:Q", x2="high:Q", tooltip=tooltip)
    frame["end"] = frame[["error", "high"]].max(axis=1)
    ends = alt.Chart(frame).mark_text(align="left", dx=5, color=INK, fontSize=12.5, fontWeight=600, tooltip=None)
    title = "Would a simpler way have done better?"
    caption = "In the wrong group on average, on the same budget.\nLine: at least to at most (95% each)."
    return finish(alt.layer(bars, doubt, ends.encode(y=y, x="end:Q", text="told:N")), zoned, title, caption, height=alt.Step(28))


def pair_map(zoned: Zoned[pd.DataFrame], wanted: float) -> Drawing:
    """Draw a map of the pairs of columns, coloured by the upper bound of their error.

    A click selects a pair (selection `PAIR`), except in curator-only charts. The colours are the
    same for every release with this limit: pairs within the limit are the paler the nearer they come to it,
    those beyond it have another colour and a dot. A pair without a bound is a cross.

    Args:
        zoned: Columns row, column, limit (share of people; NaN if unknown) and basis (text).
        wanted: The largest acceptable error, as a share of people.
    """
    frame = zoned.value.assign(told=[f"{v:.1%}" if v == v else "nothing known" for v in zoned.value["limit"]])
    order = list(dict.fromkeys(frame["row"]))
    x, y = square(order)
    steps = [wanted / 4, wanted / 2, wanted, 2 * wanted]
    scale = alt.Scale(type="threshold", domain=steps, range=_NEARNESS)
    colour = alt.Color("limit:Q", scale=scale, legend=gradient("~%"))
    tooltip = hover(row="Column", column="With", told="At most in the wrong group (95%)", basis="Known because it is")
    bounded = alt.Chart(frame[frame["limit"].notna()]).mark_rect(cornerRadius=2).encode(x=x, y=y, color=colour, tooltip=tooltip)
    if zoned.zone is not Zone.CURATOR:
        bounded = bounded.add_params(alt.selection_point(PAIR, fields=["row", "column"], on="click", clear=False, empty=True))
    layers, missing, beyond = [bounded], frame[frame["limit"].isna()], frame[frame["limit"] > wanted]
    if len(beyond):  # a layer of nothing is a picture without a name
        layers.append(alt.Chart(beyond).mark_point(filled=True, color="white", size=14, opacity=1).encode(x=x, y=y, tooltip=tooltip))
    if len(missing):
        layers.append(alt.Chart(missing).mark_point(shape="cross", color=INK, size=30, opacity=0.7).encode(x=x, y=y, tooltip=tooltip))
    small = alt.Step(max(14, min(30, 400 // max(1, len(order)))))
    caption = f"Stronger blue: fewer in the wrong group. Dot: over {wanted:.0%}.\nCross: nothing known. Click a pair to look at it."
    return finish(alt.layer(*layers), zoned, "Which pairs of columns can be trusted?", caption, height=small)


def _with_readings(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the frame with a column `told_NAME` for each error: its percentage as text for tooltips.

    Unknown values become a dash.
    """
    texts = {f"told_{name}": [f"{v:.1%}" if v == v else "–" for v in frame[name]] for name in _TOLD if name in frame}
    return frame.assign(**texts)


def _tooltip(frame: pd.DataFrame) -> list[alt.Tooltip]:
    shares = {f"told_{name}": title for name, title in _TOLD.items() if name in frame}
    return hover(marginal="Table", cells=("Cells", ",d"), support="How known", **shares)


def _verdict(frame: pd.DataFrame) -> alt.Color:
    """Return the colour channel that separates good tables from others by lightness alone."""
    names = {True: _GOOD, False: _POOR}
    frame["verdict"] = [names[bool(good)] for good in frame["good"]]
    present = [name for name in names.values() if name in set(frame["verdict"])]
    return alt.Color("verdict:N", scale=alt.Scale(domain=[_GOOD, _POOR], range=[STRONG, INK]), legend=alt.Legend(values=present))


def _caption(frame: pd.DataFrame) -> str:
    certified = bool(frame["error"].notna().any())
    bar = "Bar: at most, with 95% confidence."
    words = "Dot: best estimate. Bar: at least to at most (95% each)." if certified else bar
    return words + (" Diamond: true error." if "true" in frame else "")
