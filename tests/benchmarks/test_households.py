"""The distances of households: tables counted by hand."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import households
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.link import Link

TWO = Link(Domain.from_json({"region": 2, "rent": 2}), Domain.from_json({"sex": 2, "age": 3}), 3)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "households.csv").write_text("household,region,rent\n7,0,1\n3,1,1\n")
    (tmp_path / "persons.csv").write_text("household,sex,age\n3,1,2\n7,0,0\n3,0,2\n3,1,0\n")
    (tmp_path / "households.json").write_text(json.dumps({"region": 2, "rent": 2}))
    (tmp_path / "persons.json").write_text(json.dumps({"sex": 2, "age": 3}))
    return tmp_path


def test_tables_are_what_one_counts(folder: Path) -> None:
    tables: dict[str, list[list[int]]] = {}
    for kind, table in households.tables(TWO, households.read(folder, TWO)):
        tables.setdefault(kind, []).append(table.tolist())
    assert tables["households"] == [[0, 1, 0, 1]]
    assert tables["size"] == [[0, 1, 0, 1]]
    assert tables["members"] == [[1, 0, 1, 1, 0, 1]]
    assert tables["across"][0] == [1, 0, 1, 2]
    assert tables["within"][0] == [0, 2, 2, 2]
    assert tables["members with a value"][:2] == [[0, 2, 0, 0], [1, 0, 1, 0]]


def test_a_table_is_nowhere_from_itself_and_somewhere_from_another(folder: Path) -> None:
    real = households.read(folder, TWO)
    assert all(distance == 0 for _, distance in households.distances(TWO, real, real))
    other = households.together(TWO, real.households, np.array([0, 0, 1]), np.array([[0, 0], [1, 1], [1, 1]]))
    found = dict(households.distances(TWO, real, other))
    assert found["households"] == 0
    assert found["size"] == 1.0 - 0.5


def test_it_runs_and_keeps_a_record(folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    households.main([str(folder), "--epsilon", "5", "--runs", "1", "--results", str(tmp_path / "kept")])
    kept = json.loads((tmp_path / "kept" / "households_eps5.json").read_text())
    assert kept["runs"] == 1
    assert "members with a value" in capsys.readouterr().out
