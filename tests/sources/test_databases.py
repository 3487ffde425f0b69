"""Counting in databases: the same cells as `sources.codec` for whatever stands in a column, and nothing said that is not public."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time as clock
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.databases import address, connect, counting, query
from dpsynth_core.sources.databases.counting import DatabaseSource
from dpsynth_core.sources.notation import Notation
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.kinds.hierarchies import Hierarchy
from tests import postgres
from tests.sources import database_tables
from tests.tiers import examples

ENGINES = ["duckdb", "sqlite", "postgresql"]
EUROPEAN = Notation(frozenset({"", "NA", "-9", "k.A."}), ",", ".", "dd.mm.yyyy")
SPACED = Notation(frozenset({"-9"}), ",", " ", "ddmmmyyyy")
OWN = {"other": True, "missing": True}

NUMBERS = Attribute.numeric("number", -1.0, 10.0, edges=[-1.0, 0.0, 0.1, 0.30000000000000004, 7.0, 10.0], **OWN)
WHOLE = Attribute.integer("whole", -5, 100, width=10, **OWN)
DAYS = Attribute.day("day", "1969-12-30", "2024-03-01", edges=["1970-01-01", "2000-02-29", "2024-02-29"], **OWN)
MOMENTS = Attribute.binned("moment", "timestamp", "2023-01-01 00:00", "2024-03-01 12:00", width="month", precision="minute", **OWN)
CLOCKS = Attribute.binned("clock", "time", "06:00", "22:30", width="hour", precision="second", **OWN)
LASTING = Attribute.binned("lasting", "duration", "00:00:00", "30:00:00", width="hour", precision="minute", **OWN)
CHOICES = Attribute.categorical("choice", ["a", "B", "-9", "x y", "ß"], **OWN)
TYPED = Attribute.categorical("typed", ["1", "2.5", "-9"], dtype="float64", **OWN)
TRUTH = Attribute.categorical("truth", ["false", "true"], dtype="bool", **OWN)
LEVEL = Attribute.hierarchical("level", Hierarchy(level=3, digits=5), ["A01", "B-2", "010", "106"], **OWN)
GROUPS = Attribute.hierarchical("group", Hierarchy(groups=(("A", "one"), ("A0", "two"), ("01", "two")), digits=4), ["one", "two"], **OWN)
CODED = Attribute.coded("coded", 4)
TEXTUAL = (NUMBERS, WHOLE, DAYS, MOMENTS, CLOCKS, LASTING, CHOICES, TYPED, TRUTH, LEVEL, GROUPS, CODED)

EXTREME = ("9" * 400, "-0." + "0" * 330 + "1", "0." + "3" * 400, "\u2003 1 \u2003", "1\u202f234,5")
_LINES = (
    "NA|-9|-9.0| -9|k.A.|NaN|inf|a| B\u00a0|x y|A01|A-01.2|B-2|1067|one|TRUE|ß|0x10|- 5|1e400|-1e400|1e-400|-1e-400|1E5",
    "-2e-324|-3e-324|0e999999999999|0.1|0,1|0.30000000000000004|0,30000000000000004|1.234,5|1 234,5|12.34,5|.5|,5|5.|+7",
    "10|10.0|-1|-1.0000000000000002|2.5|2,5|100|101|-5|-6|2024-02-29|2023-02-29|29.02.2000|1.3.2024|31.04.2020|01mar2024",
    "0000-01-01|2024-02-29T23:59|2024-02-30|1969-12-31|1970-01-01 25:00|29.2.1900|2023-05-01 7:05 pm|2023-05-01 13:05 pm",
    "23:59:59.9999999|24:00|0:30 AM|12:00pm|7:05|-0:30|26:30:00|90|30:00|22:30:00.5|2024-03-01 12:00|12:00 AM|",
)
WRITTEN = [*(text for line in _LINES for text in line.split("|")), *EXTREME]
"""What people write, and what is nearly that."""


def written(seed: int, number: int) -> list[str | None]:
    """All of those, and texts of the same characters."""
    rng = np.random.default_rng(seed)
    signs = np.array(list("0123456789.,-: eA"))
    return [*WRITTEN, None, *("".join(rng.choice(signs, rng.integers(1, 6))) for _ in range(number))]


def assert_counts_are_of_the_codes(folder: Path, engine: str, records: pa.Table, domain: Domain, notation: Notation) -> None:
    section = database_tables.section(engine, folder, records)
    source = DatabaseSource(domain, section, notation)
    codes = encode(domain, records, notation)
    expected = CodesSource(domain, np.stack([codes[name] for name in domain.names], axis=1))
    cliques = [(name,) for name in domain.names]
    wanted, counted = expected.counts(cliques), source.counts(cliques)
    source.close()
    for clique in cliques:
        assert np.array_equal(counted[clique], wanted[clique]), (clique, counted[clique] - wanted[clique])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("notation", [Notation(), EUROPEAN, SPACED], ids=["plain", "european", "spaced"])
def test_texts_of_any_kind_are_in_the_same_cells(engine: str, notation: Notation, tmp_path: Path) -> None:
    """Whatever people write, in columns of every kind."""
    column = pa.array(written(1, 300), pa.string())
    refused = [LASTING] if engine == "sqlite" and notation != Notation() else []  # numbers may stand there, too
    domain = Domain(tuple(attribute for attribute in TEXTUAL if attribute not in refused))
    assert_counts_are_of_the_codes(tmp_path, engine, pa.table(dict.fromkeys(domain.names, column)), domain, notation)


@pytest.mark.parametrize("engine", ["duckdb", "sqlite"])
def test_any_text_is_in_the_same_cell(engine: str, tmp_path: Path) -> None:
    """Of the statements of one source, which are made once."""
    section = database_tables.section(engine, tmp_path, pa.table({"choice": ["a"], "number": ["1"]}))
    domain = Domain((NUMBERS, CHOICES))

    @examples(8, suppress_health_check=(HealthCheck.function_scoped_fixture,))
    @given(texts=st.lists(st.one_of(st.text(max_size=4), st.floats().map(repr), st.integers().map(str)), min_size=1, max_size=20))
    def same(texts: list[str]) -> None:
        column = pa.array([text.replace("\0", "") for text in texts], pa.string())
        records = pa.table({"choice": column, "number": column})
        assert_counts_are_of_the_codes(tmp_path, engine, records, domain, Notation())

    assert section["table"]
    same()


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("notation", [Notation(), EUROPEAN], ids=["plain", "european"])
def test_numbers_of_every_type_are_in_the_same_cells(engine: str, notation: Notation, tmp_path: Path) -> None:
    doubles = [
        0.1,
        0.30000000000000004,
        0.3,
        -0.0,
        0.0,
        1e300,
        -9.0,
        7.0,
        10.0,
        10.000000000000002,
        2.5,
        1.0,
        None,
        float("inf"),
        float("-inf"),
    ]
    doubles.append(float("nan"))
    if engine == "sqlite":  # it has neither
        doubles = [0.0 if value == 0 else None if value is not None and np.isnan(value) else value for value in doubles]
    whole = [-9, 0, 1, 99, 100, 101, -5, 2**62, None, 2, 5, 10, 7, 3, 4, 1067][: len(doubles)]
    names = [a for a in TEXTUAL if a.hierarchy is None and (a is not LASTING or notation == Notation())]
    for values, kind in ((doubles, pa.float64()), (whole, pa.int64())):
        records = pa.table({attribute.name: pa.array(values, kind) for attribute in names})
        assert_counts_are_of_the_codes(tmp_path, engine, records, Domain(tuple(names)), notation)


@pytest.mark.parametrize("engine", ["duckdb", "postgresql", "sqlite"])
def test_a_missing_marker_beats_a_spelling_of_a_boolean_but_no_listed_value(engine: str, tmp_path: Path) -> None:
    spelled = ["t", "f", "N", "n", "0", "1", "true", "False", " Y", "x", None]
    notation = Notation(frozenset({"N", "0", "true"}))
    assert_counts_are_of_the_codes(tmp_path, engine, pa.table({"truth": pa.array(spelled, pa.string())}), Domain((TRUTH,)), notation)


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_decimals_truth_and_times_are_in_the_same_cells(engine: str, tmp_path: Path) -> None:
    domain = Domain(tuple(attribute for attribute in TEXTUAL if attribute.hierarchy is None))
    units = [Decimal(unit).scaleb(-2) for unit in (*range(-30, 1030, 7), -900, 110, 250)]
    moments = [datetime(2023, 1, 1) + timedelta(hours=hours, microseconds=hours) for hours in range(0, 12000, 379)]
    columns: list[tuple[list[Any], pa.DataType]] = [
        (units, pa.decimal128(12, 2)),
        ([True, False, None], pa.bool_()),
        ([*(moment.date() for moment in moments), date(1969, 12, 29), date(1969, 12, 31), None, date(9999, 12, 31)], pa.date32()),
        ([*moments, datetime(1969, 12, 31, 23, 59, 59, 999999), None], pa.timestamp("us")),
        ([*(moment.time() for moment in moments), time(6), time(22, 30), time(22, 30, 0, 999999), time(22, 31), None], pa.time64("us")),
    ]
    for values, kind in columns:
        records = pa.table({attribute.name: pa.array(values, kind) for attribute in domain})
        assert_counts_are_of_the_codes(tmp_path, engine, records, domain, Notation())


def test_collations_do_not_make_texts_equal(tmp_path: Path) -> None:
    with duckdb.connect(str(tmp_path / "a.duckdb")) as connection:
        connection.execute("CREATE TABLE t (choice VARCHAR COLLATE NOCASE)")
        connection.execute("INSERT INTO t VALUES ('a'), ('A'), ('b'), ('B')")
    with sqlite3.connect(tmp_path / "a.sqlite") as raw:
        raw.execute("CREATE TABLE t (choice TEXT COLLATE NOCASE)")
        raw.execute("INSERT INTO t VALUES ('a'), ('A'), ('b'), ('B')")
    for place in ("a.duckdb", "a.sqlite"):
        source = DatabaseSource(Domain((CHOICES,)), {"path": str(tmp_path / place), "table": "t"}, Notation(), "choice", 1)
        assert source.counts([("choice",)])[("choice",)].tolist() == [1, 1, 0, 0, 0, 2, 0]


def limited(codes: dict[str, list[tuple[int, ...]]], most: int) -> Counter[tuple[int, ...]]:
    """By brute force: of each person's rows the first in the order of their codes."""
    return Counter(row for rows in codes.values() for row in sorted(rows)[:most])


