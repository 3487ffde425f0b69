"""Trials on the private table are a look at it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from dpsynth_core.extensions.tradeoffs import sweeps
from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.planning.spec import Spec
from dpsynth_core.store import recorded_views

Make = Callable[..., Spec]


@pytest.mark.usefixtures("no_workers")
def test_trials_on_the_private_table_are_a_look_and_others_are_none(make_spec: Make, project: str, table: Path) -> None:
    del table
    grid: dict[str, Any] = {"mechanisms": ("independent",), "epsilons": (0.1,), "sizes": (3,), "repeats": 1}
    stand_in = {"kind": "standin", "standin": {"rows": 200, "strength": 0.5, "seed": 1}}
    sweeps.submit("ann", project, Sweep(make_spec(data=stand_in), table="standin", **grid))
    assert recorded_views.of("ann", project) == ()
    sweeps.submit("ann", project, Sweep(make_spec(), table="private", **grid))
    assert recorded_views.of("ann", project) == ("trials",)
