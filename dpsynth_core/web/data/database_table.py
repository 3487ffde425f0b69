"""A table of a database as the project's: what may be opened from the page, the catalogue, the section of the draft.

Of the database its catalogue and the types of columns are read, no record. An address with a password is refused before it is kept.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.databases import address as addresses
from dpsynth_core.sources.databases import connect
from dpsynth_core.sources.databases.address import Address
from dpsynth_core.sources.notation import DEFAULT_MISSING
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.web.data import project_table
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import numbers

SOURCE = "database"
"""Where the table is, in the wizard's notes, and its kind in a spec."""
BY_NAME, BY_QUERY = "table", "query"
MAX_TIMEOUT = 1_000_000


def catalogue(text: str, only_this_machine: bool) -> list[str]:
    """The names of the tables and views of a database. Raises InputError; also for one that may not be opened from the page."""
    _check_allowed(addresses.read(text), only_this_machine)
    return connect.tables({"path": text})


def chosen(stated: Mapping[str, Any], only_this_machine: bool) -> Table:
    """The table or query that is stated on the page (see `document`: wizard.database). Raises InputError."""
    form = stated.get("form", BY_NAME)
    if not stated.get(form):
        remedy = "choose one from the list" if form == BY_NAME else "write one SELECT whose rows are the records"
        raise InputError(form, "none is given", remedy)
    limit = {"timeout": stated["timeout"]} if stated.get("timeout") else {}
    section = {"kind": SOURCE, "path": stated["address"], form: stated[form], **limit, "missing_markers": sorted(DEFAULT_MISSING)}
    place = addresses.read(stated["address"])
    _check_allowed(place, only_this_machine)
    declared = connect.DatabaseTable(section).declared
    what = stated[BY_NAME] if form == BY_NAME else "A query"
    entries = tuple(domain_json(declared)["attributes"])
    return Table(section, tuple(column.name for column in declared), SOURCE, f"{what} in {shown(place)}", entries)


def shown(place: Address) -> str:
    """What to call a database on screen."""
    return place.base_name or "the database"


def seconds(text: str) -> int | None:
    """How long one statement may take, as typed; None for no text. Raises InputError."""
    return numbers.optional(text, "seconds", 1, MAX_TIMEOUT)


def _check_allowed(place: Address, only_this_machine: bool) -> None:
    """With the accounts of whoever runs this server: so for that person alone, and no file of our own store."""
    if not only_this_machine or (os.environ.get(project_table.ROOTS) and not place.is_file):
        raise InputError("data.path", "databases may not be opened from this page", "upload the table, or ask whoever runs this server")
    if place.is_file:
        if not Path(place.place).is_absolute():
            raise InputError(
                "data.path", "it does not start at the top of the file system", "write the whole path, such as /data/people.duckdb"
            )
        project_table.check_place(Path(place.place).resolve(), only_this_machine)
