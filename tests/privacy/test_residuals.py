"""Residuals: what is released forgets what it should, its price is the exact norm of a shift of the noise, its noise is as stated.

The brute force knows the definition only: Kronecker products written out as matrices, neighbours enumerated, norms in fractions.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.special import logsumexp
from scipy.stats import kstest

from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy import residuals
from dpsynth_core.privacy.events import Residual
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from tests.privacy.tables import FALSE_ALARM, ArraySource, GlassNoise, rounded_normal, table
from tests.refusals import refused
from tests.tiers import examples

SIZES = [(2,), (3,), (5,), (2, 2), (2, 3), (4, 3), (2, 2, 2), (3, 2, 4)]
BITS = [0, 1, 3, 6, 24]
UNITS = [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 2)]

DOMAIN = Domain.from_json({"a": 4, "b": 3, "c": 2})


def matrix(sizes: tuple[int, ...]) -> np.ndarray:
    """R written out: rows are released numbers, columns cells in C order."""
    return reduce(np.kron, [np.hstack([np.ones((n - 1, 1), dtype=int), -np.eye(n - 1, dtype=int)]) for n in sizes])


def projection(sizes: tuple[int, ...]) -> np.ndarray:
    return reduce(np.kron, [np.eye(n) - 1 / n for n in sizes])


def shift(sizes: tuple[int, ...], bits: int, cell: int) -> list[Fraction]:
    """w_c by the definition, in fractions; r_i = the multiple of 1/s_i nearest to 1/n_i."""
    steps = 2 ** (bits // len(sizes))
    factors = []
    for size, code in zip(sizes, np.unravel_index(cell, sizes), strict=True):
        nearest = min((steps // size, steps // size + 1), key=lambda k: abs(Fraction(k, steps) - Fraction(1, size)))
        factors.append([Fraction(int(i == code)) - Fraction(nearest, steps) for i in range(size)])
    return [math.prod(entries, start=Fraction(1)) for entries in product(*factors)]


def moves(unit: Unit, cells: int) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """Cells that one person's rows leave and enter, up to max_rows_per_person each."""
    owned = [rows for k in range(1, unit.max_rows_per_person + 1) for rows in product(range(cells), repeat=k)]
    if unit.relation == "replace":
        yield from product(owned, owned)
    else:
        yield from ((rows, ()) for rows in owned)


@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("sizes", SIZES, ids=str)
def test_the_shift_is_on_the_lattice_and_looks_like_one_row(sizes: tuple[int, ...], bits: int) -> None:
    for cell in range(math.prod(sizes)):
        steps = [entry * 2**bits for entry in shift(sizes, bits, cell)]
        assert all(entry.denominator == 1 for entry in steps)
        one = np.zeros(len(steps), dtype=int)
        one[cell] = 2**bits
        assert np.array_equal(matrix(sizes) @ np.array([int(entry) for entry in steps]), matrix(sizes) @ one)


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("bits", BITS)
@pytest.mark.parametrize("sizes", [s for s in SIZES if math.prod(s) <= 8], ids=str)
def test_the_price_is_the_norm_of_the_worst_shift(sizes: tuple[int, ...], bits: int, unit: Unit) -> None:
    cells = math.prod(sizes)
    one, elsewhere = residuals.one_row(sizes, bits), residuals.one_row_elsewhere(sizes, bits)
    shifts = [np.array(shift(sizes, bits, cell), dtype=object) for cell in range(cells)]
    moved = [sum(shifts[i] for i in left) - sum(shifts[j] for j in entered) for left, entered in moves(unit, cells)]
    worst = max((vector**2).sum() for vector in moved)
    assert worst == unit.max_rows_per_person**2 * (one if unit.relation == "add-remove" else elsewhere)
    charged = unit.residual_l2(one, elsewhere)
    assert Fraction(charged) ** 2 >= worst
    assert charged == pytest.approx(math.sqrt(worst), rel=1e-15)


@pytest.mark.parametrize("sizes", [(2,), (3,), (2, 2), (2, 3), (2, 2, 2)], ids=str)
def test_no_shift_on_the_lattice_that_looks_like_one_row_is_much_shorter_than_the_one_that_is_charged(sizes: tuple[int, ...]) -> None:
    real = (projection(sizes)[0] ** 2).sum()  # no shift at all is shorter than the projection, which continuous noise pays for
    assert math.prod(1 - 1 / n for n in sizes) == pytest.approx(real)
    assert real * (1 - 1e-12) <= residuals.one_row(sizes, 24) <= real * (1 + 1e-4)  # nine bits per column or more


