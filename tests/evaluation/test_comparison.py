"""Rows against noisy marginals: the combined estimate is the best one, panels agree, zones are kept."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.evaluation import comparison
from dpsynth_core.evaluation.comparison import DIFFERENCE, MEASURED, PRIVATE, SYNTHETIC
from dpsynth_core.foundation.zones import Zone, curator_only, released
from dpsynth_core.statistics.evidence import Evidence
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.zeros import StructuralZeros

DOMAIN = Domain((Attribute.coded("a", 3), Attribute.coded("b", 4), Attribute.coded("c", 2)))
CODES = np.random.default_rng(1).integers(0, [3, 4, 2], size=(600, 3)).astype(np.int32)


def exact(clique: tuple[str, ...]) -> np.ndarray:
    return row_marginals(DOMAIN, CODES, [clique])[clique].astype(np.float64)


def evidence(*measurements: Measurement, codes: np.ndarray | None = CODES, total: float = 600.0) -> Evidence:
    return Evidence(DOMAIN, codes, measurements, total)


def test_one_way_is_in_people_and_adds_up_to_the_total() -> None:
    frame = comparison.one_way(released(evidence(Measurement(("b",), exact(("b",)), 2.0), total=1200.0)), "b")
    assert frame.zone is Zone.RELEASED
    sums = frame.value.groupby("series")["count"].sum()
    assert sums[SYNTHETIC] == pytest.approx(1200)
    assert sums[MEASURED] == pytest.approx(600)
    measured = frame.value[frame.value["series"] == MEASURED]
    assert (measured["high"] - measured["count"]).to_numpy() == pytest.approx(1.96 * 2.0)


def test_one_way_with_truth_is_curator_only() -> None:
    frame = comparison.one_way(released(evidence()), "b", curator_only({("b",): np.array([1, 2, 3, 4])}))
    assert frame.zone is Zone.CURATOR
    assert frame.value[frame.value["series"] == PRIVATE]["count"].tolist() == [1, 2, 3, 4]


def test_two_way_panels_agree_cell_by_cell_in_either_direction() -> None:
    released_frame = released(evidence(Measurement(("a", "b"), exact(("a", "b")) + 7, 1.0)))
    for first, second in (("a", "b"), ("b", "a")):
        panels = comparison.two_way(released_frame, first, second)
        assert set(panels) == {SYNTHETIC, MEASURED, DIFFERENCE}
        rows = panels[SYNTHETIC].value.pivot(index="row", columns="column", values="count").to_numpy()
        wanted = exact(("a", "b")) if first == "a" else exact(("a", "b")).T
        assert rows == pytest.approx(wanted)
        assert panels[DIFFERENCE].value["count"].to_numpy() == pytest.approx(-7.0)


def test_only_the_private_panel_is_curator_only() -> None:
    panels = comparison.two_way(
        released(evidence(Measurement(("a", "b"), exact(("a", "b")), 1.0))),
        "a",
        "b",
        curator_only({("a", "b"): exact(("a", "b")).astype(np.int64)}),
    )
    assert {name: panel.zone for name, panel in panels.items()} == {
        SYNTHETIC: Zone.RELEASED,
        MEASURED: Zone.RELEASED,
        DIFFERENCE: Zone.RELEASED,
        PRIVATE: Zone.CURATOR,
    }


def test_answers_without_rows_show_their_measurements_only() -> None:
    bare = released(evidence(Measurement(("a", "b"), exact(("a", "b")), 1.0), codes=None))
    assert set(comparison.one_way(bare, "a").value["series"]) == {MEASURED}
    assert set(comparison.two_way(bare, "a", "b")) == {MEASURED}
    assert comparison.one_way(bare, "c").value.empty
    assert comparison.two_way(bare, "a", "c") == {}


def test_panels_of_a_curator_only_table_of_rows_stay_curator_only() -> None:
    private = curator_only(evidence(Measurement(("a", "b"), exact(("a", "b")), 1.0)))
    assert all(panel.zone is Zone.CURATOR for panel in comparison.two_way(private, "a", "b").values())


def test_rows_publish_their_own_shares_whatever_was_measured() -> None:
    published = evidence(Measurement(("a",), np.array([9.0, 9.0, 9.0]), 2.0), total=50.0).published([("a", "b"), ("c",)])
    assert published[("a", "b")] == pytest.approx(exact(("a", "b")) / 600)
    assert published[("c",)] == pytest.approx(exact(("c",)) / 600)


def test_answers_publish_what_was_measured_as_shares_of_the_people() -> None:
    pair = Measurement(("a", "b"), np.arange(12.0).reshape(3, 4), 2.0)
    published = evidence(pair, codes=None, total=50.0).published([("a", "b"), ("a",), ("c",)])
    assert published.keys() == {("a", "b"), ("a",)}  # nothing says anything about c
    assert published[("a", "b")] == pytest.approx(pair.values / 50)
    assert published[("a",)] == pytest.approx(pair.values.sum(axis=1) / 50)


def test_answers_publish_nothing_in_impossible_cells() -> None:
    never = StructuralZeros(("a", "b"), (((0,), (1, 2)),))
    limited = Evidence(Domain(DOMAIN.attributes, (never,)), None, [Measurement(("a", "b"), np.full((3, 4), 5.0), 2.0)], 50.0)
    published = limited.published([("a", "b")])[("a", "b")]
    assert published[0].tolist() == [0.1, 0.0, 0.0, 0.1]
    assert np.all(published[1:] == 0.1)
