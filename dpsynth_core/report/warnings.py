"""The warnings of a release: its brands, and the columns of which nothing, or a part, was understood. Names in them are hostile text."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from dpsynth_core.evaluation.unread import Undeclared, distinct
from dpsynth_core.evaluation.verdict import UNREAD
from dpsynth_core.foundation.visible import listed
from dpsynth_core.release.release import Release
from dpsynth_core.report.verdict import REMEDIES, not_read

_NAMED = 5


def warnings(release: Release) -> list[str]:
    """Return what a reader must know before they trust a release, in full sentences.

    Names in them are unescaped. They are the brands, then unread columns, columns with many "other"
    or missing values, and columns that got no ranges though these were asked for. At most four unread columns, and
    five others, are named in a sentence; further ones are counted. The list is empty if there is nothing to warn
    about.
    """
    stated = release.statements
    unread = distinct(stated.unread, stated.again)
    remedy = [" ".join((*not_read(unread), REMEDIES[UNREAD]))] if unread else []
    others = [one for one in distinct(stated.undeclared, stated.again) if one.column not in stated.silent]
    return [*(brand.sentence for brand in release.brands), *remedy, *_undeclared(others), *_without_ranges(release.plan.without_ranges)]


def _without_ranges(columns: Sequence[str]) -> Iterator[str]:
    if columns:
        named = listed([f"“{name}”" for name in columns], _NAMED)
        yield f"Ranges of {named} were asked for, but too few values were learnt to have any. The single columns count instead."


def _undeclared(columns: Sequence[Undeclared]) -> Iterator[str]:
    if shown := [f"{one.share:.0%} of “{one.column}”" for one in columns if one.is_shown]:
        yield f"These values are not declared and count as “other”: {listed(shown, _NAMED)}."
    if noisy := [one for one in columns if not one.is_shown]:
        named = listed([f"“{one.column}”" for one in noisy], _NAMED)
        empty = f"Up to {max(one.share for one in noisy):.0%} of the rows have no declared value in {named}: they are “missing” or “other”"
        yield f'{empty}. Noise alone may explain that. If every record has a declared value, state "missing": false and "other": false.'
