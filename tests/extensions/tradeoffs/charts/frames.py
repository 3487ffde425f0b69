"""Charts of trials with frames of hostile names. For `tests/charts/test_charts.py`."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd

from dpsynth_core.charts import Drawing
from dpsynth_core.evaluation.measures import LARGEST, MEAN
from dpsynth_core.extensions.tradeoffs import charts
from dpsynth_core.extensions.tradeoffs.curves import MEMORY, SECONDS, Setting
from dpsynth_core.foundation.zones import Zoned, public
from tests.charts.names import HOSTILE


def _tables() -> pd.DataFrame:
    return pd.DataFrame({"marginal": HOSTILE, "columns": 2, "cells": 12, "error": 0.1, "low": 0.05, "high": 0.2})


def bands(**others: object) -> pd.DataFrame:
    """Settings of mechanisms with hostile titles, two values of epsilon each; the last one has a swept setting."""
    rows = [{"mechanism": name, "epsilon": epsilon, "setting": "", "value": np.nan} for name in HOSTILE for epsilon in (0.5, 2.0)]
    rows += [{"mechanism": "swept", "epsilon": e, "setting": "size", "value": value} for e in (0.5, 2.0) for value in (1.0, 9.0)]
    known = {"tables": 3, "error": 0.1, "low": 0.05, "high": 0.2, "weakest": 0.2, "strongest": 0.9, "repeats": 2, "measured": 4.0}
    return pd.DataFrame(rows).assign(**known, seconds=1.0, cpu_seconds=0.5, memory_mb=300.0).assign(**others)


def one_table(**others: object) -> pd.DataFrame:
    facts = {"marginal": HOSTILE[0], "columns": 2, "cells": 12, "error": 0.1, "low": 0.05, "high": 0.2, "bound": 0.4}
    return bands()[["mechanism", "epsilon"]].assign(**facts | others)


def beside() -> pd.DataFrame:
    return pd.DataFrame({"name": HOSTILE, "epsilon": 1.0, "marginal": HOSTILE[0], "error": 0.1, "low": 0.05, "high": 0.2})


CHARTS: dict[str, tuple[Callable[[Zoned[pd.DataFrame]], Drawing], pd.DataFrame]] = {
    "tables_of": (lambda z: charts.tables_of(z, LARGEST), _tables()),
    "by_epsilon": (lambda z: charts.by_epsilon(z, MEAN, 3, None, charts.Marks(0.1, 1.0, {0.5: 0.6}, public(beside()))), bands()),
    "by_cost of time": (lambda z: charts.by_cost(z, MEAN, SECONDS, 3, Setting(HOSTILE[0], 0.5, 3), charts.Marks(0.1)), bands()),
    "by_cost of memory": (lambda z: charts.by_cost(z, MEAN, MEMORY, 3), bands()),
    "by_cost of unknown memory": (lambda z: charts.by_cost(z, MEAN, MEMORY, 3), bands(memory_mb=np.nan)),
    "by_setting": (lambda z: charts.by_setting(z, MEAN, 3), bands()),
    "by_setting of time": (lambda z: charts.by_setting(z, SECONDS, 3), bands()),
    "by_setting from zero": (lambda z: charts.by_setting(z, MEAN, 3), bands(value=[np.nan] * 14 + [0.0, 9.0] * 2)),
    "by_tables": (lambda z: charts.by_tables(z, MEAN, 2.0), bands()),
    "one_table": (lambda z: charts.one_table(z, MEAN, HOSTILE[2], 0.1, public(beside())), one_table()),
    "one_table without bounds": (lambda z: charts.one_table(z, LARGEST), one_table(bound=np.nan)),
}
