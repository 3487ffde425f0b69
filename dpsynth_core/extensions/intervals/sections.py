"""The section of report and data card about sets of rows: what may be tested with them, how, and what may not."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations

from dpsynth_core.extensions.intervals import named
from dpsynth_core.extensions.intervals.rowfiles import PROGRAM, name, number_of_sets
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section

MOST_NAMED = 30
"""Largest number of pairs that are named in a line."""
READING = "Each set is what this release might have been with other noise. Their spread is about the error of the noise."


def measured_pairs(release: Release) -> list[tuple[str, str]]:
    """Return the pairs of columns that a measured or published table holds, in the order of the columns; [] without any.

    Tables over groups of values do not count.
    """
    whole = [one.clique for one in release.measurements if not one.groups] + [one.columns for one in release.domain.published]
    held = {pair for clique in whole for pair in combinations(clique, 2)}
    return [pair for pair in combinations(release.domain.names, 2) if pair in held]


def sections(release: Release) -> Iterator[Section]:
    """Yield a section if the release has sets of rows, and one if it has named analyses; nothing for a release without rows.

    Args:
        release: The release.
    """
    if release.row_seed is None:
        return
    if number_of_sets(release.spec):
        yield _of_sets(release)
    if named.texts(release.spec.extensions):
        yield _of_named(release)


def _of_sets(release: Release) -> Section:
    sets, pairs = number_of_sets(release.spec), measured_pairs(release)
    every = len(release.domain) * (len(release.domain) - 1) // 2
    first = ", ".join(f"{one} x {other}" for one, other in pairs[:MOST_NAMED])
    more = f" and {len(pairs) - MOST_NAMED:,} more" if len(pairs) > MOST_NAMED else ""
    listed = f": {first}{more}." if pairs else "."
    return Section(
        "plausible",
        "Standard errors of analyses",
        READING,
        (
            f"{name(1)} to {name(sets)} are {sets:,} sets of rows. Analyse each, and combine the results with {PROGRAM} or dps.pool.",
            f"Of the {every:,} pairs of columns, {len(pairs):,} were measured over all their cells{listed}",
            "The intervals are for analyses of measured tables. They do not hold for relations that no measured table has.",
            "Of values that few rows have, the sets differ by less than the noise. dps.analyse in Python computes the noise exactly.",
            "Do not test on synthetic.csv alone: its standard errors leave out the noise, and find relations that are not there.",
        ),
    )


def _of_named(release: Release) -> Section:
    measured = {one.clique: one.deviation for one in reversed(release.measurements) if not one.groups}
    return Section(
        "named-analyses",
        "Analyses named before the run",
        "AIM measured the tables of these analyses before any others, whatever it found.",
        (
            *named.texts(release.spec.extensions),
            *(
                f"The table {' x '.join(clique)} has noise with a standard deviation of {measured[clique]:,.1f} in each cell."
                for clique in release.plan.workload.first
                if clique in measured
            ),
        ),
    )
