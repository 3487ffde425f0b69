"""Minimising hits: CP-SAT and the fast transforms against the definition, on all subsets of small sets."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.research.oracles.rules import hits
from dpsynth_core.extensions.research.oracles.rules.hits import ANY, MOST_OF_ROW, MOST_OF_SET, ODD, Hits
from dpsynth_core.extensions.research.oracles.search import Limit
from tests.refusals import refused

HOWS = [ANY, ODD, MOST_OF_ROW, MOST_OF_SET]


def invented(how: str, p: int, rows: int, seed: int) -> Hits:
    """Rows with repetitions, weights of both signs and zeros, a perturbation."""
    rng = np.random.default_rng(seed)
    return Hits(how, rng.random((rows, p)) < 0.4, rng.integers(-4, 5, rows), rng.integers(-6, 7, p))


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("p", [1, 3, 6])
def test_every_subset_costs_what_the_definition_says(how: str, p: int) -> None:
    problem = invented(how, p, 40, p)
    values = hits.all_values(problem)
    assert [problem.value(v) for v in hits.subsets(p, np.arange(1 << p))] == values.tolist()


@pytest.mark.parametrize("how", HOWS)
@pytest.mark.parametrize("seed", range(5))
def test_a_certified_answer_is_a_minimum(how: str, seed: int) -> None:
    problem = invented(how, 6, 40, seed)
    truth = int(hits.all_values(problem).min())
    solution = hits.solve(problem, Limit(30))
    assert solution is not None
    assert solution.certified
    assert solution.value == problem.value(solution.v) == truth
    assert solution.gap == 0


def test_an_answer_without_a_proof_is_not_certified() -> None:
    hard = invented(ODD, 40, 3000, 1)  # learning a parity from noise: hopeless in a second
    solution = hits.solve(hard, Limit(1))
    assert solution is None or not solution.certified
    if solution is not None:
        assert solution.gap > 0


def test_merging_equal_rows_changes_no_cost() -> None:
    problem = invented(MOST_OF_ROW, 4, 60, 2)
    merged = hits.gathered(problem)
    assert len(merged.rows) <= 16
    assert (merged.weights != 0).all()
    for v in hits.subsets(4, np.arange(16)):
        assert merged.value(v) == problem.value(v)


def test_more_subsets_than_can_be_gone_through_are_refused() -> None:
    refused(hits.all_values, invented(MOST_OF_ROW, 15, 3, 1), kind=ValueError, saying="too many")