@given(st.lists(st.integers(2, 300), min_size=1, max_size=6).map(tuple), st.integers(0, 24))
def test_a_residual_never_costs_more_than_its_marginal_nor_less_than_continuous_noise_would(sizes: tuple[int, ...], bits: int) -> None:
    one, elsewhere = residuals.one_row(sizes, bits), residuals.one_row_elsewhere(sizes, bits)
    assert math.prod((1 - Fraction(1, n) for n in sizes), start=Fraction(1)) <= one <= 1
    assert 2 * one <= elsewhere <= 2


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4).map(tuple), st.integers(0, 2**32))
def test_what_is_released_forgets_tables_that_are_constant_along_an_axis(sizes: tuple[int, ...], seed: int) -> None:
    rng = np.random.default_rng(seed)
    counts = rng.integers(-(2**62), 2**62, sizes)
    axis = int(rng.integers(len(sizes)))
    constant = rng.integers(-(2**62), 2**62, sizes).take([0], axis=axis)  # sums wrap around: exact modulo 2^64 all the same
    assert np.array_equal(residuals.differences(counts), residuals.differences(counts + constant))


@given(st.lists(st.integers(2, 5), min_size=1, max_size=4).map(tuple), st.integers(0, 2**32))
def test_the_centred_table_is_the_projection(sizes: tuple[int, ...], seed: int) -> None:
    counts = np.random.default_rng(seed).integers(0, 1000, sizes)
    released = residuals.differences(counts)
    assert np.array_equal(released.ravel(), matrix(sizes) @ counts.ravel())
    centred = residuals.centred(released.astype(float))
    assert np.allclose(centred.ravel(), projection(sizes) @ counts.ravel(), atol=1e-9)  # rounding of numbers up to 16,000


Mass = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def discrete_gaussian(sigma: float) -> Mass:
    return lambda x: np.exp(-((x / sigma) ** 2) / 2)


def divergence(sigma: float, bits: int, alpha: float, noise: Callable[[float], Mass] = rounded_normal) -> float:
    """The exact Renyi divergence between what is released of a two-valued column with and without one row in its first cell.

    It is a difference of two noises of sigma * 2^bits, and the same moved by 2^bits.
    """
    tau, move = sigma * 2**bits, 2**bits
    reach = math.ceil(40 * tau) + move
    mass = noise(tau)(np.arange(-reach, reach + 1.0))
    law = np.convolve(mass, mass)
    law /= law.sum()
    here, there = law[move:], law[:-move]
    both = (here > 0) & (there > 0)  # what underflows carries less than 1e-300
    terms = alpha * np.log(here[both]) - (alpha - 1) * np.log(there[both])
    return float(logsumexp(terms) / (alpha - 1))


@pytest.mark.parametrize("alpha", [1.1, 2.0, 8.0])
@pytest.mark.parametrize("bits", [1, 3, 6])
@pytest.mark.parametrize("sigma", [0.25, 0.5, 1.0, 5.0])
def test_the_exact_privacy_loss_is_within_what_is_charged(sigma: float, bits: int, alpha: float) -> None:
    charged = alpha * float(residuals.one_row((2,), bits)) / (2 * sigma**2)
    assert charged == pytest.approx(alpha * 0.5 / (2 * sigma**2))
    assert divergence(sigma, bits, alpha) <= charged * (1 + 1e-9)  # sums of floats


def test_discrete_gaussian_noise_on_whole_people_would_lose_more_than_that() -> None:
    """Why there is a lattice: half the price of a marginal is right for continuous noise and wrong for whole numbers."""
    assert residuals.one_row((2,), 0) == 1
    assert divergence(0.2, 0, 1.1, discrete_gaussian) > 1.5 * 1.1 * 0.5 / (2 * 0.2**2)


# The kernel's operation


def people(count: int = 500) -> ArraySource:
    rng = np.random.default_rng(51)
    return table(DOMAIN, [tuple(map(int, rng.integers(0, DOMAIN.sizes(DOMAIN.names)))) for _ in range(count)])


def kernel_of(unit: Unit | None = None, noise: Noise | None = None) -> PrivacyKernel:
    return PrivacyKernel(people(), unit or Unit(), 1e6, noise or GlassNoise())


def test_without_noise_it_is_the_projected_marginal() -> None:
    clique = ("a", "b")
    measured = kernel_of().measure_residual(clique, 2.0)
    counts = people().counts([clique])[clique]
    assert (measured.clique, measured.sigma) == (clique, 2.0)
    assert np.allclose(measured.values.ravel(), projection(counts.shape) @ counts.ravel(), atol=1e-9)


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_it_charges_what_the_proposition_says(unit: Unit) -> None:
    kernel = kernel_of(unit)
    kernel.measure_residual(("a", "b"), 8.0)
    sizes, bits = (4, 3), residuals.lattice_bits(8.0)
    exact = unit.max_rows_per_person**2 * (
        residuals.one_row_elsewhere(sizes, bits) if unit.relation == "replace" else residuals.one_row(sizes, bits)
    )
    assert kernel.events == (Residual(8.0, kernel.residual_l2(("a", "b"), 8.0)),)
    assert exact / 128 <= kernel.events[0].cost <= exact / 128 * Fraction(1 + 1e-15)
    assert kernel.rho_spent < unit.marginal_l2**2 / 128  # less than the marginal


