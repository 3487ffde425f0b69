"""The app's charts: Altair drawings of zone-tagged frames. Charts of curator-only values carry a watermark."""

from __future__ import annotations

from dpsynth_core.charts.against_bounds import ORDERS, against_bounds, bound_against_error, sortable
from dpsynth_core.charts.budget import bought, budget_used, coverage, noise_level, split, tradeoff
from dpsynth_core.charts.histogram import histogram
from dpsynth_core.charts.marginal_errors import PAIR, by_kind, marginals, means, overview, pair_map
from dpsynth_core.charts.results import accuracy_by_value, calibration, contest, one_way, two_way, two_way_difference
from dpsynth_core.charts.theme import Drawing
from dpsynth_core.charts.tradeoffs import TRIED, Marks, by_cost, by_epsilon, by_setting, by_tables, one_table, reading, tables_of
from dpsynth_core.charts.wall import OPENED, PAIRED, wall

__all__ = ["PAIR", "TRIED", "Drawing", "Marks", "bought", "budget_used", "by_epsilon", "by_tables", "contest", "coverage"]
__all__ += ["ORDERS", "against_bounds", "bound_against_error", "marginals", "means", "sortable"]
__all__ += ["noise_level", "one_way", "overview", "pair_map", "split", "tables_of", "tradeoff", "two_way", "two_way_difference"]
__all__ += ["accuracy_by_value", "by_cost", "by_kind", "by_setting", "calibration", "one_table", "reading"]
__all__ += ["OPENED", "PAIRED", "histogram", "wall"]
