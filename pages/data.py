"""Data: the sensitive table, what counts as one person, and whose account in the ledger it is charged to."""

from __future__ import annotations

from functools import partial

import streamlit as st

from dpsynth_core.errors import InputError
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE
from dpsynth_core.store import ledger
from dpsynth_core.web import document, fields, frame, numbers, session, table
from dpsynth_core.web.text import code
from dpsynth_core.zones import Zone

UPLOAD, PATH, DEMO = "upload", "path", "demo"
NEW = "A new population…"


def source_card() -> None:
    with frame.card("The sensitive table", help="It stays on this machine. Nothing on this page spends privacy budget."):
        names = {
            UPLOAD: ":material/upload_file: Upload",
            PATH: ":material/folder_open: By path",
            DEMO: ":material/groups: Try the simulated demo",
        }
        way = fields.choice("Where is it?", "wizard.way", (UPLOAD, PATH, DEMO), names, kind="segmented", label_visibility="collapsed")
        {UPLOAD: upload, PATH: by_path, DEMO: demo}[way]()
        if error := st.session_state.pop("_table_error", None):
            frame.refused(error)
        if "data" in here.draft:
            facts()


def upload() -> None:
    st.file_uploader(
        "CSV, TSV or Parquet file",
        type=["csv", "tsv", "tab", "txt", "parquet", "pq"],
        key=f"upload_{st.session_state.get('_uploads', 0)}",
        on_change=take_upload,
        help="Larger than the limit? Choose “By path” and leave the file where it is.",
    )


def take_upload() -> None:
    """Keep the file, then show an empty uploader: its copy in the server's memory is let go."""
    number = st.session_state.get("_uploads", 0)
    if (file := st.session_state.get(f"upload_{number}")) is not None:
        st.session_state["_uploads"] = number + 1
        take(partial(table.from_upload, here.owner, here.project, file.name, file))


def by_path() -> None:
    fields.text("File or folder on this machine", "wizard.path", placeholder="/data/stays.parquet, or a folder of CSV or Parquet files")
    st.button(
        "Open",
        icon=":material/folder_open:",
        key="open_path",
        on_click=lambda: take(partial(table.from_path, fields.value("wizard.path", ""), session.only_this_machine())),
    )


def demo() -> None:
    st.markdown(
        "50,000 invented people with 12 columns that depend on each other. No one's privacy is at stake, so everything may be looked at."
    )
    st.button(
        "Use the simulated demo",
        icon=":material/groups:",
        key="use_demo",
        on_click=take_demo,
        type="primary" if "data" not in here.draft else "secondary",
    )


def take_demo() -> None:
    take(table.simulated)
    session.edit(lambda draft: draft.update(population=draft.get("population") or table.DEMO_LABEL))


def take(find) -> None:
    try:
        found = find()
    except InputError as error:
        st.session_state["_table_error"] = error
        return
    session.edit(lambda draft: table.adopt(draft, found))


def facts() -> None:
    """What was found about the file, and how to correct it."""
    data, columns = here.draft["data"], document.columns(here.draft)
    kind = {"csv": "text table", "parquet": "Parquet", "demo": "simulated"}[data["kind"]]
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":material/check_circle: {code(here.draft['wizard']['label'])}", width="content")
        st.caption(f"{kind}, {len(columns)} columns", width="content")
    if data["kind"] == "csv":
        how_it_is_read(data)


def how_it_is_read(data: dict) -> None:
    separator = table.DELIMITER_NAMES.get(data["delimiter"], "another sign").split()[0].lower()
    encoding = table.ENCODING_NAMES.get(data["encoding"], "another encoding")
    with st.expander(f"Read as {separator}-separated, {encoding}", icon=":material/tune:"):
        left, right = st.columns(2)
        with left:
            reading("Fields are separated by", "delimiter", table.DELIMITER_NAMES)
        with right:
            reading("Text encoding", "encoding", table.ENCODING_NAMES)
        key = f"{here.project}:markers"
        st.session_state.setdefault(key, data["missing_markers"])
        st.multiselect(
            "Written for “missing”",
            sorted({*data["missing_markers"], *st.session_state[key]}),
            format_func=lambda marker: marker or "(nothing)",
            accept_new_options=True,
            key=key,
            on_change=lambda: reread(missing_markers=sorted(st.session_state[key])),
            help="These texts count as a missing value in every column.",
        )


def reading(label: str, name: str, names: dict[str, str]) -> None:
    current, key = here.draft["data"][name], f"{here.project}:{name}"
    st.session_state[key] = current
    options = list(dict.fromkeys([*names, current]))
    st.selectbox(label, options, format_func=lambda o: names.get(o, o), key=key, on_change=lambda: reread(**{name: st.session_state[key]}))


def reread(**changes) -> None:
    take(lambda: table.reread(session.current().draft, **changes))


