"""Charts of trials: zones, bounds and units. What holds for every chart is tried in `tests/charts`."""

from __future__ import annotations

import json

from dpsynth_core.charts.theme import ZONE_CAPTION
from dpsynth_core.evaluation.measures import LARGEST, MEAN
from dpsynth_core.extensions.tradeoffs import charts
from dpsynth_core.foundation.zones import Zone, public, released
from tests.charts.names import HOSTILE
from tests.charts.test_charts import spec_of
from tests.extensions.tradeoffs.charts.frames import bands, beside, one_table


def test_curves_of_public_trials_with_a_release_beside_them_are_released() -> None:
    marks = charts.Marks(beside=released(beside()))
    drawings = charts.by_epsilon(public(bands()), MEAN, 3, None, marks), charts.one_table(public(one_table()), MEAN, beside=marks.beside)
    assert all(ZONE_CAPTION[Zone.RELEASED][0] in drawing.to_dict()["title"]["subtitle"] for drawing in drawings)


def test_the_bound_of_one_mechanism_alone_is_shaded() -> None:
    def shaded(bounded: str) -> set[str]:
        spec = charts.one_table(public(one_table()), MEAN, bounded).to_dict()
        (area,) = [layer for layer in spec["layer"] if layer["mark"]["type"] == "area"]
        return {row["mechanism"] for row in spec["datasets"][area["data"]["name"]]}

    assert shaded(HOSTILE[2]) == {HOSTILE[2]}
    assert shaded("") == set()


def test_errors_name_their_measure_and_unit() -> None:
    assert LARGEST.axis in json.dumps(spec_of("tables_of", Zone.RELEASED))
