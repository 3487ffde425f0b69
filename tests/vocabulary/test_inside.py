"""Parts of a column's cells: what is drawn from them, what their means are, and what is none."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.inside import Inside

GAIN = Attribute.integer("gain", 0, 29, width=10, missing=True)
ZEROS = Inside((0, 1, 10, 15, 20, 30), (90.0, 10.0, 0.0, 0.0, 7.0))


def test_parts_are_drawn_as_often_as_people_are_in_them() -> None:
    """Of 10,000 draws, seed 1, at a tenth: a standard deviation is 30. A cell of which nothing is known is spread by width."""
    rng = np.random.default_rng(1)
    parts = ZEROS.of(GAIN)
    drawn = parts.drawn(np.repeat([0, 1, 2], 10_000), rng).reshape(3, -1)
    assert abs(int((drawn[0] == 1).sum()) - 1000) < 150
    assert set(drawn[0].tolist()) == {0, 1}
    assert abs(int((drawn[1] == 2).sum()) - 5000) < 250
    assert set(drawn[1].tolist()) == {2, 3}
    assert set(drawn[2].tolist()) == {4}


def test_the_mean_of_a_cell_is_that_of_what_is_drawn_from_it() -> None:
    assert ZEROS.of(GAIN).means.tolist() == pytest.approx([0.1 * 5, 14.5, 24.5])
    half = Attribute.numeric("half", 0.0, 2.0, bins=2)
    assert Inside((0.0, 0.5, 1.0, 2.0), (1.0, 3.0, 1.0)).of(half).means.tolist() == pytest.approx([0.625, 1.5])


def test_no_part_without_people_is_drawn_beside_one_with_them() -> None:
    """Empty parts before, between and behind: whatever the draw."""
    parts = Inside((0, 1, 2, 3, 10, 20, 30), (0.0, 5.0, 0.0, 0.0, 1.0, 1.0)).of(GAIN)
    assert set(parts.drawn(np.zeros(2000, dtype=int), np.random.default_rng(2)).tolist()) == {1}


def test_it_is_read_back_as_it_was() -> None:
    assert Inside.from_json(ZEROS.to_json()) == ZEROS


@pytest.mark.parametrize(
    ("parts", "people"),
    [
        ((0, 10, 20, 30), (1.0, 1.0)),  # one number too few
        ((0, 10, 30), (1.0, 1.0)),  # an edge of the column is missing
        ((0, 10, 10, 20, 30), (1.0,) * 4),  # they do not rise
        ((0, 10, 20, 30, 40), (1.0,) * 4),  # beyond the column
        ((0, 10, 20, 30), (1.0, -1.0, 1.0)),
        ((0, 10, 20, 30), (1.0, float("nan"), 1.0)),
    ],
)
def test_what_are_no_parts_of_the_cells_is_refused(parts: tuple[float, ...], people: tuple[float, ...]) -> None:
    with pytest.raises(InputError, match="not parts of its cells"):
        Inside(parts, people).of(GAIN)
