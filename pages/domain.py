"""Domain: what every column may contain, from public knowledge, and what happens to everything else."""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable
from pathlib import Path

import streamlit as st

from dpsynth_core.attribute import KINDS, LABEL_DTYPES
from dpsynth_core.domain import outside_rule, parse_domain
from dpsynth_core.errors import InputError
from dpsynth_core.web import document, domain_table, fields, frame, numbers, session, table
from dpsynth_core.web.document import Draft
from dpsynth_core.web.domain_table import Row
from dpsynth_core.web.text import literal, names
from dpsynth_core.zones import Zone, Zoned, publishable

KIND_NAMES = {
    "categorical": "Categories",
    "ordinal": "Ordered categories",
    "integer": "Whole number",
    "numeric": "Number",
    "date": "Date",
    "coded": "Codes 0, 1, 2…",
}
DTYPE_NAMES = {"string": "Text", "int64": "Whole number", "float64": "Number", "bool": "true / false"}
CODEBOOK_HELP = (
    "Our JSON (from “Download”), the form {“age”: 32} of coded benchmark files, or a codebook CSV with the header "
    "column,value[,label]: one line per value, or one line like 17..90 for bounds."
)


def rows_of(draft: Draft) -> list[Row]:
    """The table as stored, fitted to the columns of the file."""
    return domain_table.fitted(draft["wizard"].get("rows", []), document.columns(draft))


def save(change: Callable[[list[Row]], list[Row]], origin: str = "") -> None:
    """Store changed rows, and the domain they mean if they are complete. Raises InputError from `change`."""

    def apply(draft: Draft) -> None:
        rows = change(rows_of(draft))
        draft["wizard"]["rows"] = rows
        draft["domain"] = (
            None if domain_table.problems(rows) or not any(row["use"] for row in rows) else domain_table.domain_of(rows).to_json()
        )
        draft["domain_origin"] = origin or draft.get("domain_origin", "typed")
        if origin:
            draft["domain_justification"] = ""

    session.edit(apply)


def attempt(change: Callable[[list[Row]], list[Row]], origin: str) -> None:
    try:
        save(change, origin)
        st.session_state["_domain_said"] = None
    except InputError as error:
        st.session_state["_domain_said"] = error


def toolbar() -> None:
    """The ways to fill the table, in order of preference."""
    with st.container(horizontal=True, gap="small"):
        with st.popover("Load a codebook", icon=":material/menu_book:", key="load_domain"):
            st.caption(CODEBOOK_HELP)
            st.file_uploader(
                "Domain JSON or codebook CSV", type=["json", "csv", "txt", "tsv"], key=upload_key("codebook"), on_change=load_codebook
            )
        with st.popover("From a public table", icon=":material/public:", key="load_public"):
            st.caption("A published table with the same columns: an earlier release, a census sample, a simulated twin.")
            st.file_uploader("Public table", type=["csv", "tsv", "txt", "parquet"], key=upload_key("public"), on_change=load_public)
        with st.popover(
            "Read it from the data", icon=":material/visibility_lock:", key="load_data", disabled=table.is_simulated(here.draft)
        ):
            st.markdown(
                "This looks at the private records. A rare category or an extreme value can point to one person, and no noise covers it. "
                "The release is marked, and you will have to write why it is harmless."
            )
            st.button("Read it all the same", key="read_data", on_click=lambda: attempt(lambda _: from_data(), "data"))
        zone = document.domain_zone(here.draft)
        ready = here.draft.get("domain") and zone is not Zone.CURATOR
        st.download_button(
            "Download",
            data=domain_json if ready else b"",
            file_name="domain.json",
            mime="application/json",
            icon=":material/download:",
            disabled=not ready,
            on_click="ignore",
            key="download_domain",
            help=None if ready else "Possible once every column is complete and, if it was read from the data, justified.",
        )


def domain_json() -> bytes:
    draft = session.current().draft
    return json.dumps(publishable(Zoned(document.domain_zone(draft), draft["domain"]), "the domain"), indent=1).encode()


