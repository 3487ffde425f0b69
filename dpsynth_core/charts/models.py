"""Charts of models on records that were held out, for the curator: by the values of a column, and by how certain the model was."""

from __future__ import annotations

import altair as alt
import pandas as pd

from dpsynth_core.charts.theme import INK, Drawing, finish
from dpsynth_core.evaluation.beside_real import REAL, SYNTHETIC
from dpsynth_core.foundation.zones import Zoned

_TRAINED = alt.Color("trained:N", scale=alt.Scale(domain=[SYNTHETIC, REAL]))
_SHARE = alt.Axis(format=".0%", tickCount=6)


def accuracy_by_value(zoned: Zoned[pd.DataFrame], model: str, column: str) -> Drawing:
    """Is the model right about some people less often than about others?

    Columns: value (label), position (int, order of the values), trained (SYNTHETIC or REAL), share, people. Rows of one model.
    """
    frame, order = zoned.value, alt.EncodingSortField("position", op="min", order="ascending")
    tooltip = [
        alt.Tooltip("value:N", title="Value"),
        alt.Tooltip("trained:N", title="Model"),
        alt.Tooltip("share:Q", title="Right", format=".1%"),
        alt.Tooltip("people:Q", title="People", format=",d"),
    ]
    values = alt.Y("value:N", sort=order, title=None, axis=alt.Axis(labelOverlap=False))
    shares = alt.X("share:Q", title="Share of the people about whom it is right", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    points = alt.Chart(frame).mark_point(filled=True, size=90, opacity=0.9).encode(
        y=values, x=shares, color=_TRAINED, shape=alt.Shape("trained:N", legend=None), tooltip=tooltip
    )
    between = alt.Chart(frame).mark_line(color=INK, strokeWidth=1).encode(y=values, x=shares, detail="value:N")
    title = f"About whom is {model} right, by “{column}”?"
    return finish(alt.layer(between, points), zoned, title, "People who were held out.", height=alt.Step(26))


def calibration(zoned: Zoned[pd.DataFrame], model: str) -> Drawing:
    """Is the model right as often as it holds its guesses probable?

    Columns: certainty (mean, 0 to 1), share, people, trained (SYNTHETIC or REAL). Rows of one model.
    """
    frame = zoned.value
    tooltip = [
        alt.Tooltip("trained:N", title="Model"),
        alt.Tooltip("certainty:Q", title="Held probable", format=".1%"),
        alt.Tooltip("share:Q", title="Right", format=".1%"),
        alt.Tooltip("people:Q", title="People", format=",d"),
    ]
    certain = alt.X("certainty:Q", title="How probable it held its guess", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    shares = alt.Y("share:Q", title="Share that was right", scale=alt.Scale(domain=[0, 1]), axis=_SHARE)
    ideal = alt.Chart(pd.DataFrame({"certainty": [0.0, 1.0], "share": [0.0, 1.0]}))
    diagonal = ideal.mark_line(color=INK, strokeDash=[4, 4], strokeWidth=1).encode(x=certain, y=shares)
    points = alt.Chart(frame).mark_line(point=True, strokeWidth=2).encode(x=certain, y=shares, color=_TRAINED, tooltip=tooltip)
    caption = "Dashed: right as often as it says.\nPeople who were held out."
    return finish(alt.layer(diagonal, points), zoned, f"Is {model} as often right as it says?", caption, height=300)
