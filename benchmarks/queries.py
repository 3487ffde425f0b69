"""Whether one person changes more than their own record in what a query gives, by generated queries on real databases.

    python -m benchmarks queries --queries 100000 --seed 1
    python -m benchmarks queries --queries 100000 --seed 1 --postgres postgresql://USER@HOST/DATABASE

Half of the queries are what people may ask; the others have a part that looks beyond a record, is spelled oddly, or has words in a wrong
place. Each is read over a table (`connect.Connection.select`). One that is accepted runs on this table and on one that was made anew
without one of its persons: the records must be the same but for that person's, and at most one. The databases have functions and
operators of their own with the names of built-in ones, which count all people. In PostgreSQL an accepted query may fail where a number or a
date does not fit its type (docs/databases.md); in DuckDB and SQLite none may fail. The account of PostgreSQL needs CREATEDB.
"""

from __future__ import annotations

import random
import sqlite3
import sys
import tempfile
import uuid
from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import duckdb
import psycopg
from psycopg import sql

from benchmarks import record
from dpsynth_core.extensions.databases import connect
from dpsynth_core.extensions.databases.connect import Connection
from dpsynth_core.foundation.errors import InputError

COLUMNS = (
    ("id", "INTEGER"),
    ("age", "INTEGER"),
    ("small", "SMALLINT"),
    ("sex", "VARCHAR(9)"),
    ("town", "TEXT"),
    ("pay", "DOUBLE PRECISION"),
    ("born", "DATE"),
    ("seen", "TIMESTAMP"),
    ("select", "TEXT"),
    ("t.x", "INTEGER"),
)
PEOPLE: tuple[tuple[Any, ...], ...] = tuple(
    (
        10 * place,
        (0, 17, 40, None, 2147483647, 90)[place % 6],
        (1, -32768, 32767)[place % 3],
        ("f", "m", None, " F ")[place % 4],
        ("n/a", "12", "Bonn", "", "x%y", "1e400", "now")[place % 7],
        (0.0, -1.5, 1e308, None, 2.5)[place % 5],
        ("2000-02-29", None, "1970-01-01")[place % 3],
        ("2024-03-31 02:30:00", None)[place % 2],
        ("a", "'", '"')[place % 3],
        place % 2,
    )
    for place in range(12)
)
LEFT_OUT = (0, 5, 11)
"""Persons without whom there is a table."""
FITS_NO_TYPE = ("22003", "22008")
"""numeric_value_out_of_range, datetime_field_overflow."""
_TABLE = ", ".join(f'"{name}" {kind}' for name, kind in COLUMNS)
_SHADOWS = {
    "duckdb": (
        "CREATE MACRO lower(x) AS (SELECT count(*)::VARCHAR FROM people)",
        'CREATE MACRO "+"(a, b) AS (SELECT count(*) FROM people)',
        'CREATE MACRO "~~"(a, b) AS (SELECT count(*) > 11 FROM people)',
    ),
    "sqlite": (),
    "postgres": (
        "CREATE FUNCTION f(people) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.people'",
        "CREATE FUNCTION lower(varchar) RETURNS text LANGUAGE sql AS 'SELECT count(*)::text FROM public.people'",
        "CREATE FUNCTION more(smallint, int) RETURNS bigint LANGUAGE sql AS 'SELECT count(*) FROM public.people'",
        "CREATE OPERATOR + (FUNCTION = more, LEFTARG = smallint, RIGHTARG = int)",
        "CREATE SEQUENCE numbers",
    ),
}


@dataclass(frozen=True)
class Tables:
    """The table of all people, and one without each of `LEFT_OUT`, each in a database of its own."""

    everybody: Connection
    without: tuple[Connection, ...]

    def accepted(self, query: str) -> str | None:
        """The statement that is sent for a query; None where it is refused."""
        try:
            with _kept(self.everybody):
                statement = self.everybody.select({"query": query})
                self.everybody.columns(statement)
        except InputError:
            return None
        return statement

    def fault(self, statement: str, left_out: int) -> str:
        """What is wrong with a statement that was accepted; an empty text for nothing."""
        try:
            whole, rest = (_records(one, statement) for one in (self.everybody, self.without[left_out]))
        except (sqlite3.Error, duckdb.Error, psycopg.Error) as error:
            return "" if getattr(error, "sqlstate", None) in FITS_NO_TYPE else f"it failed: {error}"
        gone, come = whole - rest, rest - whole
        return "" if gone.total() <= 1 and not come else f"of {whole.total()} records {gone.total()} went and {come.total()} came"

    def close(self) -> None:
        for connection in (self.everybody, *self.without):
            connection.close()


