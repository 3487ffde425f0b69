"""A question for every operation that a kernel charges for: the core's here, a wing's in its `audits` (`foundation.wings`)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from dpsynth_core.audit.cases import EPS, FAR, MU, OLD, RECORDS, Ask, Case, Question
from dpsynth_core.audit.neighbours import Neighbours, Row
from dpsynth_core.foundation.wings import registered
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor

LONE_MU, LONE_DELTA = 0.25, 0.3
"""Where a value of one person shows as such, if it shows more often than it may: hardly anything else does."""


def _marginal(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"clique": ("a", "b"), "sigma": kernel.unit.marginal_l2 / MU}


def _cells(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The person has the largest number of all."""
    return {"clique": ("b",), "cells": Attribute.integer("b", 0, 1), "sigma": kernel.unit.marginal_l2 / MU}


def _values(mu: float, delta: float) -> Ask:
    def ask(kernel: PrivacyKernel, _: Neighbours) -> Question:
        return {"clique": ("b",), "sigma": kernel.unit.marginal_l2 / mu, "delta": delta}

    return ask


def _residual(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"clique": ("a", "b"), "sigma": kernel.residual_l2(("a", "b"), 1.0) / MU}


def _total(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"sigma": kernel.unit.query_l1 / MU}


def _fewer_rows(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    """Somebody who is replaced may own fewer rows than before."""
    return ((OLD,) if unit.relation == REPLACE else ()), (OLD,) * unit.max_rows_per_person


def _worst_marginal(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:  # noqa: ARG001
    """Two marginals: one that the person brings further from its answer, and one that they bring closer; equally far half way."""
    answers = {("b",): np.array([FAR, -FAR]), ("a", "b"): np.array([[-FAR, FAR], [0.0, 0.0]])}
    halfway = {r: sum(float(np.abs(table.count(r) - answers[r]).sum()) for table in neighbours.tables) / 2 for r in answers}
    return {"answers": answers, "weights": dict.fromkeys(answers, 1.0), "offsets": halfway, "eps": EPS}


def _errors(kernel: PrivacyKernel, _: Neighbours) -> Question:
    answers: dict[Clique, Any] = {("b",): np.array([FAR, -FAR]), ("a", "b"): np.array([[FAR, -FAR], [0.0, 0.0]])}
    return {"answers": answers, "sigma": np.sqrt(len(answers)) * kernel.unit.marginal_l1 / MU}


def _largest_error(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"answers": {("b",): np.array([0.0, -FAR])}, "sigma": kernel.unit.query_l1 / MU}


def _sum(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The person leaves the cell with the smallest weight, or comes to the one with the largest."""
    low, high = -0.5, 1.0
    return {"clique": ("b",), "weights": np.array([low, high]), "low": low, "high": high, "sigma": kernel.unit.sum_l2(low, high) / MU}


def _right(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """The same predictor three times, which is right about the person's rows and about nobody else's in `OLD`."""
    guess = Predictor("b", Additive(np.array([0, 1], dtype=np.int64), {}), Largest(np.arange(2)))
    return {"predictors": [guess] * 3, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}


def _all_cases() -> Iterator[Case]:
    yield Case("measure_marginal", _marginal)
    yield Case("measure_residual", _residual, share=0.75)
    yield Case("measure_cells", _cells)
    yield Case("discover_values", _values(MU, 1e-9), "values that others share")
    yield Case("discover_values", _values(LONE_MU, LONE_DELTA), "a value of one person", others=(OLD,) * RECORDS)
    yield Case("measure_total", _total, person=_fewer_rows)
    yield Case("select_worst_marginal", _worst_marginal, finite=True)
    yield Case("measure_errors", _errors)
    yield Case("measure_largest_error", _largest_error)
    yield Case("measure_right", _right)
    yield Case("measure_sum", _sum)
    yield Case("measure_errors", _errors, "in a group of records", group={"a": (0,)})
    for wing in registered("audits"):
        yield from wing.CASES


CASES = tuple(_all_cases())
"""At least one for each operation that is charged."""
