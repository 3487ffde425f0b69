"""Folded cells: what is decided from noisy columns, sums and shares that are exact, rules that stay exact, rows of the whole domain."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from dpsynth_core.inference.estimation import Stopping, estimate
from dpsynth_core.inference.rare_values import ColumnFolding, Folding
from dpsynth_core.inference.rows import share_out
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from dpsynth_core.vocabulary.released import of_codes
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.tiers import examples

BELOW, SIGMA = 3.0, 10.0
DOMAIN = Domain.from_json({"a": 6, "b": 3, "c": 5})
NOISY = {"a": [4000, 12, -8, 3000, 20, 2984], "b": [6000, 3000, 1000], "c": [5, -14, 5000, 4000, -6]}
"""Of a, three cells are rare, and together they stand out; of c, three are rare and do not; b has none."""


def columns(noisy: dict[str, list[float]], sigma: float = SIGMA) -> list[Measurement]:
    return [Measurement((name,), np.array(counts, dtype=float), sigma) for name, counts in noisy.items()]


FOLDING = Folding.of(DOMAIN, columns(NOISY), BELOW)


def test_rare_cells_become_one_and_those_that_are_noise_alone_none() -> None:
    assert set(FOLDING.columns) == {"a", "c"}
    assert FOLDING.columns["a"].place.tolist() == [0, 1, 1, 2, 1, 3]
    assert FOLDING.columns["a"].share.tolist() == [1, 12 / 32, 0, 1, 20 / 32, 1]
    assert FOLDING.columns["c"].place.tolist() == [-1, -1, 0, 1, -1]
    assert FOLDING.columns["c"].share.tolist() == [0, 0, 1, 1, 0]
    assert FOLDING.model.sizes(DOMAIN.names) == (4, 3, 2)


@pytest.mark.parametrize(("below", "sigma"), [(0.0, SIGMA), (BELOW, 400.0)], ids=["never", "noise hides who is rare"])
def test_nothing_is_folded_where_nobody_asks_or_where_noise_hides_how_many_people_that_are(below: float, sigma: float) -> None:
    folding = Folding.of(DOMAIN, columns(NOISY, sigma), below)
    assert not folding.columns
    assert folding.model is DOMAIN


def test_cells_that_many_people_have_together_are_not_folded() -> None:
    """Ninety cells of 25 people each beside one of 2,250: each is rare, together they are half of all people."""
    many = Domain.from_json({"x": 91})
    folding = Folding.of(many, columns({"x": [2250, *[25] * 90]}), BELOW)
    assert all(one.share[one.place == place].size <= 3 for one in folding.columns.values() for place in range(one.size))


@pytest.mark.parametrize("clique", [(), ("a",), ("b",), ("a", "b"), ("a", "c"), ("a", "b", "c")], ids="".join)
def test_sums_are_the_counts_of_the_folded_table_and_variances_add_up(clique: Clique) -> None:
    codes = np.random.default_rng(1).integers(0, DOMAIN.sizes(DOMAIN.names), (500, 3)).astype(np.int32)
    kept = codes[np.isin(codes[:, 2], [2, 3]) | ("c" not in clique)]
    places = kept.copy()
    for name, folding in FOLDING.columns.items():
        places[:, DOMAIN.position(name)] = np.maximum(folding.place[kept[:, DOMAIN.position(name)]], 0)
    summed = FOLDING.summed(clique, of_codes(DOMAIN, codes, clique).astype(float))
    assert np.array_equal(summed, of_codes(FOLDING.model, places, clique))
    added = [FOLDING.summed((name,), np.ones(DOMAIN.sizes((name,)))) for name in clique]
    assert np.array_equal(FOLDING.summed(clique, np.ones(DOMAIN.sizes(clique))), np.asarray(math.prod(np.ix_(*added))))


def test_unfolding_gives_every_cell_its_share_and_loses_nobody() -> None:
    table = np.random.default_rng(1).random(FOLDING.model.sizes(("a", "c")))
    unfolded = FOLDING.unfolded(("a", "c"), table)
    assert unfolded.shape == DOMAIN.sizes(("a", "c"))
    assert unfolded.sum() == pytest.approx(table.sum())
    assert FOLDING.summed(("a", "c"), unfolded) == pytest.approx(table)
    assert (unfolded >= 0).all()
    assert not unfolded[:, [0, 1, 4]].any()
    assert unfolded[1] == pytest.approx(unfolded[[1, 2, 4]].sum(axis=0) * 12 / 32)


def test_rows_have_the_shares_up_to_a_row() -> None:
    rng = np.random.default_rng(1)
    places = rng.integers(0, FOLDING.model.sizes(DOMAIN.names), (1000, 3)).astype(np.int32)
    codes = FOLDING.codes(places, rng)
    expected = FOLDING.unfolded(("a",), of_codes(FOLDING.model, places, ("a",)).astype(float))
    assert np.abs(of_codes(DOMAIN, codes, ("a",)) - expected).max() < 1
    assert set(codes[:, 2]) == {2, 3}
    assert np.array_equal(codes[:, 1], places[:, 1])


def test_a_fit_weighs_a_folded_cell_by_the_variance_of_its_sum() -> None:
    """One column and a known total T: sum (p_i - y_i)^2 / n_i is least at p_i = y_i + n_i (T - sum y) / sum n, all positive."""
    total, noisy = 10_500.0, columns(NOISY)[0]
    model = estimate(DOMAIN, [noisy], total, stopping=Stopping(iterations=1000, tolerance=0.0), folding=FOLDING)
    summed, numbers = (FOLDING.summed(("a",), table) for table in (noisy.values, np.ones(6)))
    expected = summed + numbers * (total - summed.sum()) / numbers.sum()
    assert FOLDING.summed(("a",), model.marginal(("a",))) == pytest.approx(expected, rel=1e-4)


def test_answers_and_rows_of_a_folded_model_are_of_the_whole_domain_and_agree() -> None:
    rng = np.random.default_rng(2)
    pair = Measurement(("a", "c"), rng.normal(300, SIGMA, DOMAIN.sizes(("a", "c"))), SIGMA)
    model = estimate(DOMAIN, [*columns(NOISY), pair], 10_000.0, folding=FOLDING)
    codes = model.rows(10_000, {("a", "c"): 1.0}, rng)
    for clique in (("a", "c"), ("b",)):
        answer = model.marginal(clique)
        assert answer.shape == DOMAIN.sizes(clique)
        # shares are met in single columns; in pairs the values of a folded cell fall at random, in a table of few people
        assert np.abs(of_codes(DOMAIN, codes, clique) - answer).sum() < 0.01 * 10_000


@st.composite
def ruled(draw: st.DrawFn) -> tuple[Domain, NDArray[np.bool_]]:
    """A domain with rules that leave every value of each column possible with some other, and its table of impossible records."""
    sizes = draw(st.lists(st.integers(3, 6), min_size=2, max_size=3))
    names = [f"a{i}" for i in range(len(sizes))]
    rules = []
    for _ in range(draw(st.integers(1, 3))):
        pair = sorted(draw(st.sets(st.integers(0, len(sizes) - 1), min_size=2, max_size=2)))
        box = tuple(tuple(sorted(draw(st.sets(st.integers(1, sizes[i] - 1), min_size=1)))) for i in pair)
        rules.append(StructuralZeros(tuple(names[i] for i in pair), (box,)))
    domain = Domain(Domain.from_json(dict(zip(names, sizes, strict=True))).attributes, tuple(rules))
    impossible = domain.impossible_cells(domain.names)
    assert impossible is not None
    return domain, impossible


@examples(25)
@given(ruled(), st.integers(0, 2**32 - 1))
def test_impossible_combinations_stay_exact(ruled: tuple[Domain, NDArray[np.bool_]], seed: int) -> None:
    domain, impossible = ruled
    rng = np.random.default_rng(seed)
    noisy = {name: rng.choice([1.0, 5000.0], size) for name, size in zip(domain.names, domain.sizes(domain.names), strict=True)}
    folding = Folding.of(domain, columns({name: list(counts) for name, counts in noisy.items()}, 1.0), BELOW)
    folded = folding.model.impossible_cells(domain.names)
    assert folded is not None
    kept = folding.unfolded(domain.names, np.ones(folded.shape)) > 0
    assert np.array_equal((folding.unfolded(domain.names, folded.astype(float)) > 0)[kept], impossible[kept])
    model = estimate(domain, columns({name: list(counts) for name, counts in noisy.items()}, 1.0), 1000.0, folding=folding)
    assert not model.marginal(domain.names)[impossible].any()
    assert not impossible[tuple(model.rows(300, {(domain.names[0],): 1.0}, rng).T)].any()


def test_an_order_that_decides_no_cell_is_no_rule_of_the_folded_model() -> None:
    early, late = ({"name": name, "kind": "integer", "lower": low, "upper": low + 29, "bins": 6} for name, low in (("a", 0), ("b", 100)))
    rules = [{"column": "a", "at_most": "b"}]
    domain = Domain.from_json({"version": 1, "attributes": [early, late], "impossible": rules})
    folding = Folding.of(domain, columns({name: [500.0, 500.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0] for name in ("a", "b")}), BELOW)
    assert folding.columns
    assert domain.impossible
    assert not folding.model.impossible


def test_what_follows_from_several_orders_holds_in_the_folded_model() -> None:
    sizes = {"a": 20, "b": 3, "c": 20}
    attributes = [{"name": name, "kind": "integer", "lower": 0, "upper": 99, "bins": bins} for name, bins in sizes.items()]
    rules = [{"column": "a", "at_most": "b"}, {"column": "b", "at_most": "c"}]
    domain = Domain.from_json({"version": 1, "attributes": attributes, "impossible": rules})
    counts = {name: [200.0] * (bins // 2) + [1.0] * (bins - bins // 2 + 2) for name, bins in sizes.items()}
    folding = Folding.of(domain, columns(counts), BELOW)
    assert folding.columns.keys() >= {"a", "c"}
    model = estimate(domain, columns(counts), 2000.0, folding=folding)
    pair = domain.zeros["a", "c"]
    assert pair[10, 9]
    assert not model.marginal(("a", "c"))[pair].any()
    rows = model.rows(2000, {("a",): 1.0}, np.random.default_rng(0))
    assert not pair[rows[:, 0], rows[:, 2]].any()


def test_a_column_of_which_all_is_rare_is_left_as_it_is() -> None:
    assert not Folding.of(DOMAIN, columns({"a": [1, 2, 0, 3, -5, 1]}), BELOW).columns


def test_a_share_is_never_negative_and_shares_add_up_to_one() -> None:
    for one in FOLDING.columns.values():
        assert (one.share >= 0).all()
        assert all(math.isclose(one.share[one.place == place].sum(), 1) for place in range(one.size))


@examples(60)
@given(st.lists(st.integers(-1, 6), min_size=1, max_size=30), st.integers(0, 2**32 - 1))
def test_rows_are_unfolded_as_a_table_of_all_cells_would_share_them_out(places: list[int], seed: int) -> None:
    """Such a table would be mostly zeros: of 10,000 codes it took thirty seconds."""
    rng, kept = np.random.default_rng(seed), sorted({place for place in places if place >= 0})
    if not kept:
        return
    place = np.array([kept.index(one) if one >= 0 else -1 for one in places])
    share = np.where(place < 0, 0.0, rng.random(len(place)) * (rng.random(len(place)) < 0.8) + 1e-3)
    share /= np.where(place < 0, 1.0, np.bincount(np.maximum(place, 0), share)[np.maximum(place, 0)])
    folding, rows = ColumnFolding(place, share), rng.integers(0, len(kept), int(rng.integers(0, 300)))
    conditional = np.zeros((folding.size, len(place)))
    conditional[np.maximum(place, 0), np.arange(len(place))] = share
    np.testing.assert_array_equal(
        folding.codes(rows, np.random.default_rng(seed)), share_out(conditional, rows, np.random.default_rng(seed))
    )
