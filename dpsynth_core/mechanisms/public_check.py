"""The best-mixture error of a public table (Liu et al. 2021, section 4), and the refusal of an unsuitable public table.

The error says how well the public table could represent the private one. A run of its own (`mixture`) and PMW^Pub measure it; all
mechanisms that need a public table may refuse it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from dpsynth_core.mechanisms import rounds
from dpsynth_core.vocabulary.public_table import PublicTable
from dpsynth_core.vocabulary.workload import Workload

MECHANISM = "mixture"
"""Name of the run that measures this error alone."""
FLOOR = 0.01
"""Error, as a fraction of the people, below which tables are not distinguished."""
POOR = 0.03
"""Error from which on people are warned: with any mechanism, some count will be off by that much."""
MAX_PLACES = 60_000_000
"""Largest product of distinct rows and marginals: 12 bytes each while they are found, 4 later."""

_QUANTILE = math.log(1 / 0.05)
"""Multiple of its scale within which a Laplace variable lies with 95 % confidence."""


@dataclass(frozen=True)
class CheckResult:
    """The measured best-mixture error of a public table. All numbers are fractions of the people.

    Attributes:
        error: Noisy largest error of a query's count; None if the check gave no answer.
        half_width: Half width of its 95 % interval.
        floor: Smallest error that is distinguished from 0.
    """

    error: float | None
    half_width: float
    floor: float

    @property
    def poor(self) -> bool:
        """True if even the lower end of the interval is above `POOR`, so that people are warned; False without an answer."""
        return self.error is not None and self.error - self.half_width > POOR

    @property
    def sentence(self) -> str:
        """The result in words, in per cent of the people, for the report."""
        if self.error is None:
            return "The check of the public table gave no answer: its solver's bounds did not meet."
        most = max(self.floor, self.error + self.half_width)
        if self.error - self.half_width <= self.floor:
            within = f"weights on its rows can bring every count to within ±{most:.1%} of the people"
            sentence = f"Nothing speaks against this public table: {within} (95% sure)."
        else:
            low, near = max(self.floor, self.error - self.half_width), max(self.floor, self.error)
            sentence = f"This public table can represent your data up to ±{near:.1%} at best (95% sure: between {low:.1%} and {most:.1%})."
        if self.poor:
            sentence += " However much is spent, some counts will be that wrong: use another public table, or a mechanism that needs none."
        return sentence

    def to_json(self) -> dict[str, Any]:
        """Return the fields as in release.json, with the verdict and the sentence that follow from them."""
        return {"error": self.error, "half_width": self.half_width, "floor": self.floor, "poor": self.poor, "sentence": self.sentence}


def reading(noisy: float | None, total: float, scale: float) -> CheckResult:
    """Return the result of the check from the kernel's answer.

    Args:
        noisy: The noisy error in people, or None if there was no answer.
        total: Number of people, above 0.
        scale: Scale of the Laplace noise in `noisy`, in people.

    Returns:
        The result in fractions of the people; without an answer, its error is None.
    """
    return CheckResult(None if noisy is None else noisy / total, _QUANTILE * scale / total, FLOOR)


def refusal(public: PublicTable | None, workload: Workload) -> str:
    """Return why a mechanism that weights the rows of a public table cannot run, or "" if it can.

    It cannot run without a public table, if the workload has more than 100 million cells, or if the rows of
    the public table times the number of tables asked for exceed 60 million (`MAX_PLACES`).

    Args:
        public: The public table; None if none was chosen.
        workload: The workload.
    """
    if public is None:
        return "it needs a public table of the same columns; choose one on the Data page, or with --public"
    if reason := rounds.too_many_cells(workload.cells):
        return reason
    if public.rows * len(workload.cliques) > MAX_PLACES:
        most = MAX_PLACES // len(workload.cliques)
        return f"the public table has {public.rows:,} rows, more than {most:,} for so many tables; use a sample of it, or fewer tables"
    return ""
