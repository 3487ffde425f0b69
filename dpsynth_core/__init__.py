"""dpsynth_core: synthetic tables under differential privacy.

    import dpsynth_core as dps

    plan = dps.plan(people, {"age": (0, 99), "sex": ["f", "m"]}, epsilon=1, population="Patients 2026")
    release = plan.run()
    release.rows

ARCHITECTURE.md maps the rooms behind these names. A room is imported when the first of its names is used.
"""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0"
__all__ = ["Answer", "Answers", "CapacityError", "ChargedError", "InputError", "Plan", "Release", "Sample", "Synthesizer"]
__all__ += ["discover", "open", "plan", "read_domain", "recover", "sample", "testing", "verify", "write_domain"]

# The names and their types are in __init__.pyi, for an import of theirs here would tie every room to this one.
_WHERE = {
    "foundation.errors": ("CapacityError", "ChargedError", "InputError"),
    "report.asking": ("Answer", "Answers"),
    "interface.columns": ("discover", "read_domain", "write_domain"),
    "interface.estimator": ("Synthesizer",),
    "interface.plan": ("Plan", "plan"),
    "interface.release": ("Release", "Sample", "open", "sample", "verify"),
    "interface.running": ("recover",),
    "interface.testing": ("testing",),
}
_ROOM = {name: room for room, names in _WHERE.items() for name in names}


def __getattr__(name: str) -> Any:
    if name in _ROOM:
        module = importlib.import_module(f"{__name__}.{_ROOM[name]}")
        return module if name == "testing" else getattr(module, name)
    if not name.startswith("_") and name in (added := _added()):
        return importlib.import_module("dpsynth_core.foundation.extension").load(added[name])
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def _added() -> dict[str, str]:
    """Return the import paths of the names that extensions add."""
    found: dict[str, str] = importlib.import_module("dpsynth_core.foundation.extension").names()
    return found


def __dir__() -> list[str]:
    return sorted([*__all__, *_added(), "__version__"])
