"""The size of the noise in the measured tables over the charged size, for the curator's screen alone."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import scipy
from numpy.typing import NDArray

from dpsynth_core.foundation.zones import Zoned, combine, released
from dpsynth_core.vocabulary.measurement import Clique, Measurement

CONFIDENCE = 0.95


@dataclass(frozen=True)
class Ratio:
    """The size of the noise as a multiple of what was charged, for the curator alone.

    Attributes:
        estimate: The ratio of standard deviations.
        low: Lower end of the range in which the ratio is usual, with probability 0.95.
        high: Upper end.
        cells: Number of noisy counts.
    """

    estimate: float
    low: float
    high: float
    cells: int

    @property
    def usual(self) -> bool:
        """True if the ratio is within the usual range, both ends included."""
        return self.low <= self.estimate <= self.high


def ratio(measured: Sequence[Measurement], counts: Zoned[Mapping[Clique, NDArray[Any]]]) -> Zoned[Ratio]:
    """Return the ratio for some noisy tables. It is in the zone of the counts: for the curator alone.

    The sum of squared differences over the charged variance is chi-square with a degree for each cell, where no answer had a part in the
    number of cells; otherwise nearly so.

    Args:
        measured: The noisy tables, one or more (`asking.compared`).
        counts: Their exact counts by clique, as the kernel counts them.
    """
    return combine(_ratio, released(tuple(measured)), counts)


def _ratio(measured: Sequence[Measurement], counts: Mapping[Clique, NDArray[Any]]) -> Ratio:
    cells = sum(one.values.size for one in measured)
    squares = math.fsum(float(((one.values - counts[one.clique]) ** 2).sum()) / one.deviation**2 for one in measured)
    low, high = (math.sqrt(scipy.stats.chi2.ppf(level, cells) / cells) for level in ((1 - CONFIDENCE) / 2, (1 + CONFIDENCE) / 2))
    return Ratio(math.sqrt(squares / cells), low, high, cells)
