"""What is learnt of columns from noisy counts: rising edges whatever the noise, no more cells than allowed, a budget that adds up."""

from __future__ import annotations

import math
from datetime import date
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsynth_core.mechanisms.discovery import learning, numbers
from dpsynth_core.mechanisms.discovery.learning import LEVELS, divided, texts
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.column import Column
from dpsynth_core.vocabulary.keys import MISSING, OTHER
from dpsynth_core.vocabulary.kinds.dates import day_number
from dpsynth_core.vocabulary.measurement import ROUNDING
from tests.tiers import examples

KINDS = ("integer", "numeric", "date", "timestamp", "time", "duration")
Values = NDArray[np.float64]


def looked_at(kind: str, values: Values, sigma: float, most: int, seed: int = 0) -> Attribute:
    """The looks of a run, without a kernel."""
    column = Attribute.unknown("x", kind)
    rng, edges, counts = np.random.default_rng(seed), numbers.grid(column), np.zeros(0)
    for level in range(LEVELS):
        if level:
            edges = numbers.divided(column.scale, edges, counts, sigma, most)
        cells = np.clip(np.searchsorted(edges, values, side="right") - 1, 0, len(edges) - 2)
        noisy = np.bincount(cells, minlength=len(edges) - 1) + rng.normal(0, sigma, len(edges) - 1)
        edges, counts = numbers.trimmed(edges, noisy, sigma)
    merged = numbers.merged(edges, counts, sigma, most - 1)
    bins = numbers.refined(merged, edges, counts, sigma, most - 1)
    assert set(merged) <= set(bins) <= set(edges)
    return numbers.cells(column, bins)


@examples(60)
@given(
    st.sampled_from(KINDS),
    st.lists(st.integers(-(10**6), 10**6), max_size=30),
    st.integers(0, 2000),
    st.floats(0.5, 1e4),
    st.integers(4, 40),
    st.integers(0, 9),
)
def test_edges_rise_and_are_few_whatever_values_and_noise(
    kind: str, some: list[int], times: int, sigma: float, most: int, seed: int
) -> None:
    learnt = looked_at(kind, np.array(some * times, dtype=float), sigma, most, seed)
    assert all(low < high for low, high in pairwise(learnt.edges))
    assert 2 <= learnt.size <= most
    assert learnt.kind == kind


@pytest.mark.parametrize("kind", KINDS)
def test_the_grid_of_the_first_look_is_a_column_of_its_own(kind: str) -> None:
    column = Attribute.unknown("x", kind)
    grid = numbers.grid(column)
    assert numbers.cells(column, grid).size == len(grid)


def test_ages_are_found_between_their_bounds() -> None:
    """20,000 people from 17 to 90, noise of 30 records. Seeded."""
    ages = np.random.default_rng(1).integers(17, 91, 20_000).astype(float)
    learnt = looked_at("integer", ages, 30.0, 33)
    assert learnt.lower == 17
    assert 90 <= learnt.upper <= 91  # cells of two years end there
    assert learnt.size >= 20


def test_a_year_is_found_within_a_millennium() -> None:
    years = np.random.default_rng(1).integers(1950, 2021, 5_000).astype(float)
    learnt = looked_at("integer", years, 20.0, 33)
    assert 1945 <= learnt.lower <= 1950
    assert 2019 <= learnt.upper <= 2025  # a year has 70 people: noise hides that some were born in 2020


def test_a_spike_and_a_long_tail_have_bins_of_their_own() -> None:
    """Nine of ten have nothing, the others up to 100,000."""
    rng = np.random.default_rng(1)
    gains = np.where(rng.random(20_000) < 0.9, 0, rng.integers(1, 100_000, 20_000)).astype(float)
    learnt = looked_at("integer", gains, 30.0, 33)
    assert learnt.edges[:2] == (0, 1)
    assert learnt.size >= 5
    assert 90_000 <= learnt.upper <= 100_000


def test_a_value_that_many_have_is_a_bin_of_its_own() -> None:
    """Half of 20,000 people work 40 hours and a few 39; 41 is common too. Noise of 30 records, seeded."""
    hours = np.random.default_rng(1).choice(np.arange(20, 61), 20_000, p=[*[0.01] * 19, 0.001, 0.5, 0.109, *[0.2 / 19] * 19])
    learnt = looked_at("integer", hours.astype(float), 30.0, 20)
    assert {40, 41, 42} <= set(learnt.edges)
    assert learnt.size <= 20


def test_heaps_inside_a_bin_are_cut_out_where_bins_are_left_and_only_there() -> None:
    edges, even, heap = tuple(range(11)), np.full(10, 100.0), np.array([100.0, 100, 100, 100, 100, 900, 100, 100, 100, 100])
    assert numbers.refined((0, 10), edges, heap, 20.0, 8) == (0, 5, 6, 10)
    assert numbers.refined((0, 10), edges, even, 20.0, 8) == (0, 10)
    assert numbers.refined((0, 10), edges, heap, 20.0, 2) == (0, 5, 10)
    assert numbers.refined((0, 10), edges, heap, 500.0, 8) == (0, 10)  # noise explains it


def test_days_are_found_where_all_are_in_one_month() -> None:
    days = np.random.default_rng(1).integers(day_number(date(2023, 3, 1)), day_number(date(2023, 3, 20)), 5_000).astype(float)
    learnt = looked_at("date", days, 20.0, 33)
    assert (learnt.lower, learnt.upper) == (date(2023, 3, 1), date(2023, 3, 19))


def test_negative_numbers_are_numbers() -> None:
    learnt = looked_at("numeric", np.random.default_rng(1).normal(-40, 10, 5_000), 20.0, 33)
    assert -100 <= learnt.lower < -50
    assert -30 < learnt.upper <= 0


