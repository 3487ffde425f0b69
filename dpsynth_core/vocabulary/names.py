"""Names of columns: how tables are read, and how errors name them."""

from __future__ import annotations


def trimmed(name: str) -> str:
    """The name of a column as tables are read: without spaces and byte order marks around it."""
    while (shorter := name.strip().strip("\ufeff")) != name:
        name = shorter
    return name


def column_field(name: str) -> str:
    """How an error names a column: quoted, on one line, at most 80 characters of it."""
    name = name[:81]
    printable = "".join(c if c.isprintable() else repr(c)[1:-1] for c in name)
    return f"column '{printable if len(printable) <= 80 else printable[:79] + '…'}'"
