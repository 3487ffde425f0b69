"""What a transcript is checked against is what the kernel charges: the same event for every operation, in every unit of privacy."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.registry import everything
from dpsynth_core.privacy.unit import Unit
from dpsynth_core.release.transcript import Call, due
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Measurement
from tests.additions import added
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 2, "b": 2, "c": 2})


def test_only_these_operations_are_free() -> None:
    free = {name for name, operation in everything().items() if operation.event is None}
    assert free == {"seed", "residual_l2"}.union(*(module.FREE for module in added("privacy.prices")))


def test_every_operation_says_what_it_answers_and_why_it_is_private() -> None:
    for operation in everything().values():
        assert operation.__doc__, operation.name
        assert operation.event is None or re.search(r"Proposition \d+", operation.__doc__), operation.name


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
