"""A question for each operation that is charged: none reads without its charge, and a transcript is checked at the price."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, cast

import numpy as np
import pytest

from dpsynth_core.extensions.audit.cases import DOMAIN, Case
from dpsynth_core.extensions.audit.operations import CASES
from dpsynth_core.foundation.errors import BudgetExceeded
from dpsynth_core.privacy.events import Event, Residual
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.release.transcript import Call, RecordedAnswer, due, recording
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Predictor
from tests.additions import added, listed
from tests.privacy.tables import ArraySource
from tests.refusals import refused

UNITS = [Unit(relation, rows) for relation in ("add-remove", "replace") for rows in (1, 3)]
OF_A_PUBLIC_NUMBER = listed("OF_A_PUBLIC_NUMBER")
STRANGERS = [Residual(1e3, 1.0), *(event for module in added("privacy.prices") for event in module.STRANGERS)]
"""Events that are the price of no question here."""


def test_every_operation_that_costs_something_is_compared_below() -> None:
    assert {case.operation for case in CASES} == {name for name, operation in everything().items() if operation.event is not None}


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


class Watched(ArraySource):
    """A source that notes that it was read."""

    reads = 0

    def counts(self, cliques: Collection[Clique]) -> dict[Clique, np.ndarray]:
        self.reads += 1
        return super().counts(cliques)

    def occupied(self, clique: Clique) -> Any:
        self.reads += 1
        return super().occupied(clique)

    def right(self, predictors: Sequence[Predictor]) -> np.ndarray:
        self.reads += 1
        return super().right(predictors)


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.title)
def test_no_operation_reads_anything_that_the_budget_does_not_cover(case: Case) -> None:
    """All but PRSMA's number of records, which is public there."""
    unit = case.units[0]
    neighbours = case.neighbours(unit)
    question = case.ask(PrivacyKernel(neighbours.tables[0], unit, 1.0, SeededNoise(0)), neighbours)
    source = Watched(neighbours.domain, neighbours.tables[0].codes)
    source.values = source.over = source.roots = source.counts  # type: ignore[attr-defined]
    kernel = PrivacyKernel(source, unit, 1e-9, SeededNoise(0), 0.0 if case.operation in listed("OF_DELTA_ALONE") else 0.9)
    refused(getattr(kernel, case.operation), **question, kind=BudgetExceeded)
    assert source.reads == (case.operation in listed("OF_A_PUBLIC_NUMBER"))
