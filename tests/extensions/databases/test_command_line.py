"""The command line over databases: releases, declared columns, and addresses that are refused."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pytest

from dpsynth_core.cli.command_line import main
from tests.extensions.databases import database_tables

RECORDS = pa.table({"a": [0, 1, 1, 0] * 25, "b": [0, 1, 2, 2] * 25, "who": [f"p{i // 2}" for i in range(100)]})

FURTHER = ("--mechanism", "independent", "--workload", "all-2way", "--seed", "1")


@pytest.fixture
def domain(tmp_path: Path) -> str:
    path = tmp_path / "domain.json"
    path.write_text('{"a": 2, "b": 3}')
    return str(path)


def released(folder: Path, domain: str, *options: str) -> dict[str, object]:
    out = folder / "out"
    made = main(["synthesize", *options, "--domain", domain, "--epsilon", "5", *FURTHER, "--out", str(out)])
    assert made == 0
    document: dict[str, object] = json.loads((out / "release.json").read_text())
    return document


@pytest.mark.parametrize("engine", ["duckdb", "sqlite", "postgresql"])
def test_a_release_is_made_and_names_neither_host_nor_table_nor_query(tmp_path: Path, domain: str, engine: str) -> None:
    section = database_tables.section(engine, tmp_path, RECORDS)
    query = f"SELECT a, b AS b, who FROM {section['table']} WHERE a >= 0 -- ours"
    document = released(tmp_path, domain, section["path"], "--query", query, "--person-column", "who", "--max-rows-per-person", "2")
    text = json.dumps(document)
    for secret in ("tester", "WHERE", "tmp", str(tmp_path)):
        assert secret not in text
    assert '"kind": "database"' in text


def test_a_table_on_a_server_is_charged_and_recognised(
    tmp_path: Path, domain: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("DPSYNTH_HOME", str(tmp_path / "home"))
    section = database_tables.section("postgresql", tmp_path, RECORDS)
    for population in ("people", "others"):
        (tmp_path / population).mkdir()
        released(tmp_path / population, domain, section["path"], "--table", section["table"], "--population", population, "--private-notes")
    assert "the same table was charged to the population 'people'" in capsys.readouterr().err


def test_a_password_is_refused_and_not_repeated(domain: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for address in ("postgresql://ann:s3cret@host/db", "postgres://ann:s3/cr@et@host/db", "postgresql://host/db?password=s3cret", "postgresql://host/db?service=p%26password%3Ds3cret"):
        code = main(["synthesize", address, "--table", "t", "--domain", domain, "--epsilon", "1", "--out", str(tmp_path / "out")])
        said = capsys.readouterr().err
        assert code != 0
        assert "s3" not in said
        assert "PGPASSWORD" in said or "leave out all but" in said


def test_declared_types_become_a_domain(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, RECORDS)
    assert main(["domain", section["path"], "--table", section["table"], "--out", str(tmp_path / "made.json")]) == 0
    made = json.loads((tmp_path / "made.json").read_text())
    assert [(entry["name"], entry["kind"]) for entry in made["attributes"]] == [("a", "integer"), ("b", "integer"), ("who", "categorical")]


def test_options_of_databases_and_of_files_are_told_apart(tmp_path: Path, domain: str, capsys: pytest.CaptureFixture[str]) -> None:
    common = ["--domain", domain, "--epsilon", "1", "--out", str(tmp_path / "out")]
    assert main(["synthesize", "people.csv", "--table", "t", *common]) != 0
    assert "not in a database" in capsys.readouterr().err
    assert main(["synthesize", "people.duckdb", "--table", "t", "--sheet", "1", *common]) != 0
    assert "databases do not have that" in capsys.readouterr().err
