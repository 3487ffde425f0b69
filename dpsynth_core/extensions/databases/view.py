"""Choosing a table of a database on the Data page: its address, then a table of the catalogue or a query.

The catalogue and the column types are read from the database, no record. An address with a password is refused before it is stored.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, Literal

import streamlit as st

from dpsynth_core.extensions.databases import address as addresses
from dpsynth_core.extensions.databases import connect
from dpsynth_core.extensions.databases.address import Address
from dpsynth_core.foundation import settings
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources.formats import usual_markers
from dpsynth_core.vocabulary.declared import domain_json
from dpsynth_core.web.data import project_table
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import fields, numbers, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code

SOURCE = "database"
"""The table's source in the wizard's notes, and its kind in a spec."""
BY_NAME, BY_QUERY = "table", "query"
MAX_TIMEOUT = 1_000_000
LOG = (
    "This program reads the records and keeps them on no disk. The database’s own log may contain the statements: names of columns, your "
    "query. It contains no counts and no values of records."
)
_QUERY_HELP = (
    "The query may choose records of one table by WHERE and rewrite their values. Joins, windows, groups and limits are refused: with "
    "them one person could change other people’s rows."
)
_STATED = "wizard.database"
_PASSWORD = "Write no password: PostgreSQL takes it from PGPASSWORD, .pgpass or a service file of the account that runs this server."
_FORMS = {BY_NAME: ":material/table: A table or view", BY_QUERY: ":material/code: A query"}
_TIMEOUT_HELP = (
    f"Left empty: {connect.DEFAULT_TIMEOUT:,}. A statement that takes longer is ended, and with it the run, which stays charged."
)

Take = Callable[[Callable[[], Table]], None]
"""A function that makes the returned table the project's table."""


def choosing(project: Current, place: str, take: Take) -> None:
    """Draw the fields for a database's address, and after a connection those for a table or query.

    What is typed is stored in the draft, the address when the button "Connect" is clicked, which reads the
    names of tables from the database. The button "Use it" calls `take`. Errors are shown at `place`.

    Args:
        project: The open project.
        place: Where the page shows errors.
        take: Makes the chosen table the project's table.
    """
    typed, known = f"{project.id}:typed_address", fields.value(_STATED, {})
    entered, take_address = st.session_state.setdefault(typed, known.get("address", "")), partial(st.session_state.__setitem__, typed)
    title, example = "Address of a database, or its file on this machine", "postgresql://host:5432/hospital or /data/people.duckdb"
    fields.linked("database_address", entered, take_address, st.text_input, title, placeholder=example, help=_PASSWORD)
    look = "secondary" if known else "primary"
    st.button("Connect", icon=":material/database:", key="connect_database", on_click=_connect, args=(typed, place), type=look)
    st.caption(f":material/history_edu: {LOG}")
    if known:
        _what(known, take, "primary" if project_table.place_of(project.draft) is None else "secondary")


def _connect(typed: str, place: str) -> None:
    """Read the catalogue of the typed database and store its table names with the address.

    A refused address may contain a password; it is not stored, and its field is emptied.

    Args:
        typed: The session key of the typed address.
        place: Where the page shows errors.
    """
    with refusals.attempted(place):
        text = st.session_state.pop(typed).strip()
        addresses.read(text)
        st.session_state[typed] = text
        tables = catalogue(text, session.only_this_machine())
        known = fields.value(_STATED, {})
        further = known if known.get("address") == text else {}
        table = further.get(BY_NAME) if further.get(BY_NAME) in tables else None
        fields.store(_STATED, {**further, "address": text, "tables": tables, BY_NAME: table})