def _records(connection: Connection, statement: str) -> Counter[str]:
    with _kept(connection):
        return Counter(map(repr, connection.raw.execute(statement).fetchall()))


def _kept(connection: Connection) -> Any:
    """In PostgreSQL a statement that fails leaves the next one no transaction, unless it has one of its own."""
    return connection.raw.transaction() if connection.address.engine == "postgres" else nullcontext()


@contextmanager
def tables(engine: str, folder: Path, server: str | None = None) -> Iterator[Tables]:
    """Of an engine: duckdb, sqlite or postgres. server: the address of any database of PostgreSQL, where two or more are made."""
    names = [f"dpsynth_{uuid.uuid4().hex}" for _ in range(1 + len(LEFT_OUT))]
    rows = [PEOPLE, *([row for place, row in enumerate(PEOPLE) if place != left_out] for left_out in LEFT_OUT)]
    try:
        made = [_made(engine, folder, name, some, server) for name, some in zip(names, rows, strict=True)]
        opened = [connect.connect({"path": path, "timeout": 60}) for path in made]
        there = Tables(opened[0], tuple(opened[1:]))
        try:
            if engine == "duckdb":
                for connection in opened:
                    connection.raw.execute("SET threads = 1")
            yield there
        finally:
            there.close()
    finally:
        if server is not None:
            with psycopg.connect(server, autocommit=True) as administration:
                for name in names:
                    administration.execute(sql.SQL("DROP DATABASE IF EXISTS {}").format(sql.Identifier(name)))


def _made(engine: str, folder: Path, name: str, rows: Sequence[tuple[Any, ...]], server: str | None) -> str:
    """The address of a new database with these people."""
    (folder / name).mkdir()
    path = str(folder / name / f"people.{engine}")  # DuckDB has the name of its file in a statement
    if engine == "postgres":
        if server is None:
            raise ValueError("the address of a server is needed")
        with psycopg.connect(server, autocommit=True) as connection:
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))
        path = urlsplit(server)._replace(path=f"/{name}").geturl()
    opened: dict[str, Any] = {"duckdb": duckdb.connect, "sqlite": sqlite3.connect, "postgres": psycopg.connect}
    raw = opened[engine](path)
    try:
        raw.execute(f"CREATE TABLE people ({_TABLE})")
        sign = "%s" if engine == "postgres" else "?"
        raw.cursor().executemany(f"INSERT INTO people VALUES ({', '.join([sign] * len(COLUMNS))})", rows)
        for statement in _SHADOWS[engine]:
            raw.execute(statement)
        raw.commit()
    finally:
        raw.close()
    return path


def _parts(text: str) -> list[str]:
    return [part.strip(" ") for line in text.strip().split("\n    ") for part in line.split(" @ ")]


