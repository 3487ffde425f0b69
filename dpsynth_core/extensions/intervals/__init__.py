"""Intervals that include the noise of a release, and several sets of rows that are drawn from it, for other programs."""

from dpsynth_core.foundation.extension import Extension, Setting, Texts

_HERE = "dpsynth_core.extensions.intervals"

EXTENSION = Extension(
    summary="Analyses with intervals that count the noise of the release, and sets of rows whose spread is about that noise.",
    names=(
        ("samples", f"{_HERE}.interface:samples"),
        ("analyse", f"{_HERE}.interface:analyse"),
        ("pool", f"{_HERE}.interface:pool"),
        ("interval_widths", f"{_HERE}.interface:interval_widths"),
    ),
    settings=(
        Setting(
            name="plausible",
            metavar="M",
            help="sets of rows to write beside, whose spread is about the noise: for standard errors of analyses, 20 or so (default: none)",
            least=2,
            most=200,
            check=f"{_HERE}.rowfiles:check",
        ),
        Texts(
            name="analysis",
            metavar="TEXT",
            help='an analysis that will be made, such as "income ~ age + sex": AIM measures its tables before others; may be repeated',
            most=50,
            check=f"{_HERE}.named:check",
        ),
    ),
    tables=f"{_HERE}.named:tables",
    forecasts=f"{_HERE}.widths:sentences",
    views=(
        ("workload", f"{_HERE}.naming_view:on_workload"),
        ("budget", f"{_HERE}.naming_view:on_budget"),
        ("results", f"{_HERE}.naming_view:on_results"),
        ("downloads", f"{_HERE}.view:on_downloads"),
        ("verify", f"{_HERE}.view:on_verify"),
    ),
    row_files=f"{_HERE}.rowfiles:row_files",
    row_names=r"plausible-([1-9][0-9]{0,2})\.csv",
    files=f"{_HERE}.rowfiles:files",
    sections=(f"{_HERE}.sections:sections",),
)