def _what(known: dict[str, Any], take: Take, look: Literal["primary", "secondary"]) -> None:
    """Draw the choice of a table or query, and the time limit of a statement.

    Args:
        known: The wizard's notes about the database.
        take: Makes the chosen table the project's table.
        look: The type of the button that does so.
    """
    tables = known["tables"]
    name = shown(addresses.read(known["address"]))
    st.markdown(f":green[:material/check_circle:] {code(name)}, tables and views: {len(tables):,}")
    form = fields.choice("What is counted?", f"{_STATED}.form", (BY_NAME, BY_QUERY), _FORMS, kind="segmented")
    if form == BY_NAME:
        names, help = {None: "Choose a table…"}, "Only the names come from the database’s catalogue."
        fields.choice("Table or view", f"{_STATED}.table", [None, *tables], names, help=help)
    else:
        example = "SELECT age, sex, region FROM stays WHERE year = 2024"
        fields.paragraph("One SELECT whose rows are the records", f"{_STATED}.query", placeholder=example, help=_QUERY_HELP)
    with st.expander("Time limit of a statement", icon=":material/timer:"):
        seconds = partial(numbers.optional, field="seconds", high=MAX_TIMEOUT)
        fields.number("Seconds", f"{_STATED}.timeout", seconds, lambda n: "" if n is None else str(n), help=_TIMEOUT_HELP)
    st.button("Use it", icon=":material/check:", key="use_database", on_click=take, args=(_stated,), type=look)


def _stated() -> Table:
    """Return the table or query that the page's fields state.

    Raises:
        InputError: A field is not valid, or the table cannot be read.
    """
    if f"{_STATED}.timeout" in fields.value("wizard.typed", {}):
        raise InputError("seconds", "this cannot be used as a time", "correct it, or leave it empty")
    return chosen(fields.value(_STATED), session.only_this_machine())


def catalogue(text: str, only_this_machine: bool) -> list[str]:
    """Return the names of the tables and views of a database, sorted; no record is read.

    Args:
        text: The address.
        only_this_machine: Whether the only user is the person who runs the server.

    Raises:
        InputError: The database cannot be read, or may not be opened from the page.
    """
    _check_allowed(addresses.read(text), only_this_machine)
    return connect.tables({"path": text})


def chosen(stated: Mapping[str, Any], only_this_machine: bool) -> Table:
    """Return the table or query that the wizard's notes state, with its column names and types.

    Args:
        stated: The wizard's notes: "address", "form" ("table" or "query"), under that name the table or
            query, and perhaps "timeout" (seconds).
        only_this_machine: Whether the only user is the person who runs the server.

    Raises:
        InputError: The table or query is missing or cannot be read, or the address may not be
            opened.
    """
    form = stated.get("form", BY_NAME)
    if not stated.get(form):
        remedy = "choose a table from the list" if form == BY_NAME else "write one SELECT whose rows are the records"
        raise InputError(form, "you have not written a query", remedy)
    limit = {"timeout": stated["timeout"]} if stated.get("timeout") else {}
    section = {"kind": SOURCE, "path": stated["address"], form: stated[form], **limit, "missing_markers": sorted(usual_markers(SOURCE))}
    place = addresses.read(stated["address"])
    _check_allowed(place, only_this_machine)
    declared = connect.DatabaseTable(section).declared
    what = stated[BY_NAME] if form == BY_NAME else "A query"
    entries = tuple(domain_json(declared)["attributes"])
    return Table(section, tuple(column.name for column in declared), SOURCE, f"{what} in {shown(place)}", entries)


def shown(place: Address) -> str:
    """Return the published name of a database: its file's name, or its name on a server; "the database" if the address has none."""
    return place.base_name or "the database"


def _check_allowed(place: Address, only_this_machine: bool) -> None:
    """Raise InputError if the database may not be opened from the page.

    Databases are opened with the accounts of the person who runs this server, so only that person
    may do it. Files of DPSYNTH_HOME are refused.
    """
    if not only_this_machine or (os.environ.get(settings.DATA_ROOTS) and not place.is_file):
        raise InputError("data.path", "databases may not be opened from this page", "upload the table, or ask who runs this server")
    if place.is_file:
        if not Path(place.place).is_absolute():
            remedy = "write the whole path, such as /data/people.duckdb"
            raise InputError("data.path", "the path does not start at the top of the file system", remedy)
        project_table.check_place(Path(place.place).resolve(), only_this_machine)
