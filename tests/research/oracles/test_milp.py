"""HiGHS as a second opinion."""

from __future__ import annotations

import numpy as np
import pytest

from tests.research.oracles.brute_force import brute_force
from tests.research.oracles.milp import milp
from tests.research.oracles.problems import random_problem


@pytest.mark.parametrize("seed", range(40))
def test_highs_agrees_with_brute_force(seed: int) -> None:
    problem = random_problem(np.random.default_rng(seed), zeros=seed % 2 == 0)
    answer, truth = milp(problem), brute_force(problem)
    assert problem.queries.records.possible(answer.codes[None, :]).all()
    assert answer.value == pytest.approx(truth.value, abs=1e-5)  # HiGHS' own tolerance
    assert answer.bound >= truth.value - 1e-5
