"""The store's database on a server, where `DPSYNTH_DATABASE` names one: `postgres`, which is loaded for that alone."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from dpsynth_core.store.faults import SERVER

if TYPE_CHECKING:
    from dpsynth_core.store.postgres import Connection


def address() -> str:
    """Return the address of the server, or "" for SQLite. Raises InputError if the address cannot be used."""
    if not os.environ.get(SERVER):
        return ""
    from dpsynth_core.store import postgres

    return postgres.address()


def there() -> Connection | None:
    """Return an open connection to the server, or None if its database has no tables of this program yet."""
    from dpsynth_core.store import postgres

    return postgres.there()


def connection() -> Connection:
    """Return a connection to the server."""
    from dpsynth_core.store import postgres

    return postgres.Connection()


def make(schema: str, version: int) -> None:
    """Create tables and rules in the server's empty database. Raises StoreFault if there are other tables."""
    from dpsynth_core.store import postgres

    postgres.make(schema, version)
