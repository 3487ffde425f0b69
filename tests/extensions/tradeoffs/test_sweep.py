"""A sweep is a document: its points are ordinary specs, each with its own settings, and every field reaches them."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from dpsynth_core.extensions.tradeoffs import curves, values
from dpsynth_core.extensions.tradeoffs.sweep import Sweep, Swept, sweepable, usual_values
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.vocabulary.attribute import FEWEST_LEARNT, Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.registry import KINDS, LEARNABLE
from tests.extensions.tradeoffs.plans import plan, sweep
from tests.refusals import refused


def test_points_are_the_grid_and_the_first_repeat_comes_first() -> None:
    tried = sweep(epsilons=(0.5, 2.0), sizes=(1, 3), repeats=2).points
    assert [p.number for p in tried] == list(range(16))
    assert [p.repeat for p in tried] == [0] * 8 + [1] * 8
    assert len({(p.mechanism, p.epsilon, p.size, p.repeat) for p in tried}) == 16


def test_a_point_is_the_plan_with_its_own_mechanism_budget_and_tables() -> None:
    base = plan(mechanism={"name": "mst", "settings": {"max_size_mb": 7.0}}, budget={"epsilon": 9.0, "delta": 1e-8, "certificate": 0.1})
    whole = sweep(base, epsilons=(0.5,), sizes=(2,))
    for point in whole.points:
        spec = whole.spec(point)
        assert (spec.mechanism.name, spec.budget.epsilon, spec.budget.delta, spec.budget.certificate) == (point.mechanism, 0.5, 1e-8, 0.1)
        assert dict(spec.mechanism.settings) == ({"max_size_mb": 7.0} if point.mechanism == "mst" else {})
        assert tuple(Plan.of(spec).workload.cliques) == whole.cliques(2)


def test_a_trial_measures_tables_with_what_the_plan_has_for_them() -> None:
    """A plan with numbers looks inside their bins and measures their means; a trial does not, and is no more precise for it."""
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "inside": 0.1, "means": 0.03}
    numbers = {"version": 1, "attributes": [{"name": name, "kind": "integer", "lower": 0, "upper": 99, "bins": 4} for name in "abc"]}
    base = plan(domain=numbers, budget=budget, workload={"kind": "all", "k": 2})
    tried = sweep(base, epsilons=(1.0, 4.0), sizes=(3,))
    for point in tried.points:
        real = {**json.loads(base.model_dump_json()), "data": {"path": "people.csv"}, "mechanism": {"name": point.mechanism}}
        planned = Plan.of(Spec.from_json({**real, "budget": {**budget, "epsilon": point.epsilon}})).shares
        assert planned.of("inside") > 0
        shares = Plan.of(tried.spec(point)).shares
        assert (shares.mechanism, shares.of("certificate")) == pytest.approx((planned.mechanism, planned.of("certificate")), rel=1e-6)
        assert dict(shares.aside).keys() == {"certificate"}
    assert tried.rho == pytest.approx(sum(Plan.of(tried.spec(point)).shares.rho for point in tried.points))


OPEN = {
    "version": 1,
    "attributes": [
        {"name": "a", "kind": "categorical", "discover": True},
        {"name": "b", "kind": "integer", "discover": True},
        {"name": "c", "kind": "coded", "size": 4},
    ],
}


def learning(**fields: Any) -> Sweep:
    """A sweep of a plan that learns two columns, with invented values in their place."""
    budget = {"epsilon": 1.0, "delta": 1e-9, "certificate": 0.05, "discovery": 0.2}
    base = plan(domain=OPEN, workload={"kind": "all", "k": 2}, budget=budget)
    domain, invented = values.in_place(Domain.from_json(base.domain))
    return sweep(base, **({"values": domain.to_json(), "invented": invented} | fields))


def test_trials_of_a_plan_that_learns_have_values_and_what_the_plan_has_left_for_tables() -> None:
    tried = learning(epsilons=(0.5, 2.0))
    assert tried.invented == ("a", "b")
    assert [attribute.values for attribute in tried.domain] == [8, 8, 4]
    for point in tried.points:
        real = {**json.loads(tried.base.model_dump_json()), "data": {"path": "people.csv"}, "mechanism": {"name": point.mechanism}}
        planned = Plan.of(Spec.from_json({**real, "budget": {**real["budget"], "epsilon": point.epsilon}})).shares
        assert planned.of("discovery") == pytest.approx(0.2 * planned.rho)
        made = Plan.of(tried.spec(point))
        assert not made.domain.unknown
        assert made.shares.mechanism == pytest.approx(planned.mechanism, rel=1e-6)
        assert made.shares.of("certificate") == pytest.approx(planned.of("certificate"), rel=1e-6)
        assert dict(made.shares.aside).keys() == {"certificate"}


def test_values_that_a_release_learnt_are_taken_before_invented_ones() -> None:
    learnt = replace(Attribute.unknown("a", "categorical"), most=0, categories=("x", "y"), other=True)
    of_another_kind = Attribute.categorical("b", ["1", "2"])
    domain, invented = values.in_place(Domain.from_json(OPEN), Domain((learnt, of_another_kind)))
    assert domain["a"] == learnt
    assert invented == ("b",)


@pytest.mark.parametrize("kind", LEARNABLE)
@pytest.mark.parametrize("most", [FEWEST_LEARNT, 9, 32])
def test_invented_values_of_every_kind_make_a_domain(kind: str, most: int) -> None:
    hierarchy = Hierarchy(level=2) if KINDS[kind].grouped else None
    domain, invented = values.in_place(Domain((Attribute.unknown("it", kind, most, hierarchy=hierarchy),)))
    assert invented == ("it",)
    assert 2 <= domain["it"].values <= values.INVENTED
    assert domain["it"].size <= most
    assert Domain.from_json(domain.to_json()) == domain


def test_a_plan_that_learns_is_refused_without_values_and_with_invented_ones_on_another_table() -> None:
    refused(learning, values=None, invented=())
    refused(learning, values=OPEN)
    refused(learning, values=Domain.from_json({"a": 2, "b": 2}).to_json())
    refused(sweep, values=Domain.from_json({"a": 2, "b": 3, "c": 4}).to_json())
    tried = learning()
    private = tried.base.model_copy(update={"data": plan(data={"path": "people.csv"}).data})
    refused(replace, tried, base=private, table="private", saying="simulated data")
    assert replace(tried, base=private, table="private", invented=()).zone is Zone.CURATOR


def test_each_value_of_a_swept_setting_is_a_trial_of_its_mechanism_alone() -> None:
    tried = sweep(mechanisms=("independent", "mst"), epsilons=(0.5, 1.0), swept=Swept("mst", "max_size_mb", (1.0, 20.0)))
    assert [(p.mechanism, p.value) for p in tried.points if p.epsilon == 0.5] == [("independent", None), ("mst", 1.0), ("mst", 20.0)]
    settings = [dict(tried.spec(point).mechanism.settings) for point in tried.points[:3]]
    assert settings == [{}, {"max_size_mb": 1.0}, {"max_size_mb": 20.0}]
    seeds = [tried.spec(point).output.seed for point in tried.points]
    assert len(set(seeds)) == 6
    plain = sweep(mechanisms=("independent", "mst"), epsilons=(0.5, 1.0))
    assert seeds[0] == plain.spec(plain.points[0]).output.seed
    assert len(curves.settings(tried, range(6))) == 6


def test_trials_of_a_swept_setting_on_the_private_table_are_all_paid_for() -> None:
    private = sweep(plan(data={"path": "people.csv"}), table="private", swept=Swept("mst", "max_size_mb", (1.0, 10.0, 20.0)))
    alone = sweep(plan(data={"path": "people.csv"}), table="private", mechanisms=("mst",))
    other = sweep(plan(data={"path": "people.csv"}), table="private", mechanisms=("independent",))
    assert private.rho == pytest.approx(3 * alone.rho + other.rho)


def test_usual_values_of_every_setting_can_be_swept() -> None:
    for name in registry.MECHANISMS:
        for parameter in sweepable(name):
            usual = usual_values(parameter)
            assert Swept(name, parameter.name, tuple(usual)).values == tuple(usual)


@pytest.mark.parametrize(
    "stated",
    [
        ("mst", "max_size_mb", ()),
        ("mst", "max_size_mb", (1.0, 1.0)),
        ("mst", "max_size_mb", (-1.0,)),
        ("mst", "max_size_mb", (float("nan"),)),
        ("mst", "preset", (1.0,)),
        ("magic", "max_size_mb", (1.0,)),
        ("aim", "max_size_mb", (1.0,)),  # is not among the mechanisms
    ],
)
def test_a_setting_that_cannot_be_swept_is_refused(stated: tuple) -> None:
    refused(lambda: sweep(swept=Swept(*stated)))


def test_what_is_tried_as_published_is_called_so() -> None:
    tried = sweep(plan(mechanism={"name": "mst", "settings": {"preset": "paper"}}))
    assert tried.titles == {"independent": registry.get("independent").card.title, "mst": registry.PUBLISHED["mst"].card.title}
    assert [one.mechanism for one in curves.settings(tried, [0, 1])] == list(tried.titles.values())
    assert tried.titles["mst"] != registry.get("mst").card.title


def test_smaller_workloads_are_parts_of_larger_ones() -> None:
    grown = [set(sweep(sizes=(1, 2, 3)).cliques(size)) for size in (1, 2, 3)]
    assert [len(part) for part in grown] == [1, 2, 3]
    assert grown[0] < grown[1] < grown[2]


def test_noise_repeats_on_a_stand_in_and_never_on_the_private_table() -> None:
    tried = sweep(repeats=2)
    seeds = [tried.spec(point).output.seed for point in tried.points]
    assert len(set(seeds)) == 4
    assert seeds == [sweep(repeats=2).spec(point).output.seed for point in tried.points]
    private = sweep(plan(data={"path": "people.csv"}), table="private")
    assert [private.spec(point).output.seed for point in private.points] == [None, None]


def test_a_public_table_that_informs_the_plan_says_nothing_of_another_one() -> None:
    base = plan(public={"path": "public.csv"})
    assert {sweep(base).spec(point).public for point in sweep(base).points} == {None}
    private = sweep(plan(data={"path": "people.csv"}, public={"path": "public.csv"}), table="private")
    assert all(private.spec(point).public is not None for point in private.points)


def test_errors_on_the_private_table_are_curator_only_and_all_trials_are_paid_for() -> None:
    private = sweep(plan(data={"path": "people.csv"}), table="private", epsilons=(0.5, 1.0), repeats=3)
    assert private.zone is Zone.CURATOR
    counted = [registry.get(name).card.accountant for name in private.mechanisms]
    assert private.rho == pytest.approx(3 * sum(a.rho_from(0.5, 1e-9) + a.rho_from(1.0, 1e-9) for a in counted))
    assert sweep().zone is sweep(plan(data={"kind": "demo"}), table="public").zone is Zone.PUBLIC


def test_the_document_can_be_written_and_read() -> None:
    tried = sweep(epsilons=(0.25, 1.0), sizes=(1, 3), repeats=2, strengths=(0.1, 0.9))
    assert Sweep.from_json(json.loads(json.dumps(tried.to_json()))) == tried
    assert not {"swept", "values", "invented"} & tried.to_json().keys()  # so that sweeps of earlier versions keep their digest
    learns = learning(swept=Swept("mst", "max_size_mb", (1.0, 20.0)))
    assert Sweep.from_json(json.loads(json.dumps(learns.to_json()))) == learns


@pytest.mark.parametrize(
    "change",
    [
        {"mechanisms": ("mst",)},
        {"epsilons": (2.0,)},
        {"sizes": (2,)},
        {"repeats": 2},
        {"strengths": (0.2, 0.8)},
        {"base": plan(population="others")},
        {"swept": Swept("mst", "max_size_mb", (1.0,))},
    ],
)
def test_every_field_changes_the_digest(change: dict) -> None:
    assert sweep(**change).digest() != sweep().digest()


@pytest.mark.parametrize(
    "change",
    [
        {"mechanisms": ()},
        {"mechanisms": ("mst", "mst")},
        {"mechanisms": ("magic",)},
        {"epsilons": ()},
        {"epsilons": (0.0,)},
        {"epsilons": (float("nan"),)},
        {"sizes": ()},
        {"repeats": 0},
        {"repeats": 21},
        {"strengths": (0.2, 0.2)},
        {"strengths": (1.5,)},
        {"strengths": (float("nan"),)},
        {"strengths": (0.5,), "table": "public", "base": plan(data={"path": "people.csv"})},
        {"table": "secret"},
        {"table": "public"},
        {"base": plan(data={"path": "people.csv"})},
    ],
)
def test_a_grid_that_makes_no_sense_is_refused(change: dict) -> None:
    refused(sweep, **change)


def test_too_many_trials_are_refused() -> None:
    refused(sweep, epsilons=tuple(0.1 + i / 100 for i in range(100)), repeats=20, kind=CapacityError)


@pytest.mark.parametrize("size", [0, 4])
def test_more_tables_than_the_workload_has_are_refused(size: int) -> None:
    refused(sweep(sizes=(size,)).spec, sweep(sizes=(size,)).points[0])
