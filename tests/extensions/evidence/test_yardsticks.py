"""Scores are those of other programs, with an interval that holds; the sample's share follows from rows and certificate."""

from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from dpsynth_core.claims.certificate import ROWS, Certificate, Largest, state
from dpsynth_core.extensions.evidence import yardsticks as evidence
from dpsynth_core.extensions.evidence.yardsticks import Range, empty_share, from_certificate, level, mean_error, yardsticks
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.totals import Total
from tests.bundle.bundles import made, run, spec

PEOPLE = 1000
NAMES = ("a", "b", "c")
CLIQUES = [*((name,) for name in NAMES), *combinations(NAMES, 2)]
RNG = np.random.default_rng(55)
DRAWN = ((PEOPLE, [0.5, 0.3, 0.15, 0.05]), (800, [0.4, 0.3, 0.2, 0.1]))
TRUE, ROW_CODES = (pd.DataFrame(RNG.choice(4, size=(size, 3), p=p), columns=NAMES) for size, p in DRAWN)


def tables(frame: pd.DataFrame) -> dict[tuple[str, ...], NDArray[np.float64]]:
    found = {}
    for clique in CLIQUES:
        counts = np.zeros((4,) * len(clique))
        np.add.at(counts, tuple(frame[name].to_numpy() for name in clique), 1)
        found[clique] = counts / len(frame)
    return found


def certified(sigma: float, total: Total, noise: NDArray[np.float64]) -> Certificate:
    """What a kernel measures of the rows, with this noise in each distance."""
    true, published = tables(TRUE), tables(ROW_CODES)
    exact = {r: float(np.abs(PEOPLE * true[r] - total.value * published[r]).sum()) for r in CLIQUES}
    noisy = {r: distance + one for (r, distance), one in zip(exact.items(), noise, strict=True)}
    return state(noisy, published, total, sigma, 0.1, ROWS, Largest(0.0, 1.0))


def total_variation_complement(real: pd.Series, synthetic: pd.Series) -> float:
    """As SDMetrics documents it: 1 minus half of the sum of the differences of the shares of all values."""
    one, other = (column.value_counts(normalize=True) for column in (real, synthetic))
    return 1 - float(one.sub(other, fill_value=0).abs().sum()) / 2


def test_scores_without_noise_are_those_of_other_programs() -> None:
    stated = from_certificate(certified(1e-9, Total(PEOPLE, 0.0), np.zeros(6)), list(tables(ROW_CODES).values()))
    single, pairs = stated.scores
    columns = np.mean([total_variation_complement(TRUE[name], ROW_CODES[name]) for name in NAMES])
    joined = [(TRUE[a] * 10 + TRUE[b], ROW_CODES[a] * 10 + ROW_CODES[b]) for a, b in combinations(NAMES, 2)]
    assert (single.columns, single.tables, pairs.columns, pairs.tables, stated.tables) == (1, 3, 2, 3, 6)
    assert single.closeness.estimate == pytest.approx(columns, abs=1e-12)
    assert pairs.closeness.estimate == pytest.approx(np.mean([total_variation_complement(a, b) for a, b in joined]), abs=1e-12)
    assert pairs.closeness.high - pairs.closeness.low < 1e-9


@pytest.mark.parametrize(("doubt", "least", "most"), [(0.0, 0.935, 0.965), (15.0, 0.94, 1.0)])
def test_the_interval_of_a_score_holds(doubt: float, least: float, most: float) -> None:
    """2,000 certificates: the standard error of a share of 95 % is 0.5 %, the tolerance three times that. With a doubtful number of people
    the interval takes it at its worst, so it holds more often."""
    draw, sigma, held, runs = np.random.default_rng(7), 60.0, 0, 2000
    true, published = tables(TRUE), tables(ROW_CODES)
    error = np.mean([np.abs(true[r] - published[r]).sum() / 2 for r in CLIQUES])
    for _ in range(runs):
        total = Total(PEOPLE + draw.normal(0, doubt) if doubt else PEOPLE, doubt)
        found = certified(sigma, total, draw.normal(0, sigma, 6))
        one = mean_error(found, found.marginals)
        held += one.low <= error <= one.high
    assert least <= held / runs <= most


