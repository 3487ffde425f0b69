"""Files that archives and catalogues read: a DDI codebook, a data package and a citation file."""

from dpsynth_core.foundation.extension import Extension

_HERE = "dpsynth_core.extensions.archives"

EXTENSION = Extension(
    summary="Files that archives and catalogues read.",
    files=f"{_HERE}.files:files",
    passive=(("codebook.xml", f"{_HERE}.ddi:is_plain"),),
)