@pytest.mark.parametrize("engine", ENGINES)
def test_the_rows_of_a_person_that_count_are_the_first_by_their_codes(engine: str, tmp_path: Path) -> None:
    """On random tables and their neighbours, whatever marginals are asked for."""
    domain, rng = Domain((Attribute.coded("a", 3), Attribute.coded("b", 3))), np.random.default_rng(4)
    for trial in range(3):
        rows = rng.integers(0, 3, (12, 2))
        people = rng.choice(["ann", " ann", "bob", "Bob", "NA", ""], 12).tolist()
        whole = [(person, tuple(row)) for person, row in zip(people, rows.tolist(), strict=True)]
        tables = []
        for kept in (whole, [pair for pair in whole if pair[0].strip() != "ann"]):
            records = pa.table(
                {"who": [who for who, _ in kept], "a": pa.array([row[0] for _, row in kept]), "b": pa.array([row[1] for _, row in kept])}
            )
            source = DatabaseSource(domain, database_tables.section(engine, tmp_path, records), Notation(), "who", 2)
            counts = source.counts([("a", "b"), ("b",)])
            by_person: dict[str, list[tuple[int, ...]]] = {}
            for who, row in kept:
                if who.strip() not in ("", "NA"):
                    by_person.setdefault(who.strip(), []).append(row)
            expected = limited(by_person, 2)
            assert {cell: int(n) for cell, n in np.ndenumerate(counts[("a", "b")]) if n} == expected, trial
            assert np.array_equal(counts[("b",)], counts[("a", "b")].sum(axis=0))
            assert np.array_equal(source.counts([("b",)])[("b",)], counts[("b",)])
            tables.append(counts[("a", "b")])
            source.close()
        assert (tables[0] - tables[1]).min() >= 0
        assert (tables[0] - tables[1]).sum() <= 2


