"""The verdict follows from noise, cells and people, and needs no private number."""

from __future__ import annotations

import math

import pytest

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.planning import feasibility
from dpsynth_core.planning.feasibility import Level
from dpsynth_core.privacy.conversions import rho_from
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Attribute, Domain
from dpsynth_core.vocabulary.workload import Workload, all_kway


def plan(columns: int, cells: int, k: int) -> Workload:
    return all_kway(Domain(tuple(Attribute.coded(f"c{i}", cells) for i in range(columns))), k)


RHO = rho_from(1.0, 1e-9)


def test_176_people_in_80_columns_give_noise_only() -> None:
    assert feasibility.assess(plan(80, 4, 2), RHO, Unit(), 176).value.level is Level.NOISE


def test_50_000_people_in_12_columns_work() -> None:
    verdict = feasibility.assess(plan(12, 10, 2), RHO, Unit(), 50_000)
    assert verdict.value.level is Level.GOOD
    assert verdict.zone is Zone.PUBLIC


def test_large_tables_lose_their_details() -> None:
    assert feasibility.assess(plan(15, 40, 3), RHO, Unit(), 50_000).value.level is Level.COARSE


def test_without_a_number_of_people_there_is_no_verdict_but_what_would_be_needed() -> None:
    verdict = feasibility.assess(plan(12, 10, 2), RHO, Unit(), None).value
    assert verdict.level is Level.UNKNOWN
    assert verdict.columns.share is None
    assert 0 < verdict.columns.people_needed < verdict.tables.people_needed


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
    verdict = feasibility.assess(plan(12, 10, 2), RHO, unit, None).value
    sigma = verdict.noise / math.sqrt(2 / math.pi)
    beyond = math.erfc(0.2 * verdict.smallest_group / sigma / math.sqrt(2))
    fewer = math.erfc(0.2 * (verdict.smallest_group - 1) / sigma / math.sqrt(2))
    assert beyond <= 0.05 < fewer
