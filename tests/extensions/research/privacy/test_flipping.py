"""Permute-and-flip over groups of queries: its distribution against the definition, digit by digit exactness, and what it is charged."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import permutations

import numpy as np
import opendp.prelude as dp
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.extensions.research.privacy.events import PermuteAndFlip
from dpsynth_core.extensions.research.privacy.flipping import is_below, scale, worst
from dpsynth_core.extensions.research.privacy.groups import QueryCounts, ScoreGroups
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.events import Selection
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import FALSE_ALARM, frequency_p_value
from tests.refusals import refused

SOURCES = pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(61)], ids=["opendp", "seeded"])


def groups_of(domain: Domain, rows: int, answers: SparseAnswers) -> tuple[ScoreGroups, np.ndarray]:
    """Everybody has one of the first two values of each column. The groups; |count - answer| of each query, in people."""
    queries = QueryClass.of(all_kway(domain, 1))
    codes = np.random.default_rng(62).integers(0, 2, (rows, len(domain))).astype(np.int32)
    tally, every = QueryCounts.of(queries, row_marginals(domain, codes, queries.cliques)), np.arange(queries.size)
    return ScoreGroups(tally, answers), np.abs(tally.at(every) - answers.at(every))


@SOURCES
def test_queries_are_drawn_as_by_visiting_them_in_random_order(noise: Noise) -> None:
    groups, scores = groups_of(Domain.from_json({"a": 3, "b": 2}), 9, SparseAnswers(np.array([0, 3]), np.array([4.5, 1.0])))
    heads = np.exp(-(scores.max() - scores) / 3)

    def chance(query: int) -> float:
        orders = list(permutations(range(len(scores))))
        return math.fsum(heads[query] * math.prod(1 - heads[q] for q in order[: order.index(query)]) for order in orders) / len(orders)

    drawn = [worst(groups, 3 * COUNT_STEPS, noise) for _ in range(4_000)]
    assert frequency_p_value(drawn, np.array([chance(query) for query in range(len(scores))])) > FALSE_ALARM


@SOURCES
def test_a_large_group_of_hopeless_queries_has_its_share(noise: Noise) -> None:
    """598 queries without people, whose numbers must begin with eight zeros, against two with some: the number of heads, added up."""
    groups, scores = groups_of(Domain.from_json({"a": 600}), 21, SparseAnswers(np.array([2]), np.array([0.5])))
    heads = np.exp(-(scores.max() - scores) / 2)
    assert 2**-9 < heads[-1] < 2**-8

    def chance(query: int) -> float:
        """Heads of a query times the mean of 1 / (1 + number of heads among the others)."""
        numbers = np.array([1.0])
        for p in np.delete(heads, query):
            numbers = np.convolve(numbers, [1 - p, p])
        return float(heads[query] * (numbers / np.arange(1, len(numbers) + 1)).sum())

    several = [chance(query) for query in range(2)]
    drawn = [min(worst(groups, 2 * COUNT_STEPS, noise), 2) for _ in range(3_000)]
    assert frequency_p_value(drawn, np.array([*several, 1 - sum(several)])) > FALSE_ALARM


@SOURCES
@pytest.mark.parametrize(("x", "zeros"), [(Fraction(1, 3), 0), (Fraction(1), 1), (Fraction(50), 72), (Fraction(7, 3), 0)], ids=str)
def test_numbers_are_below_an_exponential_as_often_as_they_should(noise: Noise, x: Fraction, zeros: int) -> None:
    chance = math.exp(zeros * math.log(2) - float(x))
    below = [is_below(x, zeros, noise) for _ in range(4_000)]
    assert frequency_p_value([int(one) for one in below], np.array([1 - chance, chance])) > FALSE_ALARM


class Digits(SeededNoise):
    """Numbers whose digits are given."""

    def __init__(self, digits: Sequence[int]) -> None:
        super().__init__(0)
        self.left: Iterator[int] = iter(digits)

    def uniform(self, size: int) -> int:
        assert size == 2**32
        return next(self.left)


@given(st.fractions(0, 60), st.integers(1, 4))
def test_digits_are_drawn_until_it_is_clear_on_which_side_a_number_falls(x: Fraction, agreeing: int) -> None:
    """A number that begins like exp(-x) and then is below, or not."""
    zeros = math.floor(float(x) * 1.4426)
    # exp(-x) from its series, to far more digits than are needed
    term, exact = Fraction(1), Fraction(0)
    for k in range(1, 400):
        exact += term
        term *= x / k
        term = Fraction(round(term * 2**600), 2**600)
    begins = math.floor(1 / exact * 2 ** (zeros + 32 * agreeing))
    same = [(begins >> 32 * i) % 2**32 for i in reversed(range(agreeing))]
    if x > 0:
        assert is_below(x, zeros, Digits([*same, 0, 0]))
        assert not is_below(x, zeros, Digits([*same, 2**32 - 1, 2**32 - 1]))


def test_the_best_query_is_drawn_where_noise_is_small() -> None:
    groups, scores = groups_of(Domain.from_json({"a": 600}), 21, SparseAnswers(np.array([2]), np.array([0.5])))
    assert worst(groups, 1, OpenDPNoise()) == int(np.argmax(scores))


def test_the_scale_is_never_below_what_is_charged() -> None:
    for eps in (0.1, 0.3, 7.0, 1e6):
        assert scale(eps, 3) >= 2 * 3 * COUNT_STEPS / Fraction(eps)
        assert scale(eps, 3) - 1 < 2 * 3 * COUNT_STEPS / Fraction(eps)


@pytest.mark.parametrize("eps", [0.0, -1.0, math.nan, math.inf, 1e-9])
def test_an_eps_that_cannot_be_kept_exactly_is_refused(eps: float) -> None:
    refused(scale, eps, 1, kind=ValueError, saying="eps")


@given(st.floats(1e-3, 10), st.integers(1, 1000))
def test_it_costs_what_its_pure_epsilon_does(eps: float, sensitivity: int) -> None:
    """OpenDP's noisy maximum for pure privacy adds exponential noise, which is permute-and-flip."""
    space = dp.vector_domain(dp.atom_domain(T="i64")), dp.linf_distance(T="i64")
    pure = dp.m.make_noisy_max(*space, dp.max_divergence(), scale=2 * sensitivity / eps).map(sensitivity)
    assert PermuteAndFlip(eps).rho == pytest.approx(pure**2 / 2, rel=1e-9)
    assert PermuteAndFlip(eps).rho == pytest.approx(Selection(2 * eps).rho, rel=1e-15)


