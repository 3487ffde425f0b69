"""Rows against noisy marginals: the combined estimate is the best one, distances are shares of people, zones are kept."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.domain import Attribute, Domain
from dpsynth_core.evaluation import comparison
from dpsynth_core.evaluation.comparison import DIFFERENCE, MEASURED, PRIVATE, SYNTHETIC, Evidence
from dpsynth_core.evaluation.errors import row_marginals
from dpsynth_core.measurement import Measurement
from dpsynth_core.zones import Zone, curator_only, released

DOMAIN = Domain((Attribute.coded("a", 3), Attribute.coded("b", 4), Attribute.coded("c", 2)))
CODES = np.random.default_rng(1).integers(0, [3, 4, 2], size=(600, 3)).astype(np.int32)


def exact(clique: tuple[str, ...]) -> np.ndarray:
    return row_marginals(DOMAIN, CODES, [clique])[clique].astype(np.float64)


def evidence(*measurements: Measurement, codes: np.ndarray | None = CODES, total: float = 600.0) -> Evidence:
    return Evidence(DOMAIN, codes, measurements, total)


def test_measurements_are_weighed_by_their_precision_and_summed_down() -> None:
    one, two = np.array([10.0, 20.0, 30.0]), np.arange(12.0).reshape(3, 4)
    found = comparison.estimate(DOMAIN, [Measurement(("a",), one, 2.0), Measurement(("a", "b"), two, 3.0)], ("a",))
    first, second = 1 / 4, 1 / (4 * 9)  # four cells of variance 9 are summed into one
    assert found is not None
    assert found.values == pytest.approx((first * one + second * two.sum(axis=1)) / (first + second))
    assert found.sigma == pytest.approx(1 / math.sqrt(first + second))
    assert found.direct


def test_what_no_measurement_contains_has_no_estimate() -> None:
    assert comparison.estimate(DOMAIN, [Measurement(("a", "b"), np.zeros((3, 4)), 1.0)], ("a", "c")) is None


def test_combined_estimates_are_unbiased_and_as_noisy_as_they_say() -> None:
    rng, truth = np.random.default_rng(2), exact(("a", "b"))
    draws = [
        comparison.estimate(
            DOMAIN,
            [
                Measurement(("a",), truth.sum(axis=1) + rng.normal(0, 5, 3), 5.0),
                Measurement(("a", "b"), truth + rng.normal(0, 2, (3, 4)), 2.0),
            ],
            ("a",),
        )
        for _ in range(4000)
    ]
    errors = np.array([d.values - truth.sum(axis=1) for d in draws])
    sigma = draws[0].sigma
    assert np.abs(errors.mean(axis=0)).max() < 5 * sigma / math.sqrt(4000)  # five standard errors
    assert errors.std() == pytest.approx(sigma, rel=0.03)  # 12,000 values: standard error 0.65 %


def test_rows_that_equal_the_measurement_have_distance_zero_and_shifted_ones_the_share_that_moved() -> None:
    truth = exact(("a",))
    moved = truth + np.array([60.0, -60.0, 0.0])
    table = comparison.marginal_table(released(evidence(Measurement(("a",), moved, 1.0))), [("a",)]).value
    assert table.loc[0, "distance"] == pytest.approx(0.1)
    same = comparison.marginal_table(released(evidence(Measurement(("a",), truth, 1.0))), [("a",)]).value
    assert same.loc[0, "distance"] == pytest.approx(0.0)


def test_another_number_of_rows_changes_no_distance() -> None:
    measurement = Measurement(("a", "b"), exact(("a", "b")) + 3, 1.0)
    once = comparison.marginal_table(released(evidence(measurement)), [("a", "b")]).value
    twice = comparison.marginal_table(released(evidence(measurement, codes=np.repeat(CODES, 2, axis=0))), [("a", "b")]).value
    assert once.loc[0, "distance"] == pytest.approx(twice.loc[0, "distance"])


def test_noise_alone_is_the_mean_distance_of_exact_rows() -> None:
    rng, truth = np.random.default_rng(3), exact(("a", "b"))
    tables = [
        comparison.marginal_table(
            released(evidence(Measurement(("a", "b"), truth + rng.normal(0, 4, truth.shape), 4.0))), [("a", "b")]
        ).value
        for _ in range(500)
    ]
    mean = np.mean([t.loc[0, "distance"] for t in tables])
    assert mean == pytest.approx(tables[0].loc[0, "noise"], rel=0.04)  # 6,000 half-normals: standard error about 1 %


def test_worst_tables_come_first_and_unmeasured_ones_last() -> None:
    far, near = exact(("a",)) + np.array([90.0, -90.0, 0.0]), exact(("b",)) + np.array([6.0, -6.0, 0.0, 0.0])
    found = released(evidence(Measurement(("b",), near, 1.0), Measurement(("a",), far, 1.0)))
    table = comparison.marginal_table(found, [("a", "c"), ("b",), ("a",)]).value
    assert table["marginal"].tolist() == ["a", "b", "a × c"]
    assert table["rank"].tolist() == [0, 1, 2]
    assert table["support"].tolist() == ["measured", "measured", "not measured"]
    assert math.isnan(table.loc[2, "distance"])


def test_true_errors_make_the_table_curator_only_and_set_its_order() -> None:
    truth = {("a",): exact(("a",)).astype(np.int64), ("b",): np.array([600, 0, 0, 0])}
    found = released(evidence(Measurement(("a",), exact(("a",)) + 50, 1.0), Measurement(("b",), exact(("b",)), 1.0)))
    table = comparison.marginal_table(found, [("a",), ("b",)], curator_only(truth))
    assert table.zone is Zone.CURATOR
    assert table.value["marginal"].tolist() == ["b", "a"]
    assert table.value["error"].iloc[1] == pytest.approx(0.0)


def test_doubt_is_the_noise_or_the_misfit_whichever_is_larger() -> None:
    noisy, off = Measurement(("a",), exact(("a",)), 50.0), Measurement(("b",), exact(("b",)) + np.array([60.0, -60.0, 0.0, 0.0]), 1.0)
    table = comparison.marginal_table(released(evidence(noisy, off)), [("b",), ("a",)]).value
    assert table["marginal"].tolist() == ["b", "a"]
    assert table["doubt"].tolist() == pytest.approx([0.1, math.sqrt(2 / math.pi) * 50 * 3 / 1200])


def test_verdicts_tell_noise_misfit_and_guess_apart() -> None:
    assert comparison.verdict(math.nan, math.nan) == comparison.UNCHECKED
    assert comparison.verdict(0.3, 0.7) == comparison.MOSTLY_NOISE
    assert comparison.verdict(0.10, 0.09) == comparison.AS_GOOD
    assert comparison.verdict(0.20, 0.09) == comparison.OFF
    assert comparison.verdict(math.nan, 0.09) == comparison.ANSWER


def test_headline_counts_what_can_be_checked_and_names_the_worst() -> None:
    found = released(
        evidence(Measurement(("a",), exact(("a",)) + np.array([60.0, -60.0, 0.0]), 1.0), Measurement(("b",), exact(("b",)), 1.0))
    )
    table = comparison.marginal_table(found, [("a",), ("b",), ("a", "c")])
    head = comparison.headline(table)
    assert head.zone is Zone.RELEASED
    assert (head.value.tables, head.value.checked, head.value.matched, head.value.worst_table) == (3, 2, 1, "a")
    assert head.value.worst == pytest.approx(0.1)
    assert head.value.has_rows


def test_headline_of_a_release_without_checked_tables_has_no_numbers() -> None:
    head = comparison.headline(comparison.marginal_table(released(evidence()), [("a",)])).value
    assert head.checked == 0
    assert math.isnan(head.mean)


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


def test_answers_without_rows_show_their_measurements_only() -> None:
    bare = released(evidence(Measurement(("a", "b"), exact(("a", "b")), 1.0), codes=None))
    assert set(comparison.one_way(bare, "a").value["series"]) == {MEASURED}
    assert set(comparison.two_way(bare, "a", "b")) == {MEASURED}
    assert comparison.one_way(bare, "c").value.empty
    assert comparison.two_way(bare, "a", "c") == {}
    assert comparison.marginal_table(bare, [("a", "b")]).value.loc[0, "verdict"] == comparison.ANSWER


def test_two_way_panels_agree_cell_by_cell_in_either_direction() -> None:
    found = released(evidence(Measurement(("a", "b"), exact(("a", "b")) + 7, 1.0)))
    for first, second in (("a", "b"), ("b", "a")):
        panels = comparison.two_way(found, first, second)
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


def test_a_curator_only_table_of_rows_stays_curator_only() -> None:
    private = curator_only(evidence(Measurement(("a", "b"), exact(("a", "b")), 1.0)))
    assert comparison.marginal_table(private, [("a",)]).zone is Zone.CURATOR
    assert all(panel.zone is Zone.CURATOR for panel in comparison.two_way(private, "a", "b").values())


@given(st.lists(st.integers(0, 50), min_size=12, max_size=12), st.integers(0, 11))
def test_distances_are_shares(counts: list[int], moved: int) -> None:
    values = np.array(counts, dtype=np.float64).reshape(3, 4)
    values.flat[moved] += 600 - values.sum()
    table = comparison.marginal_table(
        released(evidence(Measurement(("a", "b"), np.abs(values), 1.0), total=float(np.abs(values).sum()))), [("a", "b")]
    )
    assert 0 <= table.value.loc[0, "distance"] <= 1
