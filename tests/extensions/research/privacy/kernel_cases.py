"""Questions of the extension's operations with their prices, and misuses. For `tests/privacy/test_kernel.py`, of whose columns they are."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from dpsynth_core.extensions.research.vocabulary.queries import QueryClass, SparseAnswers
from dpsynth_core.privacy.kernel import PrivacyKernel
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import all_kway

DOMAIN = Domain.from_json({"a": 4, "b": 3, "c": 5})
QUERIES = QueryClass.of(all_kway(DOMAIN, 2))
NONE, THREE = np.zeros(0, dtype=np.int64), np.array([2, 0, 7])
NOTHING = SparseAnswers(NONE, np.zeros(0))
FOREIGN = QueryClass.of(all_kway(Domain.from_json({"a": 4, "b": 3, "c": 6}), 2))


def keep(
    kernel: PrivacyKernel, signs: Collection[int] = (1, -1, 1), answers: Collection[float] = (0.0, 0.5, 1.0), *rates: float
) -> np.ndarray:
    return kernel.keep_queries(QUERIES, THREE, np.array(signs), np.array(answers), *(rates or (0.3, 0.2, 50.0)))


OPERATIONS = {
    "select_signed_query": (lambda kernel: kernel.select_signed_query(QUERIES, NOTHING, 0.4, 3), 3 * 0.16 / 8),
    "select_worst_queries": (lambda kernel: kernel.select_worst_queries(QUERIES, NOTHING, 0.4, 2, NONE), 2 * 0.16 / 8),
    "permute_and_flip": (lambda kernel: kernel.permute_and_flip(QUERIES, NOTHING, 0.4), 0.16 / 2),
    "measure_queries": (lambda kernel: kernel.measure_queries(QUERIES, THREE, 6.0), 3 / 72),
    "keep_queries": (lambda kernel: keep(kernel), 3 * (0.3 / 50 * (1 + 1 / math.expm1(0.2))) ** 2 / 8),
}
MISUSES = [
    lambda kernel: kernel.select_signed_query(QUERIES, NOTHING, 0.0),
    lambda kernel: kernel.select_signed_query(QUERIES, NOTHING, 1.0, 0),
    lambda kernel: kernel.select_signed_query(FOREIGN, NOTHING, 1.0),
    lambda kernel: kernel.select_signed_query(QUERIES, SparseAnswers(np.array([QUERIES.size]), np.ones(1)), 1.0),
    lambda kernel: kernel.select_signed_query(QUERIES, SparseAnswers(NONE, np.zeros(0), math.nan), 1.0),
    lambda kernel: kernel.select_worst_queries(QUERIES, NOTHING, 1e-12, 1, NONE),
    lambda kernel: kernel.select_worst_queries(QUERIES, NOTHING, 1.0, QUERIES.size, THREE),
    lambda kernel: kernel.select_worst_queries(QUERIES, NOTHING, 1.0, 1, np.array([-1])),
    lambda kernel: kernel.permute_and_flip(QUERIES, NOTHING, 1e-12),
    lambda kernel: kernel.permute_and_flip(FOREIGN, NOTHING, 1.0),
    lambda kernel: kernel.permute_and_flip(QUERIES, SparseAnswers(NONE, np.zeros(0), math.nan), 1.0),
    lambda kernel: kernel.measure_queries(QUERIES, NONE, 1.0),
    lambda kernel: kernel.measure_queries(QUERIES, THREE, 0.0),
    lambda kernel: kernel.measure_queries(QUERIES, np.array([QUERIES.size]), 1.0),
    lambda kernel: keep(kernel, (1, 0, 1)),
    lambda kernel: keep(kernel, (1, 1)),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, 1.5)),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, math.nan)),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, 0.0), 0.0, 0.2, 50.0),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, 0.0), 0.3, 0.0, 50.0),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, 0.0), 0.3, 0.2, 0.5),
    lambda kernel: keep(kernel, (1, 1, 1), (0.0, 0.0, 0.0), math.inf, 0.2, 50.0),
]
