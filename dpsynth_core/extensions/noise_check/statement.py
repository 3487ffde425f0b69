"""The statement of a release about the size of its noise: noise.json for programs, and a section of report and data card."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping

from dpsynth_core.extensions.noise_check import DELTA
from dpsynth_core.extensions.noise_check.asking import compared
from dpsynth_core.extensions.noise_check.operations import SCALES, Compared, limit, noise_as_charged
from dpsynth_core.foundation.content import Digest
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release
from dpsynth_core.report.section import Section

NOISE, FORMAT = "noise.json", 1
TITLE = "Was the noise really added?"
READING = (
    "Within the kernel, the noisy tables were compared with the true counts. Only the answer to this question was released. "
    "Choices of tables and answers to later questions were not compared."
)
YES = "Yes. The noise has the size that was paid for."
NO = "No. The noise does not have the size that was paid for. Do not use this release, and report the defect."
UNKNOWN = "It was not compared: the run was interrupted, or its mechanism measured no table that can be compared."
_DOUBT = 3.0
"""Standard deviations by which the expected likelihood ratio is above the limit where a wrong scale is said to show."""


def as_charged(release: Release) -> bool | None:
    """Return the released answer: True if the noise has the charged size, False if not, None without an answer.

    The answer is missing if the noise was not compared. An answer does not count if the comparison had another limit
    than the one that follows from the release's rho and `DELTA`.
    """
    asked = tuple(Compared(*answer.arguments[:2]) for answer in release.transcript if answer.operation == noise_as_charged.name)
    found = [answer.value for answer in release.transcript if answer.operation == noise_as_charged.name]
    as_planned = len(asked) == 1 and asked[0].pays(Compared(release.rho, DELTA))
    return found[0] if as_planned and isinstance(found[0], bool) else None


def shows(cells: int, most: float) -> float | None:
    """Return the largest of `SCALES` below 1 that this number of cells would show; None if the cells are too few for any.

    With S the sum of squares of n standard normal numbers, noise of s times the size has the log likelihood ratio
    -n ln s - (1 - s^2) S / 2, of mean n (-ln s - (1 - s^2) / 2) and standard deviation (1 - s^2) sqrt(n / 2) (with s^2 S for the squares).

    Args:
        cells: Number n of noisy counts.
        most: The limit of the logarithm (`operations.limit`).
    """
    needed = most + math.log(len(SCALES))
    return max((s for s in SCALES if s < 1 and _log_ratio(cells, s) >= needed), default=None)


def _log_ratio(cells: int, scale: float) -> float:
    """Return a log likelihood ratio that noise of this scale exceeds in nearly all runs."""
    mean = cells * (-math.log(scale) - (1 - scale**2) / 2)
    return mean - _DOUBT * (1 - scale**2) * math.sqrt(cells / 2)


def files(release: Release, rows: Mapping[str, Digest]) -> dict[str, Zoned[bytes]]:  # noqa: ARG001
    """Return noise.json by its name. It has the released answer alone, which may be null.

    Args:
        release: The release.
        rows: Not used.
    """
    content = {"format": FORMAT, "noise": {"as_charged": as_charged(release)}}
    return {NOISE: released((json.dumps(content, indent=1) + "\n").encode())}


def sections(release: Release) -> Iterator[Section]:
    """Yield the one section on the size of the noise; it says if nothing was compared."""
    answer = as_charged(release)
    yield Section("noise", TITLE, READING, lines(release, answer))


def lines(release: Release, answer: bool | None) -> list[str]:
    """Return the sentences about an answer: what it is, which wrong noise would have shown, and what it cost.

    Args:
        release: The release.
        answer: The released answer, or None.
    """
    if answer is None:
        return [UNKNOWN]
    tables = compared(release.transcript)
    cells = sum(one.values.size for one in tables)
    of = f"{len(tables):,} noisy {'table' if len(tables) == 1 else 'tables'} with {cells:,} counts were compared."
    least = shows(cells, limit(release.rho, DELTA))
    seen = "These counts are too few to show that noise is too small." if least is None else _seen(least)
    return [YES if answer else NO, of, seen, f"This answer cost {DELTA:g} of delta."]


def _seen(least: float) -> str:
    if least == min(SCALES):
        return "They would show if noise was missing. They are too few to show noise that is only smaller than it should be."
    return f"They would show noise of {least:.0%} or less of the size that was paid for."
