"""A rehearsal of a plan that leaves people out: half of all people are left out, and no coin beside."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

import dpsynth_core as dps
from dpsynth_core.extensions.attacks import rehearsing
from dpsynth_core.planning.spec import Spec

COLUMNS = {"sex": ["female", "male"], "region": ["coast", "north", "south"]}


def test_the_coin_has_no_part_in_a_rehearsal(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    table = pd.DataFrame({"person": range(1000), **{name: rng.choice(values, 1000) for name, values in COLUMNS.items()}})
    table.to_csv(tmp_path / "people.csv", index=False)
    planned = dps.plan(tmp_path / "people.csv", COLUMNS, epsilon=4, tables=2, person="person", people=1000, holdout=20)
    plan = rehearsing.plan(Spec.from_json(planned.spec | {"data": {"path": str(tmp_path / "people.csv")}}))
    assert plan.spec.extensions == {}
    assert plan.coins is None
    found = rehearsing.rehearsed(plan, rng.integers(0, (2, 3), (1000, 2)))
    assert (len(found.inside), len(found.outside)) == (500, 500)
    assert len(found.rows)
