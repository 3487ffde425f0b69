"""Addresses of databases: the known kinds, their allowed content, and the published part. Nothing is opened here.

An address never holds a password: it is written into specs, seen in lists of processes and kept in the history of a shell.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from dpsynth_core.foundation import server_addresses
from dpsynth_core.foundation.errors import InputError

FIELD = "data.path"
SUFFIXES = {"duckdb": (".duckdb", ".ddb"), "sqlite": (".db", ".sqlite", ".sqlite3")}
_SCHEMES = {**dict.fromkeys(server_addresses.POSTGRESQL, "postgres"), "duckdb": "duckdb", "sqlite": "sqlite"}
KNOWN = "postgresql://HOST/DATABASE, duckdb:///FILE, sqlite:///FILE, or a file that ends in .duckdb, .db or .sqlite"


@dataclass(frozen=True)
class Address:
    """The address of a database.

    Attributes:
        engine: "duckdb", "sqlite" or "postgres".
        place: The path of the file, or for a server the whole address.
    """

    engine: str
    place: str

    @property
    def is_file(self) -> bool:
        """True for a database in a file."""
        return self.engine in SUFFIXES

    def file(self) -> str:
        """Return the path of an existing file.

        Raises:
            InputError: The file does not exist.
        """
        if not os.path.isfile(self.place):
            remedy = "check the path; duckdb:/// and sqlite:/// start at the top of the file system"
            raise InputError(FIELD, "there is no such file", remedy)
        return self.place

    @property
    def identity(self) -> str:
        """A text that is equal for all spellings of one database's address, and for all users; it is not for publication."""
        if self.is_file:
            return f"{self.engine}:{Path(self.place).resolve()}"
        parts = urlsplit(self.place)
        service = dict(parse_qsl(parts.query)).get("service", "")
        return f"{self.engine}:{parts.hostname or ''}:{parts.port or ''}:{unquote(parts.path)}:{service}"

    @property
    def base_name(self) -> str:
        """The published name: the name of the database, or of the file without its folder.

        It is "" if the address of a server names no database.
        """
        return Path(self.place).name if self.is_file else Path(unquote(urlsplit(self.place).path)).name


def read(text: str) -> Address:
    """Return the address that a text states; nothing is opened.

    Args:
        text: An address such as postgresql://HOST/DATABASE or duckdb:///FILE, or the path of a file, whose ending tells its kind.

    Raises:
        InputError: The text is not the address of a known database; duckdb:// or sqlite:// is not followed by a
            path from the top of the file system, or a "?" is in the address; or an address with :// contains a
            password or an option that is not allowed. A plain path is not searched for passwords. The message
            does not repeat the text.
    """
    scheme, separator, rest = text.partition("://")
    if not separator:
        engine = next((name for name, endings in SUFFIXES.items() if text.lower().endswith(endings)), None)
        if engine is None:
            raise InputError(FIELD, "it is not the address of a database", f"use {KNOWN}")
        return Address(engine, str(Path(text).expanduser()))
    engine = _SCHEMES.get(scheme.lower())
    if engine is None:
        raise InputError(FIELD, "no database with such an address is known", f"use {KNOWN}")
    server_addresses.refuse_secrets(text, FIELD, f"use {KNOWN}")
    if engine in SUFFIXES:
        if not rest.startswith("/") or "?" in rest:
            remedy = f"write {engine}:///data/people, or the path alone"
            raise InputError(FIELD, "it does not name a file from the top of the file system", remedy)
        return Address(engine, unquote(rest))
    return Address(engine, text)
