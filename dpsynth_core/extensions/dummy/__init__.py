"""Dummy rows: invented rows of a domain, made from its document alone, at no cost."""

from dpsynth_core.foundation.extension import BundleKind, Extension

_HERE = "dpsynth_core.extensions.dummy"

EXTENSION = Extension(
    summary="Dummy rows from the codebook alone, which cost nothing.",
    bundles=(BundleKind("dummy.json", "dummy rows, which were made from a codebook alone", f"{_HERE}.checks:checking"),),
    commands=(f"{_HERE}.command:add",),
    views=(("data", f"{_HERE}.view:on_data"), ("domain", f"{_HERE}.view:on_domain")),
    names=(("dummy", f"{_HERE}.interface:dummy"), ("Dummy", f"{_HERE}.interface:Dummy")),
)
