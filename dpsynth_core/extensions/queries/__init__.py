"""Queries that people write: all, any or at least so many of some conditions on columns, with whole weights."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.queries"

EXTENSION = Extension(
    summary="Counts of people who meet all, any or at least so many of some conditions, answered by any release.",
    commands=(f"{_HERE}.command:add",),
    names=(("query", f"{_HERE}.interface:query"),),
)
