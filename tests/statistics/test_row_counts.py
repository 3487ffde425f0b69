"""Counts of synthetic rows by one product of matrices: the same integers as by blocks of columns, and only where it is cheaper."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from dpsynth_core.statistics import row_counts
from dpsynth_core.statistics.row_counts import is_product_cheaper
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.rows import Repeated, row_marginals

DOMAIN = Domain.from_json({f"q{number}": 1 + number % 5 for number in range(50)})
PAIRS: list[Clique] = [*combinations(DOMAIN.names, 2)]
SINGLE: list[Clique] = [(name,) for name in DOMAIN.names]


def rows(number: int) -> np.ndarray:
    drawn = np.random.default_rng(number)
    return np.column_stack([drawn.integers(0, size, number) for size in DOMAIN.sizes(DOMAIN.names)]).astype(np.int32)


@pytest.mark.parametrize("number", [0, 1, 5_000])
def test_the_product_counts_what_blocks_count(number: int) -> None:
    codes = rows(number)
    assert is_product_cheaper(DOMAIN, number, [*PAIRS, *SINGLE])
    ours, blocks = row_counts.row_counts(DOMAIN, codes, [*PAIRS, *SINGLE]), row_marginals(DOMAIN, codes, [*PAIRS, *SINGLE])
    assert list(ours) == list(blocks)
    assert all(ours[clique].dtype == np.int64 and np.array_equal(ours[clique], blocks[clique]) for clique in blocks)


def test_the_product_is_left_where_it_takes_longer_or_cannot_count() -> None:
    assert not is_product_cheaper(DOMAIN, 5_000, PAIRS[:20]), "few marginals"
    assert not is_product_cheaper(DOMAIN, 5_000, [*PAIRS, DOMAIN.names[:3]]), "a table of three columns"
    assert not is_product_cheaper(DOMAIN, 5_000_000, PAIRS), "many rows"
    assert not is_product_cheaper(Domain.from_json(dict.fromkeys(DOMAIN.names, 100)), 5, PAIRS), "many values: the product takes 200 MB"


def test_repeated_rows_and_tables_of_three_columns_are_counted_too() -> None:
    codes = rows(300)
    twice = Repeated(codes, np.full(len(codes), 2))
    asked = [*PAIRS, DOMAIN.names[:3]]
    once, doubled = (row_counts.row_counts(DOMAIN, some, asked) for some in (codes, twice))
    assert all(np.array_equal(2 * once[clique], doubled[clique]) for clique in asked)
