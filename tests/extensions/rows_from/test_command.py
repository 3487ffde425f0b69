"""`rows-from` and `protect-tables`, and the page of the guide, whose commands and programs are run as they are printed."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import dpsynth_core as dps
from dpsynth_core.cli.command_line import main
from dpsynth_core.extensions.rows_from.coarsening import STATEMENT
from dpsynth_core.extensions.rows_from.document import NO_GUARANTEE
from tests.extensions.rows_from.examples import CLOSED, DOMAIN, GIVER, PROMISE

PAGE = Path(dps.__file__).parents[1] / "docs" / "guide" / "rows-from-tables.md"
PROMISED = ["--giver", GIVER, "--promise", PROMISE]
SEXES = "sex,count\nm,400\nf,600\n"
HEALTH = "health;sex;count\ngood;f;300\n1;m;..\nfair;f;200\nfair;m;200\nbad;f;\nbad;m;50\n"


def written(folder: Path, name: str, content: Any) -> str:
    path = folder / name
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return str(path)


@pytest.fixture
def domain(tmp_path: Path) -> str:
    return written(tmp_path, "domain.json", DOMAIN)


def test_tables_become_rows_and_a_bundle_that_verify_accepts(domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tables = [written(tmp_path, "health.csv", HEALTH), written(tmp_path, "sexes.csv", SEXES)]
    out = tmp_path / "out"
    assert main(["rows-from", *tables, "--domain", domain, *PROMISED, "--out", str(out), "--format", "csv,dta"]) == 0
    said = capsys.readouterr().err
    for words in (NO_GUARANTEE, PROMISE, GIVER, "Suppressed counts of health × sex: 2", "at least 2. Tell the giver", "age, job"):
        assert words in said
    assert {f"rows-from-tables.{ending}" for ending in ("csv", "dta", "json", "zip")} <= {path.name for path in out.iterdir()}
    rows = pd.read_csv(out / "rows-from-tables.csv")
    assert len(rows) == 1000
    assert rows["sex"].value_counts().to_dict() == pytest.approx({"f": 600, "m": 400}, abs=2)
    assert main(["verify", str(out / "rows-from-tables.zip")]) == 0
    assert "private" not in capsys.readouterr().out


def test_python_makes_the_bundle_of_the_command_line(domain: str, tmp_path: Path) -> None:
    tables = [written(tmp_path, "health.csv", HEALTH), written(tmp_path, "sexes.csv", SEXES)]
    assert main(["rows-from", *tables, "--domain", domain, *PROMISED, "--rows", "70", "--seed", "4", "--out", str(tmp_path)]) == 0
    fitted = dps.rows_from(tables, domain, rows=70, seed=4, giver=GIVER, promise=PROMISE)
    assert fitted.save(tmp_path / "python.zip").read_bytes() == (tmp_path / "rows-from-tables.zip").read_bytes()
    assert dps.verify(tmp_path / "python.zip").verdict == "consistent"


@pytest.mark.parametrize(
    ("table", "more", "saying"),
    [
        ("sex,count\nf,1\nwoman,2\n", [], "table.csv: column 'sex' has no value 'woman'; write one of 'f', 'm', 'missing'"),
        ("gender,count\nf,1\nm,2\n", [], "table.csv: its column 'gender' has no values in the domain; give columns of the domain ('age',"),
        ("sex,count\nf,1\n", [], "table.csv: 'm' of 'sex' is missing from the table"),
        ("sex,count\nf,-\nm,3\n", [], "table.csv: in its column 'count' is something else than a number"),
        ("sex,people\nf,1\nm,3\n", [], "table.csv: it has no column 'count'"),
        ("sex,count\nf,..\nm,3\n", [], "do not say how many people there are"),
        (SEXES, ["--rows", "many"], "--rows: 'many' cannot be used"),
        (SEXES, ["--rows", "0"], "rows: 0 cannot be used"),
        (SEXES, ["--people", "0"], "people: 0 is not a number of people"),
        (SEXES, ["--promise", " "], "promise: it is missing"),
        (SEXES, ["--giver", ""], "giver: it is missing"),
        (SEXES, ["--format", "doc"], "not a known format"),
    ],
)
def test_a_mistake_is_one_line_and_nothing_is_written(
    table: str, more: list[str], saying: str, domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    place = written(tmp_path, "table.csv", table)
    assert main(["rows-from", place, "--domain", domain, *PROMISED, "--out", str(tmp_path / "out"), *more]) == 2
    said = capsys.readouterr().err
    assert saying in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_coarser_tables_are_written_beside_the_true_ones(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    place = written(tmp_path, "ages.csv", "age,count\n88,23\n90,2\n97,5\n")
    how = ["--top", "age=90", "--suppress-below", "10", "--multiples-of", "5"]
    assert main(["protect-tables", place, *how, "--out", str(tmp_path / "coarser")]) == 0
    assert STATEMENT in capsys.readouterr().err
    found = pd.read_csv(tmp_path / "coarser" / "ages.csv", dtype=str, keep_default_na=False)
    assert found.values.tolist() == [["88", "25"], ["90", ""]]
    for wrong, saying in (
        ([*how, "--out", str(tmp_path)], "a table would be written over its true counts"),
        (["--out", str(tmp_path / "b")], "it is not said how"),
        (["--top", "age", "--out", str(tmp_path / "b")], "--top: 'age' cannot be used"),
        (["--multiples-of", "x", "--out", str(tmp_path / "b")], "--multiples-of: 'x' cannot be used"),
        ([place, *how, "--out", str(tmp_path / "b")], "two tables have the same name"),
    ):
        assert main(["protect-tables", place, *wrong]) == 2
        assert saying in capsys.readouterr().err
    assert Path(place).read_text().startswith("age,count\n88,23\n")


def test_the_guide_runs_as_it_is_printed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    text = PAGE.read_text(encoding="utf-8")
    ages = {"name": "age", "kind": "integer", "lower": 0, "upper": 79, "bins": 4, **CLOSED}
    listed = [
        {"name": name, "kind": "categorical", "categories": values, **CLOSED}
        for name, values in (("sex", ["f", "m"]), ("job", ["yes", "no"]))
    ]
    written(tmp_path, "domain.json", {"version": 1, "attributes": [ages, *listed]})
    (table,) = re.findall(r"```text\n(.*?)```", text, flags=re.DOTALL)
    written(tmp_path, "age_by_sex.csv", table)
    written(tmp_path, "sex_by_job.csv", "sex,job,count\nf,yes,900\nf,no,400\nm,yes,1000\nm,no,440\n")
    commands = re.findall(r"^ {4}python -m dpsynth_core (.*?)$(?:\n {8}(.*))?", text, flags=re.MULTILINE)
    made, coarser = [shlex.split(f"{first.rstrip(chr(92))} {second}") for first, second in commands]
    assert main(made) == 0
    assert (tmp_path / "rows" / "rows-from-tables.zip").exists()
    written(tmp_path, "age_by_sex.csv", "age,sex,count\n89,f,12\n90,f,8\n95,f,9\n")
    assert main(coarser) == 0
    names: dict[str, Any] = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.DOTALL):
        exec(block, names)
    assert dps.verify("rows-from-tables.zip").verdict == "consistent"
    assert "promise" not in names["by_label"].statement
