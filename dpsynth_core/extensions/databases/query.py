"""The statement whose rows are the records: all columns of one table, or one SELECT that the curator wrote.

Each of its rows must depend on one record alone, or one person could change the rows of all others, and no proof would hold: the lowest
income in a window, a rank, a random sample, every tenth row. So a query may choose records of one table by WHERE and put columns and plain
expressions beside each other. It is read, and **what is sent is written anew**: from columns that the catalogue lists and from the parts of
a statement below, each of which looks at one record and at nothing else. No other part is written, and so nothing that was typed reaches
the database as text. What a view does is for the person who made it to answer for.

A value for which an expression fails would end the statement for all. In DuckDB, TRY makes such a value missing; it is around each part
that can fail and around no AND or OR, whose sides DuckDB works out in the order that was quicker for the records before. In SQLite none of
these parts fails. In PostgreSQL texts are not cast, and division by 0 gives a missing value; a result that its type cannot hold does fail.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any
from zoneinfo import available_timezones

import pyarrow as pa
import sqlglot
from sqlglot import exp

from dpsynth_core.extensions.databases.catalogue import Catalogue, Column, Name, Table, small, unlike
from dpsynth_core.foundation.errors import InputError, first_repeated
from dpsynth_core.vocabulary.names import trimmed

MAX_QUERY = 100_000
_FIELD = "data.query"
_PLAIN = "use columns of one table, comparisons, CASE, CAST, WHERE and the functions in docs/databases.md, or make a view"

logging.getLogger("sqlglot").setLevel(logging.CRITICAL + 1)  # it would repeat what was typed


def read(text: str, dialect: str) -> exp.Select:
    """Return the parsed statement of a query that the curator wrote.

    Args:
        text: The query.
        dialect: The dialect of SQL: "duckdb", "sqlite" or "postgres".

    Raises:
        InputError: The text is not one SELECT from one table, with columns and WHERE only; or it is longer
            than 100,000 characters or has a null character.
    """
    if len(text) > MAX_QUERY or "\0" in text:
        raise InputError(_FIELD, "it is too long or has control characters", f"use at most {MAX_QUERY:,} characters, or make a view")
    try:
        statements = [one for one in sqlglot.parse(text, read=dialect) if one is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise InputError(_FIELD, "it cannot be read as SQL", "write one SELECT, or make a view") from None
    if len(statements) != 1 or not isinstance(statements[0], exp.Select):
        raise InputError(_FIELD, "it is not one SELECT", "write one SELECT, or make a view")
    statement = statements[0]
    _only(statement, "expressions", "from_", "where")
    if not isinstance(statement.args.get("from_"), exp.From) or not isinstance(statement.args["from_"].this, exp.Table):
        raise InputError(_FIELD, "it does not select from one table", "write SELECT ... FROM TABLE")
    return statement


def table_of(statement: exp.Select, catalogue: Catalogue, dialect: str) -> tuple[str, str]:
    """Return the schema and name of the table that a statement selects from, as the catalogue lists them.

    Args:
        statement: The parsed query (`read`).
        catalogue: The catalogue.
        dialect: The dialect of SQL: "duckdb", "sqlite" or "postgres".

    Raises:
        InputError: The catalogue does not list it, or it has parts that are not allowed.
    """
    table = statement.args["from_"].this
    _only(table, "this", "db", "alias")
    if table.args.get("alias") is not None:
        _only(table.args["alias"], "this")
        _as_stored(table.args["alias"].this, dialect)
    schema, name = table.args.get("db"), table.this
    if isinstance(name, exp.Identifier):
        found = catalogue.find(None if schema is None else _means(schema, dialect), _means(name, dialect))
        if found is not None:
            return found
    raise InputError(_FIELD, "it names no table that the catalogue lists for this account", "write TABLE or SCHEMA.TABLE")


def star(name: Name, dialect: str) -> str:
    """Return the statement that selects * from a table, to find out its columns.

    Args:
        name: The full name of the table.
        dialect: The dialect of SQL: "duckdb", "sqlite" or "postgres".
    """
    return _written([exp.Star()], None, name, "record", dialect)


def select_all(table: Table, dialect: str) -> str:
    """Return the statement that selects all columns of a table by their names, in the catalogue's order.

    Args:
        table: The table.
        dialect: The dialect of SQL: "duckdb", "sqlite" or "postgres".
    """
    called = unlike(column.name for column in table.columns)
    return _written([_column(column.name, called) for column in table.columns], None, table.name, called, dialect)


def rebuilt(statement: exp.Select, table: Table, dialect: str) -> str:
    """Return the SQL of a query, written anew from parts that each use one record only.

    Args:
        statement: The parsed query.
        table: The table that it selects from.
        dialect: The dialect of SQL.

    Raises:
        InputError: The query has a part that is not known to use one record only, two columns of its result
            have the same name, or it cannot be written.
    """
    called = unlike(column.name for column in table.columns)
    row = _Row(table.columns, statement.args["from_"].this, called, dialect)
    try:
        selected = [one for part in statement.expressions for one in _selected(part, row)]
        where = None if statement.args.get("where") is None else row.truth(statement.args["where"].this)
        twice = first_repeated([small(trimmed(one.output_name)) for one in selected])
        if twice is not None:
            raise InputError(_FIELD, "two of its columns have the same name", "give each a name of its own with AS")
        return _written(selected, where, table.name, called, dialect)
    except (RecursionError, sqlglot.errors.SqlglotError):
        raise InputError(_FIELD, "it cannot be written for this database", "make it shorter, or make a view") from None


def _written(selected: list[exp.Expression], where: exp.Expression | None, name: Name, called: str, dialect: str) -> str:
    """Return the SQL of a SELECT from one table.

    Args:
        selected: The expressions of the result's columns.
        where: The condition on records; None for all records.
        name: The full name of the table.
        called: The alias of the table.
        dialect: The dialect of SQL.
    """
    parts = dict(zip(("this", "db", "catalog"), (_identifier(part) for part in reversed(name)), strict=False))
    table = exp.Table(**parts, alias=exp.TableAlias(this=_identifier(called)))
    statement = exp.Select(expressions=selected, from_=exp.From(this=table), where=where and exp.Where(this=where))
    return statement.sql(dialect, comments=False, unsupported_level=sqlglot.ErrorLevel.RAISE)


def _identifier(name: str) -> exp.Identifier:
    """Return a quoted identifier."""
    return exp.Identifier(this=name, quoted=True)


def _column(name: str, called: str) -> exp.Expression:
    """Return an expression for a column of the table with the alias `called`."""
    return exp.Column(this=_identifier(name), table=_identifier(called))


def _selected(part: exp.Expression, row: _Row) -> list[exp.Expression]:
    """Return the result columns for one entry of SELECT: one, or for a star all columns.

    Raises:
        InputError: The entry is an expression without a name, or has a part that is not allowed.
    """
    if isinstance(part, exp.Star) or (isinstance(part, exp.Column) and isinstance(part.this, exp.Star)):
        _only(part.this if isinstance(part, exp.Column) else part)
        if isinstance(part, exp.Column):
            row.check_qualifier(part)
        return [_column(column.name, row.called) for column in row.columns]
    if isinstance(part, exp.Column):
        return [row.column(part)]
    if not isinstance(part, exp.Alias):
        raise InputError(_FIELD, "a column of the result has no name", "write EXPRESSION AS NAME")
    _only(part, "this", "alias")
    name = part.args["alias"]
    return [exp.Alias(this=row.expression(part.this), alias=_identifier(_as_stored(name, row.dialect)))]


def _as_stored(identifier: exp.Expression, dialect: str) -> str:
    """Return an identifier as the database stores it: PostgreSQL lowers unquoted capitals.

    Raises:
        InputError: The expression is not an identifier.
    """
    if not isinstance(identifier, exp.Identifier):
        raise _refused(identifier)
    return identifier.this if identifier.quoted or dialect != "postgres" else small(identifier.this)


def _means(identifier: exp.Expression, dialect: str) -> Callable[[str], bool]:
    """Return a test of whether a name in the catalogue is the one that an identifier means."""
    written = _as_stored(identifier, dialect)
    return written.__eq__ if dialect == "postgres" else lambda name: small(name) == small(written)


def _only(node: exp.Expression, *arguments: str) -> None:
    """Raise InputError if a node of the query has other arguments set than these."""
    for name, value in node.args.items():
        if name not in arguments and value not in (None, False, []):
            raise _refused(value if isinstance(value, exp.Expression) else node)


def _refused(node: exp.Expression) -> InputError:
    """Return the error for a part of a query that is not known to use one record only."""
    part = node.name if isinstance(node, exp.Anonymous) else node.key
    problem = f"a part of it, {part.upper()}, is not among those that look at one person's record and at nothing else"
    return InputError(_FIELD, problem, _PLAIN)


@dataclass(frozen=True)
class _Row:
    """The one record that an expression may use, with methods that build a new expression.

    Nothing of the query's own nodes is sent: a new node is made for each part that is allowed.

    Attributes:
        columns: The columns of the table.
        table: The table as the query names it.
        called: The alias of the table in the statement that is sent.
        dialect: The dialect of SQL.
    """

    columns: tuple[Column, ...]
    table: exp.Table
    called: str
    dialect: str

    def expression(self, node: exp.Expression) -> exp.Expression:
        """Return a new expression of allowed parts; in DuckDB, parts that can fail are in TRY.

        Raises:
            InputError: A part is not known to use one record only.
        """
        kind = type(node)
        if kind not in _PARTS and kind not in _SPECIAL:
            raise _refused(node)
        made = _SPECIAL[kind](node, self) if kind in _SPECIAL else self.same(node, *_PARTS[kind])
        return exp.Try(this=made) if self.dialect == "duckdb" and kind not in _NEVER_FAIL else made

    def truth(self, node: exp.Expression) -> exp.Expression:
        """Return a new condition that is built of allowed parts, or raise InputError.

        In DuckDB, an expression that is not a truth value is cast with TRY_CAST, because the
        implicit cast would fail for some values.
        """
        made = self.expression(node)
        is_one = self.dialect != "duckdb" or isinstance(node.unnest(), _TRUTHS)
        return made if is_one else exp.TryCast(this=made, to=exp.DataType.build("boolean"), safe=True)

    def same(self, node: exp.Expression, *arguments: str) -> exp.Expression:
        """Return a new node of the same kind, whose parts are built anew, or raise InputError.

        Args:
            node: The node of the query.
            *arguments: The names of the parts that are expressions. Other parts, except flags, are
                refused.
        """
        _only(node, *arguments, *_FLAGS)
        made: dict[str, Any] = {flag: True for flag in _FLAGS if node.args.get(flag) is True}
        for name in arguments:
            if isinstance(value := node.args.get(name), list):
                made[name] = [self.expression(one) for one in value]
            elif value is not None:
                made[name] = self.expression(value)
        return type(node)(**made)

    def column(self, node: exp.Column) -> exp.Expression:
        """Return a node for the column that a name in the query means. Raises InputError if the table has no such column."""
        return _column(self.meant(node).name, self.called)

    def meant(self, node: exp.Column) -> Column:
        """Return the column of the table that a name in the query means.

        Raises:
            InputError: The table has no such column.
        """
        self.check_qualifier(node)
        name = node.this
        found = next(filter(lambda one: _means(name, self.dialect)(one.name), self.columns), None) if type(name) is exp.Identifier else None
        if found is None:
            raise InputError(_FIELD, "it names a column that the catalogue does not list for this table", "use its own columns alone")
        return found

    def check_qualifier(self, node: exp.Column) -> None:
        """Raise InputError if the name before a column's dot does not mean the table.

        It could otherwise be a column with fields.
        """
        _only(node, "this", "table")
        alias = self.table.args.get("alias")
        called = _as_stored(self.table.this if alias is None else alias.this, self.dialect)
        if node.args.get("table") is not None and not _means(node.args["table"], self.dialect)(called):
            raise InputError(_FIELD, "what stands before a point is not the table", "write TABLE.COLUMN, or the column alone")


_FLAGS = ("negate", "typed", "safe")
"""Flags by which sqlglot separates NOT LIKE from LIKE, and whole-number division from other division."""
_TWO = ("this", "expression")
_PARTS: dict[type[exp.Expression], tuple[str, ...]] = {
    **dict.fromkeys((exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Is), _TWO),
    **dict.fromkeys((exp.Add, exp.Sub, exp.Mul, exp.DPipe, exp.Nullif), _TWO),
    **dict.fromkeys((exp.Paren, exp.Neg, exp.Lower, exp.Upper, exp.Length, exp.Floor, exp.Ceil), ("this",)),
    **dict.fromkeys((exp.Year, exp.Month, exp.Day), ("this",)),
    exp.Coalesce: ("this", "expressions"),
    exp.Null: (),
}
"""Parts of a statement that use one record, with the arguments that are expressions. Parts that are not here or below are refused."""

_NUMBER = re.compile(r"(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_MOMENT = re.compile(r"\d{4}-\d\d-\d\d([ T]\d\d:\d\d(:\d\d(\.\d{1,6})?)?)?|\d\d:\d\d(:\d\d(\.\d{1,6})?)?")
_UNITS = ("YEAR", "QUARTER", "MONTH", "WEEK", "DAY", "DOW", "ISODOW", "DOY", "HOUR", "MINUTE", "SECOND")
_KIND = exp.DataType.Type
_TEXTS = (_KIND.TEXT, _KIND.VARCHAR, _KIND.CHAR)
_NUMBERS = (_KIND.SMALLINT, _KIND.INT, _KIND.BIGINT, _KIND.FLOAT, _KIND.DOUBLE, _KIND.DECIMAL)
_TIMES = (_KIND.DATE, _KIND.TIME, _KIND.TIMESTAMP, _KIND.TIMESTAMPNTZ)


def _literal(node: exp.Expression, _row: _Row) -> exp.Expression:
    """Return a new number or text. Raises InputError for an unusual spelling of a number.

    A number is written in digits, perhaps with a point or an exponent.
    """
    _only(node, "this", "is_string")
    if not node.is_string and _NUMBER.fullmatch(node.this) is None:
        raise InputError(_FIELD, "a number in it cannot be read", "write digits, with a point before decimals")
    return exp.Literal(this=node.this, is_string=node.is_string)


def _boolean(node: exp.Expression, _row: _Row) -> exp.Expression:
    """Return a new node for the truth value TRUE or FALSE."""
    return exp.Boolean(this=bool(node.this))


def _joined(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return AND, OR or NOT built anew, with each operand made a condition (`_Row.truth`).

    Raises:
        InputError: An operand or an argument is not allowed.
    """
    _only(node, *_TWO)
    return type(node)(**{name: row.truth(value) for name, value in node.args.items() if value})


