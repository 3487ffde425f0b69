"""Sections that report and data card share: **a new part of the report is one file and one entry of `SECTIONS`**, or of a manifest."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from dpsynth_core.claims.registry import CLAIMS
from dpsynth_core.foundation import extension
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section


def claimed(release: Release) -> Iterator[Section]:
    """Yield a section for each claim of the release that has a title and sentences."""
    for claim in CLAIMS:
        stated = release.claims[claim.name]
        if claim.title and (lines := claim.sentences(release.plan, stated, release.final)):
            yield Section(claim.name, claim.heading(stated), claim.reading, lines)


def claim_facts(release: Release) -> list[tuple[str, str]]:
    """Return the sentences of all titled claims as pairs of name and text, for lists of facts; one pair per sentence."""
    titled = [claim for claim in CLAIMS if claim.title]
    return [
        (claim.noun.capitalize(), line)
        for claim in titled
        for line in claim.sentences(release.plan, release.claims[claim.name], release.final)
    ]


SECTIONS: tuple[Callable[[Release], Iterator[Section]], ...] = (claimed,)
"""Behind the verdict, in this order; nothing is shown of one that yields none."""


def sections(release: Release) -> list[Section]:
    """Return all sections of a release's report, in order; sections of extensions come last."""
    added = map(extension.load, extension.sections(release.spec.extensions))
    return [section for make in (*SECTIONS, *added) for section in make(release)]