@pytest.mark.parametrize(
    ("type_", "value", "remedy"),
    [
        ("timestamptz", "2024-01-01 00:00+00", "AT TIME ZONE"),
        ("numeric", "1.5", "double precision|cast it"),
        ("numeric(20, 2)", "1.5", "double precision"),
        ("interval", "1 day", "cast it"),
        ("integer[]", "{1}", "cast it"),
        ("json", "{}", "cast it"),
    ],
)
def test_types_that_are_not_counted_exactly_are_refused_before_the_charge(type_: str, value: str, remedy: str) -> None:
    table = postgres.new_table()
    with postgres.connect() as connection:
        connection.execute(f"CREATE TABLE {table} (number {type_})")
        connection.execute(f"INSERT INTO {table} VALUES ('{value}')")
    with pytest.raises(InputError, match=remedy) as refused:
        counting.check({"path": postgres.address(), "table": table}, Domain((NUMBERS,)), Notation(), None)
    assert refused.value.field == "column 'number'"


def place(statement: str) -> str:
    """The table of a statement, with all that stands before its name."""
    return statement.partition(" FROM ")[2].partition(" AS ")[0]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_connection_writes_nothing(engine: str, tmp_path: Path) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"a": [1]}))
    connection = connect.connect(section)
    table = place(connection.select(section))
    schema = table.rpartition(".")[0]
    for statement in (f"DELETE FROM {table}", f"DROP TABLE {table}", f"CREATE TABLE {schema}.further (a integer)"):
        with pytest.raises(InputError):
            connection.run(statement)
    connection.close()
    again = connect.connect(section)
    assert len(again.rows(again.select(section))) == 1
    assert "further" not in connect.tables(section)