def _between(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for BETWEEN as two comparisons, so that each can have a TRY of its own."""
    _only(node, "this", "low", "high")
    low, high = (kind(this=node.this, expression=node.args[end]) for kind, end in ((exp.GTE, "low"), (exp.LTE, "high")))
    return exp.Paren(this=row.expression(exp.And(this=low, expression=high)))


def _in(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for IN with a list of texts or a list of numbers, written in the query.

    So only the column's value is ever cast. Raises InputError for other expressions in the list.
    """
    _only(node, "this", "expressions")
    stated = [one.this if isinstance(one, exp.Neg) else one for one in node.expressions]
    if not all(isinstance(one, exp.Literal) for one in stated) or len({one.is_string for one in stated}) != 1:
        raise InputError(_FIELD, "a list of IN has something else than numbers or texts", "write COLUMN IN (1, 2) or IN ('a', 'b')")
    values = [exp.Neg(this=_literal(one.this, row)) if isinstance(one, exp.Neg) else _literal(one, row) for one in node.expressions]
    return exp.In(this=row.expression(node.this), expressions=values)


def _case(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for CASE; CASE x WHEN y becomes CASE WHEN x = y."""
    _only(node, "this", "ifs", "default")
    branches = []
    for branch in node.args["ifs"]:
        _only(branch, "this", "true")
        condition = branch.this if node.args.get("this") is None else exp.EQ(this=node.this, expression=branch.this)
        branches.append(exp.If(this=row.truth(condition), true=row.expression(branch.args["true"])))
    default = node.args.get("default")
    return exp.Case(ifs=branches, default=None if default is None else row.expression(default))


def _quotient(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for a division or remainder, which gives NULL for a divisor of 0.

    PostgreSQL alone would end the statement, so 0 is replaced by NULL there.
    """
    made = row.same(node, *_TWO)
    if row.dialect == "postgres":
        made.set("expression", exp.Nullif(this=made.expression, expression=exp.Literal.number(0)))
    return made


def _like(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for LIKE, with a pattern that is written in the query.

    Databases refuse some patterns, such as those that end in a backslash, only when they meet them.
    Raises InputError for other patterns.
    """
    pattern = node.args["expression"]
    if not _is_text(pattern) or "\\" in pattern.this:
        raise InputError(_FIELD, "a pattern of LIKE is not a text without backslashes", "write LIKE 'A%'")
    return row.same(node, *_TWO)


def _substring(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for a substring, with a start and length that are written in the query.

    PostgreSQL would end the statement for a length below 0. Raises InputError for other
    expressions.
    """
    if not all(_is_whole(node.args[name]) for name in ("start", "length") if node.args.get(name) is not None):
        raise InputError(_FIELD, "a part of a text starts or ends where a record says", "write substring(COLUMN, 1, 2)")
    return row.same(node, "this", "start", "length")


def _round(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for ROUND, with decimals that are written in the query.

    Raises InputError for other expressions.
    """
    if node.args.get("decimals") is not None and not _is_whole(node.args["decimals"]):
        raise InputError(_FIELD, "the decimals to round to are not a number", "write round(COLUMN, 2)")
    return row.same(node, "this", "decimals")


def _trim(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for TRIM, at both ends or one. Raises InputError for other arguments."""
    _only(node, "this", "expression", "position")
    side = node.args.get("position")
    if side not in (None, "BOTH", "LEADING", "TRAILING"):
        raise _refused(node)
    parts = {name: row.expression(node.args[name]) for name in _TWO if node.args.get(name) is not None}
    return exp.Trim(**parts, position=side)


def _of_time(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for a part of a date or time (its month), or for a date cut to a unit.

    Raises:
        InputError: The unit is not known.
    """
    unit, of = ("this", "expression") if isinstance(node, exp.Extract) else ("unit", "this")
    _only(node, unit, of)
    if not isinstance(node.args[unit], exp.Var) or node.args[unit].name.upper() not in _UNITS:
        raise InputError(_FIELD, "a unit of time in it is not known", f"use one of {', '.join(_UNITS).lower()}")
    return type(node)(**{unit: exp.Var(this=node.args[unit].name.upper()), of: row.expression(node.args[of])})


def _at_zone(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for AT TIME ZONE, with a known zone that is written in the query.

    Raises InputError for another zone.
    """
    zone = node.args["zone"]
    if not _is_text(zone) or zone.this not in _zones():
        raise InputError(_FIELD, "a time zone in it is not known", "write COLUMN AT TIME ZONE 'Europe/Berlin'")
    return row.same(node, "this", "zone")


_zones = cache(available_timezones)


def _cast(node: exp.Expression, row: _Row) -> exp.Expression:
    """Return a new node for a cast to a plain type.

    Raises:
        InputError: The type is not known, or one person's text could make the cast fail and so end
            the statement for all.
    """
    _only(node, "this", "to", *_FLAGS)
    to, further = node.args["to"], () if row.dialect == "sqlite" else (*_TIMES, _KIND.BOOLEAN)  # which SQLite makes numbers
    if type(to) is not exp.DataType or to.this not in (*_TEXTS, *_NUMBERS, *further):
        raise InputError(_FIELD, "a type that it casts to is not known here", "cast to text, integer, double precision, date or timestamp")
    _only(to, "this", "expressions")
    sizes = [size.this for size in to.expressions]
    if not all(map(_is_whole, sizes)):
        raise _refused(to)
    if isinstance(node, exp.TryCast) and row.dialect != "duckdb":
        remedy = "leave the column as it is: texts are read as numbers and dates one by one, without a cast"
        raise InputError(_FIELD, "this database has no TRY_CAST", remedy)
    if row.dialect == "postgres" and to.this not in _TEXTS and _may_be_text(node.this, row):
        remedy = "leave it as text: its values are read one by one, and one that cannot be read harms no other"
        raise InputError(_FIELD, "it casts a text, and one person's could end the statement for all", remedy)
    made = exp.DataType(this=to.this, expressions=[exp.DataTypeParam(this=_literal(size, row)) for size in sizes], nested=False)
    return type(node)(this=row.expression(node.this), to=made, safe=node.args.get("safe"))


def _may_be_text(node: exp.Expression, row: _Row) -> bool:
    """Return whether an expression may be a text, judged by its outermost part.

    A date or time written in the query is not a text here.
    """
    if isinstance(node, exp.Paren):
        return _may_be_text(node.this, row)
    if isinstance(node, exp.Column):
        column = row.meant(node)
        if column.is_number_as_text:
            return False
        return pa.types.is_string(column.arrow) and (not column.type.startswith(("time", "interval", "uuid")) or column.type.endswith("[]"))
    if isinstance(node, exp.Cast):
        return node.args["to"].this in _TEXTS
    if isinstance(node, exp.Literal):
        return node.is_string and _MOMENT.fullmatch(node.this) is None
    return not isinstance(node, _NO_TEXT)


def _is_whole(node: exp.Expression) -> bool:
    """Return whether a node is a number of at most nine digits, without sign and point."""
    return isinstance(node, exp.Literal) and not node.is_string and node.this.isdecimal() and len(node.this) < 10


def _is_text(node: exp.Expression) -> bool:
    """Return whether a node is a text written in the query."""
    return isinstance(node, exp.Literal) and node.is_string


_LOGICAL = (exp.Null, exp.Not, exp.And, exp.Or, exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE)
_NO_TEXT = (
    *_LOGICAL,
    *(exp.Neg, exp.Add, exp.Sub, exp.Mul, exp.Div, exp.Mod, exp.Floor, exp.Ceil, exp.Round, exp.Length),
    *(exp.Year, exp.Month, exp.Day, exp.Extract, exp.TimestampTrunc, exp.AtTimeZone),
)
_TRUTHS = (exp.Boolean, *_LOGICAL, exp.Is, exp.In, exp.Between, exp.Like, exp.ILike)
_NEVER_FAIL = (exp.Column, exp.Literal, exp.Boolean, exp.Null, exp.Paren, exp.Not, exp.And, exp.Or, exp.Between)
_SPECIAL: dict[type[exp.Expression], Callable[[Any, _Row], exp.Expression]] = {
    exp.Column: lambda node, row: row.column(node),
    exp.Literal: _literal,
    exp.Boolean: _boolean,
    **dict.fromkeys((exp.And, exp.Or, exp.Not), _joined),
    exp.Between: _between,
    exp.In: _in,
    exp.Case: _case,
    **dict.fromkeys((exp.Div, exp.Mod), _quotient),
    **dict.fromkeys((exp.Like, exp.ILike), _like),
    exp.Substring: _substring,
    exp.Round: _round,
    exp.Trim: _trim,
    **dict.fromkeys((exp.Extract, exp.TimestampTrunc), _of_time),
    exp.AtTimeZone: _at_zone,
    **dict.fromkeys((exp.Cast, exp.TryCast), _cast),
}