def test_where_noise_is_all_there_is_one_bin_is_left() -> None:
    assert looked_at("numeric", np.zeros(3), 1000.0, 33).values == 1


CITY = Attribute.unknown("city", "categorical", 5)


def test_the_least_frequent_values_are_merged_by_noisy_counts() -> None:
    learnt = learning.column_of(CITY, {MISSING: 50, OTHER: 3, "a": 30, "b": 90, "c": 31, "d": 70}, 5.0)
    assert learnt == Attribute.categorical("city", ["b", "c", "d"], other=True, missing=True)
    assert learnt.size == CITY.most


@pytest.mark.parametrize(("noisy", "cell"), [(11, True), (10, False), (-30, False)])
def test_empty_values_have_a_cell_if_there_are_more_than_noise(noisy: int, cell: bool) -> None:
    assert learning.column_of(CITY, {MISSING: noisy, OTHER: 0, "a": 99}, 5.0).missing is cell


def test_a_column_of_which_nothing_is_found_has_two_cells() -> None:
    assert learning.column_of(CITY, {MISSING: -3, OTHER: 0}, 5.0).size == 2


@pytest.mark.parametrize("unit", [Unit(), Unit("replace", 3)], ids=str)
def test_portions_cost_no_more_than_the_share(unit: Unit) -> None:
    columns = [CITY, *(Attribute.unknown(kind, kind) for kind in KINDS), Attribute.unknown("job", "categorical")]
    portions = divided(columns, unit, 0.001, 1e-10)
    looks = [LEVELS if portion.column.is_number else 1 for portion in portions]
    spent = sum(n * unit.marginal_l2**2 / (2 * p.sigma**2) for n, p in zip(looks, portions, strict=True))
    assert 0.001 * (1 - 1e-8) < spent <= 0.001
    assert sum(portion.delta for portion in portions) <= 1e-10
    assert texts(columns) == 2
    assert [portion.least(unit.max_rows_per_person) is None for portion in portions] == [False, *[True] * len(KINDS), False]
    for portion in portions:
        least, shared = portion.least(unit.max_rows_per_person), portion.shared_by(unit.max_rows_per_person)
        assert (least is None and shared is None) or (least is not None and shared is not None and least < shared)


def test_timestamps_are_divided_into_months_and_days_not_into_lengths_of_time() -> None:
    scale = Attribute.unknown("x", "timestamp", precision="minute").scale
    year = [scale.number(scale.typed("x", text)) for text in ("2024-01-01", "2025-01-01")]
    first = next(scale.round_cuts(*year))
    assert [scale.text(cut) for cut in first] == [f"2024-{month:02d}-01 00:00" for month in range(2, 13)]
    month = [scale.number(scale.typed("x", text)) for text in ("2024-02-01", "2024-03-01")]
    assert len(next(scale.round_cuts(*month))) == 28


def test_counts_that_were_paid_for_are_kept_for_the_cells_that_were_found() -> None:
    """Nothing is known of "other"; a count has the variance of its noise, rounding included."""
    noisy = {MISSING: 50, OTHER: 3, "a": 30, "b": 90, "c": 31, "d": 70}
    counts = learning.counts_of(learning.column_of(CITY, noisy, 5.0), noisy, 5.0)
    assert counts.values.tolist() == [90, 31, 70, 0, 50]
    assert counts.variances.tolist() == [25 + ROUNDING, 25 + ROUNDING, 25 + ROUNDING, math.inf, 25 + ROUNDING]


def test_counts_of_cells_are_added_up_to_bins_and_so_are_their_variances() -> None:
    """Bins that begin later and end earlier than the look: what lies beyond them counts in the first and the last."""
    look = (0, 10, 20, 30, 40, 50, 60), np.array([1.0, 2, 4, 8, 16, 32, 64]), 2.0
    counts = numbers.counts(Attribute.unknown("age", "integer"), (10, 30, 40), *look)
    assert counts.values.tolist() == [1 + 2 + 4, 8 + 16 + 32, 64]
    assert counts.variances == pytest.approx(np.array([3, 3, 1]) * (4 + ROUNDING))


def test_of_numbers_beyond_the_bounds_in_a_cell_of_their_own_nothing_is_known_yet() -> None:
    """The look counted them in its first and last cell: the bins at the ends are unknown with them, those between are not."""
    unknown = Attribute.unknown("age", "integer", beyond=True)
    counts = numbers.counts(unknown, (10, 20, 30, 40), (0, 10, 20, 30, 40), np.array([1.0, 2, 4, 8, 64]), 2.0)
    assert counts.values[[1, 3, 4]].tolist() == [4, 0, 64]
    assert counts.variances.tolist() == [math.inf, 4 + ROUNDING, math.inf, math.inf, 4 + ROUNDING]
    found = numbers.found(unknown, (10, 20, 30, 40))
    assert (found.other, found.nearest, found.size) == (True, False, 5)
    assert Column.of(unknown).complete() == unknown


def test_a_cell_is_divided_until_its_parts_hold_the_least_that_is_a_sign() -> None:
    """Records spread evenly over k parts are seen as long as they are SIGN * sigma * sqrt(2 k) or more."""
    scale = Attribute.unknown("x", "integer").scale
    for parts in (2, 4, 8):
        count = numbers.SIGN * 10.0 * math.sqrt(2 * parts) * 1.01
        edges = numbers.divided(scale, (0.0, 1000.0, 2000.0, 3000.0), np.array([0.0, count, 0.0]), 10.0, 4)
        inside = sum(1000.0 <= low < 2000.0 for low in edges[:-1])
        assert parts / 2.5 <= inside <= parts  # round cuts give parts of 1, 2, 2.5 or 5 times a power of ten
