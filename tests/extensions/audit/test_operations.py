"""Every operation that a kernel charges for, audited on each build; and kernels with a mistake, which the same audits find.

False alarms: all tests of one build together report a violation that is none with probability `FALSE_ALARM` at most. Where noise is
seeded the outcome is always the same; where it is OpenDP's, that is the real chance.
"""

from __future__ import annotations

import inspect
import math
import re

import pytest

from dpsynth_core.extensions.audit import cases
from dpsynth_core.extensions.audit.cases import UNITS, Case, compute, sample
from dpsynth_core.extensions.audit.evidence import FALSE_ALARM, Accounted, Draw, Finding, smallest_visible
from dpsynth_core.extensions.audit.losses import OPERATIONS
from dpsynth_core.extensions.audit.neighbours import InventedTable
from dpsynth_core.extensions.audit.operations import CASES
from dpsynth_core.privacy import thresholds
from dpsynth_core.privacy.accountant import GDP
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.interface import Kernel, SealedKernel
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.meter import Meter
from dpsynth_core.privacy.noise import OpenDPNoise
from dpsynth_core.privacy.operation import Operation
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import ROOT_STEPS
from tests.additions import listed
from tests.extensions.audit.broken import HalfNoise, Shy, TwiceTheEpsilon, priced_as_add_remove, priced_for_one_row, with_a_cap

DRAWS = 2000


def test_an_invented_person_has_one_root_in_a_group_of_values() -> None:
    """Of three rows in three values, two of which are one group; everybody else has one row."""
    table = InventedTable(Domain.from_json({"a": 3}), [(0,), (0,), (1,), (2,)], 3, 3)
    whole, groups = 3 * ROOT_STEPS, {"few": Groups("few", "a", (0, 0, 1))}
    assert table.roots(("few",), groups) / whole == pytest.approx([1 + (2 / 3) ** 0.5, (1 / 3) ** 0.5], abs=1 / whole)
    assert table.roots(("a",), groups) / whole == pytest.approx([1 + (1 / 3) ** 0.5, *[(1 / 3) ** 0.5] * 2], abs=1 / whole)


LEVEL = FALSE_ALARM / 400
"""There are fewer than 400 findings in this folder."""
QUESTIONS = [(case, unit) for case in CASES for unit in case.units]
COMPUTED = [(case, unit) for case, unit in QUESTIONS if case.finite]
DRAWN = [(case, unit) for case, unit in QUESTIONS if not case.finite]
LONE = next(case for case in CASES if case.title == "discover_values (a value of one person)")
NORMAL = [case for case in CASES if case.operation.startswith(("measure_", "discover_")) and case is not LONE]
"""Those with Gaussian noise."""


def named(operation: str) -> Case:
    return next(case for case in CASES if case.operation == operation)


def broken(findings: list[Finding]) -> bool:
    return any(finding.broken for finding in findings)


# What is audited


def test_every_operation_of_the_kernel_has_an_audit() -> None:
    assert {case.operation for case in CASES} == set(OPERATIONS)


def test_one_place_gives_counts_to_an_operation_and_charges_before() -> None:
    """In the kernel's source the counts are handed over once, in the line after the only charge."""
    source = inspect.getsource(PrivacyKernel)
    assert source.count("answer(self.__view)") == source.count("self._charge(event)") == 1
    assert re.search(r"self\._charge\(event\)\n\s+return answer\(self\.__view\)", source)


def test_mechanisms_know_no_operation_that_is_not_registered() -> None:
    offered = {value.name for known in (Kernel, SealedKernel) for value in vars(known).values() if isinstance(value, Operation)}
    assert offered <= set(everything())
    assert set(OPERATIONS) == {name for name, operation in everything().items() if operation.event is not None}


def test_the_questions_cover_both_relations_with_one_row_and_more() -> None:
    for operation in set(OPERATIONS) - set(listed("OF_A_PUBLIC_NUMBER")):
        assert {unit for case in CASES if case.operation == operation for unit in case.units} == set(UNITS)


# Every build


@pytest.mark.parametrize(("case", "unit"), COMPUTED, ids=lambda x: getattr(x, "title", str(x)))
def test_no_choice_tells_more_than_it_is_charged_for(case: Case, unit: Unit) -> None:
    assert not broken(compute(case, unit))


@pytest.mark.parametrize(("case", "unit"), DRAWN, ids=lambda x: getattr(x, "title", str(x)))
def test_no_noisy_answer_tells_more_than_it_is_charged_for(case: Case, unit: Unit) -> None:
    assert not broken(sample(case, unit, SeededNoise(hash_free(case, unit)), DRAWS, LEVEL))


@pytest.mark.parametrize(
    "operation", ["measure_marginals", "measure_residual", "select_offered_marginal", *listed("WITH_NOISE_OF_RELEASES")]
)
def test_answers_with_the_noise_of_releases_tell_no_more(operation: str) -> None:
    """OpenDP's noise and the operating system's randomness: not repeatable."""
    assert not broken(sample(named(operation), UNITS[3], OpenDPNoise(), 500, LEVEL))