_ODD_COLUMNS = _parts(
    """
    rowid @ _rowid_ @ oid @ ctid @ xmin @ xmax @ cmin @ cmax @ tableoid @ filename @ file_row_number @ people @ p @ people.count
    p.count @ p.jsonb_agg @ p.f @ people.f @ people.max @ p.rowid @ people.ctid @ p.xmin @ "agee" @ "rowid" @ 'age' @ user
    current_user @ current_date @ current_timestamp @ rank @ count @ row @ NEW.age @ public.people.age @ main.people.age @ x.age @ age.x
    town.length @ p.town.length @ COLUMNS(*) @ $1 @ :age @ ? @ @age @ age[1] @ sqlite_sequence @ NULL.age @ *
    """
)
_ODD = _parts(
    """
    random() @ now() @ nextval('numbers') @ count(*) @ count(age) @ max(age) @ max(age, 1) @ max(small) @ min(age, small)
    greatest(age) @ least(age) @ row_number() OVER () @ lag(age) OVER (ORDER BY id) @ sum(age) OVER () @ count(*) FILTER (WHERE age > 1)
    pg_column_size(p) @ txid_current() @ last_insert_rowid() @ changes() @ total_changes() @ current_setting('TimeZone') @ version()
    pg_relation_size('people') @ list_transform([age], x -> x + 1) @ unnest([1, 2]) @ generate_series(1, 3)
    (SELECT max(age) FROM people) @ (SELECT 1) @ EXISTS (SELECT 1 FROM people WHERE age > 50) @ EXISTS (TABLE people) @ age IN people
    age IN (SELECT id FROM people) @ age = ANY (SELECT id FROM people) @ age > ALL (ARRAY[1]) @ string_agg(sex, ',') @ any_value(age)
    first(age) @ last_value(age) OVER () @ CAST(people AS text) @ CAST('people' AS regclass) @ 'people'::regclass::text
    query_to_xml('SELECT 1', true, true, '') @ lo_get(1) @ getenv('HOME') @ json_group_array(age) @ typeof(age) @ hash(age) @ md5(town)
    printf('%d', age) @ CAST(town AS integer) @ CAST(trim(town) AS date) @ TRY_CAST(town AS integer) @ CAST(town AS timestamptz)
    CAST(pay AS integer) @ CAST(age AS smallint) @ town COLLATE nocase @ age OPERATOR(pg_catalog.+) 1 @ (age, sex) @ ROW(age, sex)
    ARRAY[age] @ [age] @ {'a': age} @ STRUCT_PACK(a := age) @ age::people @ INTERVAL '1 day' @ born + INTERVAL '1 day' @ date('now')
    strftime('%Y', town) @ age ** 2 @ age ^ 2 @ age & 1 @ ~age @ age << 1 @ E'\\\\x' @ $$a$$ @ X'00' @ b'1' @ substring(town, age)
    town LIKE sex @ town LIKE 'x\\\\' @ town SIMILAR TO 'x' @ town ~ 'x' @ town GLOB 'x*' @ repeat(town, age) @ abs(small) @ -small
    small * small @ rowid % 2 @ ctid::text @ xmin::text::int @ CASE WHEN rowid > 5 THEN 1 ELSE 0 END @ coalesce(rowid, 1)
    lower(ctid::text) @ IF(age > 1, rowid, 0) @ p IS NULL
    """
)
_ODD_TABLES = _parts(
    """
    'people.csv' @ "people.csv" @ 'people' @ people, people q @ people JOIN people q ON true @ people NATURAL JOIN people q
    ONLY people @ people * @ people TABLESAMPLE BERNOULLI (50) @ people TABLESAMPLE 50 PERCENT @ people USING SAMPLE 3
    (SELECT * FROM people) s @ (SELECT * FROM people LIMIT 3) p @ (people) @ sqlite_master @ sqlite_schema @ pg_class @ pg_stat_activity
    pg_catalog.pg_class @ information_schema.tables @ duckdb_tables() @ duckdb_columns @ generate_series(1, 5) @ range(5)
    read_csv('people.csv') @ (VALUES (1), (2)) p(age) @ people p(age, sex) @ people AS p(rowid) @ people, LATERAL (SELECT 1) q
    people CROSS JOIN people q @ pragma_table_info('people') @ json_each('[1,2]') @ people AT (VERSION => 1) @ people FINAL
    people PIVOT (count(*) FOR sex IN ('f')) @ peoples @ other.people @ ROWS FROM (generate_series(1, 2)) p
    people MATCH_RECOGNIZE (PATTERN (a)) @ people FOR SYSTEM_TIME AS OF '2020-01-01' @ dual @ people INDEXED BY i
    """
)
_ENDS = _parts(
    """
    LIMIT 3 @ ORDER BY age LIMIT 3 @ ORDER BY age @ GROUP BY age @ GROUP BY 1 @ GROUP BY ALL @ HAVING count(*) > 1 @ UNION ALL SELECT 1
    EXCEPT SELECT 1 @ INTERSECT SELECT * FROM people @ FETCH FIRST 3 ROWS ONLY @ OFFSET 2 @ FOR UPDATE @ FOR SHARE SKIP LOCKED
    QUALIFY row_number() OVER () < 3 @ WINDOW w AS (ORDER BY age) @ USING SAMPLE 10% @ SAMPLE 3 @ ; SELECT 1 @ ; DELETE FROM people
    INTO q @ CLUSTER BY age @ SETTINGS x = 1 @ LIMIT ALL
    """
)
_BEFORE = _parts(
    """
    DISTINCT @ DISTINCT ON (age) @ ALL @ TOP 3 @ /*+ x */ @ SQL_NO_CACHE @ AS STRUCT @ DISTINCTROW @ STRAIGHT_JOIN
    """
)
_TYPES = _parts(
    """
    text @ varchar @ varchar(2) @ char(3) @ integer @ bigint @ smallint @ double precision @ real @ decimal(9,2) @ numeric @ boolean
    date @ timestamp @ time
    """
)
_ASIDE = ["/* LIMIT 1 */", "-- LIMIT 1\n", "/* /* */ LIMIT 2 */", "{# LIMIT 1 #}", "{{ x }}", "/*! LIMIT 1 */", "#x\n"]
_ASIDE += ["\u00a0", "\t", "\n", "\u2028", "\ufeff"]


