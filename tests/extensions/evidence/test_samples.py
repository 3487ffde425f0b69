"""Expected errors of samples are those of their distributions, worked out in full or drawn."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import binom, hypergeom

from dpsynth_core.extensions.evidence.samples import Cells, error_of_sample, error_of_second_sample, share_as_good

PEOPLE = 300
TABLES = [np.array([[150.0, 90.0], [55.0, 5.0]]), np.array([1.0, 299.0, 0.0]), np.array([300.0, 0.0]), np.full(300, 1.0)]


def cells(tables: list[NDArray[np.float64]] = TABLES, people: int = PEOPLE) -> Cells:
    return Cells.of([table / people for table in tables], people)


def by_sum(size: int) -> float:
    """Mean over tables of half the expected L1 distance, by the definition of the hypergeometric distribution."""
    drawn = np.arange(size + 1)
    each = [
        sum(np.abs(drawn / size - n / PEOPLE) @ hypergeom(PEOPLE, int(n), size).pmf(drawn) for n in table.ravel()) / 2 for table in TABLES
    ]
    return float(np.mean(each))


@pytest.mark.parametrize("size", [1, 2, 7, 60, 150, 299, 300])
def test_the_error_of_a_sample_is_the_mean_deviation_of_hypergeometric_numbers(size: int) -> None:
    assert error_of_sample(cells(), size) == pytest.approx(by_sum(size), abs=1e-10)


def test_the_error_of_a_sample_is_that_of_people_who_are_drawn() -> None:
    """2,000 draws: the standard error of their mean is below 0.3 % of it, and the tolerance four times that."""
    table = TABLES[0].ravel().astype(int)
    drawn = np.random.default_rng(3).multivariate_hypergeometric(table, 60, size=2000)
    seen = np.abs(drawn / 60 - table / PEOPLE).sum(axis=1) / 2
    expected = error_of_sample(cells([TABLES[0]]), 60)
    assert seen.mean() == pytest.approx(expected, abs=4 * seen.std() / np.sqrt(len(seen)))
    again = np.random.default_rng(4).multinomial(60, table / PEOPLE, size=2000)
    assert np.abs(again / 60 - table / PEOPLE).sum(axis=1).mean() / 2 > 1.05 * expected, "with replacement it errs more"


def test_a_larger_sample_errs_less_and_all_people_not_at_all() -> None:
    errors = [error_of_sample(cells(), size) for size in range(1, PEOPLE + 1)]
    assert (np.diff(errors) <= 1e-12).all()
    assert errors[-1] == pytest.approx(0.0, abs=1e-12)


def test_the_share_errs_as_much_as_was_asked() -> None:
    for size in (1, 5, 80, 200, 299):
        assert share_as_good(cells(), error_of_sample(cells(), size)) == pytest.approx(size / PEOPLE, abs=1e-6)
    between = (error_of_sample(cells(), 80) + error_of_sample(cells(), 81)) / 2
    assert share_as_good(cells(), between) == pytest.approx(80.5 / PEOPLE, abs=1e-9)
    assert share_as_good(cells(), 0.0) == 1.0
    assert share_as_good(cells(), -0.1) == 1.0
    assert share_as_good(cells(), 0.999) == 0.0
    assert share_as_good(Cells.of([np.ones(1)], 1), 0.5) == 0.0


@pytest.mark.parametrize(("people", "n"), [(300, 1), (300, 5), (300, 60), (300, 150), (300, 299), (20, 3), (20, 10)])
def test_a_second_sample_differs_by_what_two_binomial_numbers_do(people: int, n: int) -> None:
    """The formula takes both for Poisson numbers of the same variance: right to 2 % for 20 people, to 0.3 % for 300."""
    numbers = np.arange(people + 1)
    mass = binom(people, n / people).pmf(numbers)
    exact = float(mass @ np.abs(numbers[:, None] - numbers) @ mass) / (2 * people)
    found = error_of_second_sample(cells([np.array([float(n)])], people))
    assert found == pytest.approx(exact, rel=0.003 if people == 300 else 0.02)


def test_thousands_of_tables_cost_as_much_as_their_different_counts() -> None:
    many = Cells.of([np.array([0.25, 0.75])] * 5_000, 400)
    assert len(many.counts) == 2
    assert error_of_sample(many, 40) == pytest.approx(error_of_sample(Cells.of([np.array([0.25, 0.75])], 400), 40), abs=1e-12)
