"""A release with a public table, from options to files: what it says, what it costs, and what is refused before anything is charged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from dpsynth_core import cli
from dpsynth_core.foundation.errors import CapacityError
from dpsynth_core.mechanisms import registry
from dpsynth_core.planning.spec import Spec, load_spec
from dpsynth_core.release import synthesis
from dpsynth_core.store import balance
from tests.additions import listed
from tests.refusals import refused
from tests.specs import usual

DOMAIN = {
    "version": 1,
    "attributes": [
        {"name": "sex", "kind": "categorical", "categories": ["f", "m"], "other": False, "missing": False},
        {"name": "age", "kind": "integer", "lower": 0, "upper": 99, "bins": 5, "other": False, "missing": False},
        {"name": "zone", "kind": "categorical", "categories": ["n", "s", "w"], "other": False, "missing": False},
    ],
}
OUT = Path("out/release.json")


def people(rows: int, seed: int) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    sex = rng.choice(["f", "m"], rows)
    return pd.DataFrame({"zone": rng.choice(list("nsw"), rows), "age": rng.integers(0, 100, rows) // (1 + (sex == "f")), "sex": sex})


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a private and a public table, the domain, and no other home."""
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tmp_path)
    people(400, 0).to_csv("people.csv", index=False)
    people(200, 1).to_csv("census.csv", index=False)
    Path("domain.json").write_text(json.dumps(DOMAIN))
    return tmp_path


def synthesize(mechanism: str, *extra: str) -> int:
    given = ["people.csv", "--domain", "domain.json", "--epsilon", "1", "--out", "out", "--workload", "all-2way"]
    return cli.main(["synthesize", *given, "--mechanism", mechanism, *extra])


def spec(**fields: Any) -> Spec:
    given = usual({"path": "people.csv"}, DOMAIN, mechanism="aim_public", public={"path": "census.csv"})
    return Spec.from_json(given | fields)


def test_the_release_names_the_public_table_and_says_that_it_is_assumed_public() -> None:
    assert synthesize("aim_public", "--public", "census.csv") == 0
    made = json.loads(OUT.read_text())
    assert made["details"]["public_table"] == {"name": "census.csv", "sha256": made["spec"]["public"]["sha256"], "rows": 200}
    assert made["spec"]["public"]["path"] == "census.csv"
    assert "assumed-public" in [brand["code"] for brand in made["brands"]]
    assert made["rows"]["count"] > 0


def test_a_mechanism_that_does_not_use_it_says_nothing_of_it() -> None:
    assert synthesize("independent", "--public", "census.csv") == 0
    made = json.loads(OUT.read_text())
    assert "public_table" not in made["details"]
    assert "assumed-public" not in [brand["code"] for brand in made["brands"]]


@pytest.mark.parametrize("mechanism", ["aim_public", *listed("CHARGED_BESIDE_PUBLIC")])
def test_the_ledger_is_charged_the_budget_and_the_run_spends_it(mechanism: str) -> None:
    assert synthesize(mechanism, "--public", "census.csv", "--population", "town") == 0
    made, rho = json.loads(OUT.read_text()), registry.get(mechanism).card.accountant.rho_from(1.0, 1e-9)
    assert balance.spent("town").rho == pytest.approx(rho, rel=1e-12)
    assert sum(charge["rho"] for charge in made["charges"]) == pytest.approx(rho, rel=1e-8)


def rewritten(change: Callable[[pd.DataFrame], pd.DataFrame]) -> None:
    change(people(200, 1)).to_csv("census.csv", index=False)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda rows: rows.drop(columns="age"), "it lacks the column 'age' of the domain"),
        (lambda rows: rows.assign(sex="female"), "100% of the values of its column 'sex' are not in the domain"),
        (lambda rows: rows.head(1), "it has one row"),
        (lambda _: people(400, 0), "it is the private table itself"),
    ],
    ids=["a missing column", "other labels", "one row", "the private table"],
)
def test_a_table_that_cannot_serve_is_one_line_and_charges_nothing(
    change: Callable[[pd.DataFrame], pd.DataFrame], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    rewritten(change)
    assert synthesize("aim_public", "--public", "census.csv", "--population", "town") == cli.BAD_INPUT
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith("error: public table: ")
    assert sentence in line
    assert balance.populations() == ()


def test_without_one_what_needs_it_is_refused_with_the_way_to_give_it() -> None:
    refused(synthesis.plan, spec(public=None), kind=CapacityError, saying="--public")


def test_a_public_table_that_is_gone_or_changed_since_it_was_chosen_is_refused() -> None:
    refused(synthesis.plan, spec(public={"path": "census.csv", "sha256": "0" * 64}), saying="public table: the file changed")
    Path("census.csv").unlink()
    refused(synthesis.plan, spec(), saying="public table: there is no such file")


def test_a_relative_path_starts_from_the_folder_of_the_spec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("spec.json").write_text(spec().model_dump_json())
    monkeypatch.chdir("/")
    assert synthesis.plan(load_spec(tmp_path / "spec.json")).public.rows == 200
