"""The sources of all columns on the Domain page, with the justification of a read domain.

On the Data page, it draws a start without the table.

A codebook, or the names of the columns, is enough for every step but the run.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import streamlit as st
from streamlit.runtime.uploaded_file_manager import UploadedFile

from dpsynth_core.bundle import confined
from dpsynth_core.foundation.documents import parse_json
from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone, Zoned, publishable
from dpsynth_core.planning.spec import Spec
from dpsynth_core.sources import guess, opening
from dpsynth_core.sources.detect import public_format
from dpsynth_core.sources.guess import Guess
from dpsynth_core.store import projects
from dpsynth_core.vocabulary.codebook import holds_values, pasted_domain, pasted_names
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.web.data import data_view, project_table, public_view
from dpsynth_core.web.domain import domain_table, draft_rows, learning_view, list_view, origin_view
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.domain.draft_rows import Codebook
from dpsynth_core.web.shell import document, fields, frame, plan_first, refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, names

CODEBOOK_HELP = (
    "You can load our JSON (“Download the domain”), the form {“age”: 32} of coded benchmark files, or a codebook CSV with the header "
    "column,value[,label]: one line per value, or one line like 17..90 for bounds. A DDI codebook of a data archive (XML) works too, and "
    "for two linked tables metadata of SDV or google/dpsynth."
)

PASTE_HELP = (
    "Paste column and value, with a label if you like: one line per value, or one for all: F, M, X or 17-90. Columns that you do not "
    "name stay as they are."
)
_NEXT_YEAR_HELP = (
    "Its columns with their values, tables, budget, criteria and mechanism become the plan of this project, for the same people. When you "
    "choose the new table, you see what changed; what is left of the budget stands below."
)
_BEGINS_HELP = "If you have a codebook, load or paste it instead: it costs nothing, and its values are exact."
PASTE_EXAMPLE = "sex\tf\tfemale\nsex\tm\tmale\nage\t17..90"


def loaders(project: Current, rows: list[ColumnDraft]) -> bool:
    """Draw the sources that describe all columns at once, the download of the domain, and a switch "As a table".

    What a source gives is saved in the draft. While nothing is described, the form to learn the columns stands on
    the page; later it is in a popover.

    Returns:
        Whether the switch is on, so that the columns are shown as a grid.
    """
    begins = learning_view.begins(project, rows)
    with st.container(horizontal=True, vertical_alignment="center", gap="small", key="domain_sources"):
        with st.popover("Load a codebook", icon=":material/menu_book:", key=draft_rows.loader_key("load_codebook")):
            st.caption(CODEBOOK_HELP)
            fields.file("Domain JSON, codebook CSV or DDI", draft_rows.ENDINGS, "codebook", _load_codebook)
        with st.popover("Paste two columns", icon=":material/content_paste:", key=draft_rows.loader_key("load_pasted")):
            pasted = draft_rows.loader_key("pasted")
            st.text_area("Lines from a spreadsheet", key=pasted, height=180, placeholder=PASTE_EXAMPLE, help=PASTE_HELP)
            st.button("Take these values", key="take_pasted", type="primary", on_click=_take_pasted, args=(pasted,))
        if labelled := draft_rows.labelled(project.draft):
            what = "file’s labels" if project_table.place_of(project.draft) is None else "declared types"
            take = partial(draft_rows.load, lambda rows: domain_table.with_columns(rows, labelled, "labels"), "labels")
            st.button(f"Take the {what} ({len(labelled)})", icon=":material/label:", key="take_labels", on_click=take)
        if not document.is_linked(project.draft) and not begins:
            kind = "primary" if domain_table.problems(rows) else "secondary"
            look = {"icon": ":material/query_stats:", "key": draft_rows.loader_key("load_learnt"), "type": kind, "on_change": "rerun"}
            with (learning := st.popover("Learn what I do not know", **look)):
                _learning(project, rows, priced=bool(learning.open))
        with st.popover("More", icon=":material/more_horiz:", key=draft_rows.loader_key("load_more")):
            _public(project)
            _download(project, "Download the domain", "domain", project.draft.get("domain"))
            if document.has_second(project.draft):
                _download(project, "Download the second domain", "members", project.draft["members"]["domain"])
            as_table = st.toggle("As a table", key=list_view.table_key(project), help="Experts can paste into a grid of all columns.")
    if begins:
        with frame.card("Learn what you do not know", help=_BEGINS_HELP):
            _learning(project, rows, priced=True)
    return as_table


def _take_pasted(key: str) -> None:
    text: str = st.session_state[key]
    read = cache(lambda: pasted_domain(text))

    def take(rows: Sequence[ColumnDraft]) -> list[ColumnDraft]:
        taken = domain_table.with_pasted(rows, read())
        if others := sorted({*read().column_names} - {draft.name for draft in rows}):
            st.toast(f"The table lacks these columns: {names(others)}.", icon=":material/question_mark:")
        return taken

    if not draft_rows.load(take, "codebook"):
        st.session_state[draft_rows.loader_key("pasted")] = text  # to mend


def _public(project: Current) -> None:
    st.caption("Choose a published table with the same columns: an earlier release, a census sample, a simulated twin.")
    if (section := project.draft.get("public")) is not None:
        name, guessed = literal(public_view.label(section)), lambda rows: domain_table.with_guesses(rows, public_view.guesses(section))
        st.button(f"Take it from {name}", key="take_public", on_click=draft_rows.load, args=(guessed, "public"), icon=":material/public:")
    fields.file("Public table", ("csv", "tsv", "txt", "parquet"), "public", _load_public)


def _download(project: Current, title: str, name: str, domain: Mapping[str, Any] | None) -> None:
    ready = bool(domain) and document.domain_zone(project.draft) is not Zone.CURATOR
    why_not = None if ready else "Complete every column first, and justify those that were read from the data."

    def written() -> bytes:
        return json.dumps(publishable(Zoned(document.domain_zone(project.draft), domain), "the domain"), indent=1).encode()

    look = {"icon": ":material/download:", "disabled": not ready, "on_click": "ignore", "key": f"download_{name}", "help": why_not}
    st.download_button(title, written if ready else b"", f"{name}.json", "application/json", **look)


def _load_codebook(file: UploadedFile) -> None:
    read = cache(lambda: draft_rows.read_codebook(file.getvalue()))
    draft_rows.load(lambda rows: read().fill(rows), "codebook", lambda: read().rules)


def _load_public(file: UploadedFile) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"table{Path(file.name).suffix.lower()}"
        path.write_bytes(file.getvalue())

        def guessed() -> tuple[Guess, ...]:
            form = public_format(path, "public table")
            opening.opened(path, form).check()
            return guess.propose(path, form, is_public=True).value

        draft_rows.load(lambda rows: domain_table.with_guesses(rows, guessed()), "public")


def justification(project: Current, rows: list[ColumnDraft]) -> None:
    """Draw the field for the reason why values that were read are harmless, stored in the draft.

    Nothing is drawn unless columns were read from the private table.

    Args:
        project: The open project.
        rows: The columns.
    """
    if project.draft.get("domain_origin") != DATA:
        return
    read = [draft.name for draft in rows if draft.use and draft.origin == DATA]
    with st.container(border=True, key="justification"):
        st.markdown(
            f":orange[:material/visibility_lock: **You read {names(read)} from the private table.**] Their values will be published "
            "with the release. Delete those that only the records could tell, then write why the rest is public knowledge."
        )
        example = "Example: categories are those of the published questionnaire; bounds were rounded to the legal limits."
        title = "Why these values give nobody away, in a sentence"
        fields.paragraph(title, "domain_justification", height=80, placeholder=example)


def _learning(project: Current, rows: list[ColumnDraft], priced: bool) -> None:
    """Draw both ways to learn the values of open columns: now, by a run of its own, or as a part of the release.

    Args:
        project: The open project.
        rows: The columns.
        priced: Whether the price of learning now is worked out, which takes time.
    """
    kinds, now = origin_view.kinds(rows), learning_view.offered(project)
    if now and any(map(domain_table.is_open, rows)):
        learning_view.form(project, rows, kinds, priced)
        st.divider()
    origin_view.with_release(project, rows, kinds, only=not now)


def beginning(project: Current) -> None:
    """Draw the start of a plan from a codebook, an earlier release or column names, and the columns planned so far.

    The plan is saved in the draft, whose table and uploads are removed. The plan of an earlier release replaces
    the whole draft.
    """
    st.caption(
        "We recommend this: decide everything from public knowledge, and choose the table last. Then nothing that you decide comes from "
        "the records, and the release can say so."
    )
    lines = f"{project.id}:plan_lines"

    def take(file: UploadedFile) -> None:
        _begin(lambda: draft_rows.read_codebook(file.getvalue()))

    fields.file("A codebook: domain JSON, CSV or DDI", draft_rows.ENDINGS, "plan_codebook", take)
    fields.file("For next year: last year's release.zip, or its plan (JSON)", ("zip", "json"), "plan_release", _take_plan, _NEXT_YEAR_HELP)
    title = "Or paste names of columns, or two columns: column and value"
    help = "Paste from a spreadsheet: the names in one line or one below the other, or one line per value of a column."
    st.text_area(title, key=lines, height=110, placeholder="age\nsex\nregion", help=help)

    def take_lines() -> None:
        text = st.session_state[lines]
        _begin(lambda: draft_rows.codebook_of(pasted_domain(text)) if holds_values(text) else pasted_names(text))

    st.button("Plan with these columns", key="plan_columns", icon=":material/edit_note:", on_click=take_lines)
    if plan_first.is_planned(project.draft):
        columns = project.draft["wizard"]["columns"]
        st.markdown(f":green[:material/check_circle:] {len(columns)} columns are planned: {names(columns)}. The table can come later.")


def _begin(read: Callable[[], Codebook | tuple[str, ...]]) -> None:
    """Remove the project's table, and start a plan from columns or from a codebook.

    A codebook about two linked tables is refused. Errors are shown on the page.

    Args:
        read: Returns the names of the columns, or the codebook.
    """
    with refusals.attempted(data_view.TABLE):
        plan = read()
        if isinstance(plan, Codebook) and plan.linked:
            raise InputError("codebook", "this is about two linked tables", "choose both files, and load it on the Domain page")
        session.check_idle("data")
        project = session.current()
        projects.remove_uploads(project.owner, project.id)
        begun = session.edit(partial(plan_first.begin, columns=plan.names if isinstance(plan, Codebook) else plan), data_view.TABLE)
        if begun and isinstance(plan, Codebook):
            draft_rows.save(plan.fill, plan.origin, lambda: plan.rules)


def _take_plan(file: UploadedFile) -> None:
    """Replace the draft by the plan of an uploaded release, without its table.

    The new table, such as next year's, is chosen afterwards. No record is read.
    """
    with refusals.attempted(data_view.TABLE):
        session.check_idle(data_view.TABLE)
        plan, project = plan_first.of_release(_spec(file.name, file.getvalue())), session.current()
        projects.remove_uploads(project.owner, project.id)

        def change(draft: Draft) -> None:
            draft.clear()
            draft.update(plan)

        session.edit(change, data_view.TABLE)


def _spec(name: str, content: bytes) -> Spec:
    """Return the spec in a bundle or a JSON file. Raises InputError for other files."""
    if name.endswith(".zip"):
        return confined.planned(content)
    try:
        return Spec.from_json(parse_json(content.decode("utf-8"), "spec"))
    except UnicodeDecodeError:
        raise InputError("spec", "this file is not UTF-8", "take the spec.json of a release") from None
