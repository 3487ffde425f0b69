"""The table of a run as one SELECT: a table's name, quoted, or a query that the curator wrote.

Every row of a query must depend on one record alone, or one person could change the rows of all others, and no proof would hold: the lowest
income in a window, a rank, a random sample. So a query may choose records of one table by WHERE and put columns and plain expressions
beside each other; what else SQL can do is refused. What a view does is for whoever made it to answer for.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.foundation.errors import InputError

MAX_QUERY = 100_000


def select(section: Mapping[str, Any], dialect: str) -> str:
    """The one statement whose rows are the records. InputError unless there is a table or a query, one of the two, and for a query that
    is anything but one SELECT. Whether it may be run at all is for the database, whose connection is read-only."""
    import ibis.backends.sql.dialects  # noqa: F401  # sqlglot keeps how it first wrote a dialect, so Ibis has its say before that

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
    if not _is_row_by_row(statements[0]):
        remedy = "use columns, comparisons, CASE, CAST and WHERE of one table, or a view each of whose rows depends on one person alone"
        raise InputError("data.query", "what it gives for a person may depend on other people", remedy)
    return query.strip().rstrip(";").rstrip()


_ROW_BY_ROW = (
    "Select", "From", "Where", "Table", "TableAlias", "Star", "Column", "Identifier", "Alias", "Paren", "Literal", "Null", "Boolean",
    "Neg", "Add", "Sub", "Mul", "Div", "IntDiv", "Mod", "And", "Or", "Not", "EQ", "NEQ", "GT", "GTE", "LT", "LTE", "Is", "In", "Between",
    "Like", "ILike", "Cast", "TryCast", "DataType", "DataTypeParam", "Var", "Case", "If", "Coalesce", "Nullif", "Greatest", "Least",
    "Lower", "Upper", "Trim", "Substring", "Left", "Right", "Length", "Concat", "DPipe", "Replace", "Abs", "Floor", "Ceil", "Round",
    "Extract", "Year", "Month", "Day", "DateTrunc", "TimestampTrunc", "AtTimeZone", "Interval",
)
"""Parts of a statement, as sqlglot calls them, that look at one record of a table."""


def _is_row_by_row(statement: Any) -> bool:
    """Whether it is one SELECT from one table in which every part looks at one record."""
    from sqlglot import exp

    known = tuple(getattr(exp, name) for name in _ROW_BY_ROW if hasattr(exp, name))
    nodes = list(statement.walk())
    plain = all(type(node) in known for node in nodes)
    return plain and sum(isinstance(node, exp.Select) for node in nodes) == sum(isinstance(node, exp.Table) for node in nodes) == 1