def test_a_score_over_more_tables_is_surer() -> None:
    found = certified(60.0, Total(PEOPLE, 0.0), np.zeros(6))
    one, six = (mean_error(found, found.marginals[:count]) for count in (1, 6))
    assert (one.high - one.estimate) == pytest.approx(np.sqrt(6) * (six.high - six.estimate), rel=1e-9)


def test_the_sample_is_the_one_that_errs_as_much() -> None:
    """Without noise and with rows whose counts are those of the people, the share is right but for the level."""
    shares = list(tables(ROW_CODES).values())
    found = certified(1e-9, Total(PEOPLE, 0.0), np.zeros(6))
    sample = from_certificate(found, shares).sample
    cells = evidence.Cells.of(shares, PEOPLE)
    by = level(mean_error(found, found.marginals), empty_share(shares, PEOPLE))
    assert sample.estimate == pytest.approx(evidence.share_as_good(cells, found.mean_error / by.estimate), abs=1e-6)
    assert sample.low < sample.estimate < sample.high
    assert sample.low == pytest.approx(evidence.share_as_good(cells, found.mean_error / by.low), abs=1e-6)


def test_an_error_that_noise_took_below_zero_is_as_good_as_everybody() -> None:
    found = certified(60.0, Total(PEOPLE, 0.0), np.full(6, -600.0))
    stated = from_certificate(found, list(tables(ROW_CODES).values()))
    assert stated.sample.estimate == stated.sample.high == 1.0
    assert 0 < stated.sample.low < 1
    assert all(0 <= one.closeness.low <= one.closeness.estimate == one.closeness.high == 1 for one in stated.scores)


def test_the_level_has_a_range_that_grows_with_the_error() -> None:
    small, large = level(Range(0.01, 0.005, 0.015), 0.2), level(Range(0.3, 0.25, 0.35), 0.2)
    assert small.low < small.estimate < small.high
    assert large.high - large.low > small.high - small.low
    assert large.low == evidence.LEVEL_LEAST


def test_the_level_is_lower_where_more_cells_are_empty_and_stays_in_its_range() -> None:
    error = Range(0.1, 0.08, 0.12)
    levels = [level(error, empty) for empty in (0.0, 0.5, 1.0)]
    assert levels[0].estimate > levels[1].estimate > levels[2].estimate > levels[2].low
    assert len({(one.low, one.high) for one in levels}) == 1


def test_cells_with_less_than_half_a_person_are_empty() -> None:
    assert empty_share([np.array([0.0, 0.004, 0.006, 0.99]), np.array([0.5, 0.5])], 100) == pytest.approx(0.25)


def test_yardsticks_of_a_release_follow_from_its_rows_and_certificate() -> None:
    stated = yardsticks(made())
    assert stated is not None
    certificate = made().certificate
    assert certificate is not None
    (pairs,) = stated.scores
    assert pairs.closeness.estimate == pytest.approx(1 - certificate.mean_error, abs=1e-12)
    assert pairs.tables == stated.tables == 6
    assert pairs.second_sample.low < pairs.second_sample.estimate < pairs.second_sample.high < 1


def without_certificate() -> Release:
    return replace(made(), claims={**made().claims, "certificate": None})


def saying_nothing() -> Release:
    certificate = made().certificate
    assert certificate is not None
    return replace(made(), claims={**made().claims, "certificate": replace(certificate, sigma=1e7)})


def about_other_tables() -> Release:
    certificate = made().certificate
    assert certificate is not None
    other = replace(certificate, marginals=(replace(certificate.marginals[0], attributes=("sex", "unknown")), *certificate.marginals[1:]))
    return replace(made(), claims={**made().claims, "certificate": other})


def answers() -> Release:
    return run(spec(mechanism={"name": "gaussian"}, output={}))


@pytest.mark.parametrize("release", [without_certificate, saying_nothing, about_other_tables, answers])
def test_a_release_without_measured_errors_of_rows_has_no_yardsticks(release: object) -> None:
    assert callable(release)
    assert yardsticks(release()) is None
