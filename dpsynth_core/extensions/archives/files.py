"""The files of a bundle that archives and catalogues read."""

from __future__ import annotations

from collections.abc import Mapping

from dpsynth_core.extensions.archives.citation_file import CITATION, cff
from dpsynth_core.extensions.archives.datapackage import PACKAGE, data_package
from dpsynth_core.extensions.archives.ddi import DDI, codebook_xml
from dpsynth_core.foundation.content import Digest
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:
    """Return the content of each file by its name: a DDI codebook, a data package and a citation file.

    The data package is left out without rows, the citation file without creators. All files follow
    from released values alone.

    Args:
        release: The release.
        rows: Size and SHA-256 of each file of rows, by name.
    """
    written = {DDI: released(codebook_xml(release))}
    if rows:
        written[PACKAGE] = released(data_package(release, rows))
    if release.about.stated.creators:  # without one the format does not allow it
        written[CITATION] = released(cff(release))
    return written
