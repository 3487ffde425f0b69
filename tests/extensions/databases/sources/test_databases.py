"""Tables in databases: the records of one state, coded as those of files are, and nothing said that is not public."""

from __future__ import annotations

import signal
import sqlite3
import subprocess
import sys
import threading
import time as clock
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, cast

import duckdb
import numpy as np
import psycopg
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import HealthCheck, given
from hypothesis import strategies as st

from dpsynth_core.extensions.databases import address, connect, duckdb_engine, postgres_engine, sqlite_engine
from dpsynth_core.foundation import interrupts
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.arrays import texts
from dpsynth_core.sources.codec import encode
from dpsynth_core.sources.codes import CodesSource
from dpsynth_core.sources.notation import Notation
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.sources.source import MarginalSource, ValueSource
from dpsynth_core.vocabulary.attribute import Attribute
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from tests import postgres
from tests.extensions.databases import database_tables
from tests.patience import wait_until
from tests.refusals import refused
from tests.tiers import examples

ENGINES = ["duckdb", "sqlite", "postgresql"]
EUROPEAN = Notation(frozenset({"", "NA", "-9", "k.A."}), ",", ".", "dd.mm.yyyy")
SPACED = Notation(frozenset({"-9"}), ",", " ", "ddmmmyyyy")
WORLDLY = Notation(thousands=",", date_format="dd mmmm yyyy", negative="(5)", units=("%", "$"), same_text="case")
PLAIN = Notation()
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
LEVEL = Attribute.listed("level", "hierarchical", ["A01", "B-2", "010", "106"], hierarchy=Hierarchy(level=3, digits=5), **OWN)
TABLE = Hierarchy(groups=(("A", "one"), ("A0", "two"), ("01", "two")), digits=4)
GROUPS = Attribute.listed("group", "hierarchical", ["one", "two"], hierarchy=TABLE, **OWN)
CODED = Attribute.coded("coded", 4)
TEXTUAL = (NUMBERS, WHOLE, DAYS, MOMENTS, CLOCKS, LASTING, CHOICES, TYPED, TRUTH, LEVEL, GROUPS, CODED)

EXTREME = ("9" * 400, "-0." + "0" * 330 + "1", "0." + "3" * 400, "\u2003 1 \u2003", "1\u202f234,5")
_LINES = (
    "NA|-9|-9.0| -9|k.A.|NaN|inf|a| B\u00a0|x y|A01|A-01.2|B-2|1067|one|TRUE|ß|0x10|- 5|1e400|-1e400|1e-400|-1e-400|1E5",
    "-2e-324|-3e-324|0e999999999999|0.1|0,1|0.30000000000000004|0,30000000000000004|1.234,5|1 234,5|12.34,5|.5|,5|5.|+7",
    "10|10.0|-1|-1.0000000000000002|2.5|2,5|100|101|-5|-6|2024-02-29|2023-02-29|29.02.2000|1.3.2024|31.04.2020|01mar2024",
    "0000-01-01|2024-02-29T23:59|2024-02-30|1969-12-31|1970-01-01 25:00|29.2.1900|2023-05-01 7:05 pm|2023-05-01 13:05 pm",
    "5 %|$5|(5)|5-|\u22125|1,23,456|\uff15|\u0665|5 February 2024|31.12.24|2024-2-5|2024-02-05Z|20240205T103000Z|2024-02-05 10:30:00+00",
    "10:30:00 UTC|2024-02-05T10:30+01:00[Europe/Berlin]|A|b|x\u00a0y|SS|e\u0301",
    "23:59:59.9999999|24:00|0:30 AM|12:00pm|7:05|-0:30|26:30:00|90|30:00|22:30:00.5|2024-03-01 12:00|12:00 AM|",
)
WRITTEN = [*(text for line in _LINES for text in line.split("|")), *EXTREME]
"""What people write, and what is nearly that."""


def written(seed: int, number: int) -> list[str | None]:
    """All of those, and texts of the same characters."""
    rng = np.random.default_rng(seed)
    signs = np.array(list("0123456789.,-: eA"))
    return [*WRITTEN, None, *("".join(rng.choice(signs, rng.integers(1, 6))) for _ in range(number))]


def opened(
    domain: Domain, section: dict[str, Any], notation: Notation = PLAIN, person: str | None = None, rows: int = 1
) -> MarginalSource:
    return KINDS["database"].open({"kind": "database", **section, **vars(notation)}, domain, person, rows)