_LISTS = ("1, 17, -2", "1, 2147483647", "'f', '12'", "'f'", "1, 'f'", "1, age")
_TEXTS = ("'x'", "'it''s'", "'{# x #}'", "'--'", "'%s'", "'\\'")


class Generator:
    """Queries over `people`, by chance. odd: how often a place has something that looks beyond a record, or is spelled oddly."""

    def __init__(self, seed: int, engine: str) -> None:
        self._random = random.Random(f"{seed} {engine}")
        self._odd = 0.0
        self._knows_times = engine != "sqlite"
        self._types = _TYPES if self._knows_times else _TYPES[:-4]
        self._called = "people"

    def query(self) -> str:
        self._odd = self._of((0, 0, 0.05, 0.1, 0.3))
        table = self._of(_ODD_TABLES if self._by_chance() else ("people", "people", "PEOPLE", '"people"', "people p", "people AS P"))
        self._called = "p" if table.split()[-1].lower() == "p" else "people"
        selected = ", ".join(self._selected(place) for place in range(self._random.randint(1, 3)))
        parts = ["SELECT", self._of(_BEFORE) if self._by_chance() else "", selected, "FROM", table]
        if self._random.random() < 0.6:
            parts += ["WHERE", self._condition(2)]
        if self._by_chance():
            parts.append(self._of(_ENDS))
        text = self._of((" ",) * 9 + tuple(_ASIDE)).join(part for part in parts if part)
        return self._shuffled(text) if self._random.random() < 0.1 else text

    def left_out(self) -> int:
        return self._random.randrange(len(LEFT_OUT))

    def _of(self, some: Sequence[Any]) -> Any:
        return self._random.choice(some)

    def _by_chance(self) -> bool:
        return self._random.random() < self._odd

    def _shuffled(self, text: str) -> str:
        """With one of its words gone, doubled or elsewhere."""
        words = text.split(" ")
        at = self._random.randrange(len(words))
        match self._random.randrange(3):
            case 0:
                del words[at]
            case 1:
                words.insert(self._random.randrange(len(words)), words[at])
            case _:
                words[at] = self._of((*_ODD, *_ODD_COLUMNS, *_ENDS))
        return " ".join(words)

    def _selected(self, place: int) -> str:
        match self._random.randrange(6):
            case 0:
                return str(self._of(("*", f"{self._called}.*", "* EXCLUDE (age)", "* REPLACE (1 AS age)", "*")[: 5 if self._odd else 2]))
            case 1 | 2:
                return self._column()
            case _:
                name = self._of(("x", "Y", "AGE", "rowid")) + str(place)
                return f"{self._of((self._value, self._condition))(2)} AS {self._of((name, f'{chr(34)}{name} b{chr(34)}'))}"

    def _column(self, *names: str) -> str:
        if self._by_chance():
            return str(self._of(_ODD_COLUMNS))
        name = self._of(names or [name for name, _ in COLUMNS])
        plain = name not in ("select", "t.x")
        written = self._of((name, name, name.upper(), f'"{name}"')) if plain else f'"{name}"'
        return f"{self._called}.{written}" if self._random.random() < 0.3 else written

    def _value(self, depth: int) -> str:
        if self._by_chance():
            return str(self._of(_ODD))
        return str(self._of((self._number, self._text))(depth))

    def _number(self, depth: int) -> str:
        if depth == 0:
            names = self._of((("age", "small", "id", "t.x"), ("pay",), ()))
            return self._column(*names) if names else str(self._of((self._random.randint(0, 99), 1.5)))
        made = (
            lambda one, other: f"{one} {self._of('+-*/%+-+-')} {other}",
            lambda one, _: f"({one})",
            lambda *_: f"-{self._column('age', 'small')}",
            lambda *_: f"{self._of(('round', 'floor', 'ceil', 'CEIL'))}({self._column('pay')})",
            lambda *_: f"length({self._text(0)})",
            lambda one, other: f"CASE WHEN {self._condition(depth - 1)} THEN {one} ELSE {other} END",
            lambda one, _: f"CAST({one} AS {self._of(self._types)})",
            lambda one, _: f"{one}::{self._of(self._types)}",
            lambda one, other: f"coalesce({one}, {other})",
            lambda one, other: f"nullif({one}, {other})",
            lambda *_: f"TRY_CAST({self._text(0)} AS {self._of(self._types)})",
            lambda *_: f"extract({self._of(('year', 'month', 'dow', 'epoch'))} FROM {self._column('born', 'seen')})",
            lambda *_: f"year({self._column('born')})",
        )
        known = made if self._knows_times or self._by_chance() else made[:-3]
        return str(self._of(known)(self._number(depth - 1), self._number(depth - 1)))

    def _text(self, depth: int) -> str:
        if depth == 0:
            return str(self._column("sex", "town", "select") if self._random.random() < 0.5 else self._of(_TEXTS))
        zone = self._of(("Europe/Berlin", "Mars", "UTC"))
        made = (
            lambda one, _: f"{self._of(('lower', 'upper', 'trim', 'LOWER', 'ltrim'))}({one})",
            lambda one, other: f"{one} || {other}",
            lambda one, _: f"substring({one}, {self._random.randint(0, 3)}, 2)",
            lambda one, _: f"substr({one}, 2)",
            lambda one, _: f"trim(both 'x' from {one})",
            lambda one, other: f"coalesce({one}, {other})",
            lambda *_: f"CAST({self._value(depth - 1)} AS {self._of(('text', 'varchar', *self._types))})",
            lambda one, other: f"CASE {one} WHEN {other} THEN 'a' ELSE {one} END",
            lambda *_: f"date_trunc('month', {self._column('born', 'seen')})",
            lambda *_: f"{self._column('seen')} AT TIME ZONE 'UTC' AT TIME ZONE '{zone}'",
        )
        known = made if self._knows_times or self._by_chance() else made[:-2]
        return str(self._of(known)(self._text(depth - 1), self._text(depth - 1)))

    def _condition(self, depth: int) -> str:
        if self._by_chance():
            return str(self._of(_ODD))
        if depth > 0 and self._random.random() < 0.5:
            form = self._of(("{} AND {}", "({} OR {})", "NOT ({})"))
            return str(form.format(self._condition(depth - 1), self._condition(depth - 1)))
        made = (
            lambda number, _: f"{number} {self._of(('=', '<', '>=', '<>', '!=', '=='))} {self._number(0)}",
            lambda _, text: f"{text} = {self._text(0)}",
            lambda _, text: f"{text} {self._of(('', 'NOT '))}LIKE '{self._of(('%x%', 'B_nn', 'n/a'))}'",
            lambda _, text: f"{text} ILIKE 'B%'",
            lambda number, _: f"{number} BETWEEN 1 AND {self._number(0)}",
            lambda number, _: f"{number} {self._of(('', 'NOT '))}IN ({self._of(_LISTS)})",
            lambda *_: f"{self._column()} IS {self._of(('', 'NOT '))}NULL",
            lambda *_: f"{self._column('born')} >= {'DATE ' if self._knows_times else ''}'1990-01-01'",
            lambda *_: f"{self._column('sex', 'town')} = {self._number(0)}",
            lambda *_: "TRUE",
        )
        return str(self._of(made)(self._number(min(depth, 1)), self._text(min(depth, 1))))


