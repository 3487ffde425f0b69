"""The report of what changed between two releases: sentences, a page and a CSV file, each from the same comparison.

Names of columns and values are hostile text, escaped for each format.
"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence

from dpsynth_core.extensions.repeated.changes import (
    BOUNDED,
    BOUNDS,
    CORRECTIONS,
    HOLM,
    NOISE,
    POWER,
    Cell,
    Compared,
    Table,
)
from dpsynth_core.foundation.documents import inert
from dpsynth_core.foundation.visible import listed, visible
from dpsynth_core.release.release import Release
from dpsynth_core.report.answers import cells_phrase
from dpsynth_core.report.change import page
from dpsynth_core.report.facts import counted
from dpsynth_core.report.warnings import warnings
from dpsynth_core.vocabulary.domain import Domain

COLUMNS = ("table", "cell", "basis", "before", "after", "change", "low", "high", "p", "adjusted", "changed")
"""Columns of the CSV file. Shares of all people from 0 to 1, as estimated without bias."""
TITLES = ("Share of the people", "Before", "After", "Change", "95% interval", "Adjusted p", "Rests on")
TABLE_TITLES = ("Table", "Cells", "Changed", "Rests on", "A change this large is found")
CONDITION = "cells are independent or depend positively"
"""What Benjamini and Hochberg's correction needs."""
_NAMED, _SHOWN = 8, 500
_RESTS = {NOISE: "noise of both", BOUNDS: "bounds of both"}


def summary(before: Release, after: Release, found: Compared) -> list[str]:
    """Return the sentences on top of the report: what changed, how many cells were corrected for, and the warnings of both releases.

    Names in them are not escaped.
    """
    changed = len(found.changed)
    cells = f"{found.cells:,} cells of {len(found.tables):,} table{'s' * (len(found.tables) != 1)}"
    if not found.tables:
        said = ["Nothing is known of what changed: no table was measured or bounded by both releases."]
    elif changed:
        said = [f"Of {cells}, {changed:,} changed beyond the noise of both releases."]
    else:
        said = [f"Of {cells}, none is shown to have changed: what differs may all be noise."]
    if found.tables:
        said.append(_level(found))
        said.append(_sampled(found))
    both = (("Before", before), ("After", after))
    said += [f"{word}: {visible(one.spec.name)}, {one.created}, epsilon {one.spec.budget.epsilon:g}." for word, one in both]
    said += sorted({note for release in (before, after) if (note := counted(release.spec))})
    for word, release in both:
        said += [f"{word}: {warning}" for warning in warnings(release)]
    return list(dict.fromkeys(said))


def unsaid(found: Compared) -> list[str]:
    """Return sentences on what can't be said, and why.

    Names in them are not escaped. Of more than eight columns or tables, eight are named and the rest is counted.
    """
    said = []
    if found.columns:
        said.append(f"Columns that are in one release alone, or have other values: {_some(found.columns)}.")
    if found.silent:
        said.append(f"Tables that not both releases measured, and whose errors are not bounded by both: {_tables(found.silent)}.")
    if found.left:
        said.append(f"Tables that were left out, because they have too many cells: {_tables(found.left)}.")
    unchanged = found.cells - len(found.changed)
    if unchanged:
        said.append(f"Of {unchanged:,} cells no change is shown. That does not say that there was none: a smaller one cannot be seen.")
    if found.sampling is None:
        said.append("Whether other people would have given other numbers: the sampling error was left out.")
    said.append("Shares with survey weights: each row counts once, and weights are not used.")
    said.append("Why a share changed. Another questionnaire, another frame or mistakes in a table look like a change of the people.")
    return said


def reading(found: Compared) -> list[str]:
    """Return the sentences on how to read the report."""
    said = [
        "Change is the share after minus the share before, in points of a hundred. Each interval holds 95% by itself, so of many "
        "intervals some are wrong. Use the list of changes to say what changed.",
    ]
    if found.tables:
        said.append(
            f"“{TABLE_TITLES[-1]}”: of a change of any one share by so much, {POWER:.0%} or more of such comparisons list it. Smaller "
            "ones are missed more often."
        )
    kinds = {table.basis for table in found.tables}
    if NOISE in kinds:
        said.append("Noise of both: both releases measured the table with noise of known variance, and the variances add.")
    if BOUNDS in kinds:
        said.append(
            "Bounds of both: the table was not measured by both. The shares are those of the rows. Each release bounds how far they are "
            "off, and the bounds add."
        )
    return said


