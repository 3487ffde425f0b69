"""Objects that other packages offer by entry points, found by name on request and loaded no earlier.

Installing a package lets it run in this process. The modules that use such objects state the consequence for privacy.
"""

from __future__ import annotations

from importlib.metadata import EntryPoint, entry_points

from dpsynth_core.foundation.errors import InputError, shown

MECHANISMS = "dpsynth_studio.mechanisms"
"""Group of entry points whose objects are mechanisms."""


class Missing(InputError):
    """The package of the requested object is not installed, cannot be loaded or is not allowed."""


def package_of(name: str) -> str:
    """Return the package in a name "PACKAGE:NAME", or "" for a name without a colon, which is of this program."""
    return name.partition(":")[0] if ":" in name else ""


def offered(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of installed packages by their names "PACKAGE:NAME", without loading them; {} without any.

    Args:
        group: The group of entry points, such as MECHANISMS.
    """
    return {f"{point.dist.name}:{point.name}": point for point in entry_points(group=group) if point.dist is not None}


def load(group: str, name: str) -> object:
    """Load the object of an entry point and return it.

    Args:
        group: The group of entry points, such as MECHANISMS.
        name: Name of the entry point, "PACKAGE:NAME".

    Raises:
        Missing: The package is not installed, has no such entry point, or cannot be loaded.
    """
    package = package_of(name)
    point = offered(group).get(name)
    if point is None:
        problem = f"{shown(name)} is of the package {shown(package)}, which is not installed here or has no such thing"
        raise Missing("mechanism", problem, "install it: without it nothing of this kind can be made, fitted again or checked")
    try:
        return point.load()
    except Exception as error:
        raise Missing("mechanism", f"the package {shown(package)} cannot be loaded ({type(error).__name__})", "tell its authors") from error