@dataclass(frozen=True)
class Outcome:
    """Numbers of queries, and those that changed more than one record, with what is wrong."""

    tried: int
    accepted: int
    faults: tuple[str, ...]


def tried(engine: str, there: Tables, queries: int, seed: int) -> Outcome:
    """Generated queries on the tables of an engine."""
    generator, accepted, faults = Generator(seed, engine), 0, []
    for _ in range(queries):
        query, left_out = generator.query(), generator.left_out()
        statement = there.accepted(query)
        if statement is not None:
            accepted += 1
            fault = there.fault(statement, left_out)
            faults += [f"{engine}: {query!r} sent as {statement!r} without person {LEFT_OUT[left_out]}: {fault}"] if fault else []
    return Outcome(queries, accepted, tuple(faults))


def main() -> None:
    parser = record.options(__doc__, queries=10_000, seed=0)
    parser.add_argument("--postgres", metavar="ADDRESS", help="of a database of a server; left out without")
    options = parser.parse_args()
    engines = ("duckdb", "sqlite", *(("postgres",) if options.postgres else ()))
    wrong = 0
    for engine in engines:
        server = options.postgres if engine == "postgres" else None
        with tempfile.TemporaryDirectory() as folder, tables(engine, Path(folder), server) as there:
            outcome = tried(engine, there, options.queries // len(engines), options.seed)
        print(f"{engine}: seed {options.seed}, {outcome.tried:,} queries, {outcome.accepted:,} accepted, {len(outcome.faults)} wrong")
        print("\n".join(outcome.faults[:20]))
        wrong += len(outcome.faults)
    sys.exit(1 if wrong else 0)
