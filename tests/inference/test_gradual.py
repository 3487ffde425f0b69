"""GUM and consistency: what a single update does, where rows end up, and tables that agree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference import gradual
from dpsynth_core.inference.gradual import agree, consistent, moves, shared_columns, updated, without_negatives
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.zeros import StructuralZeros

DOMAIN = Domain.from_json({"a": 3, "b": 4, "c": 2})


@given(st.lists(st.integers(0, 50), min_size=6, max_size=6), st.integers(0, 2**32 - 1), st.floats(0.1, 1.0))
def test_an_update_is_the_papers(counts: list[int], seed: int, alpha: float) -> None:
    """Cells below their target get min(lack, alpha * count), or alpha * target where empty; those above give up the excess at most."""
    rng = np.random.default_rng(seed)
    have = np.array(counts, dtype=np.int64)
    wanted = rng.dirichlet(np.ones(6)) * have.sum()
    move = moves(have, wanted, alpha, rng)
    assert move.added.sum() == move.removed.sum()
    lack, excess = np.maximum(wanted - have, 0), np.maximum(have - wanted, 0)
    printed = np.where(have > 0, np.minimum(lack, alpha * have), alpha * wanted * (lack > 0))
    assert (move.added <= np.ceil(printed)).all()
    assert (move.removed <= np.minimum(np.ceil(excess), have)).all()
    assert move.added.sum() >= printed.sum() - 12  # rounding up or down, one at most for each cell on either side


def test_rows_reach_tables_that_agree() -> None:
    rng = np.random.default_rng(1)
    truth = np.stack([rng.choice(3, 4000, p=[0.6, 0.3, 0.1]), rng.integers(0, 4, 4000), np.zeros(4000, int)], axis=1).astype(np.int32)
    truth[:, 1] = np.where(rng.random(4000) < 0.7, truth[:, 0], truth[:, 1])
    truth[:, 2] = (truth[:, 1] > 1) ^ (rng.random(4000) < 0.1)
    pairs = [("a", "b"), ("b", "c")]
    tables = {pair: of_codes(DOMAIN, truth, pair).astype(float) for pair in pairs}
    start = np.stack([rng.permutation(column) for column in truth.T], axis=1)
    moved = updated(DOMAIN, start, tables, 30, np.random.default_rng(2))
    for pair in pairs:
        before, after = (np.abs(of_codes(DOMAIN, codes, pair) - tables[pair]).sum() / 8000 for codes in (start, moved))
        assert before > 0.2
        assert after < 0.02  # what is left is rounding: up to a row or so for each of 20 cells, in each turn
    joint = of_codes(DOMAIN, moved, ("a", "c")) / 4000
    assert np.abs(joint - of_codes(DOMAIN, truth, ("a", "c")) / 4000).sum() / 2 < 0.06  # copies keep what tables share through b


def test_the_table_that_is_furthest_off_has_its_turn_first(monkeypatch: pytest.MonkeyPatch) -> None:
    codes = np.zeros((100, 3), dtype=np.int32)
    tables = {("a",): np.array([90.0, 5, 5]), ("b",): np.array([10.0, 30, 30, 30]), ("c",): np.array([60.0, 40])}
    turns: list[tuple[str, ...]] = []
    monkeypatch.setattr(gradual, "_update", lambda _domain, _codes, clique, *_: turns.append(clique))
    updated(DOMAIN, codes, tables, 1, np.random.default_rng(0))
    assert turns == [("b",), ("c",), ("a",)]  # 180, 80 and 20 off


def test_impossible_rows_never_appear() -> None:
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "c"), (((0,), (1,)),)),))
    start = np.zeros((500, 3), dtype=np.int32)
    tables = {("a", "b"): np.ones((3, 4)), ("c",): np.ones(2)}
    moved = updated(limited, start, tables, 10, np.random.default_rng(3))
    assert not ((moved[:, 0] == 0) & (moved[:, 2] == 1)).any()
    assert len(np.unique(moved, axis=0)) > 5


def test_the_mean_of_an_overlap_is_weighted_by_precision_and_spread_evenly() -> None:
    """By hand: M_a from (a, b) has variance 4 * 9, from (a) 4; the difference of (a, b) is spread over its four cells."""
    rng = np.random.default_rng(4)
    pair, single = rng.normal(20, 5, (3, 4)), rng.normal(80, 5, 3)
    tables, precisions = {("a", "b"): pair, ("a",): single}, {("a", "b"): 1 / 9, ("a",): 1 / 4}
    agree(tables, precisions, ("a",))
    mean = (pair.sum(axis=1) / 36 + single / 4) / (1 / 36 + 1 / 4)
    assert np.allclose(tables[("a",)], mean)
    assert np.allclose(tables[("a", "b")], pair + (mean - pair.sum(axis=1))[:, None] / 4)


def test_overlaps_come_before_larger_ones() -> None:
    assert shared_columns([("a", "b"), ("a", "b", "c"), ("b", "c")]) == [("b",), ("a", "b"), ("b", "c")]


@given(st.integers(0, 2**32 - 1), st.floats(1, 1000))
def test_negatives_are_removed_by_the_nearest_table(seed: int, total: float) -> None:
    table = np.random.default_rng(seed).normal(5, 20, (3, 4))
    answer = without_negatives(table, None, total)
    assert (answer >= 0).all()
    assert answer.sum() == pytest.approx(total)
    lowered = table - answer
    assert np.allclose(lowered[answer > 0], lowered[answer > 0].max())  # one amount for all that is left
    assert (table[answer == 0] <= lowered[answer > 0].max() + 1e-9).all()


def test_tables_nearly_agree_and_are_counts() -> None:
    rng = np.random.default_rng(6)
    exact = rng.integers(0, 60, (3, 4, 2)).astype(float)
    taken = [
        Measurement(("a", "b"), exact.sum(axis=2) + rng.normal(0, 3, (3, 4)), 3.0),
        Measurement(("b", "c"), exact.sum(axis=0) + rng.normal(0, 3, (4, 2)), 3.0),
        Measurement(("b",), exact.sum(axis=(0, 2)) + rng.normal(0, 1, 4), 1.0),
        Measurement(("b",), exact.sum(axis=(0, 2)) + rng.normal(0, 1, 4), 1.0),
    ]
    tables = consistent(DOMAIN, taken, float(exact.sum()))
    assert set(tables) == {("a", "b"), ("b", "c"), ("b",)}
    assert all((table >= 0).all() and table.sum() == pytest.approx(exact.sum()) for table in tables.values())
    assert np.allclose(tables[("a", "b")].sum(axis=0), tables[("b",)], atol=0.5)
    assert np.allclose(tables[("b", "c")].sum(axis=1), tables[("b",)], atol=0.5)
