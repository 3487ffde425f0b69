"""Questions that differ by an array alone. For `tests/release/test_transcript.py`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.interface import SealedKernel
from dpsynth_core.vocabulary.domain import Domain

SUPPORT, START = np.array([[0, 0], [1, 0]], dtype=np.int32), np.full(2, 0.5)


def sparse(value: float) -> SparseAnswers:
    return SparseAnswers(np.array([0]), np.array([value]))


def asked(domain: Domain) -> dict[str, Callable[[SealedKernel, float], Any]]:
    """Of a table with the column a of two values."""
    queries, first = QueryClass(domain, (("a",),)), np.array([0])
    return {
        "signed": lambda kernel, x: kernel.select_signed_query(queries, sparse(x), 1.0),
        "left out": lambda kernel, x: kernel.select_worst_queries(queries, sparse(0.0), 1.0, 1, np.array([int(4 * x)])),
        "flip": lambda kernel, x: kernel.permute_and_flip(queries, sparse(x), 1.0),
        "numbers": lambda kernel, x: kernel.measure_queries(queries, np.array([int(4 * x)]), 2.0),
        "bits": lambda kernel, x: kernel.keep_queries(queries, first, np.array([1], dtype=np.int8), np.array([0.5 + x]), 0.1, 0.1, 3.0),
        "mixture": lambda kernel, x: kernel.best_mixture_error(queries, SUPPORT, START * (1 + x), 3.0, 1.0, 50.0),
    }
