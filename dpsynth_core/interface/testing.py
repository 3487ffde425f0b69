"""For tests of programs that make releases: noise that repeats. What is made with it is marked as not private, and protects nobody."""

from __future__ import annotations

from dataclasses import replace

from dpsynth_core.interface.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis


def seeded(plan: Plan, seed: int) -> Plan:
    """The same plan with noise that repeats: its release is the same each time, on the same machine, and marked as not private.

    Examples
    --------
    >>> import dpsynth_core as dps
    >>> plan = dps.plan("demo", {"sex": ["female", "male"]}, epsilon=1, mechanism="independent", tables=1)
    >>> plan = dps.testing.seeded(plan, 7)
    """
    document = plan.sealed.spec.model_dump(mode="json")
    spec = Spec.from_json({**document, "output": {**document["output"], "seed": seed}})
    return replace(plan, sealed=synthesis.plan(spec))
