"""Errors as sizes of samples, against the definition written out and against samples."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.stats import binom

from dpsynth_core.statistics.subsampling import LARGEST_SAMPLE, expected_error, gather, sample_size


def mean_deviation(mu: np.ndarray, records: int) -> float:
    """Half the sum over cells of E |mu - X / K|, X binomial, by its definition."""
    counts = np.arange(records + 1)
    return 0.5 * float(sum((np.abs(counts / records - p) * binom.pmf(counts, records, p)).sum() for p in mu))


@pytest.mark.parametrize("records", [1, 2, 7, 50, 1000])
def test_the_expected_error_is_the_mean_deviation_of_binomials(records: int) -> None:
    marginals = [np.random.default_rng(i).dirichlet(np.full(12, 0.3)) for i in range(3)]
    expected = np.mean([mean_deviation(mu, records) for mu in marginals])
    assert expected_error(gather(marginals), records) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("records", [1, 3, 4, 8])
def test_it_is_right_where_a_sample_can_match_exactly_and_where_cells_are_empty_or_certain(records: int) -> None:
    for mu in (np.array([0.5, 0.25, 0.25, 0.0]), np.array([[1.0, 0.0]])):
        assert expected_error(gather([mu]), records) == pytest.approx(mean_deviation(mu.ravel(), records), abs=1e-12)


def test_samples_have_the_expected_error_on_average() -> None:
    rng = np.random.default_rng(5)
    mu, records, draws = rng.dirichlet(np.ones(30)), 60, 4000
    errors = np.abs(rng.multinomial(records, mu, size=draws) / records - mu).sum(axis=1) / 2
    # five standard errors of the mean
    assert errors.mean() == pytest.approx(expected_error(gather([mu]), records), abs=5 * errors.std() / math.sqrt(draws))


def test_counts_serve_as_well_as_fractions() -> None:
    counts = np.array([[30, 10], [0, 60]])
    assert expected_error(gather([counts]), 17) == pytest.approx(expected_error(gather([counts / 100]), 17))


@pytest.mark.parametrize("error", [0.6, 0.15, 0.025, 0.002])
def test_the_sample_size_is_the_first_that_is_accurate_enough(error: float) -> None:
    cells = gather([np.random.default_rng(6).dirichlet(np.ones(20)) for _ in range(2)])
    records = int(sample_size(cells, error))
    assert expected_error(cells, records) <= error
    assert records == 1 or expected_error(cells, records - 1) > error


def test_larger_samples_are_more_accurate() -> None:
    cells = gather([np.random.default_rng(7).dirichlet(np.ones(20))])
    errors = [expected_error(cells, records) for records in range(1, 400)]
    assert (np.diff(errors) < 1e-15).all()


def test_no_sample_reaches_perfection_and_one_record_reaches_the_worst() -> None:
    cells = gather([np.full(5, 0.2)])
    assert sample_size(cells, 0.0) == math.inf
    assert sample_size(cells, 1.0) == 1
    assert 0 < expected_error(cells, LARGEST_SAMPLE) < 1e-4
