"""Rows that stand for several each are counted as these would be."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import subsets
from dpsynth_core.vocabulary.rows import Repeated, one_table, row_marginals


@pytest.mark.parametrize("rows", [0, 1, 50])
def test_repeated_rows_are_counted_as_often_as_they_stand(rows: int) -> None:
    rng = np.random.default_rng(rows)
    domain = Domain.from_json({"a": 2, "b": 3})
    codes, times = rng.integers(2, size=(rows, 2)).astype(np.uint8), rng.integers(1, 2521, size=rows).astype(np.uint16)
    repeated, cliques = Repeated(codes, times), list(subsets(domain.names))
    plain = row_marginals(domain, np.repeat(codes, times, axis=0), cliques)
    assert len(repeated) == times.sum(dtype=int)
    for clique, counts in row_marginals(domain, repeated, cliques).items():
        np.testing.assert_array_equal(counts, plain[clique], strict=True)
    with pytest.raises(TypeError, match="two linked tables"):
        one_table(repeated)
