"""The part of evidence.json about the size of the noise."""

from __future__ import annotations

from dpsynth_core.extensions.evidence.files import Part
from dpsynth_core.extensions.noise_check.statement import as_charged
from dpsynth_core.release.release import Release


def statement(release: Release) -> Part:
    """Return "noise" with the released answer, as in noise.json; {} if nothing was compared.

    Args:
        release: The release.
    """
    answer = as_charged(release)
    return {} if answer is None else {"noise": {"as_charged": answer}}
