"""Choose the series, the scale and the reference of a chart of errors beside AIM's bounds and the baselines.

`quality.marginal_table` returns the frames.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from dpsynth_core.evaluation.quality import GAUSSIAN, INDEPENDENT, RESIDUALS, TRUE

if TYPE_CHECKING:
    import pandas as pd

SHARPENED = "AIM's bound, sharpened (95%)"
SERIES = {
    "error": "Error, best estimate",
    "bound": SHARPENED,
    "paper": "AIM's bound, as printed (95%)",
    "gaussian": GAUSSIAN,
    "residuals": RESIDUALS,
    "independent": INDEPENDENT,
    "true": TRUE,
}
"""By column: what it is called."""
AGAINST = {
    "true": TRUE,
    "error": SERIES["error"],
    "residuals": f"Expected of {RESIDUALS[0].lower()}{RESIDUALS[1:]}",
    "gaussian": f"Expected of {GAUSSIAN[0].lower()}{GAUSSIAN[1:]}",
}
"""What bounds are set against, the best there is."""
_INSIDE = ("error", "bound", "limit", "true")
"""What the scale always reaches. The rest may be several times as far off, and would leave these no room."""
_ROOM = 1.5
"""So many times as far it goes for the rest."""


def known(frame: pd.DataFrame, name: str) -> bool:
    """Return whether the frame has the column `name` with a value (not NaN) for some table; False for an empty frame."""
    return name in frame and bool(frame[name].notna().any())


def reach(frame: pd.DataFrame, threshold: float = 0.0) -> float:
    """Return the upper end of a chart's error axis that starts at 0, as a share of people, at most 1.

    The axis always covers errors, our bounds and `threshold`. A baseline, or AIM's bound as printed, is left beyond
    its end if it is more than 1.5 times as large as these.

    Args:
        frame: The frame of `quality.marginal_table`.
        threshold: An error that the axis must also cover.
    """
    most = {name: float(frame[name].max()) for name in (*SERIES, "limit") if known(frame, name)}
    inside = max([0.01, threshold, *(most[name] for name in _INSIDE if name in most)])
    return min(1.0, 1.04 * max([inside, *(share for share in most.values() if share <= _ROOM * inside)]))


def drawable(frame: pd.DataFrame) -> bool:
    """Return whether an error, a bound or a baseline is known for some table of the frame."""
    return any(known(frame, name) for name in SERIES)


def against(frame: pd.DataFrame) -> str | None:
    """Return the first column of `AGAINST` that has a value for some table with a bound; None without such a column.

    It is the column to compare the bounds with.

    Args:
        frame: The frame of `quality.marginal_table`.
    """
    told = (name for name in AGAINST if name in frame and (frame[name].notna() & frame["bound"].notna()).any())
    return next(told, None)
