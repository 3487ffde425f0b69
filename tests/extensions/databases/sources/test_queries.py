"""What may be asked of a database: one table, or one SELECT each of whose rows looks at one record alone, written anew before it goes."""

from __future__ import annotations

import logging
import sqlite3
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pytest

from benchmarks import queries
from dpsynth_core.extensions.databases import connect, query
from dpsynth_core.extensions.databases.catalogue import Catalogue, Column, Table
from dpsynth_core.foundation.errors import InputError
from tests import postgres
from tests.refusals import refused

DIALECTS = ("duckdb", "sqlite", "postgres")
COLUMNS = tuple(
    Column(name, arrow, type_)
    for name, arrow, type_ in (
        ("age", pa.int32(), "integer"),
        ("pay", pa.float64(), "numeric"),
        ("sex", pa.string(), "text"),
        ("town", pa.string(), "text"),
        ("born", pa.date32(), "date"),
        ("seen", pa.timestamp("us"), "timestamp with time zone"),
        ("rank", pa.int32(), "integer"),
    )
)
TABLES = (("main", "people"), ("health", "people"), ("main", "t"), ("main", "x.csv"))


def sent(text: str, dialect: str, columns: tuple[Column, ...] = COLUMNS) -> str:
    """What is sent for a query to a database with these tables."""
    statement = query.read(text, dialect)
    name = query.table_of(statement, Catalogue(TABLES, ("main",), dialect == "postgres"), dialect)
    return query.rebuilt(statement, Table(name, columns), dialect)


@pytest.mark.parametrize(("engine", "number"), [("duckdb", 2000), ("sqlite", 4500), ("postgres", 3500)])
def test_one_person_changes_their_own_record_alone(engine: str, number: int, tmp_path: Path) -> None:
    """In what any accepted query gives, of 10,000 generated ones. The large test: `python -m benchmarks queries`."""
    server = postgres.address() if engine == "postgres" else None
    with queries.tables(engine, tmp_path, server) as there:
        outcome = queries.tried(engine, there, number, seed=1)
    print(f"seed 1: {outcome.accepted} of {outcome.tried} queries were accepted")
    assert outcome.faults == ()
    assert outcome.accepted > number / 5


@pytest.mark.parametrize("text", ["DELETE FROM t", "SELECT 1; SELECT 2", "SELECT * INTO u FROM t", "COPY t TO 'x'", "((", "", "SELECT 1 a"])
@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_is_one_select(text: str, dialect: str) -> None:
    refused(sent, text, dialect)


