"""Yardsticks: the closeness of the rows in measures that outsiders know, computed from the certificate and the rows of a release.

**Scores.** TVD is the total variation distance of a table of the rows from the private table, which is the share of people in a wrong cell.
The scores are means of 1 - TVD over tables of as many columns: TVComplement and ContingencySimilarity of SDMetrics, k-marginal of SDNist
(times 1,000), and the accuracy of MOSTLY AI. Those programs compute it from the records. Here the kernel has measured it for the
certificate, on the cells of the release, and it has an interval.

**Sample.** "As close as a random sample of p of the people" is the share p at which the tables of people drawn without replacement are
expected to err as much. The counts of the private tables are secret, so the rows' counts stand for them, and the expected error is
multiplied by a `level` for the difference.

**How sure.** The interval of a score is proved: it allows for the noise of the certificate and of the number of people. The interval of the
sample allows for the same noise to first order and for the range of the level. That range was observed, so `benchmarks/yardsticks.py`
measures how often the interval holds.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np

from dpsynth_core.claims.certificate import CONFIDENCE, ROWS, Certificate, Certified, floor_of
from dpsynth_core.extensions.evidence.samples import Array, Cells, error_of_second_sample, share_as_good
from dpsynth_core.release.release import Release
from dpsynth_core.statistics.distances import IN_WRONG_CELL
from dpsynth_core.statistics.quantiles import margin, normal

LEVEL_LOW, LEVEL_HIGH = -1.8, 1.3
"""Slopes of the least and the largest level by the error t of the rows: the least level is 1 + LEVEL_LOW t."""
LEVEL_FULL, LEVEL_EMPTY = -0.35, -1.0
"""The slope of the usual level where the rows leave no cell empty, and what it changes by where they leave all cells empty."""
LEVEL_LEAST = 0.75
"""Least level, however large the error is."""


@dataclass(frozen=True)
class Range:
    """An estimate with its interval.

    Attributes:
        estimate: The estimate, a share from 0 to 1 or a factor (`level`).
        low: Lower end of the interval, in the same unit.
        high: Upper end.
    """

    estimate: float
    low: float
    high: float


@dataclass(frozen=True)
class Score:
    """The mean of 1 - TVD over the tables of one number of columns.

    Attributes:
        columns: Number of columns of each table.
        tables: Number of the tables.
        closeness: The score, with its interval of 95 % confidence.
        second_sample: The score that a second sample of as many people from the same population is expected to reach against the first,
            with the range that follows from the range of the level.
    """

    columns: int
    tables: int
    closeness: Range
    second_sample: Range


@dataclass(frozen=True)
class Yardsticks:
    """The yardsticks of a release.

    Attributes:
        scores: A score for each number of columns, ascending.
        tables: Number of all tables.
        sample: The share of the people whose random sample errs as much as the rows on average over all tables, with its interval.
    """

    scores: tuple[Score, ...]
    tables: int
    sample: Range


_STATED: WeakKeyDictionary[Release, Yardsticks | None] = WeakKeyDictionary()


def yardsticks(release: Release) -> Yardsticks | None:
    """Return the yardsticks of a release, which are computed once: report, data card, evidence.json and the Results page state them.

    None is returned if the release has no rows, or no certificate of their errors; if the noise of a measured
    error may reach the number of people; if the release has two linked tables, whose tables count pairs of
    members; or if the release lacks a table of the certificate.
    """
    if release not in _STATED:
        _STATED[release] = _yardsticks(release)
    return _STATED[release]


def _yardsticks(release: Release) -> Yardsticks | None:
    certificate = release.certificate
    if certificate is None or certificate.of != ROWS or certificate.says_nothing or release.plan.link is not None:
        return None
    tables, cliques = release.final.tables, [one.attributes for one in certificate.marginals]
    if not cliques or not tables.keys() >= set(cliques):  # as in a forged document, of which verify says what is wrong
        return None
    return from_certificate(certificate, [tables[clique] for clique in cliques])


def from_certificate(certificate: Certificate, shares: Sequence[Array]) -> Yardsticks:
    """Return the scores and the equivalent sample (`Yardsticks`) of a release's rows.

    A score is the mean of 1 - TVD over the tables of equally many columns. The equivalent sample is the
    share of the people whose random sample is expected to err as much as the rows.

    Args:
        certificate: A certificate of rows with at least one marginal, whose noise is not as large as the
            table (`says_nothing`); this is not checked.
        shares: Marginals of the synthetic rows as fractions of the rows, in the order of
            `certificate.marginals`.
    """
    sizes = sorted({len(one.attributes) for one in certificate.marginals})
    return Yardsticks(
        tuple(_score(certificate, shares, size) for size in sizes),
        len(shares),
        _sample(certificate, shares),
    )


def mean_error(certificate: Certificate, marginals: Sequence[Certified]) -> Range:
    """Return the mean error of some of a certificate's tables, a share of people in a wrong cell, with a two-sided 95 % interval.

    With T the stated number of people, N the true one and m the mean measured distance in people, |m / 2 - N t| is at most the mean of the
    tables' noise plus |T - N| / 2 (`statistics.totals`). The noise of k tables is independent, of standard deviation sigma / (2 sqrt k).
    Bounds of N t are divided by bounds of N, whose failures are part of the 5 % (`certificate.floor_of`).

    Args:
        certificate: The certificate.
        marginals: Some of its marginals, at least one, chosen without regard to their errors.
    """
    total = certificate.total
    fails, fewest = floor_of(total, CONFIDENCE)
    mean = math.fsum(one.error for one in marginals) / len(marginals)
    noise = margin(certificate.sigma / math.sqrt(len(marginals)), total.sigma, 1, (1 + CONFIDENCE) / 2 + fails)
    people, half = mean * total.value, IN_WRONG_CELL * noise
    high = (people + half) / fewest if fewest > 0 else 1.0
    return Range(min(max(mean, 0.0), 1.0), min(max((people - half) / (2 * total.value - fewest), 0.0), 1.0), min(max(high, 0.0), 1.0))


def level(error: Range, empty: float) -> Range:
    """Return the level of a release: the error of a sample from the private tables, divided by the error of a sample from the rows' tables.

    The level is a factor, mostly below 1, because the rows of a noisy model are spread over more cells. It is above 1 where noise hides
    small cells. Its distance from 1 grows with the error, and the faster, the more cells are empty: the private tables then have still
    more empty ones. Neither the estimate nor the range is proved. Both were observed: `benchmarks/yardsticks.py` has levels of several
    mechanisms and tables.

    Args:
        error: The mean error of the rows with its interval, in shares of people.
        empty: Share of the rows' cells that are empty (`empty_share`).
    """
    low, high = max(LEVEL_LEAST, 1 + LEVEL_LOW * error.high), 1 + LEVEL_HIGH * error.high
    return Range(max(1 + (LEVEL_FULL + LEVEL_EMPTY * empty) * error.estimate, low), low, high)


def empty_share(shares: Sequence[Array], people: int) -> float:
    """Return the share of cells in which less than half a person is, the mean over tables, from 0 to 1.

    Args:
        shares: Tables as fractions of the people, at least one.
        people: Number of people.
    """
    return math.fsum(float((np.rint(table * people) == 0).mean()) for table in shares) / len(shares)


def _score(certificate: Certificate, shares: Sequence[Array], size: int) -> Score:
    chosen = [place for place, one in enumerate(certificate.marginals) if len(one.attributes) == size]
    error, people = mean_error(certificate, [certificate.marginals[place] for place in chosen]), _people(certificate.total.value)
    tables = [shares[place] for place in chosen]
    second = error_of_second_sample(Cells.of(tables, people))
    by = level(error, empty_share(tables, people))
    return Score(
        size,
        len(chosen),
        Range(1 - error.estimate, 1 - error.high, 1 - error.low),
        Range(*(min(max(1 - one * second, 0.0), 1.0) for one in (by.estimate, by.high, by.low))),
    )


def _sample(certificate: Certificate, shares: Sequence[Array]) -> Range:
    """Return the share of people whose sample errs as much, with its interval.

    The noise of the mean error has standard deviation hypot(sigma / sqrt k, sigma_T) / (2 T) at most, to first order. The error divided by
    the level has two doubts, this noise and the level's range, which are independent: they add up as squares.
    """
    total = certificate.total
    mean = math.fsum(one.error for one in certificate.marginals) / len(shares)
    noise = normal((1 + CONFIDENCE) / 2) * math.hypot(certificate.sigma / math.sqrt(len(shares)), total.sigma) * IN_WRONG_CELL / total.value
    error, people = max(mean, 0.0), _people(total.value)
    by = level(Range(error, error - noise, error + noise), empty_share(shares, people))
    middle, cells = error / by.estimate, Cells.of(shares, people)
    most = middle + math.hypot(noise / by.estimate, error / by.low - middle)
    least = middle - math.hypot(noise / by.estimate, middle - error / by.high)
    return Range(*(share_as_good(cells, one) for one in (middle, most, least)))


def _people(number: float) -> int:
    return max(1, round(number))
