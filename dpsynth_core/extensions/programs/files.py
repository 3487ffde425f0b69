"""The programs of a bundle: analysis.R, analysis.do, rows.sas and rows.sps."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.extensions.programs.r import r_program
from dpsynth_core.extensions.programs.sas import sas_program
from dpsynth_core.extensions.programs.spss import spss_program
from dpsynth_core.extensions.programs.stata import stata_program
from dpsynth_core.extensions.programs.statements import statements
from dpsynth_core.foundation.content import Digest
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release

R, STATA, SAS, SPSS = "analysis.R", "analysis.do", "rows.sas", "rows.sps"


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:
    """Return the content of each program by its name. All follow from released values alone.

    A release without rows has no programs: {}.

    Args:
        release: The release.
        rows: Size and SHA-256 of each file of rows, by name.
    """
    if not rows:
        return {}
    stated = statements(release)
    return {
        R: released(r_program(release, stated)),
        STATA: released(stata_program(release, stated)),
        SAS: released(sas_program(release)),
        SPSS: released(spss_program(release)),
    }
