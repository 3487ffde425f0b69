"""Limits of attacks, and how close the rows are in measures that people outside the field know: computed from released values alone."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.evidence"

EXTENSION = Extension(
    summary="Limits of attacks by base rate, scores that other programs print, and the sample that would be as close.",
    files=f"{_HERE}.files:files",
    sections=(f"{_HERE}.sections:ceilings_section", f"{_HERE}.sections:yardsticks_section"),
    views=(("budget", f"{_HERE}.views:budget"), ("results", f"{_HERE}.views:results")),
)
