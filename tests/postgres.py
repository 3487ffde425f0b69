"""A PostgreSQL server of the tests' own, started when a test first needs one: Debian's package, in a folder of its own, on a Unix socket.

One in each process that runs tests: it takes a second, and lives as long as that process.
"""

from __future__ import annotations

import atexit
import os
import shutil
import sqlite3
import subprocess
import tempfile
from functools import cache
from itertools import count
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest

REFUSED = (sqlite3.IntegrityError, psycopg.IntegrityError)
"""What a rule of the store's database raises."""
_PLACES = Path("/usr/lib/postgresql")
_NUMBERS = count()


@cache
def address() -> str:
    """Of a database on a server that anyone on this machine who finds the socket may use. Skips, or fails under CI, where there is none."""
    if not (binaries := _binaries()):
        (pytest.fail if os.environ.get("CI") == "true" else pytest.skip)("no PostgreSQL server: install Debian's package postgresql")
    home = Path(tempfile.mkdtemp(prefix="dpsynth-pg-"))
    if os.geteuid() == 0:
        shutil.chown(home, "nobody")
    data = str(home / "data")
    _run(f"{binaries}/initdb", "-D", data, "-A", "trust", "-U", "tester", "-E", "UTF8", "--no-locale", "--no-sync")
    options = f"-k {home} -c listen_addresses= -c fsync=off -c wal_writer_delay=10s -c shared_buffers=32MB -c max_connections=20"
    _run(f"{binaries}/pg_ctl", "-D", data, "-o", options, "-l", str(home / "log"), "-w", "start")

    def stop() -> None:
        _run(f"{binaries}/pg_ctl", "-D", data, "-m", "immediate", "-w", "stop")
        shutil.rmtree(home, ignore_errors=True)

    atexit.register(stop)
    return f"postgresql://tester@{quote(str(home), safe='')}/postgres"


def _binaries() -> Path | None:
    return max(_PLACES.glob("*/bin"), key=lambda place: float(place.parent.name), default=None)


def _run(*command: str) -> None:
    as_owner = ["runuser", "-u", "nobody", "--"] if os.geteuid() == 0 else []
    subprocess.run([*as_owner, *command], check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, cwd="/")


def crash() -> None:
    """End the server with nothing written that it had not to, and start it again."""
    _run(f"{_binaries()}/pg_ctl", "-D", f"{_home()}/data", "-l", f"{_home()}/log", "-m", "immediate", "-w", "restart")


def new_database(more: str = "") -> str:
    """The address of an empty database on that server. more: how else it is made."""
    name = f"store_{next(_NUMBERS)}"
    with connect() as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE template0 {more}")
    return address().rpartition("/")[0] + f"/{name}"


def alter(statement: str) -> None:
    """Change the ledger that the environment names around the program, as the owner of the database can."""
    with psycopg.connect(os.environ["DPSYNTH_DATABASE"], autocommit=True) as connection:
        connection.execute("ALTER TABLE ledger DISABLE TRIGGER ALL")
        connection.execute(statement)


def tool(name: str, place: str, given: str = "") -> str:
    """What a program of PostgreSQL says of a database, given this."""
    binary = max(_PLACES.glob(f"*/bin/{name}"), key=lambda path: float(path.parts[-3]))
    ended = subprocess.run([binary, "-d", place], input=given, capture_output=True, text=True, check=True)
    return ended.stdout


def log() -> str:
    """What the server has written so far."""
    return Path(_home(), "log").read_text()


def _home() -> str:
    return address().partition("@")[2].rpartition("/")[0].replace("%2F", "/")


def connect() -> psycopg.Connection:
    return psycopg.connect(address(), autocommit=True)


def new_table() -> str:
    """A name that no other table of the server has."""
    return f"records_{next(_NUMBERS)}"


def end_all() -> None:
    """End all other connections, as a server that fails does."""
    with connect() as connection:
        connection.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'dpsynth'")
