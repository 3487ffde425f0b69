"""Rows follow their model: unbiased, closer than independent draws, and never in an impossible cell."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.inference import rows
from dpsynth_core.inference.contraction import Contractor
from dpsynth_core.inference.model import GraphicalModel
from dpsynth_core.inference.rare_values import ColumnFolding, Folding
from dpsynth_core.inference.rows import in_random_order
from dpsynth_core.inference.structure import Structure
from dpsynth_core.planning.spec import MAX_ROWS
from dpsynth_core.sources.decoding import decode
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.inference.brute_force import coded_domain
from tests.inference.test_model import models
from tests.tiers import examples


def histogram(codes: np.ndarray, sizes: tuple[int, ...]) -> np.ndarray:
    return np.bincount(np.ravel_multi_index(codes.T, sizes), minlength=int(np.prod(sizes))).reshape(sizes)


@examples(60)
@given(models(), st.integers(0, 400), st.integers(0, 2**32 - 1))
def test_shape_and_range(model, n: int, seed: int) -> None:
    codes = model.rows(n, {}, np.random.default_rng(seed))
    assert codes.shape == (n, len(model.structure.sizes))
    assert (codes >= 0).all()
    assert (codes < np.array(model.structure.sizes)).all()


@examples(20)
@given(models(scale=1.0), st.integers(0, 2**32 - 1))
def test_the_expected_table_is_the_model(model, seed: int) -> None:
    rng, n, repeats = np.random.default_rng(seed), 60, 200
    total = sum(histogram(model.rows(n, {}, rng), model.structure.sizes) for _ in range(repeats))
    expected = model.marginal(model.domain.names) / model.total * n * repeats
    # Rounding has at most the variance of independent draws: six standard deviations over at most 4096 cells x 20 examples is a
    # false-alarm rate below 2e-4 (normal tail 2e-9 per cell), plus 3 for the discreteness of nearly empty cells.
    assert (np.abs(total - expected) <= 6 * np.sqrt(expected) + 3).all()


def test_the_first_attribute_is_within_one_row_of_its_expectation() -> None:
    rng = np.random.default_rng(0)
    structure = Structure([(0,)], (7,))
    model = GraphicalModel(Folding(coded_domain((7,))), structure, (rng.standard_normal(7),), 1.0, Contractor((7,)))
    counts = histogram(model.rows(1000, {}, rng), (7,))
    assert (np.abs(counts - 1000 * model.marginal(("a0",))) < 1).all()


@examples(40)
@given(models(), st.integers(0, 2**32 - 1))
def test_no_row_falls_into_an_impossible_cell(model, seed: int) -> None:
    rng = np.random.default_rng(seed)
    forbidden = [rng.random(t.shape) < 0.15 for t in model.log_potentials]
    limited = replace(model, log_potentials=tuple(np.where(f, -np.inf, t) for f, t in zip(forbidden, model.log_potentials, strict=True)))
    try:
        codes = limited.rows(200, {}, rng)
    except FloatingPointError:  # nothing is possible at all
        return
    for labels, f in zip(limited.structure.cliques, forbidden, strict=True):
        assert not f[tuple(codes[:, a] for a in labels)].any()


_RECORDS = st.lists(st.tuples(st.integers(0, 1), st.integers(0, 2), st.integers(0, 3)), max_size=30)


@given(_RECORDS, st.integers(0, 2**32 - 1), st.randoms(use_true_random=False))
def test_the_order_of_rows_follows_from_which_rows_there_are(records: list[tuple[int, int, int]], seed: int, random) -> None:
    """As processors differ in last digits, they may write the same rows in another order."""
    codes = np.array(records, dtype=np.int32).reshape(-1, 3)
    elsewhere = codes[random.sample(range(len(codes)), len(codes))]
    ordered = in_random_order(codes, np.random.default_rng(seed))
    assert np.array_equal(ordered, in_random_order(elsewhere, np.random.default_rng(seed)))
    assert sorted(map(tuple, ordered.tolist())) == sorted(records)


def test_every_order_of_rows_is_as_likely() -> None:
    rng, codes = np.random.default_rng(5), np.arange(3, dtype=np.int32)[:, None]
    orders = [tuple(in_random_order(codes, rng).ravel().tolist()) for _ in range(6000)]
    counts = np.array([orders.count(order) for order in sorted(set(orders))])
    assert len(counts) == 6
    assert (np.abs(counts - 1000) < 6 * np.sqrt(6000 * 5 / 36)).all()  # six standard deviations of a binomial: false alarms below 1e-7


def test_rows_have_chance_left_beside_their_groups_and_places() -> None:
    """In the 62 bits of a number: equal chances of two rows of a group give the first the smaller value, at most one time in 2**12."""
    assert 62 - 2 * MAX_ROWS.bit_length() >= 12


@pytest.mark.parametrize(("cells", "bytes_each"), [(255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_rows_are_held_in_as_few_bytes_as_their_cells_take_and_decoded_to_the_last(cells: int, bytes_each: int) -> None:
    """Whose model has two cells, one of them folded."""
    domain = Domain((Attribute.integer("a", 0, cells - 1, width=1),))
    shares = np.append(1.0, np.full(cells - 1, 1 / (cells - 1)))
    folding = Folding(domain, {"a": ColumnFolding(np.minimum(np.arange(cells), 1), shares)})
    structure, rng = Structure([(0,)], (2,)), np.random.default_rng(0)
    codes = GraphicalModel(folding, structure, (np.log([1.0, cells - 1]),), 1.0, Contractor((2,))).rows(cells, {}, rng)
    assert codes.dtype.itemsize == bytes_each
    assert sorted(codes[:, 0].tolist()) == list(range(cells))
    assert np.array_equal(decode(domain, codes, rng)["a"].to_numpy(), codes[:, 0])


def test_groups_are_the_same_whether_looked_up_or_sorted() -> None:
    rng = np.random.default_rng(7)
    few, many = rng.integers(0, 3, (50, 3)).astype(np.int32), rng.integers(0, 9, (50, 3)).astype(np.int32)
    for codes, sizes in ((few, (3, 3, 3)), (many, (9, 9, 9)), (many, (2**21, 2**21, 2**21))):
        groups, members = rows._groups(codes, [0, 1, 2], sizes)
        expected, places = np.unique(codes, axis=0, return_inverse=True)
        assert np.array_equal(groups, expected)
        assert np.array_equal(members, places.reshape(-1))
