"""Wings: packages that add operations and mechanisms to the core, which does not import them otherwise.

A wing has three modules: `operations` (of the kernel), `offers` (mechanisms by purpose) and `audits` (of its operations). The list of wings
is a constant of the source, so that a running program cannot register another.
"""

from __future__ import annotations

from importlib import import_module
from types import ModuleType

WINGS = ("dpsynth_core.extensions.research",)


def registered(part: str) -> tuple[ModuleType, ...]:
    """Return from every wing the module `part`: "operations", "offers" or "audits"."""
    return tuple(import_module(f"{wing}.{part}") for wing in WINGS)
