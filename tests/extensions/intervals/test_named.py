"""Analyses named before the run: their tables, refusals, and that AIM measures the tables before any others."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import dpsynth_core as dps
from dpsynth_core import cli
from dpsynth_core.extensions.intervals import named
from dpsynth_core.extensions.intervals.analysing import analyse
from dpsynth_core.extensions.intervals.noise import Informed
from dpsynth_core.extensions.intervals.sections import sections
from dpsynth_core.planning.plan import Plan
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.release.release import Release
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.vocabulary import workload as workloads
from tests.extensions.intervals.releases import DOMAIN, codes
from tests.refusals import refused
from tests.specs import usual

NAMED = ["visits ~ age + sex", 'share(sick == "yes" | age >= 40)']
COLUMNS = {"age": (16, 95), "sex": ["female", "male"]}


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["mean(visits)"], set()),
        (["mean(visits | age >= 40)"], {("age", "visits")}),
        (['difference(sick == "yes", sex == "f")', 'share(sick == "yes")'], {("sex", "sick")}),
        (["visits ~ age + sex"], {("age", "sex"), ("age", "visits"), ("sex", "visits")}),
        (["visits ~ age:sex"], {("age", "sex", "visits")}),
        (["visits ~ age + sex", "visits ~ age:sex"], {("age", "sex", "visits")}),
    ],
)
def test_an_analysis_rests_on_the_tables_of_its_influence_function(texts: list[str], expected: set[tuple[str, ...]]) -> None:
    assert {tuple(one) for one in named.tables({"analysis": texts}, DOMAIN)} == expected


def plan(texts: list[str], epsilon: float = 1.0) -> Plan:
    stated = usual({"kind": "demo"}, DOMAIN.to_json(), k=2, epsilon=epsilon, mechanism="aim", output={"seed": 3})
    return Plan.of(Spec.from_json(stated | {"domain_origin": "public", "extensions": {"analysis": texts}}))


def released(asked: Plan, people: np.ndarray[Any, np.dtype[np.int32]]) -> Release:
    return synthesis.synthesize(asked, CodesSource(DOMAIN, people), synthesis.noise_for(asked.spec), lambda _: None)


def test_named_tables_are_in_the_workload_and_others_stay() -> None:
    asked = plan(["visits ~ age:sex"]).workload
    assert asked.first == (("age", "sex", "visits"),)
    assert set(asked.weights) == set(workloads.all_kway(DOMAIN, 2).weights) | {("age", "sex", "visits")}


@pytest.mark.parametrize("epsilon", [0.05, 1.0])
def test_aim_measures_the_tables_of_named_analyses_before_any_others(epsilon: float) -> None:
    made = released(plan(NAMED, epsilon), codes(600))
    several = [one.clique for one in made.measurements if len(one.clique) > 1 and not one.groups]
    first = plan(NAMED).workload.first
    assert set(several[: len(first)]) == set(first)
    assert made.rho_spent <= made.rho * (1 + 1e-9)


def test_results_of_named_analyses_pass() -> None:
    made = released(plan(NAMED), codes())
    assert all(analyse(Informed.of(made), text, "table").passes for text in NAMED)


def test_a_value_that_no_row_has_is_left_out_of_a_regression_and_said() -> None:
    people = codes()
    people[people[:, 2] == 1, 2] = 0  # nobody is sick
    informed = Informed.of(released(plan(["visits ~ sex + sick"]), people))
    informed.codes[informed.codes[:, 2] == 1, 2] = 0
    found = analyse(informed, "visits ~ sex + sick", "table")
    assert [one.name for one in found.results] == ["(Intercept)", "sex: m"]
    assert "No row of the release has sick: yes: left out." in found.notes


def test_plans_that_cannot_have_named_analyses_are_refused_before_anything_is_read() -> None:
    def of(texts: object, **options: object) -> object:
        return dps.plan("demo", COLUMNS, epsilon=1, tables=2, analysis=texts, **options)

    refused(of, "mean(", saying="a column is missing")
    refused(of, "mean(income)", saying="'income' is not a column of the domain")
    refused(of, "mean(age | sex == 'other people')", saying="has no value")
    refused(of, "mean(age | sex == 'male')", mechanism="mst", saying="MST does not measure")
    refused(of, "mean(age | sex == 'male')", settings={"preset": "paper"}, saying="does not measure")
    refused(of, ["mean(age)", "mean(age)"], saying="different texts")
    refused(of, 3, saying="analysis")
    ranges = {"kind": "ranges"}
    refused(dps.plan, "demo", COLUMNS, epsilon=1, tables=ranges, analysis="age ~ sex", saying="do not go with ranges")
    number = {"kind": "integer", "lower": 0, "upper": 999, "width": 1}
    small, wide = {"max_size_mb": 0.1}, {"age": number, "income": number}
    refused(dps.plan, "demo", wide, epsilon=1, tables=1, analysis="correlation(age, income)", settings=small, saying="max_size_mb")


def test_columns_to_be_learnt_are_named_as_such() -> None:
    columns = {**COLUMNS, "region": dps.discover()}
    refused(dps.plan, "demo", columns, epsilon=1, tables=2, analysis="age ~ region", saying="learn them first")


def test_the_command_line_takes_several_and_the_bundle_is_consistent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("domain.json").write_text(json.dumps(DOMAIN.keep(["age", "sex"]).to_json()))
    people = [f"{20 + 10 * age},{'fm'[sex]}" for age, sex, *_ in codes(2000)]
    Path("people.csv").write_text("\n".join(["age,sex", *people, ""]))
    texts = ["mean(age | sex == 'm')", "age ~ sex"]
    options = [word for text in texts for word in ("--analysis", text)]
    command = ["synthesize", "people.csv", "--domain", "domain.json", "--epsilon", "1", "--workload", "all-2way", "--out", "out", *options]
    assert cli.main(command) == 0
    document = json.loads(Path("out/release.json").read_text())
    assert document["spec"]["extensions"] == {"analysis": texts}
    said = capsys.readouterr().err
    assert all(f"{text}: intervals will be about" in said for text in texts)
    assert cli.main(["verify", "out/release.zip"]) == 0
    release = dps.open("out/release.zip")
    assert np.all([one.state == "holds" for text in texts for one in dps.analyse(release, text).results])
    report = dps.open("out/release.zip").made
    lines = [line for section in sections(report) for line in section.lines]
    assert texts == lines[:2]
    assert any(line.startswith("The table age x sex has noise with a standard deviation of") for line in lines)
