"""The largest error is that of the worst query of the class."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from dpsynth_core.extensions.research.vocabulary.queries import QueryClass
from dpsynth_core.statistics.distances import largest_error
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.rows import row_marginals
from dpsynth_core.vocabulary.workload import all_kway

DOMAIN = Domain.from_json({"a": 3, "b": 2, "c": 4})
ROWS = st.integers(0, 30).flatmap(lambda n: st.tuples(*(arrays(np.int32, n, elements=st.integers(0, s - 1)) for s in (3, 2, 4))))


@pytest.mark.parametrize("threshold", [None, 1, 2])
@given(ROWS, ROWS)
def test_the_largest_error_is_that_of_the_worst_query_asked_of_the_rows(threshold: int | None, one: tuple, other: tuple) -> None:
    queries = QueryClass.of(all_kway(DOMAIN, 2).asking(threshold))
    tables_of = [np.stack(columns, axis=1) for columns in (one, other)]
    marginals = [row_marginals(DOMAIN, codes, queries.cliques) for codes in tables_of]
    shares = [
        np.array([queries.query(number).of(codes).mean() if len(codes) else 0.0 for number in range(queries.size)]) for codes in tables_of
    ]
    assert largest_error(*marginals, threshold) == pytest.approx(np.abs(shares[0] - shares[1]).max(), abs=1e-12)
