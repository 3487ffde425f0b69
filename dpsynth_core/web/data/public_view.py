"""The public table on the Data page: choosing one, and how it differs from the private one's columns and domain."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.public import Differences, refusal
from dpsynth_core.store import projects
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table, public_data, uploads
from dpsynth_core.web.data.public_data import PublicFile
from dpsynth_core.web.shell import document, frame
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code

HELP = (
    "People whose records anyone may see: an earlier release, a census sample, another region. Some mechanisms start from them and need "
    "less of your budget. Nothing protects the people in it, and the release says that you called it public."
)
_PUBLIC = "public"


def card(project: Current) -> None:
    """Optional: a public table with the same columns."""
    with frame.card("A public table of the same columns (optional)", Zone.PUBLIC, HELP):
        if "public" in project.draft:
            _chosen(project)
        else:
            _choose(project)
        frame.refused_at(_PUBLIC)


def _choose(project: Current) -> None:
    uploads.uploader(
        "public_upload", lambda file: _take(lambda: public_data.from_upload(project.owner, project.id, file.name, file, project.draft))
    )
    if project_table.is_database(project.draft):
        st.caption("Do not take an export of the table in the database: whether a file is one is not compared here.")
    if project_table.is_simulated(project.draft):
        st.button(
            "Use 5,000 other simulated people",
            icon=":material/groups_2:",
            key="use_twin",
            on_click=lambda: _take(lambda: public_data.twin(project.owner, project.id, project.draft)),
        )


def _take(look_at: Callable[[], PublicFile]) -> None:
    uploads.change(_PUBLIC, "public table", lambda: partial(public_data.adopt, file=look_at()))


def _remove(project: Current) -> None:
    def prepare() -> Callable[[document.Draft], None]:
        projects.remove_uploads(project.owner, project.id, shelf=public_data.SHELF)
        return public_data.disown

    uploads.change(_PUBLIC, "public table", prepare)


def _chosen(project: Current) -> None:
    section = project.draft["public"]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":green[:material/public:] {code(public_data.label(section))}", width="content")
        st.button(
            "Remove",
            icon=":material/delete:",
            type="tertiary",
            key="remove_public",
            on_click=_remove,
            args=(project,),
            help="Deletes the uploaded file from this machine.",
        )
    try:
        _compared(project, section)
    except InputError as error:
        frame.refused(error)


def _compared(project: Current, section: dict[str, Any]) -> None:
    """Against the domain where it is complete, else against the header of the private table."""
    if document.problem(project.draft, "domain") is None:
        differences, with_what = _differences(json.dumps(section), document.domain(project.draft)), "the domain"
    else:
        theirs = tuple(project.draft["wizard"].get("public_columns", ()))
        differences, with_what = public_data.of_headers(document.columns(project.draft), theirs), "the columns of your table"
    if (problem := refusal(differences)) is not None:
        frame.refused(problem)
    if not differences.missing and not differences.extra and not differences.outside:
        st.success(f"It agrees with {with_what}.", icon=":material/check_circle:")
        return
    st.markdown(f"Differences from {with_what}:")
    lines = _listed(differences)
    st.dataframe(lines, hide_index=True, height=min(240, 40 + 35 * len(lines)), alt="Differences of the public table")


def _listed(differences: Differences) -> pd.DataFrame:
    lines = [
        *((name, "missing in the public table") for name in differences.missing),
        *((name, f"{share:.1%} of its values are not in the domain") for name, share in differences.outside.items()),
        *((name, "only in the public table; not used") for name in differences.extra),
    ]
    return pd.DataFrame(lines, columns=["column", "difference"])


@st.cache_data(max_entries=8, show_spinner="Reading the public table …", hash_funcs={Domain: lambda domain: json.dumps(domain.to_json())})
def _differences(section_text: str, domain: Domain) -> Differences:
    return public_data.differences(json.loads(section_text), domain)
