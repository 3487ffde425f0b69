"""CP-SAT's record oracle against the one that tries every record, and what its answers claim."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.records.cpsat import CpSatOracle
from dpsynth_core.extensions.research.oracles.records.problem import RecordProblem, Records, SignedQueries
from dpsynth_core.extensions.research.oracles.search import Limit, Solution
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.extensions.research.oracles.brute_force import brute_force
from tests.extensions.research.oracles.problems import random_domain, random_problem, random_queries

LIMIT = Limit(seconds=20.0)


def solve(problem: RecordProblem, limit: Limit) -> Solution:
    return CpSatOracle(problem.queries).answer(problem.linear, limit)


@pytest.mark.parametrize("zeros", [False, True])
@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("seed", range(40))
def test_every_certified_answer_is_the_best_record(seed: int, whole: bool, zeros: bool) -> None:
    problem = random_problem(np.random.default_rng(seed), zeros=zeros, whole=whole)
    truth, answer = brute_force(problem), solve(problem, LIMIT)
    assert answer.certified
    assert problem.queries.records.possible(answer.codes[None, :]).all()
    assert answer.value == problem.value(answer.codes)
    if whole:
        assert answer.value == truth.value == answer.bound
    else:
        assert answer.bound >= truth.value - 1e-12  # sums of floats in another order
        assert answer.value >= truth.value - 1e-8
        assert answer.gap < 1e-8


def test_one_oracle_answers_many_draws_as_fresh_ones_would() -> None:
    rng = np.random.default_rng(5)
    queries = random_queries(rng, random_domain(rng, zeros=True), 20)
    oracle = CpSatOracle(queries)
    for _ in range(10):
        linear = tuple(rng.exponential(1.0, size) for size in queries.records.sizes)
        problem = RecordProblem(queries, linear)
        assert oracle.answer(linear, LIMIT).value == pytest.approx(brute_force(problem).value, abs=1e-8)


def hard_queries(number: int = 160) -> SignedQueries:
    """4-way cells of 20 columns with 3 values each, half of them negated: about a second until the proof."""
    rng = np.random.default_rng(0)
    columns = np.sort(rng.random((number, 20)).argsort(axis=1)[:, :4].astype(np.int32), axis=1)
    values = rng.integers(0, 3, columns.shape).astype(np.int32)
    signs = rng.choice(np.array([1, -1], dtype=np.int8), number)
    return SignedQueries(Records((3,) * 20), columns, values, np.full(number, 4, dtype=np.int32), signs, np.ones(number))


def test_an_answer_without_proof_states_an_honest_gap() -> None:
    problem = RecordProblem.unperturbed(hard_queries())
    short, longer = solve(problem, Limit(seconds=60.0, work=0.02)), solve(problem, Limit(seconds=60.0))
    assert short.status == "feasible"
    assert not short.certified
    assert longer.certified
    assert short.value <= longer.value <= short.bound
    assert short.gap == short.bound - short.value > 0


def test_a_search_without_time_still_answers_from_the_climb() -> None:
    answer = solve(RecordProblem.unperturbed(hard_queries(4000)), Limit(seconds=1e-6))
    assert answer.status == "feasible"
    assert np.isfinite(answer.gap)


def test_stopping_at_a_gap_is_not_certified() -> None:
    problem = RecordProblem.unperturbed(hard_queries())
    answer = solve(problem, Limit(seconds=60.0, gap=0.1))
    assert answer.status == "feasible"
    assert 0 < answer.gap <= 0.1 * answer.value


def test_the_same_seed_gives_the_same_answer_under_a_limit_of_work() -> None:
    problem = RecordProblem.unperturbed(hard_queries())
    first, second = (solve(problem, Limit(seconds=60.0, work=0.02, seed=3)) for _ in range(2))
    assert not first.certified
    assert (first.codes == second.codes).all()
    assert (first.value, first.bound) == (second.value, second.bound)


@pytest.mark.parametrize("weight", [1e-9, 1.0, 1e12])
def test_rounding_is_part_of_the_bound_whatever_the_magnitude(weight: float) -> None:
    rng = np.random.default_rng(9)
    given = random_queries(rng, random_domain(rng, zeros=False), 20, whole=False)
    queries = SignedQueries(given.records, given.columns, given.values, given.thresholds, given.signs, given.weights * weight)
    problem = RecordProblem(queries, tuple(rng.exponential(1.0, size) for size in queries.records.sizes))
    answer, truth = solve(problem, LIMIT), brute_force(problem)
    assert answer.certified
    total = queries.weights.sum() + 15.0
    assert answer.value <= truth.value + 1e-12 * total
    assert truth.value <= answer.bound + 1e-12 * total
    assert answer.gap <= 1e-9 * total


@pytest.mark.parametrize("bad", [{"seconds": 0.0}, {"gap": -0.1}, {"work": 0.0}, {"seed": -1}])
def test_a_limit_that_makes_no_sense_is_refused(bad: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="limit"):
        Limit(**bad)  # type: ignore[arg-type]


def test_queries_of_a_class_are_taken_by_number_and_sign() -> None:
    domain = Domain((Attribute.coded("a", 2), Attribute.coded("b", 3), Attribute.coded("c", 2)))
    queries = QueryClass(domain, (("a", "b"), ("b", "c")), threshold=1)
    signed = SignedQueries.of(queries, np.array([1, 7, 1]), np.array([1, -1, 1], dtype=np.int8))
    codes = np.array(list(itertools.product(range(2), range(3), range(2))), dtype=np.int32)
    expected = 2.0 * queries.query(1).of(codes) + ~queries.query(7).of(codes)
    assert signed.worth(codes) == pytest.approx(expected)