def rows(domain: Domain, found: Compared) -> list[tuple[str, str, str, float, float, float, float, float, float, float, bool]]:
    """Return all cells as values of `COLUMNS`, with unescaped names; NaN where a bounded table has no p-value."""
    return [
        (
            " × ".join(table.columns), cells_phrase(domain, _cells(table, one)), table.basis, one.before, one.after, one.change,
            one.low, one.high, one.p, one.adjusted, one.changed,
        )
        for table in found.tables
        for one in table.cells
    ]  # fmt: skip


def to_csv(domain: Domain, found: Compared) -> str:
    """Return all cells as CSV text: a line with the names of `COLUMNS`, then a line for each cell.

    Numbers have six digits, a missing p-value is empty, and `changed` is "yes" or "no". Text that a spreadsheet
    would run as a formula gets a leading apostrophe.
    """
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for one in rows(domain, found):
        writer.writerow(_written(value) for value in one)
    return out.getvalue()


def html(before: Release, after: Release, found: Compared) -> str:
    """Return the report as an HTML page without script or network. Each of its lists of cells has at most 500."""
    domain, changed = before.domain, found.changed
    sections: list[tuple[str, Sequence[str], Sequence[Sequence[str]]]] = []
    if changed:
        cut = f" (the first {_SHOWN:,} of {len(changed):,})" if len(changed) > _SHOWN else ""
        lines = [texts(domain, *one) for one in changed[:_SHOWN]]
        sections.append((f"Changed beyond the noise, the largest change first{cut}", TITLES, lines))
    if found.tables:
        sections.append(("Every table", TABLE_TITLES, [table_texts(table) for table in found.tables]))
    rest = [(table, one) for table in found.tables for one in table.cells if not one.changed]
    if rest:
        cut = f" (the first {_SHOWN:,} of {len(rest):,})" if len(rest) > _SHOWN else ""
        sections.append((f"No change is shown{cut}", TITLES, [texts(domain, *one) for one in rest[:_SHOWN]]))
    sections.append(("What can’t be said", ("",), [[line] for line in unsaid(found)]))
    title = f"What changed: {visible(before.spec.name)} to {visible(after.spec.name)}"
    return page(title, (summary(before, after, found),), sections, reading(found))


def texts(domain: Domain, table: Table, one: Cell) -> list[str]:
    """Return a cell as texts under `TITLES`, with unescaped names.

    Shares are in per cent, clipped to 0 and 100, and changes in points.
    """
    first, second = (min(1.0, max(0.0, share)) for share in (one.before, one.after))
    interval = f"{_points(one.low)} to {_points(one.high)}"
    shares = f"{first:.1%}", f"{second:.1%}", _points(second - first)
    return [cells_phrase(domain, _cells(table, one)), *shares, interval, _p(one.adjusted), _RESTS[table.basis]]


def table_texts(table: Table) -> list[str]:
    """Return a table as texts under `TABLE_TITLES`, with unescaped names."""
    changed = sum(one.changed for one in table.cells)
    share = f"{100 * table.found:.2g} points" if table.found < 1 else "none"
    return [" × ".join(map(visible, table.columns)), f"{len(table.cells):,}", f"{changed:,}", _RESTS[table.basis], share]


def _level(found: Compared) -> str:
    """Return the sentence that names the correction and its level."""
    bounded = any(table.basis == BOUNDS for table in found.tables)
    level = f"{found.level:.0%}"
    name = CORRECTIONS[found.correction]
    if found.correction == HOLM:
        said = f"Corrected by {name}: where nothing changed, any cell is listed with a probability of {level} at most."
    else:
        said = f"Corrected by {name}: of the listed cells, {level} at most are expected to be unchanged, if {CONDITION}."
    more = f" Tables that rest on bounds have {BOUNDED:.0%} more, divided by their number (Bonferroni)." if bounded else ""
    return f"{said}{more}"


def _sampled(found: Compared) -> str:
    if found.sampling is None:
        return "The intervals count the noise of both releases, and not the sampling error."
    kind = "simple random samples" if found.sampling == 1 else f"samples with a design effect of {found.sampling:g}"
    return f"The intervals count the noise of both releases and the sampling error of {kind}."


def _cells(table: Table, one: Cell) -> dict[str, tuple[int, ...]]:
    return {name: (code,) for name, code in zip(table.columns, one.codes, strict=True)}


def _points(share: float) -> str:
    text = f"{100 * share:+.1f}"
    return "0.0" if float(text) == 0 else text


def _p(value: float) -> str:
    return "" if math.isnan(value) else "< 0.0001" if value < 0.0001 else f"{value:.4f}"


def _written(value: str | float | bool) -> str:
    if isinstance(value, str):
        return inert(value)
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "" if math.isnan(value) else f"{value:.6g}"


def _tables(tables: Sequence[Sequence[str]]) -> str:
    return _some(" × ".join(table) for table in tables)


def _some(names: Iterable[str]) -> str:
    return listed(list(map(visible, names)), _NAMED)
