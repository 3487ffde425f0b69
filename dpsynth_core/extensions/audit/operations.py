"""A question for every operation that a kernel charges for: the core's here, an extension's in its part for audits (`Extension.parts`)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from dpsynth_core.extensions.audit.cases import EPS, FAR, MU, OLD, RECORDS, Case, Question
from dpsynth_core.extensions.audit.neighbours import Neighbours, Row
from dpsynth_core.foundation import extension
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.privacy.scores import Offered
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Additive, Largest, Predictor

LONE_MU, LONE_DELTA = 0.25, 0.3
"""mu and delta at which the value of a single person is visible if it is released more often than allowed; it hardly shows otherwise."""


def _fewer_rows(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return the person's rows in the first and in the second table.

    The second table has the largest number of rows allowed. The first has one row under replace and
    none under add-remove.
    """
    return ((OLD,) if unit.relation == REPLACE else ()), (OLD,) * unit.max_rows_per_person


def _offered_marginal(_: PrivacyKernel, neighbours: Neighbours) -> Question:
    """Return a question that selects among two of three offered marginals.

    The person moves one of the two further from its offered answer and the other closer. The
    offsets are set so that halfway between the tables both are equally far.
    """
    answers = {("b",): np.array([FAR, -FAR]), ("a", "b"): np.array([[-FAR, FAR], [0.0, 0.0]]), ("a",): np.zeros(2)}
    halfway = {r: sum(float(np.abs(table.count(r) - answers[r]).sum()) for table in neighbours.tables) / 2 for r in answers}
    return {"offered": Offered(answers, dict.fromkeys(answers, 1.0), halfway), "eps": EPS, "among": np.array([True, True, False])}


def _marginals(kernel: PrivacyKernel, _: Neighbours) -> Question:
    return {"cliques": [("b",), _PAIR], "sigma": kernel.unit.marginals_l2(2) / MU}


def _errors(kernel: PrivacyKernel, _: Neighbours) -> Question:
    answers: dict[Clique, Any] = {("b",): np.array([FAR, -FAR]), ("a", "b"): np.array([[FAR, -FAR], [0.0, 0.0]])}
    return {"answers": answers, "sigma": np.sqrt(len(answers)) * kernel.unit.marginal_l1 / MU}


def _range(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """Return a question for the largest error of a range.

    One cell has too many people and the other too few, so the largest range is one cell: the one
    that the person's rows enter.
    """
    return {"answers": {("b",): np.array([FAR / 2, -FAR])}, "columns": ("b",), "sigma": kernel.unit.query_l1 / MU}


def _ranked_error(kernel: PrivacyKernel, neighbours: Neighbours) -> Question:
    """Return a question for the larger of two errors, both of which the person changes."""
    answers = _errors(kernel, neighbours)["answers"]
    return {"answers": answers, "rank": len(answers), "sigma": kernel.unit.marginal_l1 / MU}


def _sum(kernel: PrivacyKernel, _: Neighbours) -> Question:
    """Return a question for a weighted sum that the person changes by as much as possible.

    Under replace the rows move from the cell with the smallest weight to the one with the largest;
    under add-remove they are added to the latter.
    """
    low, high = -0.5, 1.0
    return {"clique": ("b",), "weights": np.array([low, high]), "low": low, "high": high, "sigma": kernel.unit.sum_l2(low, high) / MU}


_LARGEST, _PAIR = Attribute.integer("b", 0, 1), ("a", "b")
"""Cells of a column in which the person has the largest number of all; a marginal."""
_GUESS = Predictor("b", Additive(np.array([0, 1], dtype=np.int64), {}), Largest(np.arange(2)))
"""A predictor that is right about the person's rows and about no other row in `OLD`."""

CASES = (
    Case("measure_marginals", _marginals),
    Case("measure_residual", lambda kernel, _: {"clique": _PAIR, "sigma": kernel.residual_l2(_PAIR, 1.0) / MU}, share=0.75),
    Case("measure_roots", lambda kernel, _: {"clique": _PAIR, "sigma": kernel.unit.marginal_l2 / MU}),
    Case("measure_cells", lambda kernel, _: {"clique": ("b",), "cells": _LARGEST, "sigma": kernel.unit.marginal_l2 / MU}),
    Case(
        "discover_values",
        lambda kernel, _: {"clique": ("b",), "sigma": kernel.unit.marginal_l2 / MU, "delta": 1e-9},
        "values that others share",
    ),
    Case(
        "discover_values",
        lambda kernel, _: {"clique": ("b",), "sigma": kernel.unit.marginal_l2 / LONE_MU, "delta": LONE_DELTA},
        "a value of one person",
        others=(OLD,) * RECORDS,
    ),
    Case("measure_total", lambda kernel, _: {"sigma": kernel.unit.query_l1 / MU}, person=_fewer_rows),
    Case("select_offered_marginal", _offered_marginal, finite=True),
    Case("measure_errors", _errors),
    Case("measure_ranked_error", _ranked_error),
    Case("measure_largest_error", lambda kernel, _: {"answers": {("b",): np.array([0.0, -FAR])}, "sigma": kernel.unit.query_l1 / MU}),
    Case("measure_largest_range", _range),
    Case("measure_right", lambda kernel, _: {"predictors": [_GUESS] * 3, "sigma": np.sqrt(3) * kernel.unit.query_l1 / MU}),
    Case("measure_sum", _sum),
    Case("measure_errors", _errors, "in a group of records", view=lambda kernel: kernel.among({"a": (0,)})),
    *(
        Case(name, ask, "of weighted records", view=lambda kernel: kernel.weighted("b", np.array([1, 3])))
        for name, ask in (("measure_marginals", _marginals), ("measure_errors", _errors))
    ),
    *(case for audits in extension.parts("audit") for case in audits.CASES),
)
"""At least one case for each charged operation."""
