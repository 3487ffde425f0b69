"""Small plans over a small domain, to sweep over."""

from __future__ import annotations

from typing import Any

from dpsynth_core.planning.spec import Spec
from dpsynth_core.tradeoffs.sweep import Sweep


def plan(**fields: Any) -> Spec:
    """A spec over a stand-in of 200 rows; keyword arguments replace whole fields."""
    return Spec.from_json(
        {
            "name": "test",
            "population": "people",
            "data": {"kind": "standin", "standin": {"rows": 200, "strength": 0.6}},
            "domain": {"a": 2, "b": 3, "c": 4},
            "workload": {"kind": "all", "k": 2},
            "budget": {"epsilon": 1.0, "delta": 1e-9},
            "mechanism": {"name": "independent"},
        }
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
