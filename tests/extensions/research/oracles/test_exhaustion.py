"""Trying all records finds what brute force and HiGHS find, and only possible records."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.records.problem import MAX_RECORDS, Exhaustion, RecordProblem, Records, SignedQueries, fits
from dpsynth_core.extensions.research.oracles.search import Limit
from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.extensions.research.oracles.brute_force import brute_force
from tests.extensions.research.oracles.milp import milp
from tests.extensions.research.oracles.problems import random_problem
from tests.refusals import refused

PLAIN = Domain.from_json({"a": 4, "b": 3, "c": 5})
LIMITED = Domain(PLAIN.attributes, (StructuralZeros(("a", "c"), (((0, 1), (1, 2, 3)),)),))


@pytest.mark.parametrize("domain", [PLAIN, LIMITED], ids=["all", "some"])
@pytest.mark.parametrize("seed", range(5))
def test_it_is_brute_force_for_many_draws_at_once(domain: Domain, seed: int) -> None:
    rng, queries = np.random.default_rng(seed), QueryClass.of(all_kway(domain, 2))
    numbers, signs = rng.integers(queries.size, size=12), rng.choice(np.array([-1, 1], dtype=np.int8), 12)
    asked = SignedQueries.of(queries, numbers, signs)
    draws = [RecordProblem(asked, tuple(rng.exponential(0.5, size) for size in (4, 3, 5))) for _ in range(6)]
    for answer, problem in zip(Exhaustion.of(Records.of(domain)).solve_many(draws, Limit()), draws, strict=True):
        truth = brute_force(problem)
        assert answer.codes.tolist() == truth.codes.tolist()
        assert answer.value == pytest.approx(truth.value)
        assert (answer.certified, answer.gap) == (True, 0.0)


def test_a_large_domain_does_not_fit() -> None:
    large = Records.of(Domain.from_json({"a": MAX_RECORDS, "b": 2}))
    assert not fits(large)
    refused(Exhaustion.of, large, kind=ValueError, saying="too many")


@pytest.mark.parametrize("seed", range(40))
def test_highs_agrees_with_brute_force(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
    answer, truth = milp(problem), brute_force(problem)
    assert problem.queries.records.possible(answer.codes[None, :]).all()
    assert answer.value == pytest.approx(truth.value, abs=1e-5)  # HiGHS' own tolerance
    assert answer.bound >= truth.value - 1e-5
