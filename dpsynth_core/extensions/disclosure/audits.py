"""Audits of the extension's operations: people whose value is named, and cells that they enter and leave one by one (`audit`)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from dpsynth_core.extensions.audit.cases import MU, Case, Question
from dpsynth_core.extensions.audit.losses import Maker
from dpsynth_core.extensions.audit.neighbours import Neighbours, Row
from dpsynth_core.privacy.interface import Kernel
from dpsynth_core.privacy.unit import REPLACE, Unit
from dpsynth_core.vocabulary.predictors import Additive, Predictor, Within

_SHARED: tuple[Row, ...] = ((0, 0, 0), (0, 0, 1))
"""Cells that somebody else is in, too."""
_EMPTY: tuple[Row, ...] = ((1, 0, 0), (1, 0, 1))
_TABLE = ("a", "b", "c")


def _moved(unit: Unit) -> tuple[Sequence[Row], Sequence[Row]]:
    """Return rows of a person before and after: from cells with another record, each to an empty one; so each changes two numbers."""
    rows = unit.max_rows_per_person
    return (_SHARED[:rows] if unit.relation == REPLACE else ()), _EMPTY[:rows]


def _alone(kernel: Kernel, _: Neighbours) -> Question:
    return {"cells": {_TABLE: np.ones((2, 2, 2), dtype=np.bool_)}, "sigma": kernel.unit.errors_l2(1) / MU}


_GUESS = Predictor("b", Additive(np.array([0], dtype=np.int64), {"a": np.array([[1], [1]])}), Within(np.array([1, 2]), np.array([1, 2])))
"""A predictor that names the first value of everybody: rightly for the person's old rows, wrongly for the new ones."""


def _named(kernel: Kernel, _: Neighbours) -> Question:
    return {"predictors": [_GUESS] * 2, "sigma": kernel.unit.marginals_l2(2) / MU}


CASES = (
    Case("measure_named", _named),
    Case("measure_alone", _alone, others=_SHARED, person=_moved),
)
GUESSES: Mapping[str, Maker] = {}
