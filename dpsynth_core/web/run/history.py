"""A run as it can be watched: its released events as a table, and how long it may still take."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Progress
from dpsynth_core.statistics.evidence import label


def measured(history: Sequence[Progress], rho: float) -> Zoned[pd.DataFrame]:
    """One line per measurement, in order. rho: the whole budget. Columns: step (from 1), round (0 before the adaptive rounds), marginal
    (label), cells, sigma (people per cell), share_used (of rho, up to and with this one)."""
    taken = [event for event in history if event.kind == "measured"]
    frame = pd.DataFrame(
        {
            "step": range(1, len(taken) + 1),
            "round": [event.round for event in taken],
            "marginal": [label(event.attributes) for event in taken],
            "cells": [event.cells for event in taken],
            "sigma": [event.sigma for event in taken],
            "share_used": [event.rho_spent / rho for event in taken],
        }
    )
    return released(frame)


def rounds(history: Sequence[Progress], rho: float) -> Zoned[pd.DataFrame]:
    """One line per step that a mechanism reports, measurement or not, in order. rho: the whole budget. Columns: round, said (in words),
    share_used (of rho, up to and with this one)."""
    steps = [event for event in history if event.kind in ("measured", "fitted")]
    frame = pd.DataFrame(
        {
            "round": [event.round for event in steps],
            "said": [event.message or f"{label(event.attributes)}, ± {event.sigma:,.1f} people" for event in steps],
            "share_used": [event.rho_spent / rho for event in steps],
        }
    )
    return released(frame)


def chooses(history: Sequence[Progress]) -> bool:
    """Whether it goes on in rounds that choose and do not measure, as games with an oracle do."""
    kinds = [event.kind for event in history]
    return kinds.count("fitted") > kinds.count("measured")


def done(history: Sequence[Progress]) -> float:
    """Fraction of the mechanism's work that is done."""
    return max((event.done for event in history), default=0.0)


def seconds_left(history: Sequence[Progress], elapsed: float, forecast: float) -> float:
    """A guess that moves from the forecast to the pace so far as the work gets done. Both in seconds. The pace alone is a poor guide at
    first: AIM's early rounds use little of the budget and take as long as the late ones."""
    share = done(history)
    expected = max(0.0, forecast - elapsed)
    return expected if share == 0 else (1 - share) * expected + share * (elapsed * (1 - share) / share)


def in_words(seconds: float) -> str:
    """A duration for reading: "less than a second", "12 s", "3 min", "2 h 10 min"."""
    if seconds < 1:
        return "less than a second"
    if seconds < 90:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 90 else f"{minutes // 60} h {minutes % 60} min"
