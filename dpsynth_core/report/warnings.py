"""The warnings of a release: its brands, and the columns of which nothing was understood. Names in them are hostile text."""

from __future__ import annotations

from dpsynth_core.evaluation.unread import distinct
from dpsynth_core.evaluation.verdict import UNREAD
from dpsynth_core.release.release import Release
from dpsynth_core.report.verdict import REMEDIES, not_read


def warnings(release: Release) -> list[str]:
    """Return what a reader must know before they trust a release, in full sentences."""
    unread = distinct(release.statements.unread, release.statements.swapped)
    remedy = [" ".join((*not_read(unread), REMEDIES[UNREAD]))] if unread else []
    return [*(brand.sentence for brand in release.brands), *remedy]
