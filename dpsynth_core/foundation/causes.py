"""Failures that are not mistakes of the program: a missing package, or memory. They get field and remedy, as errors of input do.

The text of an exception may quote a record; these messages never contain it.
"""

from __future__ import annotations

import errno
from collections.abc import Iterator
from contextlib import contextmanager

from dpsynth_core.foundation.errors import CapacityError, InputError

EXTRAS = {
    "studio": ("altair", "streamlit"),
    "formats": ("pyreadstat", "python_calamine", "xlsxwriter", "yaml"),
    "databases": ("duckdb", "psycopg", "sqlglot"),
    "dask": ("dask", "distributed"),
    "models": ("sklearn",),
    "oracles": ("ortools",),
}
"""Optional packages of each extra, by their import names."""


def cause_of(error: BaseException) -> InputError | None:
    """Return an InputError that explains an error as missing memory, or as a package that is missing or cannot be loaded.

    None is returned for every other error, and for a failed import inside this program.
    """
    if isinstance(error, MemoryError) or (isinstance(error, OSError) and error.errno == errno.ENOMEM):
        return CapacityError("memory", "it is used up", "end other programs, ask for fewer or smaller tables, or use a larger machine")
    if not isinstance(error, ImportError):
        return None
    package = (error.name or "").partition(".")[0]
    if package == "dpsynth_core":
        return None
    if isinstance(error, ModuleNotFoundError):
        return InputError("packages", f"{package} is missing", f"{command(package)}; in a checkout: make run")
    problem = f"{package} cannot be loaded" if package else "one of them cannot be loaded"
    return InputError("packages", problem, f"free memory, or install them anew: {command(package)}; in a checkout: make run")


def command(package: str) -> str:
    """Return the pip command that installs a package with the extra it belongs to (`EXTRAS`).

    Args:
        package: The package, by its import name.
    """
    extra = next((name for name, packages in EXTRAS.items() if package in packages), "")
    return f'pip install "dpsynth-studio[{extra}]"' if extra else "pip install dpsynth-studio"


@contextmanager
def explained_imports() -> Iterator[None]:
    """Turn an ImportError of the body into an InputError that says how to install the package.

    Raises:
        InputError: A package is missing or cannot be loaded.
        ImportError: A module of this program cannot be imported; this error goes through unchanged.
    """
    try:
        yield
    except ImportError as error:
        if (cause := cause_of(error)) is None:
            raise
        raise cause from error
