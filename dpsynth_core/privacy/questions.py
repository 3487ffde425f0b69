"""What a question to the kernel is about, beyond the names of columns and the numbers in it: predictors, weights, a group of records.

All of it is public or released. It stands beside each answer, so that an answer is never taken for one about something else that was
asked in the same words.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from hashlib import sha256
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dpsynth_core.privacy.selection.scores import SUM_STEPS
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.predictors import Predictor

_AMONG = "among"


def digests(operation: str, arguments: Sequence[Any], options: Mapping[str, Any]) -> tuple[tuple[str, ...], ...]:
    """SHA-256 of what a call was given in whole, as one more argument; none where names and numbers say enough."""
    digested = _DIGESTED.get(operation)
    return () if digested is None else (digested(*arguments, **options),)


def among(cells: Mapping[str, tuple[int, ...]]) -> tuple[str, ...]:
    """The group of records in these cells of columns, as one more argument: its last."""
    return (_AMONG, *(f"{name}: {', '.join(map(str, cells[name]))}" for name in sorted(cells)))


def is_group(argument: object) -> bool:
    """Whether the last argument of a call is a group."""
    return isinstance(argument, tuple) and argument[:1] == (_AMONG,)


def _predictors(predictors: Sequence[Predictor], sigma: float) -> tuple[str, ...]:  # noqa: ARG001
    return tuple(one.sha256 for one in predictors)


def _weights(clique: Clique, weights: NDArray[np.float64], low: float, high: float, sigma: float) -> tuple[str, ...]:  # noqa: ARG001
    """As the kernel rounds them."""
    return (sha256(np.rint(weights * SUM_STEPS).astype("<i8").tobytes()).hexdigest(),)


_DIGESTED: Mapping[str, Callable[..., tuple[str, ...]]] = {"measure_right": _predictors, "measure_sum": _weights}