def test_duckdb_opens_no_other_file(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, pa.table({"a": [1]}))
    (tmp_path / "other.csv").write_text("b\n1\n")
    del section["table"]
    with pytest.raises(InputError):
        connect.columns(section | {"query": f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')"})


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_repeat_nothing_that_the_database_says(engine: str, tmp_path: Path) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"a": ["secret"]}))
    connection = connect.connect(section)
    made = {"sqlite": "json(a)"}.get(engine, "CAST(a AS integer)")
    bad = f"SELECT {made} FROM {place(connection.select(section))}"
    with pytest.raises(InputError) as failed:
        connection.rows(bad)
    assert "secret" not in str(failed.value)
    assert failed.value.__suppress_context__


@pytest.mark.parametrize("engine", ENGINES)
def test_a_signal_ends_the_statement_that_runs(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"a": [1]}))
    connection = connect.connect(section)
    assert connection.rows("SELECT 1")
    began = clock.monotonic()

    def stopped() -> None:
        if clock.monotonic() > began + 0.3:
            raise interrupts.Interrupted

    monkeypatch.setattr(interrupts, "check", stopped)
    numbers = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000000000) SELECT count(*) FROM n"
    with pytest.raises(interrupts.Interrupted):
        connection.rows("SELECT pg_sleep(60)" if engine == "postgresql" else numbers)
    assert clock.monotonic() - began < 30
    assert signal.getsignal(signal.SIGINT) is not None
    assert not [thread for thread in threading.enumerate() if thread.daemon and "work" in thread.name]


def test_a_statement_that_takes_too_long_is_ended() -> None:
    connection = connect.connect({"path": postgres.address(), "timeout": 1})
    with pytest.raises(InputError, match="timeout"):
        connection.rows("SELECT pg_sleep(60)")


def test_the_log_of_the_server_has_no_counts_and_no_values() -> None:
    """Statements may be in it, with the public categories; errors quote no value, because there is none."""
    table = postgres.new_table()
    with postgres.connect() as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE TABLE {table} AS SELECT 'zebra' || i AS choice FROM generate_series(1, 77777) i")
    clock.sleep(0.2)
    before = len(postgres.log())
    DatabaseSource(Domain((CHOICES,)), {"path": postgres.address(), "table": table}, Notation()).counts([("choice",)])
    said = postgres.log()[before:]
    with postgres.connect() as connection:
        connection.execute("ALTER SYSTEM RESET log_statement")
        connection.execute("SELECT pg_reload_conf()")
    assert "'x y'" in said
    assert "77777" not in said
    assert "zebra" not in said


def test_days_are_written_as_the_database_knows_them_in_a_new_process() -> None:
    """The name of a table was written before Ibis had told sqlglot how PostgreSQL makes a day; then no day could be compared there."""
    code = (
        "import datetime; from dpsynth_core.sources.databases import query; query.star(('t',), 'postgres'); import ibis;"
        "t = ibis.table({'x': 'date'}, name='t'); print(ibis.to_sql(t.filter(t.x >= datetime.date(2020, 1, 2)), dialect='postgres'))"
    )
    written = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(query.__file__).parents[3])
    assert "MAKE_DATE(2020, 1, 2)" in written.stdout


