"""R2 is 1 for what a measured table holds and 0 for what no table does, also where few rows fall on each cell."""

from __future__ import annotations

import numpy as np
import pytest

from dpsynth_core.extensions.intervals.estimates import prepared
from dpsynth_core.extensions.intervals.explained import explained, tables
from dpsynth_core.extensions.intervals.formulas import read
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Clique, Measurement
from tests.extensions.intervals.releases import DOMAIN, codes

ROWS = codes(3000)


def measured(*cliques: Clique) -> list[Measurement]:
    return [Measurement(clique, np.zeros(DOMAIN.sizes(clique)), 1.0) for clique in cliques]


def r2(text: str, *cliques: Clique) -> list[float]:
    asked = prepared(DOMAIN, read(text))
    influence = asked.estimate(ROWS, influence=True).influence
    return explained(influence, DOMAIN, ROWS, tables(DOMAIN, ROWS, measured(*cliques)), asked.columns).r2.tolist()


def test_every_measured_cell_is_explained_by_its_own_table() -> None:
    clique = ("age", "sick")
    at = ROWS[:, 0] * 3 + ROWS[:, 2]
    influence = np.array([(at == cell) - (at == cell).mean() for cell in range(12)])
    found = explained(influence, DOMAIN, ROWS, tables(DOMAIN, ROWS, measured(clique)), clique)
    assert found.r2 == pytest.approx(np.ones(12), abs=1e-9)


def test_a_product_of_independent_columns_is_not_explained_by_them() -> None:
    """Random signs: what single columns explain of their product by chance is 4 / 3000, and R2 is corrected for it."""
    rng = np.random.default_rng(6)
    rows = np.column_stack([rng.integers(0, size, 3000) for size in DOMAIN.sizes(DOMAIN.names)]).astype(np.int32)
    product = (rows[:, 0] - 1.5) * (2 * rows[:, 1] - 1)
    found = explained(product[None, :], DOMAIN, rows, tables(DOMAIN, rows, measured(("age",), ("sex",))), ("age", "sex"))
    assert abs(found.r2[0]) < 0.01
    assert found.missing == (("age", "sex"),)


def test_an_analysis_is_explained_by_the_tables_that_it_needs_and_by_no_less() -> None:
    assert r2("mean(age)", ("age",)) == pytest.approx([1.0])
    assert r2("difference(sick == yes, sex == m)", ("sex", "sick")) == pytest.approx([1.0])
    assert r2("difference(sick == yes, sex == m)", ("sex",), ("sick",))[0] < 0.1
    linear = r2("visits ~ age + sex", ("age", "visits"), ("sex", "visits"), ("age", "sex"))
    assert min(linear) > 0.98
    assert min(r2("visits ~ age + sex", ("age", "visits"), ("sex",))) < 0.5


def test_the_missing_relation_is_a_pair_where_a_pair_is_enough() -> None:
    asked = prepared(DOMAIN, read("visits ~ age + sex"))
    influence = asked.estimate(ROWS, influence=True).influence
    held = explained(influence, DOMAIN, ROWS, tables(DOMAIN, ROWS, measured(("age", "visits"), ("sex",))), asked.columns)
    assert held.missing[2] == ("sex", "visits")


def test_columns_without_relations_do_not_explain_random_numbers() -> None:
    """Tables of all pairs have 69 cells together, so that they explain 2 % of anything, before the correction."""
    rng = np.random.default_rng(9)
    names = DOMAIN.names
    pairs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :]]
    noise = rng.normal(size=(20, len(ROWS)))
    found = explained(noise, DOMAIN, ROWS, tables(DOMAIN, ROWS, measured(*pairs)), names)
    assert abs(found.r2.mean()) < 0.01


def test_groups_of_values_explain_what_they_tell_apart() -> None:
    groups = Groups("age (2 groups)", "age", (0, 0, 1, 1))
    table = Measurement(("age (2 groups)", "sick"), np.zeros((2, 3)), 1.0, groups=(groups,))
    for text, low, high in (("share(sick == yes | age >= 40)", 0.999, 1.0), ("share(sick == yes | age >= 50)", 0.1, 0.9)):
        asked = prepared(DOMAIN, read(text))
        influence = asked.estimate(ROWS, influence=True).influence
        found = explained(influence, DOMAIN, ROWS, tables(DOMAIN, ROWS, [table]), asked.columns)
        assert low <= found.r2[0] <= high, text


def test_a_table_inside_another_is_left_out() -> None:
    assert len(tables(DOMAIN, ROWS, measured(("age",), ("age", "sex"), ()))) == 1
