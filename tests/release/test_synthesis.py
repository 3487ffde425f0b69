"""From spec to release: every control changes what is executed, and the release says truly how it was made."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dpsynth_core.foundation.errors import BudgetExceeded, CapacityError
from dpsynth_core.mechanisms import registry
from dpsynth_core.mechanisms.mechanism import UsesPublic
from dpsynth_core.planning import precision
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.privacy.accountant import GDP, ZCDP
from dpsynth_core.privacy.events import Gaussian, Selection
from dpsynth_core.privacy.seeded_noise import SeededNoise
from dpsynth_core.release import document as releases
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Progress, Release
from dpsynth_core.release.statement import statement
from dpsynth_core.statistics.distances import in_wrong_cell, largest_error
from dpsynth_core.vocabulary.rows import row_marginals
from tests.additions import listed
from tests.mechanisms.offered import TABLES
from tests.refusals import refused
from tests.releases import run
from tests.specs import usual

N = 400
AMPLE = {"epsilon": 20.0, "delta": 1e-9}
"""A budget with which AIM does not ask first how much columns depend."""
Make = Callable[..., Spec]


@pytest.fixture
def make_spec(tmp_path: Path) -> Make:
    folder = tmp_path / "canary-folder"
    folder.mkdir()
    codes = np.random.default_rng(0).integers(0, [2, 3, 4], size=(N, 3))
    codes[:, 1] = (codes[:, 0] + codes[:, 1]) % 3
    people = np.arange(N) // 2
    np.savetxt(folder / "people.csv", np.column_stack([people, codes]), fmt="%d", delimiter=",", header="person,a,b,c", comments="")
    np.savetxt(folder / "census.csv", codes[:100], fmt="%d", delimiter=",", header="a,b,c", comments="")

    def make(**fields: Any) -> Spec:
        return Spec.from_json(
            usual(
                {"path": str(folder / "people.csv")}, {"a": 2, "b": 3, "c": 4}, epsilon=2.0, mechanism="independent", name="test",
                output={"seed": 1},
            )
            | ({"public": {"path": str(folder / "census.csv")}} if needs_public(fields) else {})
            | fields
        )

    return make


def needs_public(fields: dict[str, Any]) -> bool:
    return isinstance(registry.MECHANISMS.get(fields.get("mechanism", {}).get("name")), UsesPublic)


def contents(release: Release) -> dict[str, Any]:
    """The release without what depends on the clock."""
    document = releases.to_json(release)
    return {k: v for k, v in document.items() if k != "created"} | {"codes": release.codes.tolist()}


def test_a_seed_repeats_a_release_to_the_last_row(make_spec: Make) -> None:
    assert contents(run(make_spec())) == contents(run(make_spec()))


def test_without_a_seed_releases_differ(make_spec: Make) -> None:
    first, second = (run(make_spec(output={})) for _ in range(2))
    assert any((x.values != y.values).any() for x, y in zip(first.measurements, second.measurements, strict=True))


CONTROLS: list[dict[str, Any]] = [
    {"unit": {"relation": "replace"}},
    {"unit": {"person_column": "person", "max_rows_per_person": 1}},
    {"unit": {"person_column": "person", "max_rows_per_person": 2}},
    {"domain": {"a": 2, "b": 2, "c": 4}},
    {"workload": {"kind": "target", "column": "a", "k": 2}},
    {"budget": {"epsilon": 1.0, "delta": 1e-9}},
    {"budget": {"epsilon": 2.0, "delta": 1e-6}},
    {"budget": {"epsilon": 2.0, "delta": 1e-9, "certificate": 0.05}},
    {"mechanism": {"name": "independent"}},
    {"mechanism": {"name": "aim", "settings": {"measure_share": 0.5}}},
    {"mechanism": {"name": "aim", "settings": {"rounds_per_attribute": 3}}},
    {"output": {"seed": 2}},
    {"output": {"seed": 1, "rows": 17}},
]


@pytest.mark.parametrize("control", CONTROLS, ids=json.dumps)
def test_every_control_changes_what_is_executed(make_spec: Make, control: dict[str, Any]) -> None:
    """Compared to AIM with the same seed: other noise, other marginals or other rows; not only another line in the document."""
    base = {"mechanism": {"name": "aim"}}
    plain, other = run(make_spec(**base)), run(make_spec(**(base | control)))
    same_noise = [m.sigma for m in plain.measurements] == [m.sigma for m in other.measurements]
    same_rows = plain.codes.shape == other.codes.shape and (plain.codes == other.codes).all()
    assert not (same_noise and same_rows)


def test_noise_is_private_unless_a_seed_was_asked_for(make_spec: Make) -> None:
    private, seeded = run(make_spec(output={})), run(make_spec())
    assert private.private
    assert "not-private" not in {brand.code for brand in private.brands}
    assert "not private" not in private.statement
    assert not seeded.private
    assert "not private" in {b.code: b.sentence for b in seeded.brands}["not-private"].lower()
    assert "not private" in seeded.statement.partition(":")[0]


def test_what_was_spent_is_what_the_charges_add_up_to_and_within_the_budget(make_spec: Make) -> None:
    made = run(make_spec(mechanism={"name": "aim"}, budget=AMPLE))
    assert made.rho_spent == pytest.approx(float(sum(map(GDP.cost, made.charges))))
    assert made.rho_spent <= made.rho
    gaussians = [event for event in made.charges if isinstance(event, Gaussian) and event.l2 == 1]  # not of several errors at once
    assert [event.sigma for event in gaussians][: len(made.measurements)] == [m.sigma for m in made.measurements]


def test_the_history_holds_every_measurement_in_order_with_rising_cost(make_spec: Make) -> None:
    heard: list[Progress] = []
    made = run(make_spec(mechanism={"name": "aim"}), on_event=heard.append)
    assert tuple(heard) == made.history
    measured = [step for step in heard if step.kind == "measured"]
    assert [step.attributes for step in measured] == [m.clique for m in made.measurements]
    assert [step.rho_spent for step in measured] == sorted(step.rho_spent for step in measured)
    assert heard[-1].done == 1.0


def test_whoever_listens_can_stop_the_run_between_two_steps(make_spec: Make) -> None:
    class Stop(Exception):
        pass

    heard: list[str] = []

    def listen(progress: Progress) -> None:
        heard.append(progress.kind)
        if progress.kind == "measured":
            raise Stop

    with pytest.raises(Stop):
        run(make_spec(mechanism={"name": "aim"}), on_event=listen)
    assert heard.count("measured") == 1


@pytest.mark.parametrize(
    ("unit", "rows", "expected"),
    [({"relation": "replace"}, None, N), ({"relation": "add-remove"}, 23, 23), ({"relation": "replace"}, 23, 23)],
)
def test_number_of_rows_where_it_is_known(make_spec: Make, unit: dict[str, Any], rows: int | None, expected: int) -> None:
    assert run(make_spec(unit=unit, output={"seed": 1, "rows": rows})).rows == expected


def test_under_add_remove_the_number_of_rows_is_the_noisy_total(make_spec: Make) -> None:
    counts = set()
    for seed in range(5):
        made = run(make_spec(output={"seed": seed}))
        assert made.rows == round(made.total)
        assert made.row_policy == "the noisy estimate of the number of records"
        counts.add(made.rows)
    assert len(counts) > 1


def test_without_any_person_there_is_still_a_table(make_spec: Make, tmp_path: Path) -> None:
    """Noise can bring the estimate of a tiny table to zero or below; the release then has one row."""
    (tmp_path / "one.csv").write_text("a,b,c\n0,0,0\n")
    fields = {"data": {"path": str(tmp_path / "one.csv")}, "budget": {"epsilon": 0.1, "delta": 1e-9}}
    assert min(run(make_spec(**fields, output={"seed": seed})).rows for seed in range(6)) == 1


@pytest.mark.parametrize("mechanism", ["independent", "aim", "mst"])
def test_a_column_that_is_constant_in_the_table_is_measured_like_any_other(make_spec: Make, tmp_path: Path, mechanism: str) -> None:
    """Left out, or written out as it is, it would tell a table in which everybody agrees from one in which one person does not."""
    (tmp_path / "constant.csv").write_text("a,b,c\n" + "0,0,1\n1,0,2\n" * 200)
    made = run(make_spec(data={"path": str(tmp_path / "constant.csv")}, mechanism={"name": mechanism}))
    assert made.domain.names == ("a", "b", "c")
    of_b = [m for m in made.measurements if m.clique == ("b",)]
    assert of_b
    assert all(m.values[1:].any() for m in of_b)  # noise in the cells that nobody is in


def test_rows_come_back_with_the_types_and_order_of_the_domain(make_spec: Make, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("city,age,extra\nRome,33,x\nOslo,40,y\n" * 30)
    domain = {
        "version": 1,
        "attributes": [
            {"name": "age", "kind": "integer", "lower": 30, "upper": 49, "bins": 4, "other": False, "missing": False},
            {"name": "city", "kind": "categorical", "categories": ["Oslo", "Rome"], "other": False, "missing": False},
        ],
    }
    made = run(make_spec(data={"path": str(tmp_path / "t.csv")}, domain=domain))
    assert made.table.column_names == ["age", "city"]
    frame = made.table.to_pandas()
    assert frame["age"].dtype == "int64"
    assert frame["age"].between(30, 49).all()
    assert set(frame["city"]) <= {"Oslo", "Rome"}


def test_no_path_and_no_name_of_this_machine_is_in_the_release(make_spec: Make) -> None:
    document = releases.document(run(make_spec()))
    assert b"people.csv" in document
    assert b"canary-folder" not in document
    assert str(Path.home()).encode() not in document.replace(b'"/"', b"")


def test_the_statement_names_relation_unit_epsilon_delta_rho_and_accountant(make_spec: Make) -> None:
    plain = run(make_spec(output={})).statement
    for part in ("add-remove", "owns one row", "(2, 1e-09)-differential privacy", "mu = 0.", "rho = mu^2/2 = 0.0", "GDP"):
        assert part in plain
    several = run(make_spec(unit={"relation": "replace", "person_column": "person", "max_rows_per_person": 2})).statement
    for part in ("replace", "'person'", "at most 2 rows"):
        assert part in several
    assert "number of rows is public" not in several
    assert "number of rows is public" in run(make_spec(unit={"relation": "replace"})).statement


def test_a_run_under_gdp_has_more_rho_and_charges_selections_as_gdp_does(make_spec: Make) -> None:
    made = run(make_spec(mechanism={"name": "aim"}, budget=AMPLE))
    events = made.charges
    assert made.plan.shares.accountant is GDP
    assert made.rho == GDP.rho_from(20.0, 1e-9) > ZCDP.rho_from(20.0, 1e-9)
    assert {type(event) for event in events} == {Gaussian, Selection}
    spent = sum(map(GDP.cost, events), Fraction())
    assert spent <= Fraction(made.rho)
    assert float(spent) == pytest.approx(made.rho, rel=1e-6)
    assert sum(map(ZCDP.cost, events), Fraction()) <= spent  # so it is zCDP of the same rho as well


@pytest.mark.parametrize(("mechanism", "epsilon"), [("mst", 2.0), ("aim", 40.0)])
def test_zcdp_is_in_force_where_gdp_is_not_asked_for_or_does_not_reach(make_spec: Make, mechanism: str, epsilon: float) -> None:
    plan = synthesis.plan(make_spec(mechanism={"name": mechanism}, budget={"epsilon": epsilon, "delta": 1e-9}))
    assert plan.shares.accountant is ZCDP
    assert plan.shares.rho == ZCDP.rho_from(epsilon, 1e-9)
    assert "zero-concentrated" in statement(plan, 0.1, True)


def test_a_domain_read_from_the_data_brands_the_release_with_the_reason(make_spec: Make) -> None:
    made = run(make_spec(domain_origin="data", domain_justification="all codes of the public form"))
    assert "all codes of the public form" in {b.code: b.sentence for b in made.brands}["domain-from-data"]
    assert "domain-from-data" not in {b.code for b in run(make_spec()).brands}


def test_delta_near_one_in_the_number_of_people_is_branded(make_spec: Make) -> None:
    risky = run(make_spec(budget={"epsilon": 2.0, "delta": 9e-4}, output={"rows": None, "seed": 1}, unit={"relation": "replace"}))
    assert [b.code for b in risky.brands if b.code == "budget"] == []  # 9e-4 is below 1/400
    demo = {"data": {"kind": "demo"}, "domain": {"household_size": 8}, "workload": {"kind": "all", "k": 1}}
    many = run(make_spec(**demo, budget={"epsilon": 2.0, "delta": 1e-4}))
    assert "budget" in {b.code for b in many.brands}
    assert "simulated" in {b.code for b in many.brands}


def test_answers_without_rows(make_spec: Make) -> None:
    made = run(make_spec(mechanism={"name": "gaussian"}))
    assert (made.codes, made.table, made.rows) == (None, None, 0)
    assert "answers-only" in {b.code for b in made.brands}
    assert {m.clique for m in made.measurements} == {("a", "b"), ("a", "c"), ("b", "c")}
    refused(synthesis.plan, make_spec(mechanism={"name": "gaussian"}, output={"rows": 5}), saying=r"output\.rows")


# The certificate and the bounds


def certified(share: float = 0.05) -> dict[str, Any]:
    return {"budget": {"epsilon": 2.0, "delta": 1e-9, "certificate": share}}


def truth(spec: Spec) -> dict[tuple[str, ...], Any]:
    plan = synthesis.plan(spec)
    counts = synthesis.open_source(plan).counts(plan.workload.cliques)
    return {clique: table / table.sum() for clique, table in counts.items()}


@pytest.mark.parametrize("mechanism", [name for name in TABLES if registry.MECHANISMS[name].card.publishes_tables])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_what_runs_is_the_split_that_is_shown(make_spec: Make, mechanism: str, relation: str) -> None:
    spec = make_spec(**certified(0.2), mechanism={"name": mechanism}, unit={"relation": relation})
    plan, made = synthesis.plan(spec), run(spec)
    shown = precision.budget_split(plan.mechanism, plan.workload, plan.shares).value.set_index("stage")["rho"]
    assert made.certificate.rho == pytest.approx(shown["certificate"], rel=1e-6)
    assert made.rho_spent - made.certificate.rho <= shown.drop("certificate").sum()
    assert made.rho_spent <= made.rho


@pytest.mark.parametrize("mechanism", TABLES)
def test_every_mechanism_runs_as_if_the_certificate_s_share_did_not_exist(make_spec: Make, mechanism: str) -> None:
    """With the noise it would have at 80 % of rho and without a certificate: it cannot even see that there is more."""
    spec = make_spec(**certified(0.2), mechanism={"name": mechanism})
    with_certificate, plan = run(spec), synthesis.plan(spec)
    smaller = replace(plan, shares=replace(plan.shares, rho=plan.shares.mechanism, aside=()))
    alone = synthesis.synthesize(smaller, synthesis.open_source(plan), synthesis.noise_for(spec), lambda _: None)
    assert with_certificate.measurements
    for one, other in zip(with_certificate.measurements, alone.measurements, strict=True):
        assert one.sigma == pytest.approx(other.sigma, rel=1e-8)  # the meter's headroom is a relative 1e-9
        assert np.array_equal(one.values, other.values)


def test_a_mechanism_that_asks_for_more_than_its_part_is_stopped(make_spec: Make) -> None:
    class Greedy:
        title, makes_rows = "Greedy", True

        def steps(self, kernel: Any, *_: Any) -> Any:
            kernel.measure_marginals([("a",)], kernel.unit.marginal_l2 / (2 * kernel.rho_total * 1.01) ** 0.5)[0]
            yield

    plan = synthesis.plan(make_spec(**certified()))
    with pytest.raises(BudgetExceeded):
        synthesis.synthesize(replace(plan, mechanism=Greedy()), synthesis.open_source(plan), SeededNoise(1), lambda _: None)


@pytest.mark.parametrize("mechanism", ["aim", "gaussian"])
@pytest.mark.parametrize("relation", ["add-remove", "replace"])
def test_the_certificate_is_about_what_is_published(make_spec: Make, mechanism: str, relation: str) -> None:
    budget = {"epsilon": 50.0, "delta": 1e-9, "certificate": 0.5}
    spec = make_spec(budget=budget, mechanism={"name": mechanism}, unit={"relation": relation})
    made, true = run(spec), truth(spec)
    if made.codes is None:
        published = {m.clique: m.values / made.total for m in made.measurements}
    else:
        published = {r: counts / made.rows for r, counts in row_marginals(made.domain, made.codes, true).items()}
    assert made.certificate.of == ("rows" if mechanism == "aim" else "answers")
    assert {one.attributes for one in made.certificate.marginals} == true.keys()
    for one in made.certificate.marginals:
        error = in_wrong_cell(true[one.attributes], published[one.attributes])
        # a Gaussian of sigma, 6 of which are exceeded once in 5e8, and the doubt of the total
        allowed = 6 * made.certificate.deviation + 3 * made.certificate.total.sigma / N
        assert one.error == pytest.approx(error, abs=allowed)
        assert one.bound95 <= one.simultaneous95


@pytest.mark.parametrize("relation", ["add-remove", "replace"])
@pytest.mark.parametrize(("mechanism", "threshold"), [("mst", None), *((name, at) for name in listed("THRESHOLDS") for at in (None, 1))])
def test_the_certified_largest_error_is_that_of_the_questions_asked(
    make_spec: Make, mechanism: str, relation: str, threshold: int | None
) -> None:
    spec = make_spec(
        budget={"epsilon": 50.0, "delta": 1e-9, "certificate": 0.5},
        mechanism={"name": mechanism},
        workload={"kind": "all", "k": 2, "threshold": threshold},
        unit={"relation": relation},
        output={"seed": 1, "rows": 7},  # so few cannot be right
    )
    made, plan = run(spec), synthesis.plan(spec)
    true = synthesis.open_source(plan).counts(plan.workload.cliques)
    exact = largest_error(true, row_marginals(plan.domain, made.codes, plan.workload.cliques), threshold)
    # six standard deviations of the noise, and of what a wrong total does to a share
    allowed = 6 * (made.certificate.max_sigma + made.certificate.total.sigma) / N
    assert made.certificate.max_error == pytest.approx(exact, abs=allowed)
    assert exact > 2 * allowed
    assert exact <= made.certificate.max_bound95 + allowed


def test_the_rows_that_are_certified_are_those_that_were_asked_for(make_spec: Make) -> None:
    """Seven rows cannot be right, and the certificate says so; the answers behind them could be."""
    many, few = (run(make_spec(**certified(0.5), output={"seed": 1, "rows": rows})) for rows in (4000, 7))
    assert few.certificate.mean_error > many.certificate.mean_error + 0.1


def test_without_a_certificate_there_is_none_and_the_bounds_are_there_all_the_same(make_spec: Make) -> None:
    made = run(make_spec(mechanism={"name": "aim"}, budget=AMPLE))
    assert made.certificate is None
    assert releases.to_json(made)["certificate"] is None
    assert made.bounds.keys() == {("a", "b"), ("a", "c"), ("b", "c")}
    assert {bound.support for bound in made.bounds.values()} <= {"supported", "unsupported"}
    assert all(0 < bound.tight <= 1 for bound in made.bounds.values())


def test_the_release_document_keeps_certificate_and_bounds(make_spec: Make, tmp_path: Path) -> None:
    made = run(make_spec(**certified(), mechanism={"name": "aim"}))
    (tmp_path / "kept").mkdir()
    releases.save(made, tmp_path / "kept")
    again = releases.load(tmp_path / "kept")
    assert again.certificate == made.certificate
    assert again.bounds == made.bounds
    assert json.loads(releases.document(made))["certificate"]["mean_error"] == 2 * made.certificate.mean_error


def test_the_statement_says_what_was_kept_for_the_certificate(make_spec: Make) -> None:
    assert "kept for measuring the errors" in run(make_spec(**certified())).statement
    assert "kept for measuring the errors" not in run(make_spec()).statement


def test_versions_are_recorded(make_spec: Make) -> None:
    made = run(make_spec(mechanism={"name": "aim"}))
    assert made.versions.keys() >= {"python", "numpy", "opendp", "pyarrow"}


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"data": {"path": "/nowhere/people.csv"}}, "data"),
        ({"domain": {"a": 2, "zip": 3}}, "column 'zip'"),
        ({"unit": {"person_column": "who"}}, "unit.person_column"),
        ({"unit": {"person_column": "a"}}, "column 'a'"),
    ],
)
def test_a_plan_that_does_not_fit_the_file_is_refused_before_it_is_read(make_spec: Make, fields: dict[str, Any], field: str) -> None:
    caught = refused(synthesis.plan, make_spec(**fields))
    assert caught.field == field


def test_a_mechanism_that_cannot_run_the_plan_refuses_it_with_its_reason(make_spec: Make) -> None:
    with pytest.raises(CapacityError, match="capacity"):
        synthesis.plan(make_spec(domain={"a": 100_000, "b": 3}, mechanism={"name": "aim", "settings": {"max_size_mb": 0.1}}))


@pytest.mark.parametrize("mechanism", [name for name, one in registry.MECHANISMS.items() if not one.card.takes_thresholds])
def test_a_mechanism_that_asks_for_whole_tables_refuses_thresholds(make_spec: Make, mechanism: str) -> None:
    with pytest.raises(CapacityError, match="cannot ask who matches at least 1 of the columns"):
        synthesis.plan(make_spec(mechanism={"name": mechanism}, workload={"kind": "all", "k": 2, "threshold": 1}))


def test_counts_are_read_in_one_pass_and_only_through_the_kernel(make_spec: Make) -> None:
    """The source is asked once, for the workload and the single columns; everything after that is charged."""
    spec = make_spec(mechanism={"name": "aim"})
    plan: Plan = synthesis.plan(spec)
    real, asked = synthesis.open_source(plan), []

    class Counted:
        domain = real.domain

        def counts(self, cliques: Collection[tuple[str, ...]]) -> Any:
            asked.append(set(cliques))
            return real.counts(cliques)

    synthesis.synthesize(plan, Counted(), synthesis.noise_for(spec), lambda _: None)
    assert asked == [{("a", "b"), ("a", "c"), ("b", "c"), ("a",), ("b",), ("c",)}]


def test_versions_name_the_width_of_vectors_and_nothing_that_tells_machines_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    found = {"SIMD Extensions": {"baseline": ["X86_V2"], "found": ["X86_V3", "X86_V4", "AVX512_ICL", "AVX512_SPR"]}}
    monkeypatch.setattr(np, "show_config", lambda **_: found)
    monkeypatch.setattr(synthesis.platform, "machine", lambda: "x86_64")
    synthesis._processor.cache_clear()
    assert synthesis.versions()["processor"] == "x86_64 X86_V4"
    synthesis._processor.cache_clear()