def upload_key(kind: str) -> str:
    return f"{kind}_{st.session_state.get('_domain_loads', 0)}"


def uploaded(kind: str):
    """The file just given; its uploader is replaced by an empty one."""
    file = st.session_state.get(upload_key(kind))
    if file is not None:
        st.session_state["_domain_loads"] = st.session_state.get("_domain_loads", 0) + 1
    return file


def load_codebook() -> None:
    if (file := uploaded("codebook")) is not None:
        attempt(lambda rows: domain_table.with_domain(rows, parse_domain(decoded(file.getvalue()))), "codebook")


def decoded(content: bytes) -> str:
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InputError("codebook", "it is not UTF-8 text", "save it as UTF-8") from None


def load_public() -> None:
    if (file := uploaded("public")) is not None:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / f"table{Path(file.name).suffix.lower()}"
            path.write_bytes(file.getvalue())
            attempt(
                lambda rows: domain_table.fitted(domain_table.from_guesses(table.look_at_public(path)), [row["column"] for row in rows]),
                "public",
            )


def from_data() -> list[Row]:
    return domain_table.from_guesses(table.look(session.current().draft).value)


def justification() -> None:
    """Shown when the domain was read from the private table."""
    if here.draft.get("domain_origin") != "data":
        return
    with st.container(border=True, key="justify"):
        st.markdown(
            ":orange[:material/visibility_lock: **This domain was read from the private table.**] Everything in it will be "
            "published with the release. Replace what only the records could tell, then write why the rest is public knowledge."
        )
        fields.paragraph(
            "Why this domain gives nobody away",
            "domain_justification",
            height=80,
            placeholder="Example: categories are those of the published questionnaire; bounds were rounded to the legal limits.",
        )


def editor(rows: list[Row]) -> None:
    config, column = st.column_config, {}
    column["use"] = config.CheckboxColumn("Use", help="Columns that are not used do not appear in the release.", width=65)
    column["column"] = config.TextColumn("Column", pinned=True, width=130, disabled=True)
    column["kind"] = config.SelectboxColumn("Kind", options=KINDS, format_func=lambda k: KIND_NAMES[k], required=True, width=125)
    column["cells"] = config.NumberColumn("Cells", help="Different values that the release can tell apart.", width=60, disabled=True)
    column["values"] = config.TextColumn("Values", help="Edit them below the table.", width=150, disabled=True)
    column["lower"] = config.TextColumn("From", help="Lowest value that counts; smaller ones are moved up to it.", width=80)
    column["upper"] = config.TextColumn("To", help="Highest value that counts; larger ones are moved down to it.", width=80)
    column["bins"] = config.TextColumn(
        "Bins", help="A number of equal bins, or edges separated by commas. Empty: a sensible default.", width=80
    )
    column["missing"] = config.CheckboxColumn("Missing", help="Empty values become a value of their own.", width=90)
    column["other"] = config.CheckboxColumn("Other", help="Values that are not listed become “other”.", width=75)
    st.data_editor(
        domain_table.grid(rows),
        key=grid_key(rows),
        column_config=column,
        hide_index=True,
        height=min(36 * len(rows) + 40, 400),
        on_change=take_edits,
        alt="Domain: one row per column of the table",
    )


def grid_key(rows: list[Row]) -> str:
    """The editor keeps its edits under this key; a new one is taken when the rows were changed elsewhere since."""
    version = st.session_state.setdefault("_grid", 0)
    edits = st.session_state.get(f"domain_grid_{version}", {}).get("edited_rows", {})
    if domain_table.edited(rows, edits) != rows:
        st.session_state["_grid"] = version + 1
    return f"domain_grid_{st.session_state['_grid']}"


def take_edits() -> None:
    edits = st.session_state[f"domain_grid_{st.session_state['_grid']}"]["edited_rows"]
    save(lambda rows: domain_table.edited(rows, edits))


