"""What is looked at before a run is looked at in databases too: first records, types of columns, the text of a number."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from dpsynth_core.extensions.databases.connect import DatabaseTable
from dpsynth_core.planning.spec import Spec
from dpsynth_core.release import synthesis
from dpsynth_core.sources import first_records
from dpsynth_core.sources.first_records import FIRST
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from tests.extensions.databases.database_tables import section
from tests.refusals import refused
from tests.specs import usual


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_a_database_is_looked_at_too(engine: str, tmp_path: Path) -> None:
    listed = Attribute.categorical("x", ["f", "m"], other=True, missing=True)
    where = section(engine, tmp_path, pa.table({"x": ["F", "M"] * FIRST}))
    (remark,) = first_records.look(Domain((listed,)), DatabaseTable(where), TableFormat.of(where)).value
    assert remark.sentence.startswith("column 'x': no value of the first 1,000 records is in its list. The table writes")


def _planned(where: dict[str, Any], column: dict[str, Any]) -> object:
    domain = {"version": 1, "attributes": [{"name": "x", **column}]}
    return synthesis.plan(Spec.from_json(usual(where, domain, k=1, mechanism="independent")))


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_a_database_is_refused_by_the_types_of_its_columns(engine: str, tmp_path: Path) -> None:
    where = section(engine, tmp_path, pa.table({"x": pa.array([20240115, 20240116])}))
    refused(_planned, where, {"kind": "date", "lower": "2024-01-01", "upper": "2024-12-31"}, saying="int64.*date.*nothing was spent")
    _planned(where, {"kind": "integer", "lower": 0, "upper": 10**8})


@pytest.mark.parametrize("decimal", [".", ","])
def test_a_column_of_sqlite_without_a_type_has_one_text_for_a_number(tmp_path: Path, decimal: str) -> None:
    with sqlite3.connect(tmp_path / "t.sqlite") as connection:
        connection.execute("CREATE TABLE t (id, x TEXT)")
        values: list[Any] = [198_001_011_234, 198_001_011_234.0, "198001011234", f"198001011234{decimal}0", 5, 5.0]
        connection.executemany("INSERT INTO t VALUES (?, ?)", [(value, "b" if value == 5 else "a") for value in values])
    connection.close()
    where = {"kind": "database", "path": str(tmp_path / "t.sqlite"), "table": "t", "query": None, "timeout": None, "decimal": decimal}
    domain = Domain((Attribute.categorical("x", ["a", "b"]),))
    assert KINDS["database"].open(where, domain, "id", 1).counts([("x",)])[("x",)].tolist() == [1, 1]
