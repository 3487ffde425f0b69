"""Refined rows never have a larger loss, are never in an impossible cell, and clearly closer where there is room."""

from __future__ import annotations

import itertools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference import refinement
from dpsynth_core.inference.refinement import refine
from tests.tiers import examples


@st.composite
def tasks(draw):
    """Rows, targets over marginals of mixed arity, and weights."""
    sizes = draw(st.lists(st.integers(1, 4), min_size=2, max_size=5))
    attributes = range(len(sizes))
    cliques = draw(
        st.sets(st.sets(st.sampled_from(attributes), min_size=1, max_size=3).map(lambda s: tuple(sorted(s))), min_size=1, max_size=6)
    )
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    codes = rng.integers(0, sizes, size=(draw(st.integers(1, 120)), len(sizes))).astype(np.int32)
    joint = rng.dirichlet(np.full(int(np.prod(sizes)), 0.3)).reshape(sizes)
    targets = {r: joint.sum(axis=tuple(a for a in attributes if a not in r)) for r in cliques}
    return codes, targets, {r: float(rng.uniform(0.5, 3)) for r in cliques}, sizes, rng


def distance(codes, targets, weights) -> float:
    total = 0.0
    for labels, target in targets.items():
        counts = np.zeros(target.shape)
        np.add.at(counts, tuple(codes[:, a] for a in labels), 1)
        total += weights[labels] * float(np.abs(counts - len(codes) * target).sum())
    return total


def loss(codes, targets, weights) -> float:
    """What refinement lowers: the sum over the cells' rows of what each of them cost when it came."""
    total = 0.0
    for labels, target in targets.items():
        counts = np.zeros(target.shape, dtype=int)
        np.add.at(counts, tuple(codes[:, a] for a in labels), 1)
        expected = (len(codes) * target)[..., None]
        number = np.arange(len(codes))
        costs = np.clip((2 * (number - expected) + 1) / (1 + expected), -1, 1)
        total += weights[labels] * float(costs[number < counts[..., None]].sum())
    return total


@examples(150)
@given(tasks())
def test_the_weighted_loss_never_rises(task) -> None:
    codes, targets, weights, sizes, rng = task
    before = codes.copy()
    refined = refine(codes, targets, weights, sizes, rng)
    assert (codes == before).all()
    assert refined.shape == codes.shape
    assert ((refined >= 0) & (refined < np.array(sizes))).all()
    # The tables are in single precision; a thousandth of a row per marginal is their rounding.
    assert loss(refined, targets, weights) <= loss(codes, targets, weights) + 1e-3 * len(targets)


@examples(80)
@given(tasks())
def test_a_cell_of_probability_zero_is_never_entered(task) -> None:
    codes, targets, weights, sizes, rng = task
    targets = {r: np.where(rng.random(t.shape) < 0.3, 0.0, t) for r, t in targets.items()}
    refined = refine(codes, targets, weights, sizes, rng)
    for labels, target in targets.items():
        before, after = (np.zeros(target.shape), np.zeros(target.shape))
        np.add.at(before, tuple(codes[:, a] for a in labels), 1)
        np.add.at(after, tuple(refined[:, a] for a in labels), 1)
        assert (after[target == 0] <= before[target == 0]).all()


def test_independent_draws_come_much_closer_to_what_they_were_drawn_from() -> None:
    rng = np.random.default_rng(7)
    sizes, n = (5, 4, 6, 3), 3000
    joint = rng.dirichlet(np.full(360, 0.5))
    codes = np.stack(np.unravel_index(rng.choice(360, size=n, p=joint), sizes), axis=1).astype(np.int32)
    targets = {r: joint.reshape(sizes).sum(axis=tuple(a for a in range(4) if a not in r)) for r in itertools.combinations(range(4), 2)}
    weights = dict.fromkeys(targets, 1.0)
    refined = refine(codes, targets, weights, sizes, rng)
    # Pairs have at most 30 cells of 100 rows: almost all of the sampling error can go. A fixed seed; half is a wide margin.
    assert distance(refined, targets, weights) < 0.5 * distance(codes, targets, weights)


def test_no_rows_and_no_targets_are_fine() -> None:
    rng = np.random.default_rng(0)
    assert refine(np.zeros((0, 2), dtype=np.int32), {(0,): np.ones(2) / 2}, {(0,): 1.0}, (2, 2), rng).shape == (0, 2)
    assert (refine(np.ones((3, 2), dtype=np.int32), {}, {}, (2, 2), rng) == 1).all()


def test_of_many_marginals_few_rows_are_moved(monkeypatch) -> None:
    monkeypatch.setattr(refinement, "BLOCK_ROWS", 10)
    monkeypatch.setattr(refinement, "MOST_LINES", 20 * 40)
    codes = np.zeros((500, 5), dtype=np.int32)
    targets = {r: np.full((3, 3), 1 / 9) for r in itertools.combinations(range(5), 2)}  # 10 pairs: 20 lines a row
    weights = dict.fromkeys(targets, 1.0)
    moved = refine(codes, targets, weights, [3] * 5, np.random.default_rng(0), passes=1)
    assert 0 < (moved != codes).any(axis=1).sum() <= 40
    assert distance(moved, targets, weights) < distance(codes, targets, weights)