@pytest.mark.parametrize("eps", [0.001, 0.03, 0.3])
def test_no_smaller_cost_could_be_proved(eps: float) -> None:
    """zCDP bounds the Kullback-Leibler divergence by rho; for two queries a sensitivity apart it is that large already, nearly."""
    worse = math.exp(-eps / 2) / 2
    divergence = (1 - 2 * worse) * math.log((1 - worse) / worse)
    assert PermuteAndFlip(eps).rho * (1 - eps) < divergence < PermuteAndFlip(eps).rho


def test_a_million_queries_are_selected_from_in_a_fraction_of_a_second() -> None:
    domain = Domain.from_json({f"x{i}": 13 + i % 3 for i in range(15)})
    queries = QueryClass.of(all_kway(domain, 3))
    rng = np.random.default_rng(63)
    numbers = np.sort(rng.choice(queries.size, 100_000, replace=False))
    tally = QueryCounts(queries.size, numbers, rng.integers(1, 3_000, len(numbers)))
    answers = SparseAnswers(numbers[::2], rng.random(len(numbers[::2])) * 3_000)
    for spread in (10, 100_000):  # few can be drawn, or nearly all
        began = time.process_time()
        worst(ScoreGroups(tally, answers), spread * COUNT_STEPS, OpenDPNoise())
        assert time.process_time() - began < 5  # 0.2 s on a quiet machine