def unit_card() -> None:
    with frame.card(
        "What counts as one person", Zone.PUBLIC, "The guarantee is about one person: whatever this unit is, it is what gets hidden."
    ):
        names = {False: "Every row is a different person", True: "A person may have several rows"}
        several = fields.choice(
            "Rows", "wizard.several", (False, True), names, kind="radio", on_change=forget_person, label_visibility="collapsed"
        )
        if several:
            person()
        captions = {
            ADD_REMOVE: "Hides even whether someone is in the table. How many rows there are stays secret.",
            REPLACE: "Hides what someone's record says, not that they are in the table. The number of rows is public; noise grows by 40 %.",
        }
        fields.choice(
            "What an outsider must not be able to tell",
            "unit.relation",
            (ADD_REMOVE, REPLACE),
            {ADD_REMOVE: "Whether a person was added or removed", REPLACE: "Whether a person's record was replaced"},
            kind="radio",
            captions=list(captions.values()),
            help="The neighbouring relation: which two tables must look alike to any attacker.",
        )


def person() -> None:
    left, right = st.columns([3, 2])
    with left:
        options = [None, *document.columns(here.draft)]
        fields.choice(
            "Column that tells people apart",
            "unit.person_column",
            options,
            {None: "Choose a column…"},
            help="Used only to limit rows per person; it is not released.",
        )
    with right:
        parse = partial(numbers.whole, field="unit.max_rows_per_person", low=1, high=1_000_000)
        fields.number(
            "Rows per person, at most",
            "unit.max_rows_per_person",
            parse,
            help="Further rows of the same person are left out. Noise grows in proportion.",
        )


def forget_person() -> None:
    """One row per person needs neither a column nor a limit."""
    if not fields.value("wizard.several"):
        session.edit(lambda draft: draft["unit"].update(person_column=None, max_rows_per_person=1))


def population_card() -> None:
    with frame.card(
        "Whose account is charged",
        Zone.PUBLIC,
        "Privacy lost in one release adds to the next one about the same people. The ledger keeps the sum.",
    ):
        known = ledger.populations(here.owner)
        chosen = here.draft.get("population", "")
        if known:
            key = f"{here.project}:population_known"
            st.session_state[key] = chosen if chosen in known else NEW
            st.selectbox("Population", [*known, NEW], key=key, on_change=lambda: choose_population(st.session_state[key]))
        if chosen in known:
            account(chosen)
        else:
            new_population()
        parse = partial(people, field="number of people")
        fields.number(
            "About how many people? (optional)",
            "wizard.people",
            parse,
            lambda n: f"{n:,}",
            placeholder="only if publicly known, such as 32,000",
            help="A public or rough figure, never the exact count of the private table. It is used to judge noise and delta.",
        )


def people(text: str, field: str) -> int | None:
    return numbers.whole(text.replace(",", "").replace(" ", ""), field, 1, 10**10) if text.strip() else None


def choose_population(name: str) -> None:
    fields.store("population", "" if name == NEW else name)


def account(name: str) -> None:
    spent = ledger.spent(here.owner, name)
    releases = f"{spent.releases} release{'s' * (spent.releases != 1)}"
    share = min(1.0, spent.rho / spent.cap_rho)
    st.progress(share, text=f"ε {spent.epsilon:.2f} of {numbers.short(spent.cap_epsilon)} spent in {releases}")


def new_population() -> None:
    fields.text("Name of the population", "population", placeholder="Patients of County Hospital, 2024", max_chars=200)
    left, right = st.columns(2)
    with left:
        fields.number(
            "Limit for all its releases: ε",
            "wizard.cap.epsilon",
            partial(numbers.positive, field="cap", example="10"),
            numbers.short,
            help="No run is started that would bring the sum above this limit.",
        )
    with right:
        fields.number("and δ", "wizard.cap.delta", partial(numbers.positive, field="cap", example="1e-9"), numbers.short)


def preview_card() -> None:
    simulated = table.is_simulated(here.draft)
    zone = Zone.PUBLIC if simulated else Zone.CURATOR
    with frame.card("First rows", zone):
        warning = "These people are invented." if simulated else "Real records of real people. Make sure that nobody else sees this screen."
        if not st.toggle("Show the first rows", key=f"{here.project}:preview"):
            st.caption(warning)
            return
        try:
            with frame.watermark(zone):
                st.dataframe(table.preview(here.draft).value, hide_index=True, alt="First rows of the table")
        except InputError as error:
            frame.refused(error)


here = frame.require("data")
frame.header("data", "Which table is sensitive, and what counts as one person. Nothing here spends privacy budget.")
left, right = st.columns([11, 10], gap="medium")
with left:
    source_card()
    population_card()
with right:
    unit_card()
if "data" in here.draft:
    preview_card()
error = document.problem(here.draft, "data")
frame.nav("data", ready=error is None, why=frame.sentence(error) if error else "")
