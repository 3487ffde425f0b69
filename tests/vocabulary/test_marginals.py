"""Tables over a clique against loops over their cells and rows, for columns in any order."""

from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import expand, largest_run, project, summed_axes
from dpsynth_core.vocabulary.measurement import ROUNDING, Measurement
from dpsynth_core.vocabulary.released import combined, counted, of_codes
from dpsynth_core.vocabulary.rows import row_marginals
from tests.refusals import refused

SIZES = {"a": 3, "b": 2, "c": 4, "d": 1}
DOMAIN = Domain.from_json(SIZES)
ROWS = [st.integers(0, size - 1) for size in SIZES.values()]
CODES = st.integers(0, 30).flatmap(lambda n: st.tuples(*(arrays(np.int32, n, elements=codes) for codes in ROWS)))
CLIQUES = st.permutations(list(SIZES)).flatmap(lambda names: st.integers(0, len(names)).map(lambda k: tuple(names[:k])))


@st.composite
def nested(draw: st.DrawFn) -> tuple[np.ndarray, tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
    """Whole numbers over a clique, a part of it and a part of that part, each with its columns in any order."""
    clique = draw(CLIQUES)
    part = draw(st.permutations(clique))[: draw(st.integers(0, len(clique)))]
    smaller = draw(st.permutations(part))[: draw(st.integers(0, len(part)))]
    values = draw(arrays(np.int64, [SIZES[name] for name in clique], elements=st.integers(-50, 50)))
    return values, clique, tuple(part), tuple(smaller)


@given(nested())
def test_a_projection_sums_the_cells_that_agree_in_its_columns(case: tuple) -> None:
    values, clique, part, _ = case
    expected = np.zeros([SIZES[name] for name in part], dtype=np.int64)
    for cell, value in np.ndenumerate(values):
        expected[tuple(cell[clique.index(name)] for name in part)] += value
    assert np.array_equal(project(values, clique, part), expected)


@given(nested())
def test_projecting_twice_is_projecting_once(case: tuple) -> None:
    values, clique, part, smaller = case
    assert np.array_equal(project(project(values, clique, part), part, smaller), project(values, clique, smaller))


@given(nested())
def test_a_projection_expanded_again_has_equal_cells_along_the_columns_it_lost(case: tuple) -> None:
    values, clique, part, _ = case
    beside = expand(project(values, clique, part), part, clique)
    assert beside.shape == tuple(SIZES[name] if name in part else 1 for name in clique)
    assert np.array_equal(beside, values.sum(axis=summed_axes(clique, part), keepdims=True))


@given(CODES, CLIQUES)
def test_a_marginal_of_codes_agrees_with_counting_one_by_one(columns: tuple[np.ndarray, ...], clique: tuple[str, ...]) -> None:
    codes = np.stack(columns, axis=1)
    counts = of_codes(DOMAIN, codes, clique)
    positions = [DOMAIN.names.index(name) for name in clique]
    assert counts.shape == DOMAIN.sizes(clique)
    assert counts.dtype == np.int64
    assert {cell: n for cell, n in np.ndenumerate(counts) if n} == Counter(tuple(row) for row in codes[:, positions])


@given(CODES, CLIQUES)
def test_the_marginal_of_codes_is_the_projection_of_their_full_table(columns: tuple[np.ndarray, ...], clique: tuple[str, ...]) -> None:
    codes = np.stack(columns, axis=1)
    whole = row_marginals(DOMAIN, codes, [DOMAIN.names])[DOMAIN.names]
    assert np.array_equal(project(whole, DOMAIN.names, clique), of_codes(DOMAIN, codes, clique))


@given(CODES, CLIQUES, st.integers(0, 3))
def test_weights_count_like_repeated_rows(columns: tuple[np.ndarray, ...], clique: tuple[str, ...], seed: int) -> None:
    codes = np.stack(columns, axis=1)
    times = np.random.default_rng(seed).integers(0, 4, len(codes))
    repeated = of_codes(DOMAIN, np.repeat(codes, times, axis=0), clique)
    assert np.array_equal(of_codes(DOMAIN, codes, clique, times.astype(np.float64)), repeated)


def test_nothing_is_copied_where_nothing_is_summed() -> None:
    values = np.arange(6).reshape(3, 2)
    assert project(values, ("a", "b"), ("a", "b")) is values
    assert np.shares_memory(project(values, ("a", "b"), ("b", "a")), values)


@pytest.mark.parametrize("onto", [("c",), ("a", "c"), ("a", "a")])
def test_a_table_has_no_projection_onto_columns_that_it_lacks_or_on_one_twice(onto: tuple[str, ...]) -> None:
    refused(project, np.zeros((3, 2)), ("a", "b"), onto, kind=ValueError, saying=r".+")


@given(arrays(np.int64, (4, 3), elements=st.integers(-9, 9)), st.integers(1, 4))
def test_the_largest_run_is_that_of_all_ranges_added_up_one_by_one(table: np.ndarray, cells: int) -> None:
    ends = [(low, high) for low in range(cells) for high in range(low + 1, cells + 1)]
    assert largest_run(table, 0, range(cells)) == max(np.abs(table[low:high].sum(axis=0)).max() for low, high in ends)
    assert largest_run(table.T, 1, range(cells)) == largest_run(table, 0, range(cells))


def test_columns_cannot_be_lost_by_expanding() -> None:
    refused(expand, np.zeros((3, 2)), ("a", "b"), ("a", "c"), kind=ValueError, saying="axes")


def test_a_code_out_of_range_is_not_counted_elsewhere() -> None:
    refused(counted, [np.array([0, 2])], [2], kind=ValueError, saying="invalid entry")


def noisy(clique: tuple[str, ...], sigma: float, seed: int, rounding: float = 0.0) -> Measurement:
    values = np.random.default_rng(seed).normal(20.0, 10.0, [SIZES[name] for name in clique])
    return Measurement(clique, values, sigma, rounding=rounding)


MEASURED = [
    noisy(("a",), 2.0, 1),
    noisy(("a",), 0.3, 2, ROUNDING),
    noisy(("a", "b"), 3.0, 3, ROUNDING),
    noisy(("b", "c"), 1.0, 4),
    noisy(("a", "b", "c"), 0.5, 5),
    noisy(("c", "d"), 1.5, 6),
    noisy((), 4.0, 7),
]


def summing(clique: tuple[str, ...], onto: tuple[str, ...]) -> np.ndarray:
    """The matrix that sums a flat table over `clique` down to `onto`, written cell by cell."""
    shape, target = [SIZES[name] for name in clique], [SIZES[name] for name in onto]
    matrix = np.zeros((math.prod(target), math.prod(shape)))
    for place, cell in enumerate(np.ndindex(*shape)):
        to = tuple(cell[clique.index(name)] for name in onto)
        matrix[np.ravel_multi_index(to, target) if to else 0, place] = 1
    return matrix


@pytest.mark.parametrize("clique", [(), ("a",), ("b",), ("c",), ("a", "b"), ("b", "c"), ("a", "b", "c"), ("c", "d")], ids=" ".join)
def test_combining_is_weighted_least_squares_on_the_measurements_summed_down(clique: tuple[str, ...]) -> None:
    cells, designs, seen = math.prod(SIZES[name] for name in clique), [], []
    for m in MEASURED:
        if set(clique) <= set(m.clique):
            down = summing(m.clique, clique)
            whitening = np.linalg.inv(np.linalg.cholesky((m.sigma**2 + m.rounding) * down @ down.T))
            designs.append(whitening)
            seen.append(whitening @ down @ m.values.ravel())
    design = np.vstack(designs)
    best, *_ = np.linalg.lstsq(design, np.concatenate(seen), rcond=None)
    covariance = np.linalg.inv(design.T @ design)
    answer = combined(MEASURED, clique)
    assert answer is not None
    assert answer.values.ravel() == pytest.approx(best)
    assert covariance == pytest.approx(answer.deviation**2 * np.eye(cells), abs=1e-12)


def test_combined_measurements_are_unbiased_and_as_noisy_as_they_say() -> None:
    rng, truth = np.random.default_rng(2), np.arange(12.0).reshape(3, 4)
    draws = [
        combined(
            [
                Measurement(("a",), truth.sum(axis=1) + rng.normal(0, 5, 3), 5.0),
                Measurement(("a", "c"), truth + rng.normal(0, 2, (3, 4)), 2.0),
            ],
            ("a",),
        )
        for _ in range(4000)
    ]
    errors = np.array([d.values - truth.sum(axis=1) for d in draws])
    deviation = draws[0].deviation
    assert np.abs(errors.mean(axis=0)).max() < 5 * deviation / math.sqrt(4000)  # five standard errors
    assert errors.std() == pytest.approx(deviation, rel=0.03)  # 12,000 values: standard error 0.65 %


def test_one_measurement_of_the_marginal_itself_is_taken_as_it_is() -> None:
    only = noisy(("a", "b"), 0.3, 8, ROUNDING)
    answer = combined([only], ("a", "b"))
    assert np.array_equal(answer.values, only.values)
    assert answer.deviation == pytest.approx(math.sqrt(0.3**2 + ROUNDING))


def test_what_no_measurement_contains_cannot_be_combined() -> None:
    assert combined(MEASURED, ("a", "d")) is None
    assert combined([], ()) is None


def test_a_final_measurement_is_not_averaged_with_others() -> None:
    whole = Measurement(("a",), np.zeros(3), 3.0, spread=3.5)
    assert combined([*MEASURED, whole], ("a",)) is whole


def test_a_cell_is_averaged_without_regard_to_others() -> None:
    """To the last bit, so that whoever follows a release comes to the same: a product of matrices divides them among threads."""
    rng = np.random.default_rng(5)
    tables = [rng.normal(size=(16, 16)) for _ in range(1500)]
    every, some = (combined([Measurement(("a", "b"), table[:, :columns], 2.0) for table in tables], ("a", "b")) for columns in (16, 4))
    assert every is not None
    assert some is not None
    assert np.array_equal(every.values[:, :4], some.values)
