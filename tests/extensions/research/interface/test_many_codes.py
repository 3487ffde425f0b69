"""Columns that MWEM+PGM has no round for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

import dpsynth_core as dps


def test_a_column_in_no_measured_table_is_named_in_a_warning() -> None:
    """Two rounds measure at most two tables, each of one column."""
    rng, columns = np.random.default_rng(4), {name: list("0123") for name in "abcdef"}
    frame = pd.DataFrame({name: rng.choice(list("0123"), 500, p=[0.7, 0.1, 0.1, 0.1]) for name in columns})
    given: dict[str, Any] = {"epsilon": 1, "tables": 1, "people": 500, "mechanism": "mwem_pgm"}
    release = dps.plan(frame, columns, **given, settings={"rounds_per_attribute": 0.34}).run(progress=False)
    measured = {name for one in release.made.measurements for name in one.clique}
    (warning,) = [one for one in release.warnings if "in no measured table" in one]
    assert [name for name in columns if f"'{name}'" in warning] == [name for name in columns if name not in measured]
    whole = dps.plan(frame, columns, **given | {"people": 501}, settings={"rounds_per_attribute": 4.0}).run(progress=False)
    assert not any("in no measured table" in one for one in whole.warnings)
