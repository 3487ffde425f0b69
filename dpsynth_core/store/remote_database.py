"""The store's database on a server, where `DPSYNTH_DATABASE` names one: `postgres`, which is loaded for that alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dpsynth_core.store.faults import SERVER

if TYPE_CHECKING:
    from dpsynth_core.store.postgres import Connection


def address() -> str:
    """Return the address of the server that `DPSYNTH_DATABASE` names, or "" for SQLite.

    Raises:
        InputError: The address is invalid, has a password, or leads to another machine without
            proof of its identity.
    """
    if not os.environ.get(SERVER):
        return ""
    from dpsynth_core.store import postgres

    return postgres.address()


def there() -> Connection | None:
    """Return an open connection to the server, or None if its database has no tables of this program yet.

    Raises:
        StoreFault: The server cannot be used.
        InputError: The address is invalid, or the package for PostgreSQL is not installed.
    """
    from dpsynth_core.store import postgres

    return postgres.there()


def connection() -> Connection:
    """Return an open connection to the server, whether its database has tables or not.

    Raises:
        StoreFault: The server cannot be used.
        InputError: The address is invalid, or the package for PostgreSQL is not installed.
    """
    from dpsynth_core.store import postgres

    return postgres.Connection()


def make(schema: str, version: int) -> None:
    """Create tables and rules in the server's empty database; nothing happens if another process was first.

    Args:
        schema: The statements for SQLite.
        version: Version of the tables.

    Raises:
        StoreFault: The database has other tables, or the server refuses.
    """
    from dpsynth_core.store import postgres

    postgres.make(schema, version)