def test_codes_that_do_not_fit_the_memory_are_made_for_each_block(tmp_path: Path) -> None:
    domain = Domain((Attribute.integer("a", 0, 5), Attribute.integer("b", 0, 199), Attribute.integer("c", 0, 299)))
    rng = np.random.default_rng(1)
    records = pa.table({name: rng.integers(0, domain[name].size, 1_000_000) for name in domain.names})
    path = str(tmp_path / "records.duckdb")
    with duckdb.connect(path) as connection:
        connection.register("records", records)
        connection.execute("CREATE TABLE people AS SELECT * FROM records")
    cliques = [("a", "b"), ("c",), ()]
    expected = DatabaseSource(domain, {"path": path, "table": "people"}, Notation()).counts(cliques)
    source = DatabaseSource(domain, {"path": path, "table": "people"}, Notation())
    source._connection._raw.execute("SET threads = 1; SET memory_limit = '8MB'")  # the codes of 1,000,000 records take more
    counts = source.counts(cliques)
    assert not source._kept
    assert int(counts[()].sum()) == 1_000_000
    for clique in cliques:
        np.testing.assert_array_equal(counts[clique], expected[clique])


def test_two_connections_to_one_duckdb_file_live_beside_each_other(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, pa.table({"a": [0, 1]}))
    first, second = connect.connect(section), connect.connect(section)
    try:
        assert first.rows("SELECT 1") == second.rows("SELECT 1") == [(1,)]
    finally:
        first.close()
        second.close()


@pytest.mark.parametrize("kind", ["DECIMAL(5,2)[]", "STRUCT(k ENUM('secretvalue', 'o'))", "ENUM('secretvalue')[]"])
def test_a_type_that_cannot_be_counted_is_refused_before_the_charge_without_its_values(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "odd.duckdb"
    with duckdb.connect(path) as made:
        made.execute(f"CREATE TABLE t (a {kind}, b INTEGER)")
    section = {"path": str(path), "table": "t"}
    counting.check(section, Domain.from_json({"b": 2}), Notation(), None)
    with pytest.raises(InputError) as refused:
        counting.check(section, Domain.from_json({"a": 2}), Notation(), None)
    assert "secretvalue" not in str(refused.value)


def test_addresses_say_where_and_nothing_secret() -> None:
    assert address.read("duckdb:///data/people.duckdb") == address.Address("duckdb", "/data/people.duckdb")
    assert address.read("people.db").engine == "sqlite"
    assert address.read("postgresql://ann@host:5432/people?sslmode=require").base_name == "people"
    for wrong in ("duckdb://people", "oracle://host/db", "people.csv", "postgresql://host/db?user=ann&password=x", "postgresql://a:b@c/d"):
        with pytest.raises(InputError):
            address.read(wrong)


@pytest.mark.parametrize("engine", ENGINES)
def test_tables_are_listed_by_name(engine: str, tmp_path: Path) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"a": [1]}))
    assert section["table"] in connect.tables({"path": section["path"]})


# What happens to a PostgreSQL server in the middle


PEOPLE = Domain((Attribute.coded("a", 2),))


def people(number: int = 4) -> tuple[str, dict[str, Any]]:
    """A new table of zeros, and the section of it."""
    table = postgres.new_table()
    with postgres.connect() as connection:
        connection.execute(f"CREATE TABLE {table} AS SELECT 0 AS a FROM generate_series(1, {number})")
    return table, {"path": postgres.address(), "table": table}


def slow(table: str) -> str:
    """A view that takes 20 milliseconds for each record."""
    with postgres.connect() as connection:
        connection.execute(f"CREATE VIEW {table}_slow AS SELECT CASE WHEN pg_sleep(0.02) IS NULL THEN 1 ELSE a END AS a FROM {table}")
    return f"{table}_slow"


def when_it_counts(act: Any) -> threading.Thread:
    """Do something as soon as a statement of ours counts."""

    def work() -> None:
        asked = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'dpsynth' AND state = 'active' AND query ILIKE '%count(*)%'"
        with postgres.connect() as connection:
            while not connection.execute(asked).fetchall():
                clock.sleep(0.01)
        act()

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    return thread


def changed(statement: str) -> None:
    with postgres.connect() as connection:
        connection.execute("SET lock_timeout = '200ms'")
        connection.execute(statement)


def test_a_connection_that_is_ended_during_the_count_is_said_to_be() -> None:
    table, section = people(2000)
    source = DatabaseSource(PEOPLE, section | {"table": slow(table)}, Notation())
    ended = when_it_counts(postgres.end_all)
    with pytest.raises(InputError, match="the server ended the connection"):
        source.counts([("a",)])
    ended.join()


def test_a_connection_that_is_ended_during_the_look_is_said_to_be() -> None:
    _, section = people()
    connection = connect.connect(section)
    assert connection.catalogue
    postgres.end_all()
    with pytest.raises(InputError, match="the server ended the connection"):
        connection.select(section)


