"""What is done to the database's file as a whole: its rules made again, deleted pages overwritten.

Nothing rests on it: whether the rules are in force is looked at afterwards (`database.damage`).
"""

from __future__ import annotations

from contextlib import closing

from dpsynth_core.foundation.private_files import sync
from dpsynth_core.store import postgres
from dpsynth_core.store.database import DATABASE, beside, connect, make, parts, schema, suspecting
from dpsynth_core.store.faults import explained
from dpsynth_core.store.home import home, now
from dpsynth_core.store.upgrading import in_order

_OF_ROWS = ("table", "constraint")


def rebuild() -> None:
    """Make again what follows from the tables and this program: indices, triggers and views. What is wrong with tables stays."""
    with explained(), closing(connect()) as connection, suspecting(connection):
        connection.execute("BEGIN IMMEDIATE")
        for part in reversed(in_order(parts(connection))):
            if part.kind not in _OF_ROWS:
                connection.execute(part.undone)
        for part in in_order(schema()):
            if part.kind not in _OF_ROWS:
                connection.execute(part.made)
        connection.execute("REINDEX ledger")
        connection.execute("COMMIT")


def anew() -> None:
    """A database without content in place of one that cannot be used, whose file is set aside and not deleted. Raises StoreFault for one
    on a server."""
    place, aside = home() / DATABASE, f"lost-{now().replace(':', '')}"
    for path in [] if postgres.address() else [place, *beside(place)]:
        if path.exists():
            path.rename(path.with_name(f"{path.name}.{aside}"))
    sync(home())  # else a new database may stand beside the log of the old one
    make()


def forget_deleted() -> None:
    """Push deletions through the write-ahead log, so that the old pages are overwritten on disk and not only unlinked."""
    with explained(), closing(connect()) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
