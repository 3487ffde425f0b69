"""Plans over two linked tables are tried on invented households, which keep the plan's rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core.cli import main
from dpsynth_core.extensions.tradeoffs.sweep import PRIVATE, STANDIN, Sweep, on_stand_in
from dpsynth_core.extensions.tradeoffs.trial import Trials
from dpsynth_core.inference.households import ACROSS, kinds
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources.registry import can_be_linked
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import NUMBER, Link
from dpsynth_core.vocabulary.measurement import Clique
from dpsynth_core.vocabulary.workload import hand_picked
from tests.refusals import refused

HOMES = {"version": 1, "attributes": [{"name": "region", "kind": "coded", "size": 3}, {"name": "rooms", "kind": "coded", "size": 4}]}
PEOPLE = {
    "version": 1,
    "attributes": [
        {"name": "role", "kind": "categorical", "categories": ["head", "other"], "other": False, "missing": False},
        {"name": "age", "kind": "categorical", "categories": ["child", "adult"], "other": False, "missing": False},
    ],
}
RULES = [{"members_with": {"role": ["head"]}, "exactly": 1}, {"members_with": {"age": ["child"]}, "at_most": 1}]
MOST = 3


def plan(**fields: Any) -> Spec:
    """A plan over two files that are not there."""
    stated = {
        "version": 1, "population": "Homes", "data": {"path": "homes.csv"}, "domain": HOMES,
        "members": {"path": "people.csv", "domain": PEOPLE, "rules": []},
        "unit": {"person_column": "id", "max_rows_per_person": MOST}, "budget": {"epsilon": 1.0, "delta": 1e-9},
        "workload": {"kind": "all", "k": 1}, "mechanism": {"name": "households"},
    }  # fmt: skip
    draft = Spec.from_json(stated | fields)
    return draft.model_copy(update={"workload": hand_picked(Plan.of(draft).domain, dict.fromkeys(kinds(link()), 1.0)).to_json()})


def link() -> Link:
    return Link(Domain.from_json(HOMES), Domain.from_json(PEOPLE), MOST)


def plan_workload() -> tuple[Clique, ...]:
    return tuple(kinds(link()))


def sweep(base: Spec, **fields: Any) -> Sweep:
    grid: dict[str, Any] = {"mechanisms": ("households",), "epsilons": (0.5, 8.0), "sizes": (1,), "repeats": 1}
    return Sweep(base, **{"table": STANDIN, **grid, **fields})


def counts(base: Spec, *cliques: tuple[str, ...]) -> dict[tuple[str, ...], np.ndarray]:
    """Exact tables of the invented households, in households."""
    made = synthesis.plan(base)
    return {clique: table / made.records_each for clique, table in synthesis.open_source(made).counts(cliques).items()}


def test_invented_households_are_as_many_as_asked_for_and_the_same_each_time() -> None:
    base = on_stand_in(plan(), 500, 0.5)
    first, again = (counts(base, (NUMBER,), ("region", "role")) for _ in range(2))
    assert first[(NUMBER,)].sum() == pytest.approx(500)
    assert (first[(NUMBER,)] > 0).sum() > 1
    assert all(np.array_equal(first[clique], again[clique]) for clique in first)


def test_they_keep_the_rules_of_the_plan() -> None:
    ruled = plan(members={"path": "people.csv", "domain": PEOPLE, "rules": RULES})
    found, free = (counts(on_stand_in(one, 500, 0.5), ("role", "role of another"))[("role", "role of another")] for one in (ruled, plan()))
    assert found[0, 0] == 0, "two heads"
    assert free[0, 0] > 0
    ages = counts(on_stand_in(ruled, 500, 0.5), ("age", "age of another"))[("age", "age of another")]
    assert ages[0, 0] == 0, "two children"


def test_columns_of_a_household_and_of_its_members_are_related_as_strongly_as_stated() -> None:
    """Cramer's V squared of 5,000 households has a mean of (3 - 1) / 5,000 without any relation; 0.01 is 25 times that."""

    def related(strength: float) -> float:
        pairs = [clique for clique, kind in kinds(link()).items() if kind == ACROSS and NUMBER not in clique]
        tables = counts(on_stand_in(plan(), 5_000, strength), *pairs)
        return max(_v_squared(np.delete(table, -1, axis=1)) for table in tables.values())  # without the cell of nobody

    assert related(0.0) < 0.01
    assert related(0.95) > 0.03


def _v_squared(table: np.ndarray) -> float:
    shares = table / table.sum()
    alone = np.outer(shares.sum(axis=1), shares.sum(axis=0))
    return float(((shares - alone) ** 2 / alone).sum() / (min(shares.shape) - 1))


def test_the_error_of_a_trial_is_the_distance_of_the_release_from_the_invented_households() -> None:
    tried = sweep(on_stand_in(plan(), 2_000, 0.5), sizes=(len(plan_workload()),), epsilons=(2.0,))
    outcome = Trials(tried).run(0)
    spec = tried.spec(tried.points[0])
    made = synthesis.plan(spec)
    source = synthesis.open_source(made)
    release = synthesis.synthesize(made, source, synthesis.noise_for(spec), lambda _: None)
    exact, published = source.counts([*tried.workload.cliques, ()]), release.statements.published(tried.workload.cliques)
    far = [np.abs(exact[clique] / exact[()] - published[clique]).sum() / 2 for clique in tried.cliques(tried.sizes[0])]
    assert outcome.errors == pytest.approx(far, abs=1e-6)


def test_more_epsilon_is_less_error() -> None:
    """A sixteenth of the noise: eight times less error at least would be usual, and half is asked for."""
    tried = Trials(sweep(on_stand_in(plan(), 2_000, 0.5), sizes=(len(plan_workload()),)))
    low, high = (float(np.mean(tried.run(number).errors)) for number in (0, 1))
    assert high < low / 2


def test_a_sweep_of_two_tables_has_their_mechanism_alone_and_both_tables_are_invented() -> None:
    refused(sweep, on_stand_in(plan()), mechanisms=("aim",), saying="have a mechanism of their own")
    refused(sweep, on_stand_in(plan()), mechanisms=("households", "aim"), saying="have a mechanism of their own")
    assert can_be_linked(STANDIN, STANDIN)
    assert not can_be_linked(STANDIN, "csv")
    assert not can_be_linked("csv", STANDIN)


def test_trials_on_the_private_tables_cost_what_runs_cost() -> None:
    rho = sum(Plan.of(plan(budget={"epsilon": epsilon, "delta": 1e-9})).shares.rho for epsilon in (0.5, 8.0))
    assert sweep(plan(), table=PRIVATE, sizes=(len(plan_workload()),)).rho == pytest.approx(rho)


def test_a_document_of_a_sweep_is_read_as_it_was_written() -> None:
    tried = sweep(on_stand_in(plan(), 300, 0.5))
    assert Sweep.from_json(json.loads(json.dumps(tried.to_json()))).digest() == tried.digest()


def test_the_command_tries_a_plan_of_two_tables_without_opening_them(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "spec.json").write_text(plan().model_dump_json(), encoding="utf-8")
    grid = ("--epsilons", "1,8", "--rows", "500", "--strength", "0.5")
    assert main(["tradeoffs", str(tmp_path / "spec.json"), "--out", str(tmp_path / "out"), *grid]) == 0
    trials = pd.read_csv(tmp_path / "out" / "trials.csv")
    assert trials["mechanism"].tolist() == ["Households"] * 2
    assert trials["tables"].tolist() == [len(plan_workload())] * 2
    assert "nothing was charged" in capsys.readouterr().err
