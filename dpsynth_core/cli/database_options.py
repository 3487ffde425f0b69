"""Options that say which table of which database is meant."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from dpsynth_core.cli.demo_table import DEMO
from dpsynth_core.cli.table_options import stated_notation
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.databases.address import is_address, read

DATABASES = "or the address of a database: a file that ends in .duckdb, .db or .sqlite, or postgresql://HOST/DATABASE"
_OF_FILES = ("encoding", "delimiter", "quoting", "columns", "sheet", "time_format", "engine", "scheduler", "workers")


def place(text: str) -> Path | str:
    """A path; an address, or the name of the simulated people, as it is written. argparse calls it."""
    return text if "://" in text or text == DEMO else Path(text)


def add_database_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--table", metavar="NAME", help="of a database: the table or view, perhaps behind its schema and a point")
    parser.add_argument("--query", metavar="SQL", help="of a database: one SELECT whose rows are the records")
    parser.add_argument("--timeout", metavar="SECONDS", type=int, help="of a database: what one statement may take (default: 3600)")


def is_database(options: argparse.Namespace) -> bool:
    """Whether the data are in a database. InputError for options of databases where they are not."""
    if is_address(str(options.data)):
        return True
    for name in ("table", "query", "timeout"):
        if getattr(options, name) is not None:
            raise InputError(f"--{name}", "the data are not in a database", "leave it out, or give the address of a database")
    return False


def database_section(options: argparse.Namespace) -> dict[str, Any]:
    """The spec's section about the data. InputError."""
    read(str(options.data))
    for name in _OF_FILES:
        if getattr(options, name, None) not in (None, "here"):
            raise InputError(f"--{name.replace('_', '-')}", "databases do not have that", "leave it out")
    named = {name: getattr(options, name) for name in ("table", "query", "timeout") if getattr(options, name) is not None}
    return {"path": str(options.data), "kind": "database"} | named | stated_notation(options)


def database_name(options: argparse.Namespace) -> str:
    """What a release of it is called unless somebody says otherwise."""
    return options.table or Path(read(str(options.data)).base_name).stem or "release"
