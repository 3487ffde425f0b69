"""The verdict follows from noise, cells and people, and needs no private number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from dpsynth_core.evaluation import verdict
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import feasibility
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.workload import Workload, all_kway


def plan(columns: int, cells: int, k: int) -> Workload:
    return all_kway(Domain(tuple(Attribute.coded(f"c{i}", cells) for i in range(columns))), k)


RHO = rho_from(1.0, 1e-9)


def test_of_176_people_in_80_columns_noise_alone_moves_most_of_a_table() -> None:
    tables = feasibility.assess(plan(80, 4, 2), RHO, Unit(), 176).value.tables
    assert tables.share is not None
    assert tables.share > 0.5


def test_50_000_people_in_12_columns_are_hardly_moved() -> None:
    assessed = feasibility.assess(plan(12, 10, 2), RHO, Unit(), 50_000)
    assert assessed.value.tables.share is not None
    assert assessed.value.tables.share < feasibility.READABLE
    assert assessed.zone is Zone.PUBLIC


def test_columns_are_promised_by_the_rule_that_judges_a_release() -> None:
    """Each within its limit with 95 % confidence, and most of them: of 1,500 people the columns with few values are, the others not."""
    sizes = [2] * 3 + [12] * 8
    few = all_kway(Domain(tuple(Attribute.coded(f"c{i}", size) for i, size in enumerate(sizes))), 2)
    outlook = feasibility.assess(few, RHO, Unit(), 1_500).value
    assert (outlook.columns.within, outlook.columns.tables) == (3, 11)
    assert (verdict.LIMIT, verdict.MOSTLY) == (feasibility.READABLE, feasibility.MOSTLY)
    noise = outlook.noise / math.sqrt(2 / math.pi) * np.random.default_rng(1).standard_normal((20_000, 12))
    for people in (1_500, 3_000, 6_000):
        columns = feasibility.assess(few, RHO, Unit(), people).value.columns
        for size, tables in ((2, 3), (12, 11)):  # of 20,000 draws the share that keeps to the limit has a deviation of 0.0015 at 0.95
            kept = (np.abs(noise[:, :size]).sum(axis=1) / (2 * people) <= verdict.LIMIT).mean()
            assert (columns.within >= tables) == (kept >= 0.95), (people, size, kept)


def test_without_a_number_of_people_there_is_no_verdict_but_what_would_be_needed() -> None:
    assessed = feasibility.assess(plan(12, 10, 2), RHO, Unit(), None).value
    assert assessed.columns.share is None
    assert 0 < assessed.columns.people_needed < assessed.tables.people_needed


def test_the_people_needed_are_just_enough() -> None:
    needed = feasibility.assess(plan(12, 10, 2), RHO, Unit(), None).value.columns.people_needed
    enough = feasibility.assess(plan(12, 10, 2), RHO, Unit(), needed).value.columns.share
    short = feasibility.assess(plan(12, 10, 2), RHO, Unit(), needed - 2).value.columns.share
    assert enough is not None
    assert short is not None
    assert enough <= feasibility.READABLE < short


@pytest.mark.parametrize(("unit", "factor"), [(Unit(), 1), (Unit(REPLACE), math.sqrt(2)), (Unit(max_rows_per_person=3), 3)])
def test_noise_is_that_of_two_measurements_per_column(unit: Unit, factor: float) -> None:
    sigma = factor * math.sqrt(24 / (2 * RHO))  # each of 24 measurements costs l2^2 / (2 sigma^2)
    assert feasibility.assess(plan(12, 10, 2), RHO, unit, None).value.noise == pytest.approx(math.sqrt(2 / math.pi) * sigma)


@pytest.mark.parametrize("unit", [Unit(), Unit(REPLACE), Unit(max_rows_per_person=3)])
def test_the_smallest_group_that_can_be_read_is_missed_by_a_fifth_in_one_case_of_twenty(unit: Unit) -> None:
    assessed = feasibility.assess(plan(12, 10, 2), RHO, unit, None).value
    sigma = assessed.noise / math.sqrt(2 / math.pi)
    beyond = math.erfc(0.2 * assessed.smallest_group / sigma / math.sqrt(2))
    fewer = math.erfc(0.2 * (assessed.smallest_group - 1) / sigma / math.sqrt(2))
    assert beyond <= 0.05 < fewer