def test_the_noise_enters_in_steps_of_the_lattice_and_apart_from_the_counts() -> None:
    glass = GlassNoise()
    kernel_of(noise=glass).measure_residual(("a",), 3.0)
    values, sigma = glass.seen[0]
    assert not values.any()
    assert sigma == 3.0 * 2**24


def test_over_budget_it_is_refused_without_touching_the_table() -> None:
    source = people()
    kernel = PrivacyKernel(source, Unit(), 1e-6, GlassNoise())
    refused(kernel.measure_residual, ("a", "b"), 1.0, kind=BudgetExceeded)
    assert source.passes == []
    assert kernel.events == ()


@pytest.mark.parametrize("sigma", [0.0, -1.0, math.nan, math.inf, 2.0**50])
def test_a_sigma_that_no_lattice_has_room_for_is_refused(sigma: float) -> None:
    kernel = kernel_of()
    refused(kernel.measure_residual, ("a",), sigma, kind=ValueError, saying="sigma")
    assert kernel.events == ()


def test_a_column_of_one_value_has_no_residual() -> None:
    one = Domain.from_json({"a": 4, "z": 1})
    kernel = PrivacyKernel(table(one, [(0, 0)]), Unit(), 1.0, GlassNoise())
    refused(kernel.measure_residual, ("a", "z"), 5.0, kind=ValueError, saying="two values")
    assert kernel.events == ()


@pytest.mark.parametrize("sigma", [1e-3, 1.0, 1e6, 2.0**26, 2.0**33, 2.0**49])
def test_coarse_noise_has_room_in_64_bits(sigma: float) -> None:
    assert sigma * 2 ** residuals.lattice_bits(sigma) < 2**50
    assert 0 <= residuals.lattice_bits(sigma) <= 24


def noise_of(noise: Noise, clique: tuple[str, ...], sigma: float, draws: int) -> np.ndarray:
    """Released minus exact residual, shape (draws, cells)."""
    kernel = kernel_of(noise=noise)
    counts = people().counts([clique])[clique]
    exact = projection(counts.shape) @ counts.ravel()
    return np.array([kernel.measure_residual(clique, sigma).values.ravel() - exact for _ in range(draws)])


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(52)], ids=["opendp", "seeded"])
@pytest.mark.parametrize("sigma", [0.6, 40.0])
def test_the_noise_of_a_two_valued_column_is_gaussian_of_the_stated_size(noise: Noise, sigma: float) -> None:
    drawn = noise_of(noise, ("c",), sigma, 3_000)
    assert np.allclose(drawn[:, 0], -drawn[:, 1])
    # half the difference of two draws of sigma; on a lattice of 2^-24 it is continuous for 3,000 draws, also at sigma below 1
    assert kstest(drawn[:, 0] / (sigma / math.sqrt(2)), "norm").pvalue > FALSE_ALARM


@pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(53)], ids=["opendp", "seeded"])
def test_the_noise_is_projected_white_noise(noise: Noise) -> None:
    drawn = noise_of(noise, ("a", "b"), 5.0, 4_000)
    covariance = drawn.T @ drawn / len(drawn)
    # a covariance of 4,000 draws has a standard error of at most 25 * sqrt(2 / 4000) = 0.56 per entry; six of them
    assert np.abs(covariance - 25 * projection((4, 3))).max() < 6 * 0.56
    whitened = np.linalg.svd(projection((4, 3)))[2][:6] @ drawn.T / 5.0  # the six directions that a residual of 4 x 3 has
    assert all(kstest(direction, "norm").pvalue > FALSE_ALARM for direction in whitened)


@given(st.data())
@examples(20)
def test_neighbours_differ_by_what_the_shift_looks_like(data: st.DataObject) -> None:
    """The proposition's first step, on the kernel itself: without noise, a row more changes the answer by the projection of its cell."""
    rows = data.draw(st.lists(st.tuples(*[st.integers(0, n - 1) for n in (4, 3, 2)]), max_size=5))
    new = data.draw(st.tuples(*[st.integers(0, n - 1) for n in (4, 3, 2)]))
    kernels = [PrivacyKernel(table(DOMAIN, owned), Unit(), 1e6, GlassNoise()) for owned in (rows, [*rows, new])]
    here, there = (kernel.measure_residual(DOMAIN.names, 1.0).values for kernel in kernels)
    w = np.array([float(entry) for entry in shift((4, 3, 2), 24, int(np.ravel_multi_index(new, (4, 3, 2))))])
    assert np.allclose((there - here).ravel(), projection((4, 3, 2)) @ w, atol=1e-9)
