"""The section of report and data card about sets of rows: what may be tested with them, how, and what may not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from dpsynth_core.extensions.intervals.rowfiles import PROGRAM, SETTING, name
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section

MOST_NAMED = 30
"""Largest number of pairs that are named in a line."""
READING = "Each set is what this release might have been with other noise. So the spread between sets is the error that the noise makes."


def measured_pairs(release: Release) -> list[tuple[str, str]]:
    """Return the pairs of columns that a measured or published table holds, in the order of the columns.

    Tables over groups of values do not count.
    """
    whole = [one.clique for one in release.measurements if not one.groups] + [one.columns for one in release.domain.published]
    held = {pair for clique in whole for pair in combinations(clique, 2)}
    return [pair for pair in combinations(release.domain.names, 2) if pair in held]


def sections(release: Release) -> Iterator[Section]:
    """Yield the section; nothing for a release without rows.

    Args:
        release: The release, which asks for sets of rows.
    """
    if release.row_seed is None:
        return
    sets, pairs = release.spec.extensions[SETTING], measured_pairs(release)
    every = len(release.domain) * (len(release.domain) - 1) // 2
    named = ", ".join(f"{one} x {other}" for one, other in pairs[:MOST_NAMED])
    more = f" and {len(pairs) - MOST_NAMED:,} more" if len(pairs) > MOST_NAMED else ""
    listed = f": {named}{more}." if pairs else "."
    yield Section(
        "plausible",
        "Standard errors of analyses",
        READING,
        (
            f"{name(1)} to {name(sets)} are {sets:,} sets of rows. Analyse each, and combine the results with {PROGRAM} or dps.pool.",
            f"Of the {every:,} pairs of columns, {len(pairs):,} were measured over all their cells{listed}",
            "Intervals hold for analyses of measured tables. They do not hold for relations that no measured table has.",
            "Do not test on synthetic.csv alone: its standard errors leave out the noise, and find relations that are not there.",
        ),
    )
