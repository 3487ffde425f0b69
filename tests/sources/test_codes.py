"""Codes in memory are counted like any other table."""

from __future__ import annotations

import numpy as np

from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary.domain import Domain
from tests.refusals import refused

DOMAIN = Domain.from_json({"a": 2, "b": 3})
CODES = np.array([[0, 2], [1, 1], [0, 2]], dtype=np.int32)


def test_counts_of_pairs_columns_and_rows() -> None:
    counts = CodesSource(DOMAIN, CODES).counts([("a", "b"), ("b",), ()])
    assert counts["a", "b"].tolist() == [[0, 0, 2], [0, 1, 0]]
    assert counts["b",].tolist() == [0, 1, 2]
    assert counts[()] == 3


def test_codes_of_another_domain_are_refused() -> None:
    refused(CodesSource, DOMAIN, CODES[:, :1], kind=ValueError, saying="one column per attribute")
