"""CP-SAT's record oracle against the one that tries every record, and what its answers claim."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.oracles.answer import Limit
from dpsynth_core.oracles.brute_force import brute_force
from dpsynth_core.oracles.cpsat import RecordOracle, solve
from dpsynth_core.oracles.problem import RecordProblem
from tests.oracles.problems import random_domain, random_problem, random_queries

LIMIT = Limit(seconds=20.0)


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


@pytest.mark.parametrize("seed", range(20))
def test_a_hint_never_changes_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_problem(rng, zeros=seed % 2 == 0)
    hint = np.array([rng.integers(size) for size in problem.queries.records.sizes], dtype=np.int32)
    answer = solve(problem, LIMIT, hint)
    assert answer.certified
    assert answer.value == pytest.approx(brute_force(problem).value, abs=1e-8)


def test_one_oracle_answers_many_draws_as_fresh_ones_would() -> None:
    rng = np.random.default_rng(5)
    queries = random_queries(rng, random_domain(rng, zeros=True), 20)
    oracle = RecordOracle(queries)
    for _ in range(10):
        linear = tuple(rng.exponential(1.0, size) for size in queries.records.sizes)
        problem = RecordProblem(queries, linear)
        assert oracle.answer(linear, LIMIT).value == pytest.approx(brute_force(problem).value, abs=1e-8)