def hash_free(case: Case, unit: Unit) -> int:
    """A seed for each question, the same in every process."""
    return 1000 * CASES.index(case) + UNITS.index(unit)


# Kernels with a mistake


@pytest.mark.parametrize("case", NORMAL, ids=lambda case: case.title)
def test_half_the_noise_is_found(case: Case) -> None:
    """Power: mu is twice what is claimed, and `test_how_much_a_build_sees` says from where on an error is seen."""
    unit = UNITS[1]
    assert broken(sample(case, unit, HalfNoise(1), DRAWS, LEVEL))


def test_how_much_a_build_sees() -> None:
    """1.34 times the mu that is claimed, 95 times of 100: less than sqrt(2), what a wrong relation makes, and less than half the noise."""
    claim = Accounted(GDP, cases.MU**2 / 2)
    assert math.sqrt(2 * smallest_visible(claim, DRAWS, LEVEL)) <= 1.35 * cases.MU
    assert math.sqrt(2 * smallest_visible(claim, round(0.75 * DRAWS), LEVEL)) <= 1.41 * cases.MU


@pytest.mark.parametrize("operation", ["measure_marginals", "measure_errors"])
def test_replacing_at_the_price_of_removing_is_found(operation: str) -> None:
    assert broken(sample(named(operation), Unit(REPLACE), SeededNoise(1), DRAWS, LEVEL, priced_as_add_remove))


def test_choosing_at_the_price_of_removing_is_found() -> None:
    assert broken(compute(named("select_offered_marginal"), Unit(REPLACE), priced_as_add_remove))


LOOSE = listed("LOOSE")
"""Operations whose charge is a bound that no pair of tables comes near: an error of a factor of two stays below it."""
TIGHT = [case for case in CASES if case.operation not in LOOSE and case is not LONE]


@pytest.mark.parametrize("case", TIGHT, ids=lambda case: case.title)
def test_two_rows_at_the_price_of_one_are_found(case: Case) -> None:
    unit = Unit(REPLACE, 2)
    if case.finite:
        assert broken(compute(case, unit, priced_for_one_row))
    else:
        assert broken(sample(case, unit, SeededNoise(1), DRAWS, LEVEL, priced_for_one_row))


CHOICES = ["select_offered_marginal", *listed("CHOICES")]


@pytest.mark.parametrize("operation", CHOICES)
def test_twice_the_epsilon_is_found(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cases, "Branch", TwiceTheEpsilon)
    assert broken(compute(named(operation), Unit(REPLACE)))


@pytest.mark.parametrize("operation", [*CHOICES, *listed("OTHER_CHOICES")])
def test_a_selection_that_is_not_charged_is_found(operation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    assert broken(compute(named(operation), Unit(REPLACE)))


def test_a_selection_that_is_not_charged_is_found_by_drawing_too(monkeypatch: pytest.MonkeyPatch) -> None:
    forget(monkeypatch)
    assert broken(sample(named("select_offered_marginal"), Unit(REPLACE), SeededNoise(1), DRAWS, LEVEL))


def forget(monkeypatch: pytest.MonkeyPatch) -> None:
    """A meter that lets selections pass."""
    charge = Meter.charge
    monkeypatch.setattr(Meter, "charge", lambda meter, event: None if isinstance(event, Selection) else charge(meter, event))


# Values that one person has


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_threshold_that_is_forgotten_is_found(unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "threshold", lambda sigma, delta, rows: -(10**9))  # noqa: ARG005
    assert broken(sample(LONE, unit, SeededNoise(1), DRAWS, LEVEL))


def test_a_threshold_at_one_record_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(thresholds, "threshold", lambda sigma, delta, rows: 1)  # noqa: ARG005
    assert broken(sample(LONE, UNITS[0], SeededNoise(1), DRAWS, LEVEL))


@pytest.mark.parametrize("unit", UNITS, ids=str)
def test_a_delta_that_is_not_charged_is_found(unit: Unit, monkeypatch: pytest.MonkeyPatch) -> None:
    charge = Meter.charge
    monkeypatch.setattr(Meter, "charge", lambda meter, event: charge(meter, Gaussian(event.sigma, event.l2)))
    assert broken(sample(LONE, unit, SeededNoise(1), 2 * DRAWS, LEVEL))


def test_keys_dropped_at_a_cap_are_found() -> None:
    """A source with room for one key: if the person's is the one, everybody else's is gone."""

    def look(answer: dict[str, int]) -> Draw:
        return Draw(0.0, tuple(answer))

    noise, cap = SeededNoise(1), Case("discover_values", LONE.ask, "a cap", others=(cases.OLD,) * 300, look=look)
    assert not broken(sample(cap, UNITS[0], noise, DRAWS // 4, LEVEL))
    assert broken(sample(cap, UNITS[0], noise, DRAWS // 4, LEVEL, with_a_cap))


def test_noise_on_one_side_only_is_found() -> None:
    assert broken(sample(named("measure_marginals"), UNITS[0], Shy(1), DRAWS, LEVEL))
