"""Criteria on quantiles, and on coefficients of linear regressions."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.criteria"

EXTENSION = Extension(
    summary="Criteria on quantiles and on coefficients of linear regressions.",
    criteria=(
        ("quantile", f"{_HERE}.quantile:Quantile"),
        ("regression", f"{_HERE}.regression:CoefficientWithin"),
        ("regression-sign", f"{_HERE}.regression:CoefficientSign"),
    ),
)
