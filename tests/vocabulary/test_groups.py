"""Groups of values: tables over them are sums of tables over values, whatever the groups."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.grouped_domain import marginals_like, with_groups
from dpsynth_core.vocabulary.groups import Groups
from dpsynth_core.vocabulary.measurement import Measurement
from dpsynth_core.vocabulary.regrouping import by_name, parent, regrouped
from dpsynth_core.vocabulary.released import of_codes, of_columns
from tests.refusals import refused

DOMAIN = Domain.from_json(
    {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 0, "upper": 49, "bins": 5, "other": False, "missing": True},
            {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
            {"name": "town", "kind": "categorical", "categories": list("pqrs"), "other": False, "missing": False},
        ],
        "impossible": [{"never": {"sex": ["f"], "town": ["s"]}}],
    }
)
AGES, TOWNS = Groups("ages", "age", (0, 0, 1, 1, 1, 2)), Groups("towns", "town", (1, 0, 1, 2))
CLIQUES = [("ages",), ("sex", "ages"), ("sex", "towns"), ("age", "towns"), ("ages", "towns"), ("sex", "ages", "towns"), ("age", "sex")]

records = st.lists(st.tuples(st.integers(0, 5), st.integers(0, 1), st.integers(0, 3)), min_size=1, max_size=40)


@given(records, st.sampled_from(CLIQUES))
def test_a_table_over_groups_counts_who_is_in_them(rows: list[tuple[int, int, int]], clique: tuple[str, ...]) -> None:
    codes, groups = np.array(rows, dtype=np.int32), by_name([AGES, TOWNS])
    over = parent(DOMAIN, clique, groups)
    assert over == DOMAIN.clique(over)
    extended = with_groups(DOMAIN, groups.values())
    every = np.column_stack([codes, np.array(AGES.places)[codes[:, 0]], np.array(TOWNS.places)[codes[:, 2]]]).astype(np.int32)
    wanted = of_codes(extended, every, clique)
    np.testing.assert_array_equal(regrouped(of_codes(DOMAIN, codes, over), over, clique, groups), wanted)
    used = tuple(groups[name] for name in clique if name in groups)
    noisy = Measurement(clique, wanted.astype(float), 1.0, groups=used)
    np.testing.assert_array_equal(marginals_like(DOMAIN, codes, [noisy])[0], wanted)


def test_a_domain_with_groups_ties_each_to_its_column() -> None:
    domain = with_groups(DOMAIN, [AGES, TOWNS])
    assert domain.names == ("age", "sex", "town", "ages", "towns")
    impossible = domain.impossible_cells(("age", "ages"))
    assert impossible is not None
    np.testing.assert_array_equal(~impossible, np.array(AGES.places)[:, None] == np.arange(3))
    assert domain.impossible_cells(("sex", "town")) is not None


def test_a_measurement_over_groups_is_one_of_the_columns_beside_them() -> None:
    """Its noise adds up: here over three groups."""
    noisy = Measurement(("sex", "ages"), np.arange(6.0).reshape(2, 3), 2.0, rounding=0.5, groups=(AGES,))
    (plain,) = of_columns([noisy])
    assert (plain.clique, plain.groups) == (("sex",), ())
    np.testing.assert_array_equal(plain.values, [3.0, 12.0])
    assert plain.deviation == pytest.approx(np.sqrt(3 * 4.5))


@pytest.mark.parametrize("places", [(0, 2), (1, 1), ()])
def test_no_group_is_empty(places: tuple[int, ...]) -> None:
    if not places:
        assert Groups("g", "sex", ()).size == 0
        return
    refused(Groups, "g", "sex", places, saying="a group is empty")


@pytest.mark.parametrize("groups", [Groups("g", "nobody", (0, 1)), Groups("g", "sex", (0, 1, 2)), Groups("sex", "sex", (0, 1))])
def test_groups_that_do_not_fit_a_domain_are_refused(groups: Groups) -> None:
    refused(with_groups, DOMAIN, [groups])


def test_a_column_and_its_groups_are_in_no_table_together() -> None:
    refused(parent, DOMAIN, ("age", "ages"), by_name([AGES]), saying="named twice")


def test_a_measurement_knows_the_groups_of_its_table() -> None:
    refused(Measurement, ("sex", "ages"), np.zeros((2, 2)), 1.0, groups=(AGES,), kind=ValueError, saying="groups")
    refused(Measurement, ("sex", "ages"), np.zeros((2, 3)), 1.0, spread=1.0, groups=(AGES,), kind=ValueError, saying="no groups")


def test_more_groups_than_a_model_can_tie_are_refused_at_once() -> None:
    many = Groups("many", "x", tuple(range(2000)))
    refused(with_groups, Domain.from_json({"x": 2000}), [many], saying="more than 1,000,000 cells")
