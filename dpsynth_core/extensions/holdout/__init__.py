"""People who are left out of a release by a coin, so that attacks on its rows can be compared with attacks on people who took no part."""

from dpsynth_core.foundation.extension import Extension, Setting

_HERE = "dpsynth_core.extensions.holdout"
SETTING = "holdout"
"""The name of the setting, whose value is a share of the people in per cent."""

EXTENSION = Extension(
    summary="Leaves a share of the people out of a release by a coin for each person, so that attacks have people to be compared with.",
    settings=(
        Setting(
            name=SETTING,
            metavar="PERCENT",
            help="leave each person out with this probability in per cent, with all of their rows; "
            "5 from 20,000 people on (default: nobody is left out)",
            least=1,
            most=50,
            check=f"{_HERE}.coin:check",
        ),
    ),
    records=f"{_HERE}.coin:those_in",
    left_out=f"{_HERE}.coin:left_out",
    whom=f"{_HERE}.statement:whom",
    sections=(f"{_HERE}.statement:sections",),
    views=(("budget_details", f"{_HERE}.view:budget"),),
    parts=(("attacks", "dpsynth_core.extensions.holdout.control"),),
)
