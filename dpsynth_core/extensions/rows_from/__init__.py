"""Rows from protected tables: fitted to tables of counts that somebody else protected, without a guarantee of this program."""

from dpsynth_core.foundation.extension import BundleKind, Extension

_HERE = "dpsynth_core.extensions.rows_from"

EXTENSION = Extension(
    summary="Rows from tables of counts that an office protected in its own way, and coarsening of such tables.",
    bundles=(
        BundleKind("rows-from-tables.json", "rows that were made from tables which somebody else protected", f"{_HERE}.checks:checking"),
    ),
    commands=(f"{_HERE}.command:add",),
    views=(("data", f"{_HERE}.view:on_data"),),
    names=(
        ("rows_from", f"{_HERE}.interface:rows_from"),
        ("Fitted", f"{_HERE}.interface:Fitted"),
        ("protect_table", f"{_HERE}.coarsening:protect_table"),
    ),
)
