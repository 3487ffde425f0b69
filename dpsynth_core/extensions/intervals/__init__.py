"""Intervals that know of the noise: several sets of rows from one release, and analyses of them."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.intervals"

EXTENSION = Extension(
    summary="Sets of rows whose spread is the noise of the release, and analyses with intervals that hold.",
    names=(
        ("samples", f"{_HERE}.interface:samples"),
        ("analyse", f"{_HERE}.interface:analyse"),
        ("pool", f"{_HERE}.interface:pool"),
    ),
)
