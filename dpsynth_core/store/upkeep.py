"""What is done to the database's file as a whole: its rules made again, deleted pages overwritten.

Nothing rests on it: whether the rules are in force is looked at afterwards (`database.damage`).
"""

from __future__ import annotations

from contextlib import closing

from dpsynth_core.store import postgres
from dpsynth_core.store.connection import Connection
from dpsynth_core.store.database import DATABASE, SCHEMA, VERSION, beside, connect, make, schema, schema_of, suspecting
from dpsynth_core.store.faults import explained
from dpsynth_core.store.home import home, now

_QUOTE = '"'


def rebuild() -> None:
    """Make again what follows from the tables and this program: indices, triggers and views. What is wrong with tables stays."""
    with explained(), closing(connect()) as connection, suspecting(connection):
        connection.execute("BEGIN IMMEDIATE")
        if isinstance(connection, postgres.Connection):
            connection.rebuild()
        else:
            _rebuild(connection)
        connection.execute("COMMIT")


def anew() -> None:
    """A database without content in place of one that cannot be used, whose file is set aside and not deleted. Raises StoreFault for one
    on a server."""
    if postgres.address():
        postgres.make(SCHEMA, VERSION)
    else:
        place, aside = home() / DATABASE, f"lost-{now().replace(':', '')}"
        for path in [place, *beside(place)]:
            if path.exists():
                path.rename(path.with_name(f"{path.name}.{aside}"))
        make()


def _rebuild(connection: Connection) -> None:
    for kind, name, _, statement in schema_of(connection):
        if kind != "table" and statement:
            connection.execute(f'DROP {kind} IF EXISTS "{name.replace(_QUOTE, 2 * _QUOTE)}"')
    for kind, _, _, statement in sorted(schema(), key=lambda part: part[1]):
        if kind != "table":
            connection.execute(statement)


def forget_deleted() -> None:
    """Push deletions through the write-ahead log, so that the old pages are overwritten on disk and not only unlinked."""
    with explained(), closing(connect()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
