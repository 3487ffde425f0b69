"""Load what the first visit would otherwise wait for: the modules of all pages, and the first chart, which reads Vega-Lite's schema.

Done once, before the server answers. Public facts only: the chart that is drawn is of no release.
"""

from __future__ import annotations

import importlib
import pkgutil

from dpsynth_core import web

_ANY_RHO = 0.01


def load() -> None:
    """Takes about half a second."""
    for module in pkgutil.walk_packages(web.__path__, f"{web.__name__}."):
        importlib.import_module(module.name)
    from dpsynth_core import charts
    from dpsynth_core.planning import precision

    charts.tradeoff(precision.attacker(_ANY_RHO)).to_dict()
