"""A comparison of two bundles that may be hostile: both are checked first, and compared in a process with limits."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from dpsynth_core.bundle import confined, unpack
from dpsynth_core.bundle.checks.opened import release_with_rows
from dpsynth_core.bundle.verdicts import INCONSISTENT, Report, Running
from dpsynth_core.extensions.repeated import changes_report
from dpsynth_core.extensions.repeated.changes import HOLM, check, compare
from dpsynth_core.extensions.repeated.changes_report import COLUMNS
from dpsynth_core.foundation.confined import Ended, Work
from dpsynth_core.foundation.confinement import Limits
from dpsynth_core.foundation.errors import CapacityError, InputError

WORK = f"{__name__}:work"
"""Import path of the generator that compares, in the process that is confined."""
NAMES = ("the earlier release", "the later release")
_WAIT = 10
"""Factor from the seconds of work to the wait for the answer, for a busy machine."""
_CELL = COLUMNS.index("before")

Bundle = Path | bytes


@dataclass(frozen=True)
class Found:
    """The changes between two bundles.

    Attributes:
        rows: All cells, as values of `changes_report.COLUMNS`; p-values are NaN for tables that rest on bounds.
        summary: Sentences on what changed and how it was decided; texts in them are hostile.
        unsaid: Sentences on what can't be said.
        open: By bundle, the questions of its check that stayed open.
        changed: The cells that changed, the largest change first, as texts under `changes_report.TITLES`.
        tables: The tables as texts under `changes_report.TABLE_TITLES`.
        html: The report as a page.
        csv: All cells as CSV text.
    """

    rows: list[list[Any]]
    summary: list[str]
    unsaid: list[str]
    open: tuple[tuple[str, ...], tuple[str, ...]]
    changed: list[list[str]]
    tables: list[list[str]]
    html: bytes
    csv: bytes


def found(
    before: Bundle,
    after: Bundle,
    correction: str = HOLM,
    sampling: float | None = None,
    limits: Limits = confined.USUAL,
    on_check: Callable[[str, Running], None] = lambda *_: None,
) -> Found:
    """Check two bundles, and compare them if nothing is wrong in either.

    Args:
        before: The earlier bundle: a ZIP or folder, or a ZIP's bytes.
        after: The later bundle, in one of these forms.
        correction: One of `changes.CORRECTIONS`.
        sampling: The design effect of the samples, or None.
        limits: Limits of each process.
        on_check: Called with the name of the bundle before each check.

    Raises:
        InputError: A bundle cannot be read, is not consistent or is not a release; the two cannot be compared with
            these choices; or the process that compares fails.
        CapacityError: A process exceeds the limits.
    """
    check(correction, sampling)
    reports = []
    for name, bundle in zip(NAMES, (before, after), strict=True):
        report = confined.verified(bundle, limits, on_check=lambda running, name=name: on_check(name, running))  # type: ignore[misc]
        _accept(name, report)
        reports.append(report)
    places = [one if isinstance(one, bytes) else str(one.absolute()) for one in (before, after)]
    files = [str(one.absolute()) for one in (before, after) if isinstance(one, Path)]
    try:
        with Work(WORK, *places, correction, sampling, limits=limits, files=files, patience=_WAIT * limits.seconds) as answers:
            said, page, table = answers
    except Ended as ended:
        problem = f"comparing them {ended.problem}"
        if ended.beyond:
            raise CapacityError("bundles", problem, "if you trust whoever made them, allow more memory and seconds") from None
        raise InputError("bundles", problem, "try again, and report it if that does not help") from None
    rows = [[*row[:_CELL], *(math.nan if value is None else value for value in row[_CELL:])] for row in said["rows"]]
    unchecked = tuple(report.unchecked for report in reports)
    return Found(
        rows, said["summary"], said["unsaid"], (unchecked[0], unchecked[1]), said["changed"], said["tables"], bytes(page), bytes(table)
    )


def work(before: str | bytes, after: str | bytes, correction: str, sampling: float | None) -> Iterator[Any]:
    """Compare two bundles, and yield a dict with rows, summary, unsaid, changed and tables of `Found`, then the page and the CSV file.

    Both files are bytes. In the rows, None stands for NaN. It runs in a confined process.

    Args:
        before: Path of the earlier bundle, or its bytes.
        after: Path of the later bundle, or its bytes.
        correction: One of `changes.CORRECTIONS`.
        sampling: The design effect, or None.
    """
    first, second = (release_with_rows(_read(place)) for place in (before, after))
    compared = compare(first, second, correction, sampling)
    rows = changes_report.rows(first.domain, compared)
    yield {
        "rows": [[None if isinstance(value, float) and math.isnan(value) else value for value in row] for row in rows],
        "summary": changes_report.summary(first, second, compared),
        "unsaid": changes_report.unsaid(compared),
        "changed": [changes_report.texts(first.domain, *pair) for pair in compared.changed],
        "tables": [changes_report.table_texts(table) for table in compared.tables],
    }
    yield changes_report.html(first, second, compared).encode()
    yield changes_report.to_csv(first.domain, compared).encode()


def _read(place: str | bytes) -> unpack.Bundle:
    return unpack.read_bytes(place) if isinstance(place, bytes) else unpack.read(Path(place))


def _accept(name: str, report: Report) -> None:
    """Check that a bundle is a release in which nothing is wrong.

    Raises:
        InputError: It is not.
    """
    if report.kind:
        raise InputError(name, f"it is not a release, but holds {report.kind}", "give the bundle of a release")
    if report.verdict == INCONSISTENT:
        raise InputError(name, "its check failed: it is not consistent", "see `verify`, and ask whoever made it")
