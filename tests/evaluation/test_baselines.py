"""Expected errors of simpler mechanisms: what they really give, on average over runs of them."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.evaluation import baselines
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Finished
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.statistics.distances import in_wrong_cell
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import Workload, all_kway, hand_picked
from dpsynth_core.vocabulary.zeros import StructuralZeros
from tests.mechanisms.runs import DOMAIN, people
from tests.privacy.tables import ArraySource

PEOPLE = people(rows=2000)
RHO = 0.02
MIXED = hand_picked(DOMAIN, {("a",): 2.0, ("a", "b"): 1.0, ("a", "b", "c"): 1.0})
"""Marginals inside others: their answers are combined."""


def truth(workload: Workload) -> dict[tuple[str, ...], np.ndarray]:
    return {r: t / 2000 for r, t in PEOPLE.counts(workload.cliques).items()}


def realised(name: str, workload: Workload, unit: Unit, runs: int) -> dict[tuple[str, ...], float]:
    """Mean share of people in a wrong cell of a mechanism's answers over many runs."""
    errors = dict.fromkeys(workload.cliques, 0.0)
    for seed in range(runs):
        *_, last = get(name).steps(PrivacyKernel(PEOPLE, unit, RHO, SeededNoise(seed)), workload)
        assert isinstance(last, Finished)
        for r, table in truth(workload).items():
            errors[r] += in_wrong_cell(table, last.model.marginal(r) / 2000) / runs
    return errors


@pytest.mark.parametrize("workload", [all_kway(DOMAIN, 2), MIXED])
@pytest.mark.parametrize("unit", [Unit(), Unit("replace")])
def test_gaussian_answers_are_as_far_off_as_expected(workload: Workload, unit: Unit) -> None:
    expected = baselines.gaussian(workload, RHO, unit.marginal_l2, 2000)
    # 60 runs of at least 4 cells with a relative deviation of 0.76 each: a standard error below 5 %, three of them
    assert realised("gaussian", workload, unit, 60) == pytest.approx(expected, rel=0.15)


@pytest.mark.parametrize("workload", [all_kway(DOMAIN, 2), MIXED])
@pytest.mark.parametrize("unit", [Unit(), Unit("replace")])
def test_residual_planner_answers_are_as_far_off_as_expected(workload: Workload, unit: Unit) -> None:
    expected = baselines.residual_planner(workload, RHO, unit, 2000)
    # as above; the noise of cells is correlated, that of 4 cells like that of 3 or more independent ones: a standard error below 6 %
    assert realised("residual_planner", workload, unit, 60) == pytest.approx(expected, rel=0.18)


def test_residual_planner_is_expected_to_beat_gaussian_on_the_weighted_error() -> None:
    for workload in (all_kway(DOMAIN, 2), MIXED):
        weighted = [
            sum(workload.weights[r] * error for r, error in errors.items())
            for errors in (baselines.residual_planner(workload, RHO, Unit(), 2000), baselines.gaussian(workload, RHO, 1.0, 2000))
        ]
        assert weighted[0] < weighted[1]


def test_residual_planner_is_left_out_where_working_out_its_noise_would_take_long() -> None:
    wide = Domain.from_json({f"x{i}": 2 for i in range(18)})
    assert baselines.residual_planner(hand_picked(wide, {wide.names: 1.0}), RHO, Unit(), 2000) == {}


@pytest.mark.parametrize(("name", "tolerance"), [("gaussian", 0.15), ("residual_planner", 0.18)])  # as above
def test_baselines_know_impossible_cells(name: str, tolerance: float) -> None:
    limited = Domain(DOMAIN.attributes, (StructuralZeros(("a", "b"), (((0, 1), (2,)), ((3,), (0, 1)))),))
    codes = PEOPLE.rows[~limited.zeros["a", "b"][PEOPLE.rows[:, 0], PEOPLE.rows[:, 1]]]
    source, pairs = ArraySource(limited, codes), all_kway(limited, 2)
    true = {r: table / len(codes) for r, table in source.counts([*pairs.cliques, *((n,) for n in limited.names)]).items()}
    realised = 0.0
    for seed in range(60):
        *_, last = get(name).steps(PrivacyKernel(source, Unit("replace"), RHO, SeededNoise(seed)), pairs)
        realised += in_wrong_cell(true["a", "b"], last.model.marginal(("a", "b")) / len(codes)) / 60
    l2 = Unit("replace").marginal_l2
    expected = {
        "gaussian": baselines.gaussian(pairs, RHO, l2, len(codes)),
        "residual_planner": baselines.residual_planner(pairs, RHO, Unit("replace"), len(codes)),
    }
    assert realised == pytest.approx(expected[name]["a", "b"], rel=tolerance)
