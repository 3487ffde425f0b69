"""The kernel's operations on queries: distributions against brute force, and what one person changes, in both relations.

That they are charged first, and what for, is in test_kernel.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from hypothesis import given

from dpsynth_core.extensions.research.privacy import flipping
from dpsynth_core.extensions.research.privacy.exponential import SLACK
from dpsynth_core.extensions.research.privacy.groups import ScoreGroups
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.scores import COUNT_STEPS
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.privacy.view import Noise
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.marginals import at_least
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway
from tests.privacy.tables import FALSE_ALARM, ArraySource, GlassNoise, frequency_p_value, p_value, rounded_normal, table
from tests.privacy.test_sensitivity import DOMAIN, UNITS, People, kernel_and_glass, neighbours, tables
from tests.tiers import examples

CELLS = QueryClass.of(all_kway(DOMAIN, 1))
PAIRS = QueryClass.of(all_kway(DOMAIN, 2))
EITHER = QueryClass.of(all_kway(DOMAIN, 2).asking(1))
CLASSES = pytest.mark.parametrize("queries", [CELLS, PAIRS, EITHER], ids=["cells", "pairs", "thresholds"])
SOURCES = pytest.mark.parametrize("noise", [OpenDPNoise(), SeededNoise(75)], ids=["opendp", "seeded"])
RELATIONS = pytest.mark.parametrize(("relation", "rows"), [("add-remove", 1), ("replace", 1), ("add-remove", 3)])
SELECTIONS = pytest.mark.parametrize(
    ("queries", "relation", "rows", "noise"),
    [
        *((queries, *unit, SeededNoise(75)) for queries in (CELLS, PAIRS, EITHER) for unit in (("add-remove", 3), ("replace", 1))),
        (PAIRS, "add-remove", 1, OpenDPNoise()),
        (EITHER, "replace", 1, OpenDPNoise()),
    ],
)
NONE = np.zeros(0, dtype=np.int64)
PEOPLE = table(DOMAIN, [(0, 0), (0, 0), (0, 1), (1, 1), (1, 1), (1, 1), (0, 2)])


def kernel_of(source: ArraySource, relation: str = "add-remove", rows: int = 1, noise: Noise | None = None) -> PrivacyKernel:
    return PrivacyKernel(source, Unit(relation, rows), 1e12, noise or GlassNoise())


def counts(queries: QueryClass, rows: np.ndarray = PEOPLE.rows) -> np.ndarray:
    return queries.counts(row_marginals(DOMAIN, rows, queries.cliques))


def softmax(scores: np.ndarray) -> np.ndarray:
    weights = np.exp(scores - scores.max())
    return weights / weights.sum()


# Selections


@SELECTIONS
def test_signed_queries_are_drawn_by_the_exponential_mechanism(queries: QueryClass, relation: str, rows: int, noise: Noise) -> None:
    answers = SparseAnswers(np.array([0, 2]), np.array([3.5, 0.25]))
    eps = 0.6 * rows
    kernel = kernel_of(PEOPLE, relation, rows, noise)
    numbers, signs = kernel.select_signed_query(queries, answers, eps, 2_000)
    gaps = counts(queries) - answers.at(np.arange(queries.size))
    # rounding moves these probabilities by a relative eps * SLACK / COUNT_STEPS = 5e-4 at most: invisible in 2,000 draws
    probabilities = softmax(np.concatenate([gaps, -gaps]) * eps / (2 * rows))
    assert frequency_p_value((numbers + queries.size * (signs < 0)).tolist(), probabilities) > FALSE_ALARM


@SELECTIONS
def test_the_worst_query_is_drawn_by_the_exponential_mechanism(queries: QueryClass, relation: str, rows: int, noise: Noise) -> None:
    answers = SparseAnswers(np.array([0, 2]), np.array([3.5, 0.25]), 0.5)
    eps = 0.6 * rows
    kernel = kernel_of(PEOPLE, relation, rows, noise)
    drawn = [kernel.select_worst_queries(queries, answers, eps, 1, np.array([1]))[0] for _ in range(1_200)]
    left = np.delete(np.arange(queries.size), 1)
    probabilities = softmax(np.abs(counts(queries) - answers.at(np.arange(queries.size)))[left] * eps / (2 * rows))
    assert frequency_p_value(np.searchsorted(left, drawn).tolist(), probabilities) > FALSE_ALARM


def test_the_worst_queries_at_a_large_eps_are_the_worst_queries() -> None:
    chosen = kernel_of(PEOPLE, noise=SeededNoise(76)).select_worst_queries(PAIRS, SparseAnswers(NONE, np.zeros(0)), 500.0, 2, NONE)
    assert chosen.tolist() == np.argsort(-counts(PAIRS), kind="stable")[:2].tolist()


def scores_by_query(people: People, unit: Unit, queries: QueryClass, answers: SparseAnswers) -> tuple[np.ndarray, float]:
    """score + d of every signed query, in steps: what the proof of `research.privacy.exponential` calls the score; and the scale."""
    codes = np.array(list(chain.from_iterable(people)), dtype=np.int32).reshape(-1, len(DOMAIN))
    gaps = counts(queries, codes) * COUNT_STEPS - np.rint(answers.at(np.arange(queries.size)) * COUNT_STEPS)
    kernel, glass = kernel_and_glass(people, unit)
    kernel.select_signed_query(queries, answers, 0.7)
    return np.concatenate([gaps, -gaps]), glass.seen[0][1]


@UNITS
@CLASSES
def test_no_neighbour_changes_a_score_by_more_than_a_selection_is_charged_for(unit: Unit, queries: QueryClass) -> None:
    @given(tables(unit))
    @examples(10)
    def check(people: People) -> None:
        answers = SparseAnswers(np.array([1, 3]), np.array([0.3, 2.0]))
        here, b = scores_by_query(people, unit, queries, answers)
        for other in neighbours(people, unit):
            there, b_there = scores_by_query(other, unit, queries, answers)
            assert b_there == b  # the scale is public: it may not depend on the table
            # rounding adds SLACK to the change at most (test_selection); 2 (change + SLACK) / b <= eps is the proof's condition
            assert 2 * (np.abs(here - there).max() + SLACK) / b <= 0.7

    check()


@UNITS
@CLASSES
def test_no_neighbour_changes_a_score_by_more_than_permute_and_flip_is_charged_for(
    unit: Unit, queries: QueryClass, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[tuple[np.ndarray, int]] = []

    def remember(groups: ScoreGroups, b: int, noise: Noise) -> int:  # noqa: ARG001
        members = [[groups.member(group, place) for place in range(size)] for group, size in enumerate(groups.sizes)]
        scores = np.zeros(queries.size, dtype=np.int64)
        scores[np.concatenate(members)] = np.repeat(np.abs(groups.scores), groups.sizes)
        seen.append((scores, b))
        return 0

    monkeypatch.setattr(flipping, "worst", remember)

    @given(tables(unit))
    @examples(10)
    def check(people: People) -> None:
        for here in (people, *neighbours(people, unit)):
            kernel_and_glass(here, unit)[0].permute_and_flip(queries, SparseAnswers(np.array([1, 3]), np.array([0.3, 2.0])), 0.7)
        (scores, b), *others = seen
        assert all(b_there == b and 2 * np.abs(scores - there).max() <= Fraction(0.7) * b for there, b_there in others)
        seen.clear()

    check()


def test_a_million_queries_are_selected_from_in_a_fraction_of_a_second() -> None:
    domain = Domain.from_json({f"x{i}": 13 + i % 3 for i in range(15)})
    queries = QueryClass.of(all_kway(domain, 3))
    rng = np.random.default_rng(77)
    codes = np.minimum(rng.geometric(0.4, (20_000, 15)) - 1, 12).astype(np.int32)
    kernel = PrivacyKernel(ArraySource(domain, codes), Unit(), 1e3, SeededNoise(78))
    kernel.select_signed_query(queries, SparseAnswers(NONE, np.zeros(0)), 0.01)  # counts are read once
    answers = SparseAnswers.of_rows(queries, codes[:100], 200.0)
    started = time.process_time()
    numbers, _ = kernel.select_signed_query(queries, answers, 0.01, 50)
    assert time.process_time() - started < 1.0  # 0.05 s measured on a quiet machine
    assert len(numbers) == 50


# Measurements


@RELATIONS
@SOURCES
def test_measured_queries_have_rounded_normal_noise_of_sigma(noise: Noise, relation: str, rows: int) -> None:
    numbers = np.array([5, 0, 3, 3])
    kernel = kernel_of(PEOPLE, relation, rows, noise)
    drawn = np.concatenate([kernel.measure_queries(PAIRS, numbers, 3.0) - counts(PAIRS)[numbers] for _ in range(1_000)])
    assert p_value(drawn.astype(np.int64), rounded_normal(3.0), 40) > FALSE_ALARM
    assert kernel.events[0].rho == pytest.approx(4 * rows**2 / (2 * 9), rel=1e-12)


@UNITS
@CLASSES
def test_no_neighbour_is_further_than_measured_queries_and_errors_are_charged_for(unit: Unit, queries: QueryClass) -> None:
    answers = {clique: np.full(DOMAIN.sizes(clique), 1.3) for clique in queries.cliques}

    def exact(people: People) -> tuple[np.ndarray, float, list[float]]:
        kernel, glass = kernel_and_glass(people, unit)
        kernel.measure_queries(queries, np.arange(queries.size), 1.0)
        kernel.measure_largest_error(answers, 1.0, queries.threshold)
        return glass.seen[0][0], glass.seen[1][0][0] / COUNT_STEPS, [event.l2 for event in kernel.events]

    @given(tables(unit))
    @examples(10)
    def check(people: People) -> None:
        here, largest, charged = exact(people)
        for other in neighbours(people, unit):
            there, largest_there, _ = exact(other)
            assert np.sqrt(((here - there) ** 2).sum()) <= charged[0] * (1 + 1e-15)
            assert abs(largest - largest_there) <= charged[1]

    check()


@pytest.mark.parametrize("threshold", [None, 1, 2])
def test_the_largest_error_is_that_of_the_worst_cell(threshold: int | None) -> None:
    rng = np.random.default_rng(79)
    answers = {clique: rng.uniform(-2, 6, DOMAIN.sizes(clique)) for clique in PAIRS.cliques}
    kernel = kernel_of(PEOPLE)  # GlassNoise adds nothing
    true = row_marginals(DOMAIN, PEOPLE.rows, PAIRS.cliques)
    expected = max(np.abs(at_least(true[r], threshold or 2) - answers[r]).max() for r in PAIRS.cliques)
    assert kernel.measure_largest_error(answers, 2.0, threshold) == pytest.approx(expected, abs=2**-15)


@SOURCES
def test_the_measured_largest_error_has_rounded_normal_noise_of_sigma_on_its_grid(noise: Noise) -> None:
    kernel = kernel_of(PEOPLE, noise=noise)
    answers = {clique: np.zeros(DOMAIN.sizes(clique)) for clique in PAIRS.cliques}
    drawn = np.array([kernel.measure_largest_error(answers, 4 / COUNT_STEPS) - 3 for _ in range(3_000)]) * COUNT_STEPS
    assert p_value(drawn.astype(np.int64), rounded_normal(4.0), 50) > FALSE_ALARM


# Keep-or-drop bits


def exponents(people: People | ArraySource, unit: Unit, answers: np.ndarray, signs: np.ndarray, records: float) -> list[Fraction]:
    source = people if isinstance(people, ArraySource) else table(DOMAIN, list(chain.from_iterable(people)))
    glass = GlassNoise()
    kernel = PrivacyKernel(source, unit, 1e9, glass)
    kernel.keep_queries(PAIRS, np.arange(PAIRS.size), signs, answers, 0.4, 0.05, records)
    return glass.exponents


def test_a_bit_has_the_stated_probability() -> None:
    answers, signs = np.linspace(0, 1, PAIRS.size), np.array([1, -1, 1, -1, 1, -1])
    fractions = np.minimum(counts(PAIRS) / 2.5, 1.0)  # one of them clipped
    expected = 0.4 + 0.05 + 0.4 * signs * (fractions - answers)
    assert [float(x) for x in exponents(PEOPLE, Unit(), answers, signs, 2.5)] == pytest.approx(expected.tolist(), rel=1e-12)


@SOURCES
def test_bits_are_drawn_with_their_probabilities(noise: Noise) -> None:
    answers, signs = np.array([0.1, 0.9]), np.array([1, -1])
    fractions = counts(PAIRS)[[0, 4]] / 7
    chances = np.exp(-0.4 - 0.05 - 0.4 * signs * (fractions - answers))
    kernel = kernel_of(PEOPLE, noise=noise)
    numbers = np.repeat([0, 4], 3_000)
    kept = kernel.keep_queries(PAIRS, numbers, np.repeat(signs, 3_000), np.repeat(answers, 3_000), 0.4, 0.05, 7.0)
    assert kept.dtype == np.bool_
    for bits, chance in zip(kept.reshape(2, -1), chances, strict=True):
        assert frequency_p_value(bits.astype(int).tolist(), np.array([1 - chance, chance])) > FALSE_ALARM


def test_no_samples_cost_nothing() -> None:
    kernel = kernel_of(PEOPLE)
    assert kernel.keep_queries(PAIRS, NONE, NONE, np.zeros(0), 0.4, 0.05, 7.0).shape == (0,)
    assert kernel.events == ()


@UNITS
def test_no_neighbour_moves_a_bit_further_than_it_is_charged_for(unit: Unit) -> None:
    signs, answers = np.array([1, -1, 1, -1, 1, -1]), np.array([0.0, 0.0, 0.5, 0.5, 1.0, 1.0])

    @given(tables(unit))
    @examples(10)
    def check(people: People) -> None:
        here = exponents(people, unit, answers, signs, 3.0)
        kernel, _ = kernel_and_glass(people, unit)
        kernel.keep_queries(PAIRS, np.array([0]), np.array([1]), np.zeros(1), 0.4, 0.05, 3.0)
        charged = math.sqrt(8 * kernel.events[0].rho)
        for other in neighbours(people, unit):
            for x, y in zip(here, exponents(other, unit, answers, signs, 3.0), strict=True):
                assert min(x, y) >= Fraction(0.05)  # the probability is at most exp(-gamma)
                kept, dropped = float(y - x), math.log(math.expm1(x) / math.expm1(y)) + float(y - x)
                assert abs(kept - dropped) <= charged * (1 + 1e-9)

    check()
