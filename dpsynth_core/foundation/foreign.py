"""What other packages offer by an entry point: found by name when it is asked for, and never loaded before.

Whoever installs a package lets it run in this process. What that means for a promise of privacy is said where it is used.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from dpsynth_core.foundation.errors import InputError, shown

MECHANISMS = "dpsynth_studio.mechanisms"
"""The group of entry points whose objects are mechanisms."""


class Missing(InputError):
    """What is asked for is of a package that is not here, cannot be loaded, or may not be."""


def package_of(name: str) -> str:
    """The package of "PACKAGE:NAME"; "" for what is part of this program."""
    return name.partition(":")[0] if ":" in name else ""


def offered(group: str) -> dict[str, EntryPoint]:
    """By "PACKAGE:NAME", what the packages that are installed offer. Loads nothing."""
    return {f"{point.dist.name}:{point.name}": point for point in entry_points(group=group) if point.dist is not None}


def load(group: str, name: str) -> object:
    """The object of this "PACKAGE:NAME". Raises Missing."""
    package = package_of(name)
    point = offered(group).get(name)
    if point is None:
        problem = f"{shown(name)} is of the package {shown(package)}, which is not installed here or has no such thing"
        raise Missing("mechanism", problem, "install it: without it nothing of this kind can be made, fitted again or checked")
    try:
        return point.load()
    except Exception as error:
        raise Missing("mechanism", f"the package {shown(package)} cannot be loaded ({type(error).__name__})", "tell its authors") from error
