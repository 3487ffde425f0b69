"""Queries that people write: all, any or at least so many of some conditions on columns, with whole weights."""

from dpsynth_core.foundation.extension import Extension, Texts

_HERE = "dpsynth_core.extensions.queries"
SETTING, MOST = "queries", 100
"""The name of the setting, and the most queries of a plan."""

EXTENSION = Extension(
    summary="Counts of people who meet all, any or at least so many of some conditions, answered by any release and measured by RAP.",
    settings=(
        Texts(
            name=SETTING,
            metavar="TEXT",
            help='measure how many people meet it, with RAP: "at least 2 of smoker=yes, bmi>=30, age>=60"; may be repeated',
            most=MOST,
            check=f"{_HERE}.planned:check",
        ),
    ),
    instructs=f"{_HERE}.planned:instruct",
    forecasts=f"{_HERE}.planned:sentences",
    commands=(f"{_HERE}.command:add",),
    names=(("query", f"{_HERE}.interface:query"),),
)
