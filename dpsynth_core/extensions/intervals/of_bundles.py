"""An analysis of a bundle that somebody received, in a process with limits, as a hostile bundle may do no harm."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from dpsynth_core.bundle import confined, unpack
from dpsynth_core.bundle.checks.opened import release_with_rows
from dpsynth_core.extensions.intervals import analysing
from dpsynth_core.extensions.intervals.analysing import Analysed, Result
from dpsynth_core.extensions.intervals.noise import Informed


def analyse(bundle: bytes, text: str, of: str) -> Analysed:
    """Return an analysis of a bundle's release, with its intervals.

    Args:
        bundle: The ZIP.
        text: The analysis, in the grammar of `formulas`.
        of: "population" or "table".

    Raises:
        InputError: The bundle is damaged or allows no intervals, or the text is not an analysis of its columns.
        CapacityError: The process exceeds the limits.
    """
    found = confined.answered(f"{__name__}:analysed", bundle, text, of)
    results = tuple(Result(**{**one, "missing": tuple(one["missing"])}) for one in found["results"])
    return Analysed(**{**found, "results": results, "notes": tuple(found["notes"])})


def analysed(bundle: bytes, text: str, of: str) -> Iterator[dict[str, Any]]:
    """Yield the fields of the analysis, in the process with limits.

    Raises:
        InputError: As `analyse`.
    """
    release = release_with_rows(unpack.read_bytes(bundle))
    analysing.check(release.domain, text, of)
    yield asdict(analysing.analyse(Informed.of(release), text, of))
