"""The section of the report on what follows what: transitions from a person's row to the next one, from released tables alone."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.extensions.sequences.layout import SequenceLink
from dpsynth_core.extensions.sequences.words import ROWS_FILE
from dpsynth_core.foundation.extension import is_of_one
from dpsynth_core.release.release import Release
from dpsynth_core.release.tables import MEMBERS
from dpsynth_core.report.section import HeatMap, Section
from dpsynth_core.statistics.distances import percent

TITLE = "What follows what?"
READING = (
    "A line is a value in a row. Its squares show how often each value is in the person's next row, in per cent. A bound is of a whole "
    "table, all squares of a map together: nothing bounds a single square. Each person counts once here, however many rows, so that these "
    "are not the shares of all rows; count those in {file}."
)
MOST_MAPS, MOST_CELLS = 6, 24
"""How many columns are drawn, and of how many values each; lines of text say the same of all others."""


def transitions(release: Release) -> Iterator[Section]:
    """Yield the section on transitions; nothing if the release has no tables of a row and the row before."""
    link = release.plan.link
    if not isinstance(link, SequenceLink):
        return
    lines, maps = list[str](), list[HeatMap]()
    names = [name for name in link.members.names if name != link.gap]
    tables = release.statements.published([release.domain.clique((name, link.other(name))) for name in names])
    for name in names:
        clique = release.domain.clique((name, link.other(name)))
        if clique not in tables:
            continue
        size, labels = link.members[name].size, link.members[name].cell_labels()
        shares = _next(tables[clique] if clique[0] == name else tables[clique].T, size)
        limit = release.statements.limits.get(clique, math.nan)
        bound = "nothing bounds how far off this is"
        if not math.isnan(limit):
            bound = f"at most {percent(limit)} of people are in the wrong group of this whole table, with 95% confidence"
        same = float(np.trace(shares)) / max(1e-12, float(shares.sum()))
        stays = "is the same in the next row" if link.members[name].categories else "is in the same group in the next row"
        lines.append(f"“{name}” {stays} in {same:.0%} of the cases; {bound}.")
        if len(maps) < MOST_MAPS and 1 < size <= MOST_CELLS:
            of_line = shares / np.where(shares.sum(axis=1, keepdims=True) > 0, shares.sum(axis=1, keepdims=True), math.nan)
            caption = f"Down: “{name}” in a row. Across: in the next row of the person. {bound[0].upper()}{bound[1:]}."
            maps.append(HeatMap(f"“{name}” from one row to the next", labels, labels, of_line.tolist(), caption))
    if lines:
        file = ROWS_FILE if is_of_one(release.spec.extensions) else MEMBERS
        yield Section("transitions", TITLE, READING.format(file=file), lines, maps)


def _next(table: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """Return the shares of transitions, from (down) and to (across) each value, without rows that have none before them.

    Args:
        table: Shares by the value in a row and in the row before; a last cell of either may stand for no row.
        size: Number of values.
    """
    return np.maximum(table[:size, :size], 0.0).T