def test_records_that_come_during_the_count_are_not_counted() -> None:
    """All statements of a source see the same records."""
    table, section = people(100)
    source = DatabaseSource(PEOPLE, section | {"table": slow(table)}, Notation())
    inserted = when_it_counts(lambda: changed(f"INSERT INTO {table} VALUES (1)"))
    assert source.counts([("a",)])[("a",)].tolist() == [100, 0]
    inserted.join()
    changed(f"DELETE FROM {table} WHERE a = 0")
    assert source.counts([("a",)])[("a",)].tolist() == [100, 0]
    assert DatabaseSource(PEOPLE, section, Notation()).counts([("a",)])[("a",)].tolist() == [0, 1]


@pytest.mark.parametrize("change", ["ALTER TABLE {} ADD COLUMN b integer", "ALTER TABLE {} RENAME a TO b", "TRUNCATE {}", "DROP TABLE {}"])
def test_a_table_is_not_altered_before_the_count_ends(change: str) -> None:
    table, section = people()
    source = DatabaseSource(PEOPLE, section, Notation())
    with pytest.raises(psycopg.errors.LockNotAvailable):
        changed(change.format(table))
    assert source.counts([("a",)])[("a",)].tolist() == [4, 0]
    source.close()
    changed(change.format(table))


def test_a_table_that_was_altered_before_the_count_is_refused() -> None:
    table, section = people()
    counting.check(section, PEOPLE, Notation(), None)
    changed(f"ALTER TABLE {table} RENAME a TO b")
    with pytest.raises(InputError, match="a"):
        DatabaseSource(PEOPLE, section, Notation())


def test_a_count_that_takes_longer_than_the_timeout_says_so() -> None:
    table, section = people(2000)
    source = DatabaseSource(PEOPLE, section | {"table": slow(table), "timeout": 1}, Notation())
    with pytest.raises(InputError, match="took longer than 1 seconds") as late:
        source.counts([("a",)])
    assert late.value.field == "data.timeout"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_is_locked_is_said_to_be(engine: str, tmp_path: Path) -> None:
    """PostgreSQL waits for 30 seconds, or nearly as long as a statement may take."""
    section = database_tables.section(engine, tmp_path, pa.table({"a": [0]})) | {"timeout": 1}
    with holding(engine, section), pytest.raises(InputError, match="locked by another program"):
        connect.columns(section)
    assert connect.columns(section)


@contextmanager
def holding(engine: str, section: dict[str, Any]) -> Iterator[None]:
    """Another program has the table for itself."""
    if engine == "duckdb":
        code = f"import duckdb; c = duckdb.connect({section['path']!r}); print(flush=True); input()"
        with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            assert other.stdout is not None
            other.stdout.readline()
            yield
            other.communicate("\n")
    elif engine == "sqlite":
        other_connection = sqlite3.connect(section["path"], isolation_level=None)
        other_connection.execute("BEGIN EXCLUSIVE")
        yield
        other_connection.close()
    else:
        with postgres.connect() as administration, administration.transaction():
            administration.execute(f"LOCK TABLE {section['table']} IN ACCESS EXCLUSIVE MODE")
            yield


def test_postgresql_waits_for_a_lock_for_30_seconds() -> None:
    connection = connect.connect({"path": postgres.address()})
    assert connection.rows("SELECT setting FROM pg_settings WHERE name = 'lock_timeout'") == [("30000",)]
    connection.close()


@pytest.mark.parametrize(
    ("type_", "value", "remedy"),
    [
        ("timestamptz", "2024-01-01 00:30+02", "number AT TIME ZONE 'Europe/Berlin'"),
        ("integer[]", "{1,2}", "CAST(number AS text)"),
        ("numeric", "1.5", "CAST(number AS double precision)"),
        ("json", '{"a": 1}', "CAST(number AS text)"),
    ],
)
def test_the_remedies_for_types_that_are_not_counted_work(type_: str, value: str, remedy: str) -> None:
    table = postgres.new_table()
    changed(f"CREATE TABLE {table} (number {type_})")
    changed(f"INSERT INTO {table} VALUES ('{value}')")
    texts = Attribute.categorical("number", ["2023-12-31 23:30:00", "{1,2}", "1.5", '{"a": 1}'], **OWN)
    section = {"path": postgres.address(), "query": f"SELECT {remedy} AS number FROM {table}"}
    assert DatabaseSource(Domain((texts,)), section, Notation()).counts([("number",)])[("number",)][:4].sum() == 1
