"""A claim: for how many people the rows name a value, rightly and wrongly, to somebody who knows other values of theirs (DiSCO)."""

from dpsynth_core.foundation.extension import Extension, Texts

_HERE = "dpsynth_core.extensions.disclosure"
SETTING, MOST = "disclosure", 3
"""The name of the setting, which is the claim's too, and the most questions of a release."""

EXTENSION = Extension(
    summary="For how many people the rows name a value to somebody who knows other values, rightly and wrongly, measured with noise.",
    settings=(
        Texts(
            name=SETTING,
            metavar="TEXT",
            help='measure for how many people the rows tell it: "job from age, sex"; best for 5,000 people or more; up to three',
            most=MOST,
            check=f"{_HERE}.planned:check",
        ),
    ),
    claims=((SETTING, f"{_HERE}.claim:DISCLOSURE"),),
    forecasts=f"{_HERE}.planned:sentences",
    views=(("row_checks", f"{_HERE}.view:card"),),
    parts=(("evidence", "dpsynth_core.extensions.disclosure.evidence_part"),),
)
