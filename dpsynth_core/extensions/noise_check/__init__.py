"""A comparison of the noisy tables with the true counts, of which one bit is released: the noise has the size that was paid for."""

from dpsynth_core.foundation.extension import Extension, Setting

_HERE = "dpsynth_core.extensions.noise_check"
SETTING, DELTA = "noise", 1e-12
"""The name of the setting, and the delta that the check costs."""

EXTENSION = Extension(
    summary="One bit that says whether the noise of the tables has the size that was paid for.",
    operations=f"{_HERE}.operations",
    settings=(
        Setting(
            name=SETTING,
            metavar="1",
            help="1 to compare the noise with what was paid for, and release whether it agrees; costs 1e-12 of delta (default: no check)",
            least=1,
            most=1,
            check=f"{_HERE}.asking:check",
            delta=DELTA,
        ),
    ),
    question=f"{_HERE}.asking:ask",
    files=f"{_HERE}.statement:files",
    sections=(f"{_HERE}.statement:sections",),
    views=(("budget_details", f"{_HERE}.view:budget"), ("results", f"{_HERE}.view:results")),
    parts=(
        ("audit", "dpsynth_core.extensions.noise_check.audits"),
        ("evidence", "dpsynth_core.extensions.noise_check.evidence_part"),
    ),
)
