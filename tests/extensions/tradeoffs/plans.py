"""Small plans over a small domain, to sweep over."""

from __future__ import annotations

from typing import Any

from dpsynth_core.extensions.tradeoffs.sweep import Sweep
from dpsynth_core.planning.spec import Spec
from tests.specs import usual


def plan(**fields: Any) -> Spec:
    """A spec over a stand-in of 200 rows; keyword arguments replace whole fields."""
    return Spec.from_json(
        usual(
            {"kind": "standin", "standin": {"rows": 200, "strength": 0.6}}, {"a": 2, "b": 3, "c": 4}, mechanism="independent", name="test",
        )
        | fields
    )


def sweep(base: Spec | None = None, **fields: Any) -> Sweep:
    """Two mechanisms, one epsilon, all three tables, once; keyword arguments replace whole fields."""
    grid: dict[str, Any] = {
        "table": "standin",
        "mechanisms": ("independent", "mst"),
        "epsilons": (1.0,),
        "sizes": (3,),
        "repeats": 1,
    }
    return Sweep(base or plan(), **(grid | fields))
