"""Histograms over groups of unequal width: areas are people, narrow groups are sticks, labels are plain."""

from __future__ import annotations

from datetime import date

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.evaluation.comparison import group
from dpsynth_core.evaluation.histogram import histogram, plain_labels, quantiles
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.inside import Inside

MONEY = Attribute.numeric("money", -20.0, 200.0, edges=[-20, -10, 0, 5, 10, 20, 100, 200], own_cells=[0], other=True, missing=True)


@st.composite
def columns(draw: st.DrawFn) -> Attribute:
    """Columns of numbers with cells of any widths."""
    widths = draw(st.lists(st.integers(1, 500), min_size=1, max_size=70))
    first = draw(st.integers(-1000, 1000))
    edges = [first, *(first + int(reached) for reached in np.cumsum(widths))]
    extra = {"other": draw(st.booleans()), "missing": draw(st.booleans())}
    if draw(st.booleans()):
        return Attribute.integer("n", edges[0], edges[-1] - 1, edges=edges, **extra)
    return Attribute.numeric("x", float(edges[0]), float(edges[-1]), edges=[float(edge) for edge in edges], **extra)


@given(columns(), st.integers(0, 2**32 - 1))
def test_the_areas_of_bars_are_the_people_in_them_and_sticks_are_as_high(attribute: Attribute, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 1000, attribute.size).astype(float)
    groups = group(attribute, counts, 60)
    shape, people = histogram(attribute, groups.cells), groups.sum(counts)
    heights, flat = people * shape.factor, shape.stick | np.isnan(shape.start)
    areas = heights[~flat] * (shape.end - shape.start)[~flat] / shape.per if shape.per else np.zeros(0)
    assert areas == pytest.approx(people[~flat])
    assert heights[flat] == pytest.approx(people[flat])
    assert areas.sum() + heights[flat].sum() == pytest.approx(counts.sum())


@given(columns())
def test_bars_lie_side_by_side_in_order_and_cover_the_axis(attribute: Attribute) -> None:
    shape = histogram(attribute, [np.array([code]) for code in range(attribute.size)])
    assert (shape.start[1 : attribute.values] == shape.end[: attribute.values - 1]).all()
    assert np.isnan(shape.start[attribute.values :]).all()
    assert not shape.stick[attribute.values :].any()
    assert shape.end[attribute.values - 1] - shape.start[0] == pytest.approx(attribute.edges[-1] - attribute.edges[0])


def test_a_value_with_a_cell_of_its_own_is_a_stick_and_bars_of_one_width_count_people() -> None:
    shape = histogram(MONEY, [np.array([code]) for code in range(MONEY.size)])
    assert [label for label, stick in zip(plain_labels(MONEY), shape.stick, strict=False) if stick] == ["0"]
    even = Attribute.integer("age", 0, 99, width=10)
    alike = histogram(even, [np.array([code]) for code in range(even.size)])
    assert (alike.unit, alike.factor.tolist()) == ("", [1.0] * 10)
    assert (alike.start[0], alike.end[0]) == (-0.5, 9.5)


def test_dates_stand_in_milliseconds_and_months_count_as_one_width() -> None:
    days = Attribute.day("day", "2024-01-01", "2024-12-31", width="month")
    shape = histogram(days, [np.array([code]) for code in range(days.size)])
    assert shape.start[0] == (date(2024, 1, 1) - date(1970, 1, 1)).days * 86_400_000
    assert shape.unit == ""


def test_labels_are_plain_words_that_tell_cells_apart() -> None:
    labels = plain_labels(MONEY)
    assert labels == ("-20 to -10", "-10 to 0", "0", "above 0 to 5", "5 to 10", "10 to 20", "20 to 100", "100 to 200", "other", "missing")
    assert not any(set(label) & set("[]()") for label in labels)
    tiny = Attribute.numeric("x", 0.0, 200.0, edges=[0.0, 2e-7, 100.0, 200.0])
    assert plain_labels(tiny)[0] == "about 0"
    fine = Attribute.numeric("x", 0.0, 1.0, edges=[0, 1e-7, 2e-7, 1.0])
    assert len(set(plain_labels(fine))) == fine.size
    listed = Attribute.categorical("c", ["[0, 1)", "b"])
    assert plain_labels(listed) == listed.cell_labels()


@given(columns(), st.integers(0, 2**32 - 1))
def test_quantiles_are_those_of_values_spread_evenly_in_their_cells(attribute: Attribute, seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 3, attribute.size).astype(float)
    shares = (0.05, 0.25, 0.5, 0.75, 0.95)
    found = quantiles(attribute, counts, shares)
    edges, people = np.array(attribute.edges), counts[: attribute.values]
    if not people.sum():
        assert found == ()
        return
    assert list(found) == sorted(found)
    for share, value in zip(shares, found, strict=True):
        # so many values lie below the quantile: those in whole cells, and the part of its own cell, which for whole numbers may be one less
        below = np.interp([value, value + attribute.scale.whole], edges, np.concatenate([[0], np.cumsum(people)])) / people.sum()
        assert below[0] - 1e-9 <= share <= below[1] + 1e-9


def test_quantiles_follow_the_parts_of_cells_where_these_are_known() -> None:
    column = Attribute.integer("x", 0, 99, width=100)
    inside = Inside((0, 1, 100), (30.0, 10.0))
    assert quantiles(column, np.array([8.0]), (0.5,), inside) == (0.0,)
    assert quantiles(column, np.array([8.0]), (0.5,)) == (50.0,)
