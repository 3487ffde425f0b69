"""The app's charts: Altair drawings of zone-tagged frames. Charts of curator-only values carry a watermark."""

from __future__ import annotations

from dpsynth_core.charts.against_bounds import ORDERS, against_bounds, bound_against_error, sortable
from dpsynth_core.charts.budget import bought, budget_used, coverage, noise_level, split, tradeoff
from dpsynth_core.charts.histogram import histogram
from dpsynth_core.charts.marginal_errors import PAIR, by_kind, marginals, means, overview, pair_map
from dpsynth_core.charts.results import accuracy_by_value, calibration, contest, one_way, shares_of_lines, two_way, two_way_difference
from dpsynth_core.charts.theme import Drawing
from dpsynth_core.charts.wall import OPENED, PAIRED, wall

__all__ = ["ORDERS", "PAIR", "Drawing", "accuracy_by_value", "against_bounds", "bought", "bound_against_error", "budget_used", "by_kind"]
__all__ += ["calibration", "contest", "coverage", "marginals", "means", "noise_level", "one_way", "overview", "pair_map", "sortable"]
__all__ += ["shares_of_lines", "split", "tradeoff", "two_way", "two_way_difference"]
__all__ += ["OPENED", "PAIRED", "histogram", "wall"]
