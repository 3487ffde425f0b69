"""Ways on from a plan that should not come out good enough: each does what it says, when its plan is worked out anew."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from dpsynth_core.claims import ranks
from dpsynth_core.planning import alternatives
from dpsynth_core.planning import expected_verdict as powers
from dpsynth_core.planning.alternatives import NOTABLE, Kind, Way
from dpsynth_core.planning.expected_verdict import Facts, Power, expected
from dpsynth_core.planning.feasibility import MOSTLY, READABLE
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.budget import WEAK_EPSILON
from dpsynth_core.vocabulary.domain import Attribute, Domain
from tests.specs import usual

DOMAIN = Domain(
    (
        Attribute.integer("age", 0, 99, width=5),
        Attribute.numeric("income", 0.0, 1000.0),
        Attribute.day("born", "1950-01-01", "2020-12-31"),
        *(Attribute.coded(f"c{i}", 3 + i) for i in range(6)),
    )
)
PEOPLE = (100, 400, 1_300, 5_000, 20_000)


def plan(k: int = 2, epsilon: float = 1.0, domain: Domain = DOMAIN, **fields: Any) -> Plan:
    document = usual(
        {"path": "people.csv"}, domain.to_json(), k=k, budget={"epsilon": epsilon, "delta": 1e-9, "certificate": 0.05}, version=1,
        name="plan",
    )
    return Plan.of(Spec.from_json(document | fields))


def offered(k: int, people: int, **fields: Any) -> tuple[Plan, Facts, tuple[Way, ...]]:
    before, facts = plan(k, **fields), Facts(people, ("aim", "independent"))
    return before, facts, alternatives.ways(before, facts)


@pytest.mark.parametrize("people", PEOPLE)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_each_way_does_what_it_says_and_more_than_what_is_there(k: int, people: int) -> None:
    before, facts, found = offered(k, people)
    now = expected(before, facts)
    for way in found:
        anew = expected(alternatives.changed(before.spec, way.changes), facts)
        assert anew == way.power
        assert anew.hope in way.sentence
        assert way.power.enough or way.power.share >= now.share + NOTABLE
        assert ("not enough" in way.sentence) != way.power.enough
    assert (not found) or not now.enough
    assert len({way.kind for way in found}) == len(found)


def test_there_is_a_way_of_each_kind_where_each_helps() -> None:
    for people, k in ((1_300, 1), (5_000, 2)):
        assert [way.kind for way in offered(k, people)[2]] == [Kind.EPSILON, Kind.TABLES, Kind.GROUPS]


def test_the_usual_mechanism_is_offered_where_another_was_chosen_and_does_less() -> None:
    worse = plan(mechanism={"name": "independent"})
    found = alternatives.ways(worse, Facts(20_000))
    assert found[0].kind is Kind.MECHANISM
    assert alternatives.changed(worse.spec, found[0].changes).mechanism.card.name == "aim"
    assert found[0].power.share > expected(worse, Facts(20_000)).share
    assert all(way.kind is not Kind.MECHANISM for people in PEOPLE for way in offered(2, people)[2])


def test_what_is_not_enough_is_not_offered_where_a_release_showed_as_many_columns_already() -> None:
    before = plan(2)
    few, none = (alternatives.ways(before, Facts(1_300, ("aim", "independent"), shown=shown)) for shown in (0.0, 0.75))
    assert [way.power.enough for way in few if way.kind is Kind.TABLES] == [False]
    assert all(way.power.enough or way.power.share_of_columns >= 0.75 for way in none)


def test_nothing_is_offered_where_all_is_good() -> None:
    before, facts, found = offered(1, 1_000_000)
    assert expected(before, facts).enough
    assert not found


def test_two_changes_are_put_together_only_where_no_single_one_does() -> None:
    both = offered(2, 400)[2]
    assert not any(way.power.enough for way in both if way.kind is not Kind.TOGETHER)
    assert both[-1].kind is Kind.TOGETHER
    assert both[-1].power.enough
    assert set(both[-1].changes) == {"workload", "budget"}
    assert all(way.kind is not Kind.TOGETHER for way in offered(2, 5_000)[2])


def test_more_budget_is_the_least_of_two_digits_and_needs_no_reason() -> None:
    for people in PEOPLE:
        before, facts, found = offered(2, people)
        for way in (one for one in found if one.kind is Kind.EPSILON):
            epsilon = way.changes["budget"]["epsilon"]
            assert before.spec.budget.epsilon < epsilon <= WEAK_EPSILON
            less = {"budget": way.changes["budget"] | {"epsilon": epsilon * 0.9}}
            assert way.power.share >= alternatives.SURELY > expected(alternatives.changed(before.spec, less), facts).share
    assert all(way.kind is not Kind.EPSILON for way in offered(2, 1_300, epsilon=20.0, budget=_weak())[2])


def _weak() -> dict[str, Any]:
    return {"epsilon": 20.0, "delta": 1e-9, "certificate": 0.05, "reason": "the tables of counts are published already, by law"}


def test_what_the_account_does_not_hold_says_so() -> None:
    before = plan()
    found = alternatives.ways(before, Facts(5_000, left=before.shares.rho * 1.01))
    assert [way.allowed for way in found] == [way.kind is not Kind.EPSILON for way in found]
    assert ["does not allow" in way.sentence for way in found] == [not way.allowed for way in found]


def test_fewer_tables_are_some_of_those_asked_for_or_parts_of_them() -> None:
    for people in PEOPLE:
        for form in (
            {"kind": "all", "k": 3},
            {"kind": "target", "column": "c2", "k": 3},
            {"kind": "random", "k": 2, "count": 20, "seed": 1},
        ):
            before = plan(workload=form)
            for way in (one for one in alternatives.ways(before, Facts(people)) if "workload" in one.changes):
                after = alternatives.changed(before.spec, way.changes)
                asked = list(map(set, before.workload.cliques))
                assert all(any(set(clique) <= one for one in asked) for clique in after.workload.cliques)
                assert after.workload.cells < before.workload.cells


def test_parts_of_tables_around_a_column_are_around_it() -> None:
    about_c2 = plan(workload={"kind": "target", "column": "c2", "k": 3})
    (way,) = (one for one in alternatives.ways(about_c2, Facts(7_000)) if one.kind is Kind.TABLES)
    assert way.changes["workload"] == {"kind": "target", "column": "c2", "k": 2}


def test_wider_groups_change_numbers_and_dates_alone_and_only_their_groups() -> None:
    before, _, found = offered(2, 5_000)
    after = alternatives.changed(before.spec, found[-1].changes).domain
    assert after.names == before.domain.names
    widened = [(one, wider) for one, wider in zip(before.domain, after, strict=True) if wider != one]  # as many columns as it takes
    assert widened
    for one, wider in widened:
        assert (wider.lower, wider.upper, wider.kind) == (one.lower, one.upper, one.kind)
        assert one.is_number
        assert alternatives.FEWEST <= wider.values < one.values


def test_cuts_that_somebody_chose_stay_cuts() -> None:
    cuts = [0, 3, 7, 18, 21, 30, 42, 55, 65, 67, 80]
    wider = alternatives.coarser(Attribute.integer("age", 0, 99, edges=cuts), 5)
    assert set(wider.edges) < {*cuts, 100}
    assert wider.values <= 5


def test_columns_that_rules_and_reasons_speak_of_keep_their_groups() -> None:
    rule = {"columns": ["age", "c0"], "cells": [["0 to 4", "2"]], "note": "so it is"}
    domain = Domain.from_json(DOMAIN.to_json() | {"impossible": [rule]})
    found = alternatives.ways(plan(domain=domain), Facts(5_000))
    changed = [Domain.from_json(way.changes["domain"]) for way in found if "domain" in way.changes]
    assert changed
    assert all(one["age"] == domain["age"] for one in changed)


def test_a_way_that_a_condition_forbids_is_not_offered() -> None:
    must = {"kind": "tables", "limit": 0.1, "tables": [["age", "c1"]]}
    found = alternatives.ways(plan(criteria=[must]), Facts(5_000))
    assert all(alternatives.changed(plan(criteria=[must]).spec, way.changes) for way in found)
    kept = [way.changes["workload"] for way in found if "workload" in way.changes]
    assert all(["age", "c1"] in [table["attributes"] for table in form["marginals"]] for form in kept)


def test_no_name_of_a_column_is_in_what_is_said() -> None:
    hostile = Domain(tuple(Attribute.integer(f"<b>**{i}", 0, 99) for i in range(6)))
    for way in alternatives.ways(plan(domain=hostile), Facts(3_000)):
        assert "<b>" not in way.sentence


def power(people: int, **fields: Any) -> Power:
    one = plan(**fields)
    return powers.power(one.workload, one.shares, one.unit, people, ("aim",))


def test_more_people_more_budget_and_smaller_errors_never_name_fewer_tables() -> None:
    """To a hundredth of a table: where groups of tables are measured instead, chances near 0 are others."""
    by_people = [round(power(people).good, 2) for people in (500, 1_000, 3_000, 10_000, 30_000)]
    by_budget = [round(power(3_000, epsilon=epsilon).good, 2) for epsilon in (0.1, 0.5, 1.0, 2.0, 5.0)]
    assert by_people == sorted(by_people)
    assert by_budget == sorted(by_budget)
    for people in (500, 3_000, 10_000):
        one = power(people)
        assert one.fewest <= one.good <= one.most <= one.perfect <= one.tables


def test_named_tables_are_those_whose_limit_worse_tables_would_rarely_pass() -> None:
    """The rule of Read (2002), drawn: a table at the limit passes at most a twentieth as often as one without error."""
    for deviation in (0.01, 0.03, 0.06, 0.2):
        at_limit, perfect = powers._named(np.array([READABLE, 0.0]), deviation)
        assert at_limit <= (1 - powers.CONFIDENCE) * 1.0001
        most = powers._most(round(READABLE / deviation, 6))
        assert ndtr(most - READABLE / deviation) == pytest.approx((1 - powers.CONFIDENCE) * ndtr(most), rel=1e-6)
        assert perfect == pytest.approx(ndtr(most))
    assert powers._named(np.zeros(1), 1.0)[0] < 0.01


def test_the_people_that_are_needed_are_just_enough_for_rows_without_error() -> None:
    one = plan()
    needed = powers.people_needed(one.shares, one.unit, one.workload.cliques)
    assert not power(needed).hopeless
    assert power(round(needed * 0.98)).hopeless
    assert power(round(needed * 0.98)).warning.startswith("Noise hides good tables")


def test_without_a_certificate_the_noise_of_the_tables_decides() -> None:
    bare = {"epsilon": 1.0, "delta": 1e-9}
    one = plan(budget=bare)
    assert powers.people_needed(one.shares, one.unit, 36) == 0
    assert power(1_300, budget=bare).good == powers.assess(one.workload, one.shares.mechanism, one.unit, 1_300).value.tables.within
    assert not power(1_300, budget=bare).hopeless


def test_errors_that_were_larger_than_expected_are_expected_again() -> None:
    one, facts = plan(), Facts(8_000)
    worse = expected(one, Facts(8_000, worse=2.0))
    assert worse.error == pytest.approx(2 * expected(one, facts).error)
    assert worse.good < MOSTLY * worse.tables
    assert alternatives.ways(one, Facts(8_000, worse=2.0))


def test_of_a_group_that_comes_out_good_most_tables_are_called_so() -> None:
    """A group is named where most of its tables are near, and a verdict counts no more of it than that."""
    few, many = power(1_000), power(1_000_000)
    assert (few.grouped, many.grouped) == (True, False)
    assert many.hope == "about 36 of 36 tables"
    assert replace(many, grouped=True).hope == f"about {ranks.rank_of(36)} of 36 tables"


def test_fewer_columns_are_offered_where_there_are_many_and_the_light_is_red() -> None:
    wide = Domain.from_json({f"q{number}": 2 + number % 4 for number in range(60)})
    before, facts = plan(2, domain=wide), Facts(2_000, ("aim", "independent"))
    found = alternatives.ways(before, facts)
    assert expected(before, facts).light is powers.Light.RED
    (fewer,) = (way for way in found if way.kind is Kind.COLUMNS)
    after = alternatives.changed(before.spec, fewer.changes)
    assert fewer.power.enough
    assert fewer.power == expected(after, facts)
    assert len(after.domain) in alternatives.COLUMNS
    assert f"Keep {len(after.domain)} of the 60 columns" in fewer.sentence
    assert after.workload.to_json() == before.workload.to_json()
    assert all(way.kind is not Kind.COLUMNS for way in alternatives.ways(before, replace(facts, people=5_000))), "amber, and others do"
    assert all(way.kind is not Kind.COLUMNS for people in PEOPLE for way in offered(2, people)[2]), "nine columns are not many"


def test_fewer_columns_keep_the_tables_within_them() -> None:
    wide = Domain.from_json({f"q{number}": 3 for number in range(40)})
    picked = [{"attributes": [f"q{a}", f"q{b}"], "weight": 2.0} for a in range(40) for b in range(a + 1, 40) if (a + b) % 2]
    before, facts = plan(domain=wide, workload={"kind": "marginals", "marginals": picked}), Facts(1_500, ("aim", "independent"))
    (fewer,) = (way for way in alternatives.ways(before, facts) if way.kind is Kind.COLUMNS)
    after = alternatives.changed(before.spec, fewer.changes)
    assert set(after.workload.cliques) == {clique for clique in before.workload.cliques if set(clique) <= set(after.domain.names)}
    assert set(after.workload.weights.values()) == {2.0}