@pytest.mark.parametrize(
    "text",
    [
        "WITH x AS (DELETE FROM t RETURNING *) SELECT * FROM x",
        "SELECT age - (SELECT min(age) FROM t) AS d FROM t",
        "SELECT ntile(10) OVER (ORDER BY age) AS decile FROM t",
        "SELECT DISTINCT age FROM t",
        "SELECT age FROM t LIMIT 10",
        "SELECT age FROM t ORDER BY age LIMIT 10 OFFSET 2",
        "SELECT max(age) AS a FROM t GROUP BY town",
        "SELECT age FROM t UNION SELECT age FROM people",
        "SELECT t.age FROM t JOIN people ON t.age = people.age",
        "SELECT t.age FROM t, people",
        "SELECT age FROM (SELECT age FROM t) AS s",
        "WITH s AS (SELECT age FROM t) SELECT age FROM s",
        "SELECT random() AS r FROM t",
        "SELECT age FROM t WHERE age IN (SELECT age FROM people)",
        "SELECT dblink('host=evil', 'SELECT 1') AS x FROM t",
        "SELECT age FROM read_csv('other.csv')",
        "SELECT age FROM generate_series(1, 10) AS g(age)",
        "SELECT unnest([1, 2]) AS a FROM t",
        "SELECT age FROM t TABLESAMPLE 10 PERCENT",
        "SELECT max(age) AS a FROM t",
        "SELECT greatest(age) AS a FROM t",  # MAX(age) in SQLite, which is one row for all
        "SELECT now() AS a FROM t",
        "SELECT CAST('people' AS regclass) AS a FROM t",
        "SELECT CAST(age AS mytype) AS a FROM t",
        "SELECT age FROM t WHERE age IN people",
    ],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_no_row_of_a_query_depends_on_other_peoples_records(text: str, dialect: str) -> None:
    """One person could change the rows of all others, and the noise would be for one."""
    refused(sent, text, dialect)


@pytest.mark.parametrize(
    "name",
    ["rowid", "_rowid_", "oid", "ctid", "xmin", "tableoid", "filename", "file_row_number", "people", "people.count", "p.f", '"agee"'],
)
@pytest.mark.parametrize("dialect", DIALECTS)
def test_columns_that_the_catalogue_does_not_list_are_refused(name: str, dialect: str) -> None:
    for text in (f"SELECT {name} AS x FROM people", f"SELECT age FROM people WHERE {name} IS NULL", f"SELECT {name} FROM people"):
        refused(sent, text, dialect, saying=r"catalogue does not list|not the table")


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize("place", ["'y.csv'", "pg_class", "sqlite_master", "other.people", "people p(age, sex)", "people AS @p"])
def test_only_tables_of_the_catalogue_are_read(place: str, dialect: str) -> None:
    refused(sent, f"SELECT * FROM {place}", dialect)


def test_what_is_sent_is_written_anew_and_nothing_typed_goes_with_it() -> None:
    text = "SELECT /*+ hint */ P.AGE, lower(sex) AS Sex, * FROM People AS p -- all\nWHERE town NOT LIKE 'B%' AND age / 2 > 1.5 {# x #}"
    columns = COLUMNS[:1] + COLUMNS[2:4]
    refused(sent, text, "postgres", columns, saying="same name")
    text = text.replace(", *", "")
    assert sent(text, "postgres", columns) == (
        'SELECT "record"."age", LOWER("record"."sex") AS "sex" FROM "main"."people" AS "record" '
        """WHERE "record"."town" NOT LIKE 'B%' AND "record"."age" / NULLIF(2, 0) > 1.5"""
    )
    assert sent(text, "duckdb", columns) == (
        'SELECT "record"."age", TRY(LOWER("record"."sex")) AS "Sex" FROM "main"."people" AS "record" '
        """WHERE TRY("record"."town" NOT LIKE 'B%') AND TRY(TRY("record"."age" / 2) > 1.5)"""
    )


def test_a_table_is_called_like_none_of_its_columns() -> None:
    """DuckDB would take record.age for a field of the column, and PostgreSQL a name without one for a whole row."""
    columns = (Column("Record", pa.string(), "STRUCT(age INTEGER)"), Column("age", pa.int32(), "INTEGER"))
    assert sent("SELECT age FROM people", "duckdb", columns) == 'SELECT "record_"."age" FROM "main"."people" AS "record_"'


@pytest.mark.parametrize("dialect", DIALECTS)
def test_all_columns_of_a_table_are_those_of_the_catalogue(dialect: str) -> None:
    listed = ", ".join(f'"record"."{column.name}"' for column in COLUMNS)
    expected = f'SELECT {listed} FROM "main"."people" AS "record"'
    for text in ("SELECT * FROM people", "SELECT p.* FROM people p"):
        assert sent(text, dialect) == expected
    assert query.select_all(Table(("main", "people"), COLUMNS), dialect) == expected


@pytest.mark.parametrize("dialect", DIALECTS)
def test_a_query_chooses_records_and_rewrites_their_values(dialect: str) -> None:
    text = (
        "SELECT age, CAST(age AS integer) / 100 AS pay, CASE WHEN sex = 'f' THEN 1 ELSE 0 END AS female, "
        "lower(trim(town)) AS town, coalesce(sex, town) AS c FROM people AS p WHERE age >= 18 AND NOT (town IS NULL OR town LIKE 'x%')"
    )
    assert sent(text, dialect).endswith(")")
    assert sent("SELECT * FROM health.people WHERE age BETWEEN 1 AND 2 -- adults", dialect).endswith(("2)", "2))"))


@pytest.mark.parametrize("made", ["CAST(sex AS integer)", "CAST(trim(sex) AS date)", "sex::boolean", "CAST('now' AS date)"])
def test_in_postgresql_one_persons_text_ends_no_statement(made: str) -> None:
    refused(sent, f"SELECT {made} AS x FROM people", "postgres", saying="casts a text")
    for dialect in ("sqlite", "postgres"):
        refused(sent, "SELECT TRY_CAST(sex AS integer) AS x FROM people", dialect, saying=r"no TRY_CAST.*leave the column as it is")


@pytest.mark.parametrize(
    "made",
    [
        "CAST(pay AS double precision)",
        "CAST(age AS text)",
        "seen AT TIME ZONE 'Europe/Berlin'",
        "CAST(seen AT TIME ZONE 'UTC' AS date)",
        "date_trunc('month', born)",
        "extract(year FROM born)",
        "born >= DATE '2024-01-01'",
    ],
)
def test_casts_that_docs_and_messages_recommend_are_taken(made: str) -> None:
    assert sent(f"SELECT {made} AS x FROM people", "postgres")


def test_in_duckdb_a_value_that_fails_is_missing_and_harms_no_other(tmp_path: Path) -> None:
    path = str(tmp_path / "people.duckdb")
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE people (a VARCHAR, b INTEGER)")
        made.execute("INSERT INTO people VALUES ('1', 1), ('n/a', 2147483647), ('3', 3)")
    connection = connect.connect({"path": path})
    for expression, wanted in (("CAST(a AS INTEGER)", [1, None, 3]), ("b + 1", [2, None, 4]), ("a = 3", [False, None, True])):
        assert [row[0] for row in connection.rows(connection.select({"query": f"SELECT {expression} AS x FROM people"}))] == wanted
    text = "SELECT b FROM people WHERE a = 3 OR a"
    assert connection.rows(connection.select({"query": text})) == [(1,), (3,)]
    connection.close()


def test_functions_and_operators_of_the_database_shadow_none() -> None:
    """Also those of the program's own statements."""
    with postgres.connect() as made:
        made.execute("CREATE TABLE shadowed (a varchar)")
        made.execute("INSERT INTO shadowed VALUES ('A')")
        made.execute("CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT ''shadow'''")
    try:
        connection = connect.connect({"path": postgres.address()})
        assert connection.rows(connection.select({"query": "SELECT lower(a) AS a FROM shadowed"})) == [("a",)]
        connection.close()
    finally:
        with postgres.connect() as made:
            made.execute("DROP FUNCTION lower(varchar)")
            made.execute("DROP TABLE shadowed")


def test_macros_of_a_duckdb_file_shadow_nothing(tmp_path: Path) -> None:
    path = str(tmp_path / "people.duckdb")
    with duckdb.connect(path) as made:
        made.execute("CREATE TABLE people AS SELECT 'A' AS a")
        made.execute("CREATE MACRO lower(x) AS (SELECT count(*)::VARCHAR FROM people)")
        made.execute('CREATE MACRO "||"(x, y) AS 7')
    connection = connect.connect({"path": path})
    assert connection.rows(connection.select({"query": "SELECT lower(a) || 'x' AS a FROM people"})) == [("ax",)]
    connection.close()


def test_nothing_that_is_typed_is_written_to_a_log(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG), pytest.raises(InputError):
        query.read("EXPLAIN SELECT * FROM people WHERE name = 'canary'", "sqlite")
    assert "canary" not in caplog.text + capfd.readouterr().err


LISTED = (("public", "a.b"), ("a", "b"), ("public", "people"), ("My Schema", "t.x"), ("own", "people"))
CATALOGUE = Catalogue(LISTED, ("own", "public"), capitals=True)


def test_a_table_with_a_point_in_its_name_can_be_named() -> None:
    assert CATALOGUE.named("My Schema.t.x") == CATALOGUE.named('"My Schema"."t.x"') == ("My Schema", "t.x")
    assert CATALOGUE.named("public.a.b") == ("public", "a.b")
    refused(CATALOGUE.named, "a.b", saying="two tables have this name")
    assert CATALOGUE.named('"a"."b"') == ("a", "b")


def test_each_table_that_is_listed_is_found_by_its_name() -> None:
    assert {CATALOGUE.named(name) for name in CATALOGUE.listed()} == set(CATALOGUE.tables)


@pytest.mark.parametrize("name", ["PEOPLE", 'a"; DROP TABLE b; --', "people; --", "x.people", "", ".", "pg_class", "pg_catalog.pg_class"])
def test_names_of_tables_are_names_alone(name: str) -> None:
    refused(CATALOGUE.named, name)


@pytest.mark.parametrize("engine", ["sqlite", "postgres"])
def test_a_table_with_odd_names_is_read(engine: str, tmp_path: Path) -> None:
    path = postgres.address() if engine == "postgres" else str(tmp_path / "people.sqlite")
    opened: Any = postgres.connect() if engine == "postgres" else sqlite3.connect(path)
    with opened as made:
        made.execute('CREATE TABLE "odd.t""x" ("a""b" integer, "%s" integer, "select" integer)')
        made.execute('INSERT INTO "odd.t""x" VALUES (1, 2, 3)')
    opened.close()
    connection = connect.connect({"path": path})
    assert connection.rows(connection.select({"table": 'odd.t"x'})) == [(1, 2, 3)]
    assert connection.rows(connection.select({"query": 'SELECT "%s", "a""b" AS c FROM "odd.t""x"'})) == [(2, 1)]
    assert 'odd.t"x' in connect.tables({"path": path})
    connection.close()
