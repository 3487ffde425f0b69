"""Programs for R, Stata, SAS and SPSS in each bundle: they read the rows with labels, and print released numbers with their intervals."""

from dpsynth_core.foundation.extension import Extension

EXTENSION = Extension(
    summary="Programs for R, Stata, SAS and SPSS that read the rows with labels and user-missing codes.",
    files="dpsynth_core.extensions.programs.files:files",
)
