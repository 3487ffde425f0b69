"""The table of a run as one SELECT: a table's name, quoted, or a query that the curator wrote."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.foundation.errors import InputError

MAX_QUERY = 100_000


def select(section: Mapping[str, Any], dialect: str) -> str:
    """The one statement whose rows are the records. InputError unless there is a table or a query, one of the two, and for a query that
    is anything but one SELECT. Whether it may be run at all is for the database, whose connection is read-only."""
    table, query = section.get("table"), section.get("query")
    if bool(table) == bool(query):
        raise InputError("data.table", "a database needs a table or a query, one of the two", "name the table, or write one SELECT")
    return _checked(str(query), dialect) if query else f"SELECT * FROM {_quoted(str(table), dialect)}"


def _quoted(table: str, dialect: str) -> str:
    """A table, perhaps behind its schema and a point."""
    from sqlglot import exp

    parts = table.split(".")
    if not 1 <= len(parts) <= 3 or not all(parts) or "\0" in table:
        raise InputError("data.table", "it is not the name of a table", "write TABLE, or SCHEMA.TABLE; for other names write a query")
    names = [exp.to_identifier(part, quoted=True) for part in parts]
    return exp.Dot.build(names).sql(dialect) if len(names) > 1 else names[0].sql(dialect)


def _checked(query: str, dialect: str) -> str:
    import sqlglot
    from sqlglot import exp

    if len(query) > MAX_QUERY:
        raise InputError("data.query", "it is too long", f"use at most {MAX_QUERY:,} characters, or make it a view of the database")
    try:
        statements = [one for one in sqlglot.parse(query, read=dialect) if one is not None]
    except (sqlglot.errors.SqlglotError, RecursionError):
        raise InputError("data.query", "it cannot be read as SQL", "write one SELECT, or make it a view of the database") from None
    forbidden = (exp.DML, exp.DDL, exp.Command, exp.Into, exp.Lock)
    if len(statements) != 1 or not isinstance(statements[0], exp.Query):
        raise InputError("data.query", "it is not one SELECT", "write one SELECT, or make it a view of the database")
    if any(isinstance(node, forbidden) and not isinstance(node, exp.Query) for node in statements[0].walk()):
        raise InputError("data.query", "it does more than select", "write one SELECT, or make it a view of the database")
    return query.strip().rstrip(";").rstrip()
