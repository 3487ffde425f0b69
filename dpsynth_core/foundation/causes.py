"""What stopped the program and is no mistake of it: a package that is missing, or memory; said with field and remedy, as of input.

The text of an exception may quote a record; what is said here never comes from there.
"""

from __future__ import annotations

import errno

from dpsynth_core.foundation.errors import CapacityError, InputError

INSTALL = "make run, or: pip install --require-hashes -r requirements.txt"


def cause_of(error: BaseException) -> InputError | None:
    """None where it is a mistake of the program, as far as its kind tells."""
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return CapacityError("memory", "it is used up", "end other programs, ask for fewer or smaller tables, or use a larger machine")
    if not isinstance(error, ImportError):
        return None
    package = (error.name or "").partition(".")[0]
    if package == "dpsynth_core":
        return None
    if isinstance(error, ModuleNotFoundError):
        return InputError("packages", f"{package} is missing", INSTALL)
    problem = f"{package} cannot be loaded" if package else "one of them cannot be loaded"
    return InputError("packages", problem, f"free memory, or install them anew: {INSTALL}")