def summary(rows: list[Row]) -> None:
    used = [row for row in rows if row["use"]]
    size = [domain_table.cells(row) for row in used]
    open_ones = sum(cells is None for cells in size)
    known = [cells for cells in size if cells is not None]
    with st.container(horizontal=True, gap="small"):
        st.metric("Columns used", f"{len(used)} of {len(rows)}", border=True, width=150)
        st.metric("Still open", open_ones, border=True, width=130, help="Used columns whose values or bounds are not complete yet.")
        st.metric(
            "Cells of all columns",
            f"{sum(known):,}",
            border=True,
            width=180,
            help="What one table per column adds up to: the fewer, the less noise.",
        )
        st.metric(
            "Possible rows",
            numbers.count(math.prod(known)) if known and not open_ones else "not yet",
            border=True,
            width=180,
            help="Size of the domain: how many different rows could be written.",
        )


def detail(rows: list[Row]) -> None:
    """One column at a time: the list of its categories, its cells, and what happens to everything else."""
    by_name = {row["column"]: row for row in rows if row["use"]}
    if not by_name:
        st.info("Use at least one column.", icon=":material/info:")
        return
    problems = domain_table.problems(rows)
    with frame.card("One column", document.domain_zone(here.draft)):
        left, right = st.columns([3, 2], gap="medium")
        with left:
            key = f"{here.project}:detail"
            if st.session_state.get(key) not in by_name:
                st.session_state[key] = next(iter(problems), next(iter(by_name)))
            row = by_name[st.selectbox("Column", list(by_name), key=key)]
            if row["kind"] in domain_table.LISTED:
                listed(row)
            else:
                st.caption("Its bounds and bins are edited in the table above.")
        with right:
            cells_of(row, problems.get(row["column"]))


def listed(row: Row) -> None:
    key = f"{here.project}:list:{row['column']}"
    st.session_state[key] = domain_table.listed_text(row)
    st.text_area(
        "Values, one per line",
        key=key,
        height=200,
        on_change=lambda: change_row(row["column"], lambda: domain_table.read_listed(st.session_state[key])),
        help="As they are written in the file. To show another name, add it after a tab; two columns of a spreadsheet can be pasted.",
    )
    kind = f"{here.project}:dtype:{row['column']}"
    st.session_state[kind] = row["dtype"]
    st.selectbox(
        "Released as",
        LABEL_DTYPES,
        format_func=lambda d: DTYPE_NAMES[d],
        key=kind,
        on_change=lambda: change_row(row["column"], lambda: {"dtype": st.session_state[kind]}),
    )


def change_row(column: str, values: Callable[[], dict]) -> None:
    save(lambda rows: [row | values() if row["column"] == column else row for row in rows])


def cells_of(row: Row, problem: InputError | None) -> None:
    if problem is not None:
        st.warning(frame.sentence(problem), icon=":material/edit:")
        return
    attribute = domain_table.attribute(row)
    st.caption(f"{attribute.size:,} cells")
    st.dataframe({"Cell": attribute.cell_labels()}, hide_index=True, height=200, alt="Cells of this column")
    st.markdown(f":material/rule: {literal(outside_rule(attribute))}")


here = frame.require("domain")
if "rows" not in here.draft["wizard"] and table.is_simulated(here.draft):
    save(lambda _: from_data(), "public")
    here = session.current()
frame.header(
    "domain",
    "What every column may contain, from public knowledge: a codebook, a questionnaire, the law.",
    document.domain_zone(here.draft),
)
toolbar()
if error := st.session_state.get("_domain_said"):
    frame.refused(error)
justification()
rows = rows_of(here.draft)
editor(rows)
summary(rows)
detail(rows)
gone = sorted({row["column"] for row in here.draft["wizard"].get("rows", [])} - {row["column"] for row in rows})
if gone:
    st.caption(f"Not in this table any more: {names(gone)}.")
error = document.problem(here.draft, "domain")
left_open = domain_table.problems(rows)
why = (
    f"{len(left_open)} column{'s' * (len(left_open) != 1)} still open: {names(list(left_open), 3)}"
    if left_open
    else frame.sentence(error)
    if error
    else ""
)
frame.nav("domain", ready=error is None, why=why)
