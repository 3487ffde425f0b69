"""The reduced problem is the same problem, smaller; and the climb that works on it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.records.climbing import Climber, climb
from dpsynth_core.extensions.research.oracles.records.presolve import Reduced, reduce
from dpsynth_core.extensions.research.oracles.records.problem import NO_COLUMN, RecordProblem, Records, SignedQueries
from tests.extensions.research.oracles.brute_force import brute_force
from tests.extensions.research.oracles.problems import random_domain, random_problem, random_queries
from tests.refusals import refused


def every_choice(reduced: Reduced) -> np.ndarray:
    """All ways to take one option of each attribute, those that the clauses allow."""
    choices = np.array(list(itertools.product(*reduced.blocks())))
    allowed = np.ones(len(choices), dtype=bool)
    for clause in reduced.clauses():
        premise = np.all([(choices == i).any(axis=1) for i in clause.premise], axis=0)
        then = np.isin(choices, clause.then).any(axis=1)
        allowed &= ~premise | then
    return choices[allowed]


@pytest.mark.parametrize("seed", range(60))
def test_presolve_never_changes_the_optimum(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
    reduced = reduce(problem.queries)
    _, values = reduced.costs(problem.linear)
    records = values[every_choice(reduced)]
    assert problem.queries.records.possible(records).all()
    assert problem.values(records).max() == pytest.approx(brute_force(problem).value, abs=1e-9)


def test_options_grow_with_the_queries_and_not_with_the_domain() -> None:
    columns = np.array([[0, 1, 2]], dtype=np.int32)
    one = np.ones(1)
    queries = SignedQueries(Records((1000,) * 5), columns, columns, one.astype(np.int32) * 3, one.astype(np.int8), one)
    assert reduce(queries).size == 3 * 2 + 2


@pytest.mark.parametrize("seed", range(40))
def test_every_record_keeps_to_what_families_claim(seed: int) -> None:
    rng = np.random.default_rng(seed)
    domain = random_domain(rng, zeros=seed % 2 == 0)
    given = random_queries(rng, domain, 60)
    negated = SignedQueries(given.records, given.columns, given.values, given.thresholds, -np.abs(given.signs), given.weights)
    reduced = reduce(negated)
    choices = every_choice(reduced)
    agree = (choices[:, None, :, None] == reduced.literals[None, :, None, :]).any(axis=2).sum(axis=2)
    holds = agree >= reduced.queries.thresholds
    families = list(reduced.families())
    assert families
    for family in families:
        shared = np.all([(choices == i).any(axis=1) for i in family.shared], axis=0)
        outside = np.isin(choices, family.outside).any(axis=1)
        assert (~shared | outside | holds[:, list(family.queries)].any(axis=1)).all()


@pytest.mark.parametrize("seed", range(20))
def test_signs_and_repeats_are_one_sum(seed: int) -> None:
    rng = np.random.default_rng(seed)
    queries = random_queries(rng, random_domain(rng, zeros=False), 20)
    codes = np.stack([rng.integers(size, size=50) for size in queries.records.sizes], axis=1).astype(np.int32)
    literally = np.zeros(50)
    for i in range(20):
        used = queries.columns[i] != NO_COLUMN
        agree = (codes[:, queries.columns[i, used]] == queries.values[i, used]).sum(axis=1)
        holds = agree >= queries.thresholds[i]
        literally += queries.weights[i] * (holds if queries.signs[i] > 0 else ~holds)
    assert queries.worth(codes) == pytest.approx(literally)


@pytest.mark.parametrize("seed", range(40))
def test_a_climb_finds_a_possible_record_near_the_best(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
    reduced = reduce(problem.queries)
    costs, values = reduced.costs(problem.linear)
    options = Climber(reduced).climb(costs, np.random.default_rng(0))
    assert options is not None
    assert problem.queries.records.possible(values[options][None, :]).all()
    # not a theorem, but these problems are so small that 16 starts have always met the best record
    assert problem.value(values[options]) == pytest.approx(brute_force(problem).value, abs=1e-9)


def test_a_climb_from_a_query_meets_it_where_chance_does_not() -> None:
    """One query of 16 columns, of two options each: 16 random starts come within one column of it once in 240 times."""
    one = np.arange(16, dtype=np.int32)[None, :]
    queries = SignedQueries(Records((20,) * 16), one, one, np.full(1, 16, dtype=np.int32), np.ones(1, dtype=np.int8), np.ones(1))
    problem, reduced = RecordProblem.unperturbed(queries), reduce(queries)
    (codes,) = climb([problem])
    assert codes is not None
    assert problem.value(codes) == 1
    costs, values = reduced.costs(problem.linear)
    options = Climber(reduced).climb(costs, np.random.default_rng(0))
    assert options is not None
    assert problem.value(values[options]) == 0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"columns": np.array([[0, 0]], dtype=np.int32)}, "twice"),
        ({"columns": np.array([[0, 9]], dtype=np.int32)}, "not there"),
        ({"values": np.array([[0, 3]], dtype=np.int32)}, "value"),
        ({"thresholds": np.array([3], dtype=np.int32)}, "threshold"),
        ({"signs": np.array([0], dtype=np.int8)}, "signs"),
        ({"weights": np.array([-1.0])}, "weights"),
        ({"weights": np.ones(2)}, "weight"),
    ],
)
def test_queries_that_make_no_sense_are_refused(change: dict[str, np.ndarray], message: str) -> None:
    sound = {
        "columns": np.array([[0, 1]], dtype=np.int32),
        "values": np.array([[0, 1]], dtype=np.int32),
        "thresholds": np.array([2], dtype=np.int32),
        "signs": np.array([1], dtype=np.int8),
        "weights": np.ones(1),
    }
    SignedQueries(Records((2, 3)), **sound)
    refused(SignedQueries, Records((2, 3)), **sound | change, kind=ValueError, saying=message)


def test_a_perturbation_has_one_number_for_each_value() -> None:
    queries = SignedQueries(
        Records((2, 3)), *(np.zeros((0, 1), dtype=np.int32),) * 2, np.zeros(0, dtype=np.int32), np.zeros(0, dtype=np.int8), np.zeros(0)
    )
    assert brute_force(RecordProblem.unperturbed(queries)).value == 0.0
    refused(RecordProblem, queries, (np.zeros(2), np.zeros(2)), kind=ValueError, saying="one number for each value")
    refused(RecordProblem, queries, (np.zeros(2), np.array([0.0, np.inf, 0.0])), kind=ValueError, saying="finite")
