"""The workload: what it contains, what it refuses, and that its JSON means the same workload."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from itertools import chain, combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.workload import MAX_MARGINAL_CELLS, Workload, all_kway, from_json, hand_picked, ranges, target
from tests.refusals import refused
from tests.tiers import examples

DOMAIN = Domain.from_json({"age": 4, "sex": 2, "work": 3, "region": 5, "income": 2})


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    cliques = st.sets(st.sampled_from(DOMAIN.names), min_size=1, max_size=4).map(DOMAIN.clique)
    return Workload(DOMAIN, draw(st.dictionaries(cliques, st.floats(1e-3, 1e3), min_size=1, max_size=8)))


@pytest.mark.parametrize("k", [1, 2, 3, 5])
def test_all_kway_is_every_set_of_k_columns_once(k: int) -> None:
    assert list(all_kway(DOMAIN, k).cliques) == list(combinations(DOMAIN.names, k))


def test_target_is_every_set_of_k_columns_with_the_target() -> None:
    workload = target(DOMAIN, "work", 3)
    assert set(workload.cliques) == {c for c in combinations(DOMAIN.names, 3) if "work" in c}


def test_hand_picked_marginals_become_canonical() -> None:
    assert dict(hand_picked(DOMAIN, {("income", "age"): 2}).weights) == {("age", "income"): 2.0}


def test_cells_counts_the_cells_of_all_marginals() -> None:
    assert hand_picked(DOMAIN, {("age", "sex"): 1, ("region",): 1}).cells == 8 + 5


@given(workloads())
def test_closure_is_every_non_empty_subset_by_size_then_domain_order(workload: Workload) -> None:
    subsets = {s for c in workload.cliques for s in chain.from_iterable(combinations(c, k) for k in range(1, len(c) + 1))}
    in_order = [c for k in range(1, len(DOMAIN) + 1) for c in combinations(DOMAIN.names, k) if c in subsets]
    assert list(workload.closure()) == in_order


@given(workloads())
def test_closing_the_closure_changes_nothing(workload: Workload) -> None:
    closed = Workload(DOMAIN, dict.fromkeys(workload.closure(), 1.0))
    assert closed.closure() == workload.closure()


@given(workloads())
def test_aim_weight_is_the_weighted_overlap_with_the_workload(workload: Workload) -> None:
    for r, w in workload.aim_weights().items():
        overlap = math.fsum(c * len(set(r) & set(s)) for s, c in workload.weights.items())
        assert w == pytest.approx(overlap, rel=1e-12)  # the same sum in another order


@given(workloads())
def test_json_reads_back_as_the_same_workload(workload: Workload) -> None:
    assert from_json(DOMAIN, json.loads(json.dumps(workload.to_json()))) == workload


def test_json_of_a_regular_workload_is_its_short_form() -> None:
    assert all_kway(DOMAIN, 3).to_json() == {"kind": "all", "k": 3}
    assert target(DOMAIN, "income", 3).to_json() == {"kind": "target", "column": "income", "k": 3}


@given(st.sampled_from(DOMAIN.names), st.integers(1, 5))
@examples(25)
def test_short_forms_read_back_as_the_same_set_of_marginals(column: str, k: int) -> None:
    for workload in (all_kway(DOMAIN, k), target(DOMAIN, column, k)):
        assert dict(from_json(DOMAIN, workload.to_json()).weights) == dict(workload.weights)


@pytest.mark.parametrize(
    ("obj", "problem"),
    [
        (None, "not a JSON object"),
        ({}, "kind"),
        ({"kind": "some", "k": 2}, "'some' is unknown"),
        ({"kind": "all"}, "whole number"),
        ({"kind": "all", "k": "3"}, "whole number"),
        ({"kind": "all", "k": True}, "whole number"),
        ({"kind": "all", "k": 0}, "from 1 to the 5 columns"),
        ({"kind": "all", "k": 6}, "from 1 to the 5 columns"),
        ({"kind": "all", "k": 2, "weight": 3}, "weight"),
        ({"kind": "target", "column": "wealth", "k": 2}, "'wealth' is not a column"),
        ({"kind": "ranges", "columns": "age"}, "not a list of column names"),
        ({"kind": "ranges", "columns": ["wealth"]}, "'wealth' is not a column"),
        ({"kind": "ranges", "columns": ["sex"]}, "column 'sex': its values have no order, or are too few"),
        ({"kind": "ranges", "columns": ["age"], "threshold": 1}, "ranges are asked for"),
        ({"kind": "ranges", "k": 2}, "k"),
        ({"kind": "marginals", "marginals": []}, "no marginals"),
        ({"kind": "marginals", "marginals": {}}, "not a list"),
        ({"kind": "marginals", "marginals": ["age"]}, "not a JSON object"),
        ({"kind": "marginals", "marginals": [{"attributes": []}]}, "not a list of column names"),
        ({"kind": "marginals", "marginals": [{"attributes": ["age", "age"]}]}, "twice"),
        ({"kind": "marginals", "marginals": [{"attributes": ["wealth"]}]}, "wealth"),
        ({"kind": "marginals", "marginals": [{"attributes": ["age"]}, {"attributes": ["age"]}]}, "listed twice"),
        ({"kind": "marginals", "marginals": [{"attributes": ["age"], "weight": 0}]}, "not a positive number"),
        ({"kind": "marginals", "marginals": [{"attributes": ["age"], "weight": math.nan}]}, "not a positive number"),
        ({"kind": "marginals", "marginals": [{"attributes": ["age"], "weight": "1"}]}, "not a positive number"),
    ],
)
def test_bad_json_is_refused_and_says_what_is_wrong(obj: object, problem: str) -> None:
    refused(from_json, DOMAIN, obj, saying=problem)


def test_a_marginal_of_too_many_cells_is_refused_by_name() -> None:
    wide = Domain.from_json({"a": 100_000, "b": MAX_MARGINAL_CELLS // 100_000 + 1, "c": 2})
    refused(all_kway, wide, 2, kind=CapacityError, saying="a x b has 10,100,000 cells")
    assert all_kway(wide, 1).cells == 100_103


def test_too_many_marginals_are_refused_before_they_are_listed() -> None:
    wide = Domain.from_json({f"c{i}": 2 for i in range(400)})
    for make in (lambda: all_kway(wide, 10), lambda: target(wide, "c0", 10)):  # 10^19 sets: listing them would never end
        refused(make, kind=CapacityError, saying="subsets")


def test_cliques_out_of_domain_order_are_refused() -> None:
    refused(Workload, DOMAIN, {("sex", "age"): 1.0}, saying="domain order")


def test_ranges_are_of_columns_alone_and_with_each_other_column() -> None:
    workload = ranges(DOMAIN, ["work", "age"])
    assert set(workload.cliques) == {
        *[("age",), ("work",), ("age", "sex"), ("age", "work"), ("age", "region"), ("age", "income")],
        *[("sex", "work"), ("work", "region"), ("work", "income")],
    }
    assert workload.to_json() == {"kind": "ranges", "columns": ["age", "work"]}
    assert from_json(DOMAIN, workload.to_json()) == workload


def test_ranges_of_all_columns_are_of_those_with_an_order() -> None:
    sex = Attribute.categorical("sex", ["f", "m"])
    domain = Domain((Attribute.integer("age", 0, 9, bins=5), sex, Attribute.categorical("region", ["n", "s", "w"])))
    assert ranges(domain) == from_json(domain, {"kind": "ranges"})
    assert set(ranges(domain).cliques) == {("age",), ("age", "sex"), ("age", "region")}
    refused(ranges, Domain((sex,)), saying="no column of the domain has an order")


@pytest.mark.parametrize("form", [{"kind": "all", "k": 2}, {"kind": "target", "column": "sex", "k": 2}])
def test_a_threshold_is_kept_in_json(form: dict[str, object]) -> None:
    workload = from_json(DOMAIN, form | {"threshold": 1})
    assert workload.threshold == 1
    assert workload.to_json() == form | {"threshold": 1}
    assert from_json(DOMAIN, workload.to_json()) == workload
    assert workload != from_json(DOMAIN, form)
    assert workload.asking(None) == from_json(DOMAIN, form)


def test_a_threshold_of_hand_picked_marginals_may_not_exceed_the_columns_of_the_smallest() -> None:
    marginals = [{"attributes": ["age", "sex"]}, {"attributes": ["age"]}]
    assert from_json(DOMAIN, {"kind": "marginals", "marginals": marginals, "threshold": 1}).threshold == 1
    with pytest.raises(InputError, match=r"workload\.threshold: 2 is not a whole number from 1 to the 1 columns"):
        from_json(DOMAIN, {"kind": "marginals", "marginals": marginals, "threshold": 2})


@pytest.mark.parametrize("threshold", [0, 3, -1, 1.5, True, "2", [1]])
def test_a_threshold_that_is_no_number_of_columns_is_refused(threshold: object) -> None:
    refused(from_json, DOMAIN, {"kind": "all", "k": 2, "threshold": threshold}, saying=r"workload\.threshold")


@pytest.mark.parametrize("form", [{"kind": "all", "k": 3}, {"kind": "target", "column": "b", "k": 3}, {"kind": "all", "k": 1}])
def test_cells_of_the_closure_are_known_without_listing_it(form: dict[str, object]) -> None:
    domain = Domain.from_json({"a": 2, "b": 3, "c": 5, "d": 7, "e": 11})
    read = from_json(domain, form)
    assert read.closure_cells == sum(domain.cells(clique) for clique in read.closure())
    picked = replace(read, weights=dict.fromkeys(read.weights, 2.0))  # no short form says this
    assert picked.closure_cells == read.closure_cells
    assert picked.closure_tables == read.closure_tables == len(read.closure())


@pytest.mark.parametrize("k", [1, 2, 3, 4])
def test_marginals_around_a_column_are_in_the_order_of_all_marginals(k: int) -> None:
    domain = Domain.from_json(dict.fromkeys("dcbafe", 2))
    for column in domain.names:
        assert list(target(domain, column, k).weights) == [c for c in combinations(domain.names, k) if column in c]


def test_cells_and_widths_of_marginals_follow_their_order() -> None:
    domain = Domain.from_json({"a": 2, "b": 3, "c": 5})
    asked = hand_picked(domain, {("c", "a"): 1.0, ("b",): 2.0, ("a", "b", "c"): 1.0})
    assert asked.table_cells.tolist() == [domain.cells(clique) for clique in asked.cliques] == [10, 3, 30]
    assert asked.widths.tolist() == [2, 1, 3]
