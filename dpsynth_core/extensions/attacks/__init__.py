"""Attacks on the rows of a release beside people who were left out: exact numbers, for the curator's screen alone."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.attacks"

EXTENSION = Extension(
    summary="Attacks on the rows, beside people who were left out, a copy of the table and what epsilon allows; for the curator alone.",
    views=(("results", f"{_HERE}.view:results"), ("plan", f"{_HERE}.view:before_the_run")),
)