def as_held(engine: str, records: pa.Table, notation: Notation) -> pa.Table:
    """There is no -0. And SQLite has no types of columns: what stands there counts as its text in the curator's notation."""
    columns = []
    for column in records.columns:
        if pa.types.is_floating(column.type):
            column = pc.if_else(pc.equal(column, 0.0), 0.0, column)
        text = texts(column.combine_chunks())
        if pa.types.is_floating(column.type):
            text = pc.replace_substring(pc.replace_substring(text, "inf", "1e999"), ".", notation.decimal)
        columns.append(text if engine == "sqlite" else column)
    return pa.table(columns, names=records.column_names)


def assert_counts_are_of_the_codes(folder: Path, engine: str, records: pa.Table, domain: Domain, notation: Notation) -> None:
    source = opened(domain, database_tables.section(engine, folder, records), notation)
    codes = encode(domain, as_held(engine, records, notation), notation)
    expected = CodesSource(domain, np.stack([codes[name] for name in domain.names], axis=1))
    cliques = [(name,) for name in domain.names]
    wanted, counted = expected.counts(cliques), source.counts(cliques)
    for clique in cliques:
        assert np.array_equal(counted[clique], wanted[clique]), (clique, counted[clique] - wanted[clique])


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("notation", [Notation(), EUROPEAN, SPACED, WORLDLY], ids=["plain", "european", "spaced", "worldly"])
def test_texts_of_any_kind_are_in_the_same_cells(engine: str, notation: Notation, tmp_path: Path) -> None:
    """Whatever people write, in columns of every kind."""
    column = pa.array(written(1, 300), pa.string())
    assert_counts_are_of_the_codes(tmp_path, engine, pa.table(dict.fromkeys(Domain(TEXTUAL).names, column)), Domain(TEXTUAL), notation)


@pytest.mark.parametrize("engine", ENGINES)
@examples(8, suppress_health_check=(HealthCheck.function_scoped_fixture,))
@given(texts=st.lists(st.one_of(st.text(max_size=4), st.floats().map(repr), st.integers().map(str)), min_size=1, max_size=20))
def test_any_text_is_in_the_same_cell(engine: str, tmp_path: Path, texts: list[str]) -> None:
    column = pa.array([text.replace("\0", "") for text in texts], pa.string())
    domain = Domain((NUMBERS, CHOICES))
    assert_counts_are_of_the_codes(tmp_path, engine, pa.table({"choice": column, "number": column}), domain, Notation())


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
    for values, kind in ((doubles, pa.float64()), (whole, pa.int64())):
        records = pa.table({attribute.name: pa.array(values, kind) for attribute in TEXTUAL})
        assert_counts_are_of_the_codes(tmp_path, engine, records, Domain(TEXTUAL), notation)


@pytest.mark.parametrize("engine", ["duckdb", "postgresql", "sqlite"])
def test_a_missing_marker_beats_a_spelling_of_a_boolean_but_no_listed_value(engine: str, tmp_path: Path) -> None:
    spelled = ["t", "f", "N", "n", "0", "1", "true", "False", " Y", "x", None]
    notation = Notation(frozenset({"N", "0", "true"}))
    assert_counts_are_of_the_codes(tmp_path, engine, pa.table({"truth": pa.array(spelled, pa.string())}), Domain((TRUTH,)), notation)


