"""Trials on a private table at a large epsilon need a reason in writing."""

from __future__ import annotations

from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, Sweep
from dpsynth_core.planning.spec import Spec
from tests.planning.test_weakness import REASON, SPEC, spec
from tests.refusals import refused


def test_trials_on_the_private_table_need_one_as_well() -> None:
    base = spec(budget=SPEC["budget"] | {"epsilon": 1.0})

    def sweep(base: Spec) -> Sweep:
        return Sweep(base=base, table=PRIVATE, mechanisms=("independent",), epsilons=(1.0, 20.0), sizes=(2,), repeats=1)

    refused(sweep, base, saying=r"budget\.reason")
    sweep(spec(budget=SPEC["budget"] | {"epsilon": 1.0, "reason": REASON}))
