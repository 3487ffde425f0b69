"""The public table on the Data page: choosing one, and how it differs from the private one's columns and domain."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.public import Differences, refusal
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table, public_data
from dpsynth_core.web.data.public_data import Found
from dpsynth_core.web.shell import document, frame, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code

HELP = (
    "People whose records anyone may see: an earlier release, a census sample, another region. Some mechanisms start from them and need "
    "less of your budget. Nothing protects the people in it, and the release says that you called it public."
)
_UPLOADS = "_public_uploads"
_PUBLIC = "public"


def card(here: Current) -> None:
    """Optional: a public table with the same columns."""
    with frame.card("A public table of the same columns (optional)", Zone.PUBLIC, HELP):
        if "public" in here.draft:
            _chosen(here)
        else:
            _choose(here)
        frame.refused_at(_PUBLIC)


def _choose(here: Current) -> None:
    st.file_uploader(
        "CSV, TSV or Parquet file",
        type=["csv", "tsv", "tab", "txt", "parquet", "pq"],
        key=f"public_upload_{st.session_state.get(_UPLOADS, 0)}",
        on_change=_take_upload,
        args=(here,),
    )
    if project_table.is_simulated(here.draft):
        st.button(
            "Use 5,000 other simulated people",
            icon=":material/groups_2:",
            key="use_twin",
            on_click=lambda: _take(lambda: public_data.twin(here.owner, here.project, here.draft)),
        )


def _take_upload(here: Current) -> None:
    number = st.session_state.get(_UPLOADS, 0)
    if (file := st.session_state.get(f"public_upload_{number}")) is not None:
        st.session_state[_UPLOADS] = number + 1
        _take(lambda: public_data.from_upload(here.owner, here.project, file.name, file, here.draft))


def _take(find: Callable[[], Found]) -> None:
    def take() -> None:
        session.check_idle("public table")
        found = find()
        session.edit(lambda draft: public_data.adopt(draft, found))

    refusals.attempt(_PUBLIC, take)


def _remove(here: Current) -> None:
    def remove() -> None:
        session.check_idle("public table")
        public_data.forget(here.owner, here.project)
        session.edit(public_data.disown)

    refusals.attempt(_PUBLIC, remove)


def _chosen(here: Current) -> None:
    section = here.draft["public"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":green[:material/public:] {code(public_data.label(section))}", width="content")
        st.button(
            "Remove",
            icon=":material/delete:",
            type="tertiary",
            key="remove_public",
            on_click=_remove,
            args=(here,),
            help="Deletes the uploaded file from this machine.",
        )
    try:
        _compared(here, section)
    except InputError as error:
        frame.refused(error)


def _compared(here: Current, section: dict[str, Any]) -> None:
    """Against the domain where it is complete, else against the header of the private table."""
    if document.problem(here.draft, "domain") is None:
        found, with_what = _differences(json.dumps(section), document.domain(here.draft)), "the domain"
    else:
        theirs = tuple(here.draft["wizard"].get("public_columns", ()))
        found, with_what = public_data.of_headers(document.columns(here.draft), theirs), "the columns of your table"
    if (problem := refusal(found)) is not None:
        frame.refused(problem)
    if not found.missing and not found.extra and not found.outside:
        st.success(f"It agrees with {with_what}.", icon=":material/check_circle:")
        return
    st.markdown(f"Differences from {with_what}:")
    st.dataframe(_listed(found), hide_index=True, height=min(240, 40 + 35 * len(_listed(found))), alt="Differences of the public table")


def _listed(found: Differences) -> pd.DataFrame:
    lines = [
        *((name, "missing in the public table") for name in found.missing),
        *((name, f"{share:.1%} of its values are not in the domain") for name, share in found.outside.items()),
        *((name, "only in the public table; not used") for name in found.extra),
    ]
    return pd.DataFrame(lines, columns=["column", "difference"])


@st.cache_data(max_entries=8, show_spinner="Reading the public table …", hash_funcs={Domain: lambda domain: json.dumps(domain.to_json())})
def _differences(section_text: str, domain: Domain) -> Differences:
    return public_data.differences(json.loads(section_text), domain)
