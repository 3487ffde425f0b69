"""A column of thousands of codes beside small columns: it comes out as it was measured, and the others' relations stay."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from benchmarks import shapes
from benchmarks.codes import error, table
from dpsynth_core.mechanisms.graphical.aim_strategies import LOUD, LOUDER, USUAL_GAP, halves_equal, loud, mean_noise
from dpsynth_core.mechanisms.registry import get
from dpsynth_core.mechanisms.steps import Measured
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.workload import all_kway


def rows(source: CodesSource, mechanism: str, seed: int) -> NDArray[np.integer]:
    return shapes.rows(source, all_kway(source.domain, 2), get(mechanism), 1.0, seed)


@pytest.mark.parametrize(
    ("codes", "people", "seed"), [(500, 3000, 0), (1000, 3000, 1), (2000, 5000, 2), (5000, 20_000, 3), (10_000, 20_000, 4)]
)
def test_aim_keeps_the_codes_as_independent_does_and_the_relation_as_mst_does(codes: int, people: int, seed: int) -> None:
    """1.1 times Independent's error of the codes. MST's error of the relation differs from run to run: 1.5 times, and a hundredth."""
    source = table(codes, people, seed)
    ours, alone, tree = (rows(source, name, seed) for name in ("aim", "independent", "mst"))
    assert error(source, ours, ("code",)) <= 1.1 * error(source, alone, ("code",))
    assert error(source, ours, ("a", "b")) <= 1.5 * error(source, tree, ("a", "b")) + 0.01
    assert error(source, alone, ("a", "b")) > 0.5  # it would be lost if columns were independent


@pytest.mark.parametrize(("codes", "people", "seed"), [(500, 3000, 0), (1000, 3000, 1), (2000, 5000, 2)])
def test_two_columns_of_codes_do_not_cost_the_relation_of_others(codes: int, people: int, seed: int) -> None:
    source = table(codes, people, seed, columns=2)
    ours, alone, tree = (rows(source, name, seed) for name in ("aim", "independent", "mst"))
    for column in ("code", "code2"):
        assert error(source, ours, (column,)) <= 1.1 * error(source, alone, (column,))
    assert error(source, ours, ("a", "b")) <= 1.5 * error(source, tree, ("a", "b")) + 0.01
    assert error(source, alone, ("a", "b")) > 0.5


def test_tables_without_a_loud_column_are_measured_before_any_round() -> None:
    source, chosen = table(5000, 20_000, 3), get("aim")
    workload, accountant = all_kway(source.domain, 2), chosen.card.accountant
    kernel = PrivacyKernel(source, Unit(), accountant.rho_from(1.0, 1e-9), SeededNoise(3), accountant=accountant)
    steps = list(chosen.steps(kernel, workload))
    first = [step.measurement.clique for step in steps if isinstance(step, Measured) and step.round == 0]
    assert [clique for clique in first if len(clique) > 1] == [("a", "b"), ("a", "c"), ("b", "c")]


def test_a_loud_column_leaves_each_other_half_of_what_a_column_gets_on_average() -> None:
    assert loud([0.7, 0.01, 0.01]) == [True, False, False]
    assert loud([0.15, 0.01, 0.01]) == [False, False, False]  # noise does not hide it
    assert loud([0.7]) == [False]  # there is no other column
    assert loud([0.7, 0.6, 0.01, 0.01, 0.01]) == [True, True, False, False, False]
    assert loud([0.3, 0.2, 0.4]) == [False, False, False]
    assert loud([0.3, 0.3, 0.3, 0.01]) == [False, False, False, False]  # most columns are alike
    assert halves_equal({("code",): 0.98, ("a",): 0.02}) == pytest.approx({("code",): 0.74, ("a",): 0.26})


def test_one_loud_column_takes_no_more_than_its_part_and_alike_ones_all_that_they_need() -> None:
    assert mean_noise([0.7]) == 0.7  # there is no other column
    assert mean_noise([0.7, 0.01, 0.01, 0.01]) == pytest.approx((USUAL_GAP + 0.03) / 4)
    assert mean_noise([0.15, 0.01, 0.01, 0.01]) == pytest.approx((LOUD + 0.03) / 4)
    assert mean_noise([0.7, 0.2, 0.2]) == pytest.approx((LOUDER * 0.2 + 0.4) / 3)
    assert mean_noise([0.7, 0.6, 0.01, 0.01, 0.01]) == pytest.approx((2 * USUAL_GAP + 0.03) / 5)
    assert mean_noise([0.3, 0.2, 0.4]) == pytest.approx(0.3)
    assert mean_noise([]) == 0.0
