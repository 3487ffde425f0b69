"""Charts of a release, by their short names. Altair is loaded when one is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from dpsynth_core import report
from dpsynth_core.evaluation import quality
from dpsynth_core.evaluation.standing import standings
from dpsynth_core.evaluation.verdict import LIMIT
from dpsynth_core.evaluation.wall import bars
from dpsynth_core.foundation.causes import explained_imports
from dpsynth_core.foundation.zones import Zoned, released
from dpsynth_core.release.release import Release

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False, repr=False)
class Plots:
    """The charts of a release. Each method returns one Altair chart, and draws released values alone.

    Each method raises InputError if a package for charts is missing. The parameter `threshold` is
    the largest acceptable error of a table, as a share of people from 0 to 1; it is 0.1 by default.
    """

    _made: Release

    def errors(self, threshold: float = LIMIT, *, show: int = 20) -> Any:
        """Draw the errors of the `show` worst tables as shares of people, one line per table.

        The worst have the largest best estimates; without a certificate, the largest bounds.
        """
        return _charts().marginals(self._judged(threshold), threshold, show=show)

    def overview(self, threshold: float = LIMIT) -> Any:
        """Draw the errors of all tables with a known bound as shares of people, side by side, the worst first.

        Of more than 1,200 tables some are left out, at even distances. The threshold is a dashed line.
        """
        return _charts().overview(self._judged(threshold), threshold)

    def simpler(self) -> Any:
        """Draw the mean errors, as shares of people, of the release and of simpler mechanisms on the same budget."""
        judged = report.quality_of(self._made).value
        return _charts().means(quality.means(released(judged.headline), released(judged.table)))

    def pairs(self) -> Any:
        """Draw a map of the pairs of columns: the upper bound of the error of each table of two columns.

        Errors are shares of people; the colours show how far a bound is below or above 0.1. Each bound holds with
        95 % confidence by itself.
        """
        return _charts().pair_map(quality.pair_map(report.statements(self._made)), LIMIT)

    def columns(self, *, show: int = 60) -> Any:
        """Draw the first `show` columns as small pictures, those that stand out first."""
        verdict = report.quality_of(self._made).value.verdict
        every = standings(self._made.statements, () if verdict is None else verdict.off)
        return _charts().wall(bars(report.evidence(self._made), [one.column for one in every[:show]]), every, every[:show])

    def _judged(self, threshold: float) -> Zoned[pd.DataFrame]:
        return quality.against_limit(released(report.quality_of(self._made).value.table), threshold)


def _charts() -> Any:
    with explained_imports():
        from dpsynth_core import charts
    return charts
