"""Two claims: for how many people the rows name a value (DiSCO), and how many are alone with values that exactly one row has (RepU)."""

from dpsynth_core.foundation.extension import Extension, Texts

_HERE = "dpsynth_core.extensions.disclosure"
SETTING, UNIQUES, MOST = "disclosure", "uniques", 3
"""The names of the settings, which are the claims' too, and the most questions of a release to each."""

EXTENSION = Extension(
    summary="For how many people the rows name a value to somebody who knows other values, and how many are alone with their values.",
    operations=f"{_HERE}.operations",
    settings=(
        Texts(
            name=SETTING,
            metavar="TEXT",
            help='measure for how many people the rows tell it: "job from age, sex"; best for 5,000 people or more; up to three',
            most=MOST,
            check=f"{_HERE}.planned:check",
        ),
        Texts(
            name=UNIQUES,
            metavar="LIST",
            help='measure how many people are alone with values that one row has: "age, sex"; for 50,000 people or more; up to three',
            most=MOST,
            check=f"{_HERE}.planned:check_uniques",
        ),
    ),
    claims=((SETTING, f"{_HERE}.claim:DISCLOSURE"), (UNIQUES, f"{_HERE}.uniques:REPLICATED")),
    forecasts=f"{_HERE}.planned:sentences",
    views=(("row_checks", f"{_HERE}.view:card"), ("row_checks", f"{_HERE}.view:alone_card")),
    parts=(
        ("audit", "dpsynth_core.extensions.disclosure.audits"),
        ("evidence", "dpsynth_core.extensions.disclosure.evidence_part"),
    ),
)
