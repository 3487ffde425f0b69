"""The public table on the Data page: choosing and removing it, and its differences from the private table's columns and domain.

The curator states that the table is public, so all of its content may be shown. The only look at the private table compares the files byte
by byte, so that one table does not serve as both; if they are equal the public table is refused, and nothing else is kept.
"""

from __future__ import annotations

import io
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO

import pandas as pd
import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.sources import demo, guess, opening, public
from dpsynth_core.sources.detect import public_format
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.guess import Guess
from dpsynth_core.sources.public import FIELD, Differences, refusal
from dpsynth_core.store import projects
from dpsynth_core.vocabulary.domain import Domain
from dpsynth_core.web.data import project_table
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import document, fields, frame, refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current

HELP = (
    "Add people whose records anyone may see: an earlier release, a census sample, another region. Some mechanisms start from them and "
    "need less budget. Nothing protects the people in it, and the release says that you called it public."
)
_PUBLIC = "public table"


def part(project: Current) -> None:
    """Draw the public table with its differences from the plan; without one, its choice.

    A chosen table is saved in the draft. If the private table is simulated, a button offers a simulated public
    table. The error of a refused table is drawn below.
    """
    st.markdown("**A public table of the same columns (optional)**", help=HELP)
    if "public" in project.draft:
        section = project.draft["public"]
        help, columns = "This deletes the uploaded file from this machine.", len(project.draft["wizard"].get("public_columns", ()))
        fields.taken_file(label(section), f"{columns} columns", "remove_public", _PUBLIC, (SHELF,), disown, help=help)
        _compared(project, section)
    else:
        owner, own, draft = project.owner, project.id, project.draft
        fields.table_file("public_upload", lambda file: _take(lambda: from_upload(owner, own, file.name, file, draft)))
        if project_table.place_of(draft) is not None:
            st.caption("Do not upload an export of the private table: nothing compares the two here.")
        if project_table.is_simulated(draft):
            take = partial(_take, partial(twin, owner, own, draft))
            st.button("Use 5,000 other simulated people", icon=":material/groups_2:", key="use_twin", on_click=take)
    frame.refused_at(_PUBLIC)


def _take(look_at: Callable[[], Table]) -> None:
    with refusals.attempted(_PUBLIC):
        session.check_idle(_PUBLIC)
        session.edit(partial(adopt, table=look_at()), _PUBLIC)


@refusals.explained()
def _compared(project: Current, section: dict[str, Any]) -> None:
    """Draw how the public table differs from the domain; if it does not, a sentence says so.

    While the domain is not complete, only the column names of both tables are compared. If the
    differences exclude the table's use, the error is drawn first.

    Args:
        project: The open project.
        section: The section `public` of its draft.
    """
    if document.problem(project.draft, "domain") is None:
        differences, with_what = _differences(section, document.domain(project.draft)), "the domain"
    else:
        theirs = tuple(project.draft["wizard"].get("public_columns", ()))
        ours = document.columns(project.draft)
        missing, extra = (tuple(n for n in one if n not in other) for one, other in ((ours, theirs), (theirs, ours)))
        differences, with_what = Differences(missing, extra, {}, rows=2), "the columns of your table"
    if (problem := refusal(differences)) is not None:
        frame.refused(problem)
    if not differences.missing and not differences.extra and not differences.outside:
        st.success(f"The public table agrees with {with_what}.", icon=":material/check_circle:")
        return
    st.markdown(f"The public table differs from {with_what}:")
    listed = [
        *((name, "missing in the public table") for name in differences.missing),
        *((name, f"{share:.1%} of its values are not in the domain") for name, share in differences.outside.items()),
        *((name, "only in the public table: not used") for name in differences.extra),
    ]
    lines = pd.DataFrame(listed, columns=["column", "difference"])
    st.dataframe(lines, hide_index=True, height=min(240, 40 + 35 * len(lines)), alt="Differences of the public table")


@st.cache_data(max_entries=8, show_spinner="Reading the public table …", **document.BY_DOMAIN)
def _differences(section: dict[str, Any], domain: Domain) -> Differences:
    return public.compare(Path(section["path"]), TableFormat.of(section), domain)


SHELF: projects.Shelf = "public"
TWIN_ROWS, TWIN_SEED, TWIN = 5_000, 8, "simulated-twin.csv"


def from_upload(owner: str, project: str, name: str, content: BinaryIO, draft: Draft) -> Table:
    """Store an uploaded file as the project's public table in place of an earlier one, and return it.

    Args:
        owner: The visitor's owner id.
        project: The id of the project.
        name: The name of the file.
        content: The file.
        draft: The draft. If its private table is a file of this machine, the two files are compared byte by byte;
            a private table at any other place is not compared.

    Raises:
        InputError: The file is not a table, or is the private table itself, or the visitor may not change the project;
            nothing is stored.
        CapacityError: The file is larger than 1 GiB, or than what the project's owner may still send.
    """

    def look_at(path: Path) -> Table:
        form = public_format(path, "public table")
        table = opening.opened(path, form)
        table.check()
        private = draft.get("data", {}).get("path") if project_table.place_of(draft) is None else ""
        if private and Path(private).exists() and public.is_same_table(path, Path(private)):
            remedy = "choose a table that is public already, or leave it out"
            raise InputError(FIELD, "this is the private table itself; it was not kept", remedy)
        return Table(form.section(path) | {"sha256": public.digest(path)}, table.column_names(), _PUBLIC, name)

    return projects.replace_upload(owner, project, name, content, look_at, SHELF)


def twin(owner: str, project: str, draft: Draft) -> Table:
    """Store 5,000 further simulated people (`TWIN_ROWS`) as the project's public table, and return it.

    The people are the same at each call.

    Args:
        owner: The visitor's owner id.
        project: The id of the project.
        draft: The draft, whose private table the file must not be.

    Raises:
        InputError: The visitor may not change the project.
    """
    content = demo.simulate(rows=TWIN_ROWS, seed=TWIN_SEED).to_csv(index=False).encode()
    return from_upload(owner, project, TWIN, io.BytesIO(content), draft)


def adopt(draft: Draft, table: Table) -> None:
    """Store the public table and its columns in the draft."""
    draft["public"] = table.section
    draft.setdefault("wizard", {})["public_columns"] = list(table.columns)


def disown(draft: Draft) -> None:
    """Remove the public table from the draft."""
    draft.pop("public", None)
    draft.get("wizard", {}).pop("public_columns", None)


def label(section: dict[str, Any]) -> str:
    """Return the public table's name on screen, its file name, which is hostile text.

    Args:
        section: The section `public` of the draft.
    """
    return Path(section["path"]).name


def guesses(section: dict[str, Any]) -> tuple[Guess, ...]:
    """Return guesses about the domain of the public table's columns, which cost no budget, in the table's order.

    Args:
        section: The section `public` of the draft.

    Raises:
        InputError: The table cannot be read.
    """
    return guess.propose(section["path"], TableFormat.of(section), is_public=True).value