@pytest.mark.parametrize("engine", ["duckdb", "postgresql"])
def test_decimals_truth_and_times_are_in_the_same_cells(engine: str, tmp_path: Path) -> None:
    domain = Domain(TEXTUAL)
    units = [Decimal(unit).scaleb(-2) for unit in (*range(-30, 1030, 7), -900, 110, 250)]
    moments = [datetime(2023, 1, 1) + timedelta(hours=hours, microseconds=hours) for hours in range(0, 12000, 379)]
    columns: list[tuple[list[Any], pa.DataType]] = [
        (units, pa.decimal128(12, 2)),
        ([Decimal("12345678901234567.89"), Decimal("0.10"), None], pa.decimal128(20, 2)),
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
        source = opened(Domain((CHOICES,)), {"path": str(tmp_path / place), "table": "t"}, person="choice")
        assert source.counts([("choice",)])[("choice",)].tolist() == [1, 1, 0, 0, 0, 2, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_which_rows_of_a_person_count_follows_from_the_records_alone(engine: str, tmp_path: Path) -> None:
    """Not from where a record lies, who else is there, or what is asked for: on random tables, shuffled, and with a person less."""
    domain, rng = Domain((Attribute.categorical("a", ["x", "X", "-0", "0", "1"], **OWN), Attribute.coded("b", 3))), np.random.default_rng(4)
    for kind in (pa.string(), pa.float64()):
        held = ["x", "X", "0", "1"] if pa.types.is_string(kind) else [0.0, -0.0, 1.0, float("nan")]
        drawn = (rng.integers(0, 4, 16), rng.integers(0, 3, 16), rng.choice(NAMES, 16))
        rows = [(held[place], int(b), str(who)) for place, b, who in zip(*drawn, strict=True)]
        shuffled = [rows[i] for i in rng.permutation(16)]
        counts = []
        for some in (rows, shuffled, [row for row in rows if row[2].strip() != "ann"]):
            a, b, who = (list(column) for column in zip(*some, strict=True))
            records = pa.table({"a": pa.array(a, kind), "b": pa.array(b), "who": pa.array(who)})
            source = opened(domain, database_tables.section(engine, tmp_path, records), person="who", rows=2)
            both = source.counts([("a", "b")])[("a", "b")]
            assert np.array_equal(source.counts([("b",)])[("b",)], both.sum(axis=0))
            counts.append(both)
            del source
        assert np.array_equal(counts[0], counts[1])
        assert (counts[0] - counts[2]).min() >= 0
        assert 0 < (counts[0] - counts[2]).sum() <= 2


SORTED_ALIKE = {
    "duckdb": [("VARCHAR COLLATE NOCASE", "ann", "ANN"), ("INTERVAL", "1 month", "30 days"), ("VARCHAR COLLATE NOACCENT", "e", "é")],
    "sqlite": [("TEXT COLLATE NOCASE", "ann", "ANN")],
    "postgresql": [("interval", "1 month", "30 days")],
}
"""Types of each engine, with two values that the engine sorts alike and that are read differently."""


@pytest.mark.parametrize("engine", ENGINES)
def test_values_that_are_read_differently_come_in_one_order(engine: str, tmp_path: Path) -> None:
    """Else which records of a person count would depend on where they lie, and so on others."""
    for number, (kind, *values) in enumerate(SORTED_ALIKE[engine]):
        came = []
        for turn, inserted in enumerate((values, values[::-1])):
            path, table = str(tmp_path / f"{number}-{turn}.{engine}"), "t"
            if engine == "postgresql":
                path, table = postgres.address(), postgres.new_table()
            raw: Any = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect}.get(engine, lambda _: postgres.connect())(path)
            with raw as made:
                made.execute(f"CREATE TABLE {table} (choice {kind})")
                for value in inserted:
                    made.execute(f"INSERT INTO {table} VALUES ('{value}')")
            read = connect.DatabaseTable({"path": path, "table": table}, ["choice"]).batches(["choice"], ".")
            came.append([value for batch in read for value in texts(batch.column(0)).to_pylist()])
        assert came[0] == came[1], kind
        assert len(set(came[0])) == 2, kind


NAMES = ["ann", " ann", "bob", "Bob", "NA", ""]

ODD_TYPES: dict[str, list[tuple[str, str, str]]] = {
    "postgresql": [
        ("timestamptz", "2024-01-01 00:30+02", "2023-12-31 22:30:00"),
        ("date", "infinity", "9999-12-31"),
        ("date", "0044-03-15 BC", "0001-01-01"),
        ("timestamp", "-infinity", "0001-01-01 00:00:00"),
        ("time", "24:00", "23:59:59.999999"),
        ("numeric", "1.5", "1.5"),
        ("numeric", "9007199254740993", "9007199254740993"),
        ("numeric", "-0.1000", "-0.1"),
        ("numeric", "-Infinity", "-1" + "0" * 308),
        ("numeric", "NaN", ""),
        ("numeric(50, 2)", "1.5", "1.5"),
        ("numeric(50, 2)", "9007199254740993", "9007199254740993"),
        ("numeric(90, 2)", "9007199254740993.5", "9007199254740993.5"),
        ("numeric(5, -2)", "1234", "1200"),
        ("numeric(4, 1)", "NaN", ""),
        ("interval", "26 hours", "26:00:00"),
        ("integer[]", "{1,2}", "{1,2}"),
        ("json", '{"a": "\\n"}', '{"a": "\\n"}'),
        ("char(3)", "a", "a"),
        ("bytea", "\\x00ff", "\\x00ff"),
        ("uuid", "00000000-0000-0000-0000-000000000001", "00000000-0000-0000-0000-000000000001"),
    ],
    "duckdb": [
        ("TIMESTAMPTZ", "2024-01-01 00:30:00+02", "2023-12-31 22:30:00"),
        ("DATE", "infinity", "9999-12-31"),
        ("TIME", "24:00:00", "23:59:59.999999"),
        ("TIMESTAMP_S", "2024-01-01 00:30:00", "2024-01-01 00:30:00"),
        ("HUGEINT", "7", "7"),
        ("INTERVAL", "26 hours", "26:00:00"),
        ("DECIMAL(5,2)[]", "[1.5]", "[1.50]"),
        ("STRUCT(k ENUM('secretvalue', 'o'))", "{'k': 'o'}", "{'k': o}"),
        ("ENUM('secretvalue', 'o')", "o", "o"),
        ("BLOB", "\\x00a", "\\x00a"),
    ],
}


@pytest.mark.parametrize("engine", sorted(ODD_TYPES))
def test_values_of_every_type_count_as_what_they_say(engine: str, tmp_path: Path) -> None:
    """One that Arrow has no type for, as its text; one beyond all that Arrow reads, as the last that it does. So may persons be named."""
    odd, names = ODD_TYPES[engine], [f"c{place}" for place in range(len(ODD_TYPES[engine]))]
    path, table = (str(tmp_path / "odd.duckdb"), "odd") if engine == "duckdb" else (postgres.address(), postgres.new_table())
    written = ", ".join("'" + value.replace("'", "''") + "'" for _, value, _ in odd)
    raw: Any = duckdb.connect(path) if engine == "duckdb" else postgres.connect()
    with raw as made:
        made.execute(f"CREATE TABLE {table} ({', '.join(f'{name} {kind}' for name, (kind, _, _) in zip(names, odd, strict=True))})")
        made.execute(f"INSERT INTO {table} VALUES ({written})")
    domain = Domain(tuple(Attribute.categorical(name, [said or "-", "else"], **OWN) for name, (_, _, said) in zip(names, odd, strict=True)))
    for person in (None, *names):
        counts = opened(domain, {"path": path, "table": table}, person=person).counts([(name,) for name in names])
        nobody = person is not None and not odd[names.index(person)][2]
        for name, (kind, _, said) in zip(names, odd, strict=True):
            expected = [0, 0, 0, 0] if nobody else [1, 0, 0, 0] if said else [0, 0, 0, 1]
            assert counts[(name,)].tolist() == expected, (kind, person)


def test_a_number_of_any_size_is_a_number_and_names_one_person() -> None:
    """As doubles, both identifiers would be 9007199254740992; whole numbers keep one name, however many decimals they are written with."""
    table = postgres.new_table()
    with postgres.connect() as made:
        made.execute(f"CREATE TABLE {table} (who numeric, choice text)")
        made.execute(f"INSERT INTO {table} VALUES (9007199254740992, 'a'), (9007199254740993, 'a'), (9007199254740993.00, 'a')")
    section = {"path": postgres.address(), "table": table}
    assert opened(Domain((CHOICES,)), section, person="who").counts([("choice",)])[("choice",)][0] == 2
    read = connect.DatabaseTable(section, ["who"])
    assert read.declared[0].kind == "numeric"
    assert [value for batch in read.batches(["who"], ",") for value in batch.column(0).to_pylist()] == [
        "9007199254740992",
        *["9007199254740993"] * 2,
    ]
    half = Attribute.numeric("who", 0, 1e16, bins=2, **OWN)
    assert opened(Domain((half,)), section).counts([("who",)])[("who",)].tolist() == [0, 3, 0, 0]


@pytest.mark.parametrize("engine", ENGINES)
def test_values_can_be_learnt(engine: str, tmp_path: Path) -> None:
    records = pa.table({"choice": ["a", "b", "b", "NA", None, " a"], "who": ["p", "q", "r", "s", "t", "p"]})
    section = database_tables.section(engine, tmp_path, records)
    source = cast(ValueSource, opened(Domain((CHOICES,)), section, person="who"))
    assert {key: rows for part in source.values("choice") for key, rows in part.items() if len(key) == 1} == {"a": 1, "b": 2}


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
        refused(connection.rows, statement)
    connection.close()
    again = connect.connect(section)
    assert len(again.rows(again.select(section))) == 1
    assert "further" not in connect.tables(section)


def test_duckdb_opens_no_other_file(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, pa.table({"a": [1]}))
    (tmp_path / "other.csv").write_text("b\n1\n")
    del section["table"]
    refused(connect.DatabaseTable, section | {"query": f"SELECT * FROM read_csv('{tmp_path / 'other.csv'}')"})


@pytest.mark.parametrize("engine", ENGINES)
def test_errors_repeat_nothing_that_the_database_says(engine: str, tmp_path: Path) -> None:
    section = database_tables.section(engine, tmp_path, pa.table({"a": ["secret"]}))
    connection = connect.connect(section)
    made = {"sqlite": "json(a)"}.get(engine, "CAST(a AS integer)")
    bad = f"SELECT {made} FROM {place(connection.select(section))}"
    failed = refused(connection.rows, bad)
    assert "secret" not in str(failed)
    assert failed.__suppress_context__


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
    refused(connection.rows, "SELECT pg_sleep(60)", saying="timeout")


def logs_all() -> bool:
    """Whether the server has read its settings again."""
    with postgres.connect() as connection:
        return connection.execute("SHOW log_statement").fetchone() == ("all",)


def test_the_log_of_the_server_has_no_counts_and_no_values() -> None:
    """Statements may be in it, with the names of columns; errors quote no value, because there is none."""
    table = postgres.new_table()
    with postgres.connect() as connection:
        connection.execute("ALTER SYSTEM SET log_statement = 'all'")
        connection.execute("SELECT pg_reload_conf()")
        connection.execute(f"CREATE TABLE {table} AS SELECT 'zebra' || i AS choice FROM generate_series(1, 77777) i")
    wait_until(logs_all)
    before = len(postgres.log())
    opened(Domain((CHOICES,)), {"path": postgres.address(), "table": table}).counts([("choice",)])
    said = postgres.log()[before:]
    with postgres.connect() as connection:
        connection.execute("ALTER SYSTEM RESET log_statement")
        connection.execute("SELECT pg_reload_conf()")
    assert '"choice"' in said
    assert "77777" not in said
    assert "zebra" not in said


def test_two_connections_to_one_duckdb_file_live_beside_each_other(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, pa.table({"a": [0, 1]}))
    first, second = connect.connect(section), connect.connect(section)
    try:
        assert first.rows("SELECT 1") == second.rows("SELECT 1") == [(1,)]
    finally:
        first.close()
        second.close()


def test_addresses_say_where_and_nothing_secret() -> None:
    assert address.read("duckdb:///data/people.duckdb") == address.Address("duckdb", "/data/people.duckdb")
    assert address.read("people.db").engine == "sqlite"
    assert address.read("postgresql://ann@host:5432/people?sslmode=require").base_name == "people"
    for wrong in ("duckdb://people", "oracle://host/db", "people.csv", "postgresql://host/db?user=ann&password=x", "postgresql://a:b@c/d", "mysql://h/d"):
        refused(address.read, wrong)


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
        asked = "SELECT 1 FROM pg_stat_activity WHERE application_name = 'dpsynth' AND state = 'active' AND query ILIKE 'copy%'"
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
    source = opened(PEOPLE, section | {"table": slow(table)})
    ended = when_it_counts(postgres.end_all)
    refused(source.counts, [("a",)], saying="the server ended the connection")
    ended.join()


def test_a_connection_that_is_ended_during_the_look_is_said_to_be() -> None:
    _, section = people()
    connection = connect.connect(section)
    assert connection.catalogue
    postgres.end_all()
    refused(connection.select, section, saying="the server ended the connection")


def test_records_that_come_during_the_count_are_not_counted() -> None:
    """All statements of a source see the same records."""
    table, section = people(100)
    source = opened(PEOPLE, section | {"table": slow(table)})
    inserted = when_it_counts(lambda: changed(f"INSERT INTO {table} VALUES (1)"))
    assert source.counts([("a",)])[("a",)].tolist() == [100, 0]
    inserted.join()
    changed(f"DELETE FROM {table} WHERE a = 0")
    assert source.counts([("a",)])[("a",)].tolist() == [100, 0]
    assert opened(PEOPLE, section).counts([("a",)])[("a",)].tolist() == [0, 1]


@pytest.mark.parametrize("change", ["ALTER TABLE {} ADD COLUMN b integer", "ALTER TABLE {} RENAME a TO b", "TRUNCATE {}", "DROP TABLE {}"])
def test_a_table_is_not_altered_before_the_count_ends(change: str) -> None:
    table, section = people()
    source = opened(PEOPLE, section)
    with pytest.raises(psycopg.errors.LockNotAvailable):
        changed(change.format(table))
    assert source.counts([("a",)])[("a",)].tolist() == [4, 0]
    del source
    changed(change.format(table))


def test_a_table_that_was_altered_before_the_count_is_refused() -> None:
    table, section = people()
    assert KINDS["database"].columns is not None
    assert KINDS["database"].columns(section).names == ["a"]
    changed(f"ALTER TABLE {table} RENAME a TO b")
    refused(opened, PEOPLE, section, saying="a")


def test_a_count_that_takes_longer_than_the_timeout_says_so() -> None:
    table, section = people(2000)
    source = opened(PEOPLE, section | {"table": slow(table), "timeout": 1})
    late = refused(source.counts, [("a",)], saying="took longer than 1 seconds")
    assert late.field == "data.timeout"


@pytest.mark.parametrize("engine", ENGINES)
def test_a_table_that_is_locked_is_said_to_be(engine: str, tmp_path: Path) -> None:
    """PostgreSQL waits for 30 seconds, or nearly as long as a statement may take."""
    section = database_tables.section(engine, tmp_path, pa.table({"a": [0]})) | {"timeout": 1}
    with holding(engine, section), pytest.raises(InputError, match="locked by another program"):
        connect.DatabaseTable(section)
    assert connect.DatabaseTable(section).names == ("a",)


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


def test_another_clock_is_chosen_by_a_query() -> None:
    table = postgres.new_table()
    changed(f"CREATE TABLE {table} (seen timestamptz)")
    changed(f"INSERT INTO {table} VALUES ('2024-01-01 00:30+02')")
    seen = Attribute.categorical("seen", ["2023-12-31 23:30:00"], **OWN)
    section = {"path": postgres.address(), "query": f"SELECT seen AT TIME ZONE 'Europe/Berlin' AS seen FROM {table}"}
    assert opened(Domain((seen,)), section).counts([("seen",)])[("seen",)].tolist() == [1, 0, 0]


# What else happens to a table between two passes


@pytest.mark.parametrize("mode", ["delete", "wal"])
def test_all_passes_over_a_file_of_sqlite_see_the_same_records(mode: str, tmp_path: Path) -> None:
    section = database_tables.section("sqlite", tmp_path, pa.table({"a": [0, 0, 1]}))
    other = sqlite3.connect(section["path"], isolation_level=None, timeout=0)
    assert other.execute(f"PRAGMA journal_mode = {mode}").fetchone() == (mode,)
    source = opened(PEOPLE, section)
    assert source.counts([("a",)])[("a",)].tolist() == [2, 1]
    with nullcontext() if mode == "wal" else pytest.raises(sqlite3.OperationalError, match="locked"):
        other.execute("DELETE FROM records")
    assert source.counts([("a",)])[("a",)].tolist() == [2, 1]
    del source
    other.execute("DELETE FROM records")
    other.close()


def test_no_other_program_writes_to_a_file_of_duckdb_that_is_open(tmp_path: Path) -> None:
    section = database_tables.section("duckdb", tmp_path, pa.table({"a": [0, 0, 1]}))
    source = opened(PEOPLE, section)
    code = f"import duckdb; duckdb.connect({section['path']!r}).execute('DELETE FROM records')"
    assert "lock" in subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False).stderr
    assert source.counts([("a",)])[("a",)].tolist() == [2, 1]
    del source
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("engine", ENGINES)
def test_whoever_stops_reading_leaves_nothing_open(engine: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (duckdb_engine, sqlite_engine):
        monkeypatch.setattr(module, "BATCH_ROWS", 100)
    monkeypatch.setattr(postgres_engine, "BATCH_BYTES", 100)
    table = connect.DatabaseTable(database_tables.section(engine, tmp_path, pa.table({"a": list(range(100_000))})))
    records = table.batches(("a",), ".")
    assert next(records).column("a")[0].as_py() in (0, "0")
    raw = table._connection.raw
    records.close()
    del table, records
    with pytest.raises((duckdb.Error, sqlite3.Error, psycopg.Error)):
        raw.execute("SELECT 1")


def test_texts_that_are_no_utf8_are_read(tmp_path: Path) -> None:
    path = tmp_path / "odd.sqlite"
    with sqlite3.connect(path) as made:
        made.execute("CREATE TABLE t (a)")
        made.execute("INSERT INTO t VALUES (CAST(x'61ff' AS TEXT)), (x'61ff'), (x'')")
    made.close()
    domain = Domain((Attribute.categorical("a", ["a\ufffd"], **OWN),))
    assert opened(domain, {"path": str(path), "table": "t"}).counts([("a",)])[("a",)].tolist() == [2, 0, 1]
