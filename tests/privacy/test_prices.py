"""What a transcript is checked against is what the kernel charges: the same event for every operation, in every unit of privacy."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import pytest

from dpsynth_core.audit.cases import DOMAIN, Case
from dpsynth_core.audit.operations import CASES
from dpsynth_core.privacy.events import Event, Gaussian, Residual, Selection
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.release.transcript import Call, RecordedAnswer, due, recording
from dpsynth_core.vocabulary.measurement import Measurement
from tests.additions import added, listed
from tests.refusals import refused

UNITS = [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 3)]
OF_A_PUBLIC_NUMBER = listed("OF_A_PUBLIC_NUMBER")
STRANGERS = [Residual(1e3, 1.0), *(event for module in added("privacy.prices") for event in module.STRANGERS)]
"""Events that are the price of no question here."""


def test_every_operation_that_costs_something_is_compared_below() -> None:
    free = {name for name, operation in everything().items() if operation.event is None}
    assert free == {"seed", "residual_l2"}.union(*(module.FREE for module in added("privacy.prices")))
    assert {case.operation for case in CASES} == set(everything()) - free


def test_every_operation_says_what_it_answers_and_why_it_is_private() -> None:
    for operation in everything().values():
        assert operation.__doc__, operation.name
        assert operation.event is None or re.search(r"Proposition \d+", operation.__doc__), operation.name


def called(case: Case, unit: Unit) -> tuple[list[RecordedAnswer], tuple[Event, ...]]:
    """The answers to the case's question, and what they were charged as."""
    neighbours = case.neighbours(unit)
    kernel = PrivacyKernel(neighbours.tables[1], unit, 1e6, SeededNoise(3), delta=0.5)
    question: dict[str, Any] = case.ask(case.view(kernel), neighbours)
    answers: list[RecordedAnswer] = []
    order = everything()[case.operation].signature.parameters
    recorder = recording(kernel, lambda answer, _: answers.append(answer))
    getattr(case.view(cast(PrivacyKernel, recorder)), case.operation)(*(question[name] for name in order if name in question))
    return answers, kernel.events


@pytest.mark.parametrize("unit", UNITS, ids=str)
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operation} {case.variant}".strip())
def test_the_price_of_a_call_is_what_the_kernel_charged(case: Case, unit: Unit) -> None:
    if case.operation in OF_A_PUBLIC_NUMBER and unit != Unit(REPLACE, 1):
        pytest.skip("needs a public number of rows")
    (answer,), events = called(case, unit)
    wanted = due(Call(unit, DOMAIN, answer.operation, answer.arguments, answer.value))
    assert (wanted is None) == (not events)
    for event in events:
        assert wanted is not None
        assert event.pays(wanted)
        assert type(event) is everything()[answer.operation].event


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case.operation} {case.variant}".strip())
def test_no_other_noise_or_sensitivity_pays(case: Case) -> None:
    unit = Unit(REPLACE, 1) if case.operation in OF_A_PUBLIC_NUMBER else Unit()
    (answer,), (event,) = called(case, unit)
    wanted = due(Call(unit, DOMAIN, answer.operation, answer.arguments, answer.value))
    assert wanted is not None
    for field in fields(event):
        assert not replace(event, **{field.name: getattr(event, field.name) * 2}).pays(wanted)
    assert not any(stranger.pays(wanted) for stranger in STRANGERS)


def test_what_an_older_release_asked_costs_what_it_did_and_what_nobody_knows_is_refused() -> None:
    old = Call(Unit(), DOMAIN, "select_worst_marginal", (0.5, ("about", "0" * 64)), ("a",))
    assert due(old) == Selection(0.5)
    table = Measurement(("a",), np.zeros(2), 4.0)
    assert due(replace(old, operation="measure_marginal", arguments=(("a",), 4.0), answer=table)) == Gaussian(4.0, 1.0)
    refused(due, replace(old, operation="select_best"), saying="'select_best'; use the version that made it")


@pytest.mark.parametrize(
    ("operation", "asked", "given"),
    [
        ("peek", (), 1.0),
        ("measure_total", (), 1.0),
        ("measure_total", ("a",), 1.0),
        ("select_rule", (-1.0,), None),
        ("measure_queries", (1.0,), 3),
        ("measure_marginals", (1.0,), []),
        ("measure_marginals", (("a",),), []),
    ],
)
def test_calls_that_the_kernel_does_not_know_are_refused(operation: str, asked: tuple[Any, ...], given: object) -> None:
    refused(due, Call(Unit(), DOMAIN, operation, asked, given), saying="transcript")
