"""Rows from protected tables on the Data page, while no table of records is chosen: upload columns and tables, get a bundle."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import streamlit as st

from dpsynth_core.bundle.remade import pack
from dpsynth_core.extensions.rows_from.document import BUNDLE, closeness, notes, statement
from dpsynth_core.extensions.rows_from.making import make
from dpsynth_core.extensions.rows_from.order import MAX_GIVER, MAX_PROMISE, SEED, Order, check_public
from dpsynth_core.extensions.rows_from.tables import of_file
from dpsynth_core.foundation.documents import decoded
from dpsynth_core.foundation.errors import CapacityError, InputError
from dpsynth_core.vocabulary.codebook import parse_domain
from dpsynth_core.vocabulary.domain import DATA, ORIGINS, Domain
from dpsynth_core.web.shell import document, refusals
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

_MOST_ROWS = 1_000_000
"""The most rows for a browser; the command line writes more."""
_MADE = "rows_from_made"
"""Session key of the digest of what was given, and what was made of it."""
_FORM = (
    "A table has one column for each variable, named as in the codebook, and a column `count`. Leave lines of totals out. A suppressed "
    "count is empty or `..`. Verify checks the download. The command line writes rows for SPSS, Stata, SAS and Excel too."
)
_PEOPLE = "Needed if every table has suppressed counts: the number of people that was published."
_WORDS = (
    "For an office that may not add noise, and protects its tables in its own way. No record is read, nothing is charged, and **this "
    "program guarantees nothing**: the rows protect people as far as the tables do."
)


@dataclass(frozen=True)
class Given:
    """The entries of a person in the form: the files, each with its name, and the texts."""

    columns: tuple[str, bytes] | None
    tables: tuple[tuple[str, bytes], ...]
    giver: str
    promise: str
    rows: int | None
    people: int | None

    def digest(self, domain: Domain | None) -> str:
        """Return a digest of everything from which the rows follow."""
        held = (self.columns, *self.tables)
        files = [None if file is None else (file[0], sha256(file[1]).hexdigest()) for file in held]
        rest = self.giver, self.promise, self.rows, self.people, None if domain is None else domain.to_json()
        return sha256(repr((files, rest)).encode()).hexdigest()


def on_data(project: Current) -> None:
    """Draw the form on the Data page while the project has no table of records.

    The button fits the rows in another process. They are kept in the session; nothing is stored in the draft,
    and nothing is charged.
    """
    if "data" in project.draft:
        return
    with st.expander("Rows from protected tables", icon=":material/table_view:", key=f"{project.id}:rows_from"):
        st.markdown(_WORDS, help=_FORM)
        planned = planned_columns(project.draft)
        given = _form(planned is not None)
        asked = st.button("Make rows from these tables", icon=":material/table_view:", key="rows_from_make", disabled=not given.tables)
        if asked:
            st.session_state.pop(_MADE, None)
            with refusals.explained(), st.spinner("Fitting the tables …"):
                order = order_of(given, planned)
                stream = io.BytesIO()
                pack(files := make(order), stream)
                said = (closeness(files), *notes(order))
                st.session_state[_MADE] = given.digest(planned), order, said, stream.getvalue()
        made, order, said, content = st.session_state.get(_MADE, ("", None, (), b""))
        if made and made == given.digest(planned):
            st.info(literal(statement(order), 4000), icon=":material/info:")
            st.markdown("\n".join(f"- {literal(sentence, 1000)}" for sentence in said))
            look = {"icon": ":material/download:", "key": "rows_from_download", "on_click": "ignore"}
            st.download_button(f"Download {order.rows:,} rows", content, BUNDLE, "application/zip", **look)


def planned_columns(draft: Mapping[str, Any]) -> Domain | None:
    """Return the columns of a draft, with their origin; None for two linked tables, and while a column is not complete."""
    if document.is_linked(draft) or document.problem(draft, "domain") is not None:
        return None
    (domain,) = document.domains(draft)
    origin = draft.get("domain_origin")
    return replace(domain, origin=origin) if origin in ORIGINS and domain.origin != DATA else domain


def _form(has_columns: bool) -> Given:
    """Draw the fields, and return what they hold."""
    left, right = st.columns(2)
    with left:
        label = "Columns: domain or codebook" + (" (else those of the plan)" if has_columns else "")
        columns = st.file_uploader(label, ["json", "csv", "xml"], key="rows_from_domain")
        tables = st.file_uploader(
            "Protected tables of counts", ["csv", "tsv", "parquet"], accept_multiple_files=True, key="rows_from_tables"
        )
    with right:
        giver = st.text_input("Who protected the tables?", max_chars=MAX_GIVER, key="rows_from_giver", placeholder="Statistics Office")
        example = "Counts are rounded to multiples of 5; counts below 10 are suppressed."
        promise = st.text_area("What does that office promise?", max_chars=MAX_PROMISE, key="rows_from_promise", placeholder=example)
        with st.container(horizontal=True):
            rows = st.number_input("Rows", 1, _MOST_ROWS, None, key="rows_from_rows", placeholder="as many as people", width=220)
            look = {"help": _PEOPLE, "placeholder": "as the tables say", "width": 220}
            people = st.number_input("People", 1, None, None, key="rows_from_people", **look)
    held = tuple((one.name, one.getvalue()) for one in tables)
    described = None if columns is None else (columns.name, columns.getvalue())
    return Given(described, held, giver, promise, *(None if number is None else int(number) for number in (rows, people)))


def order_of(given: Given, planned: Domain | None) -> Order:
    """Return the order for rows from what a person gave.

    Uploaded tables are on the disk while they are read, in a temporary folder.

    Args:
        given: The files and texts.
        planned: The columns of the plan, if it has them; uploaded columns replace these.

    Raises:
        InputError: The columns, the giver of the tables or its promise are missing, or a file or a text
            cannot be used.
        CapacityError: The tables are too large, or there are more than 1,000,000 rows (`_MOST_ROWS`).
    """
    if given.columns is None and planned is None:
        raise InputError("columns", "they are missing", "upload a domain or a codebook, or complete the Domain page")
    domain = planned if given.columns is None else parse_domain(decoded(given.columns[1], given.columns[0]))
    assert domain is not None
    check_public(domain)
    stated: dict[str, Any] = {"domain": domain.to_json(), "tables": [], "rows": given.rows, "people": given.people, "seed": SEED}
    with tempfile.TemporaryDirectory() as folder:
        for name, content in given.tables:
            path = Path(folder, f"table{Path(name).suffix}")
            path.write_bytes(content)
            stated["tables"].append(of_file(path, domain, name).to_json(domain))
    order = Order.of(stated | {"giver": given.giver, "promise": given.promise})
    order.check_promised()
    if order.rows > _MOST_ROWS:
        raise CapacityError(
            "rows", f"{order.rows:,} are too many for a browser", f"ask for at most {_MOST_ROWS:,}, or use the command line"
        )
    return order
