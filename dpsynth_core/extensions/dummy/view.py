"""Dummy rows on the pages Data and Domain: from the columns of the plan, whether or not a table was chosen."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import streamlit as st

from dpsynth_core.bundle.remade import pack
from dpsynth_core.extensions.dummy.document import BUNDLE, digest, statement
from dpsynth_core.extensions.dummy.making import make
from dpsynth_core.extensions.dummy.order import ROWS, SEED, Order
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.domain import DATA, ORIGINS
from dpsynth_core.vocabulary.published import FIELD
from dpsynth_core.web.shell import document, plan_first, refusals
from dpsynth_core.web.shell.session import Current

_MOST_ROWS = 100_000
"""The most rows for a browser; the command line writes more."""
_MADE = "dummy_made"
"""Session key of the digest of an order, and the bundle that was made of it."""
_HELP = (
    "They are made from the columns alone, in a process that can open no table. The download has the rows, the codebook and a statement, "
    "and Verify checks it. The command line writes them for SPSS, Stata, SAS and Excel too."
)


def on_data(project: Current) -> None:
    """Draw the form for dummy rows on the Data page while the project has columns but no table yet; otherwise nothing.

    A click on the form's button makes the rows, at most 100,000, in another process and keeps their bundle in
    the session for a download. Nothing is stored in the draft. In place of the form stands the reason why no
    rows can be made, if there is one.
    """
    if plan_first.is_planned(project.draft) and document.problem(project.draft, "domain") is None:
        _form(project)


def on_domain(project: Current) -> None:
    """Draw the form for dummy rows on the Domain page.

    A click on the form's button makes the rows, at most 100,000, in another process and keeps their bundle in
    the session for a download. Nothing is stored in the draft. In place of the form stands the reason why no
    rows can be made, if there is one.
    """
    _form(project)


def order_of(draft: Mapping[str, Any], rows: int) -> Order:
    """Return the order for dummy rows of a draft's columns, with the usual seed.

    Args:
        draft: The draft of the open project.
        rows: Number of rows; of two linked tables, of the first one.

    Raises:
        InputError: The domain is not complete, or `Order.of` refuses it.
        CapacityError: The domain is too large.
    """
    domain, *second = (one.to_json() for one in document.domains(draft))
    if (origin := draft.get("domain_origin")) in ORIGINS and domain.get("origin") != DATA:
        domain["origin"] = origin
    stated: dict[str, Any] = {"domain": domain, "rows": rows, "seed": SEED}
    if second:
        unit, members = draft["unit"], draft["members"]
        stated["members"] = {"domain": second[0], "key": unit.get("person_column"), "most": unit["max_rows_per_person"]}
        stated["members"]["rules"] = members.get("rules", [])
    elif draft.get(FIELD):
        stated[FIELD] = draft[FIELD]
    return Order.of(stated)


def _form(project: Current) -> None:
    with st.expander("Dummy rows to write code with", icon=":material/code_blocks:", key=f"{project.id}:dummy"):
        st.caption("Invented rows of these columns. No record is read, and nothing is charged.", help=_HELP)
        if document.problem(project.draft, "domain") is not None:
            st.caption(":material/edit: Complete all columns first.")
            return
        try:
            order_of(project.draft, ROWS)
        except InputError as error:
            st.caption(f":material/block: {refusals.sentence(error)}")
            return
        with st.container(horizontal=True, vertical_alignment="bottom"):
            rows = int(st.number_input("Rows", 1, _MOST_ROWS, ROWS, key="dummy_rows", width=160))
            asked = st.button("Make dummy rows", icon=":material/code_blocks:", key="dummy_make")
        order = order_of(project.draft, rows)
        if asked and (content := _made(order)):
            st.session_state[_MADE] = digest(order), content
        made, content = st.session_state.get(_MADE, ("", b""))
        if made == digest(order):
            st.info(statement(order), icon=":material/info:")
            look = {"icon": ":material/download:", "key": "dummy_download", "on_click": "ignore"}
            st.download_button(f"Download {rows:,} dummy rows", content, BUNDLE, "application/zip", **look)


def _made(order: Order) -> bytes:
    """Return the bundle of an order; draw the error and return no bytes if it cannot be made."""
    stream = io.BytesIO()
    with refusals.explained(), st.spinner("Making the rows …"):
        pack(make(order), stream)
    return stream.getvalue()
