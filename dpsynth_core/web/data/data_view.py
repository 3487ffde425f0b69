"""Parts of the Data page: choosing the table, how it is read, the unit of privacy, the population, the first rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.privacy.unit import ADD_REMOVE, REPLACE
from dpsynth_core.sources import demo
from dpsynth_core.sources.registry import KINDS
from dpsynth_core.store import ledger
from dpsynth_core.web.data import project_table
from dpsynth_core.web.data.project_table import Table
from dpsynth_core.web.shell import document, fields, frame, numbers, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal

UPLOAD, PATH, DEMO = "upload", "path", "demo"
WAYS = {UPLOAD: ":material/upload_file: Upload", PATH: ":material/folder_open: By path", DEMO: ":material/groups: Try the simulated demo"}
NEW = "A new population…"
_UPLOADS = "_uploads"
_TABLE = "table"


def source(here: Current) -> None:
    """Where the table is, and what was found about it."""
    with frame.card("The sensitive table", help="It stays on this machine. Nothing on this page spends privacy budget."):
        way = fields.choice("Where is it?", "wizard.way", tuple(WAYS), WAYS, kind="segmented", label_visibility="collapsed")
        {UPLOAD: _upload, PATH: _path, DEMO: _demo}[way](here)
        frame.refused_at(_TABLE)
        if "data" in here.draft:
            _found(here)


def _upload(here: Current) -> None:
    st.file_uploader(
        "CSV, TSV or Parquet file",
        type=["csv", "tsv", "tab", "txt", "parquet", "pq"],
        key=f"upload_{st.session_state.get(_UPLOADS, 0)}",
        on_change=_take_upload,
        args=(here,),
        help="Larger than the limit? Choose “By path” and leave the file where it is.",
    )


def _take_upload(here: Current) -> None:
    """Keep the file, then show an empty uploader: the server's copy of it in memory is let go."""
    number = st.session_state.get(_UPLOADS, 0)
    if (file := st.session_state.get(f"upload_{number}")) is not None:
        st.session_state[_UPLOADS] = number + 1
        _take(partial(project_table.from_upload, here.owner, here.project, file.name, file))


def _path(_: Current) -> None:
    fields.text("File or folder on this machine", "wizard.path", placeholder="/data/stays.parquet, or a folder of CSV or Parquet files")
    st.button("Open", icon=":material/folder_open:", key="open_path", on_click=_take_path)


def _take_path() -> None:
    _take(partial(project_table.from_path, fields.value("wizard.path", ""), session.only_this_machine()))


def _demo(here: Current) -> None:
    st.caption(f"{demo.ROWS:,} invented people, 12 columns that depend on each other. Nobody's privacy is at stake: look at everything.")
    look = "secondary" if project_table.is_simulated(here.draft) else "primary"
    st.button("Use the simulated demo", icon=":material/groups:", key="use_demo", on_click=_take_demo, type=look)


def _take_demo() -> None:
    _take(project_table.simulated)


def _take(find: Callable[[], Table]) -> None:
    """Make what `find` brings the project's table."""

    def take() -> None:
        session.check_idle("data")
        found = find()
        if found.source != UPLOAD:
            here = session.current()
            project_table.forget_uploads(here.owner, here.project)
        session.edit(lambda draft: project_table.adopt(draft, found))

    refusals.attempt(_TABLE, take)


def _remove(here: Current) -> None:
    """Delete an uploaded table from this machine, and let go of one that was given by its path."""

    def remove() -> None:
        session.check_idle("data")
        project_table.forget_uploads(here.owner, here.project)
        session.edit(project_table.disown)

    refusals.attempt(_TABLE, remove)


def _found(here: Current) -> None:
    data, columns = here.draft["data"], document.columns(here.draft)
    kind = KINDS[data["kind"]].label
    with st.container(horizontal=True, vertical_alignment="center", gap="small"):
        st.markdown(f":green[:material/check_circle:] {code(here.draft['wizard']['label'])}", width="content")
        st.caption(f"{kind}, {len(columns)} columns", width="content")
        what = "Deletes the uploaded file from this machine." if here.draft["wizard"]["source"] == UPLOAD else "The file stays where it is."
        st.button("Remove", icon=":material/delete:", type="tertiary", key="remove_table", on_click=_remove, args=(here,), help=what)
    if data["kind"] == "csv":
        _reading(here, data)


_QUOTING_HELP = (
    "A quoted cell ends with its line, so that one person's stray quote cannot swallow other people's lines. Cells with line breaks need a "
    "well-formed file: it is checked, refused if it is not, and the release states the assumption."
)


def _reading(here: Current, data: dict[str, Any]) -> None:
    """How the text file is written: suggested by its first lines, stated by whoever goes on."""
    separator = project_table.DELIMITER_NAMES.get(data["delimiter"], "another sign").split()[0].lower()
    encoding = project_table.ENCODING_NAMES.get(data["encoding"], "another encoding")
    with st.expander(f"Read as {separator}-separated, {encoding}", icon=":material/tune:"):
        st.caption("Suggested by the first lines of the file. By going on you state that it is written so; none of this is published.")
        left, right = st.columns(2)
        with left:
            _read_as(here, "Fields are separated by", "delimiter", project_table.DELIMITER_NAMES)
        with right:
            _read_as(here, "Text encoding", "encoding", project_table.ENCODING_NAMES)
        _read_as(here, "Quotes", "quoting", project_table.QUOTING_NAMES, _QUOTING_HELP)
        key = f"{here.project}:markers"
        st.session_state.setdefault(key, data["missing_markers"])
        st.multiselect(
            "Written for “missing”",
            sorted({*data["missing_markers"], *st.session_state[key]}),
            format_func=lambda marker: marker or "(nothing)",
            accept_new_options=True,
            key=key,
            on_change=lambda: _reread(missing_markers=sorted(st.session_state[key])),
            help="These texts count as a missing value in every column.",
        )


def _read_as(here: Current, label: str, name: str, names: dict[str, str], help: str | None = None) -> None:
    now, key = here.draft["data"].get(name, next(iter(names))), f"{here.project}:{name}"
    st.session_state[key] = now
    options = list(dict.fromkeys([*names, now]))
    reread = partial(_reread_as, name, key)
    st.selectbox(label, options, format_func=lambda o: names.get(o, o), key=key, on_change=reread, help=help)


def _reread_as(name: str, key: str) -> None:
    _reread(**{name: st.session_state[key]})


def _reread(**changes: Any) -> None:
    _take(lambda: project_table.reread(session.current().draft, **changes))


def unit(here: Current) -> None:
    """What counts as one person, and which two tables must look alike."""
    with frame.card("What counts as one person", Zone.PUBLIC, "The guarantee is about one person: this is the unit that gets hidden."):
        names = {False: "Every row is a different person", True: "A person may have several rows"}
        several = fields.choice(
            "Rows", "wizard.several", (False, True), names, kind="radio", on_change=_forget_person, label_visibility="collapsed"
        )
        if several:
            _person(here)
        fields.choice(
            "What an outsider must not be able to tell",
            "unit.relation",
            (ADD_REMOVE, REPLACE),
            {ADD_REMOVE: "Whether a person was added or removed", REPLACE: "Whether a person's record was replaced"},
            kind="radio",
            captions=[
                "Hides even whether someone is in the table. How many rows there are stays secret.",
                "Hides what someone's record says, not that they are in the table. If every row is a different person, the number of"
                " rows is public. Noise grows by 40 %.",
            ],
            help="The neighbouring relation: which two tables must look alike to any attacker.",
        )


def _person(here: Current) -> None:
    left, right = st.columns([3, 2])
    with left:
        fields.choice(
            "Column that tells people apart",
            "unit.person_column",
            [None, *document.columns(here.draft)],
            {None: "Choose a column…"},
            help="Used only to limit rows per person; it need not be released.",
        )
    with right:
        fields.number(
            "Rows each, at most",
            "unit.max_rows_per_person",
            partial(numbers.whole, field="unit.max_rows_per_person", low=1, high=1_000_000),
            help="Further rows of the same person are left out. Noise grows in proportion.",
        )


def _forget_person() -> None:
    """One row per person needs neither a column nor a limit."""

    def change(draft: document.Draft) -> None:
        if not draft["wizard"]["several"]:
            draft["unit"].update(person_column=None, max_rows_per_person=1)
            draft["wizard"].setdefault("typed", {}).pop("unit.max_rows_per_person", None)

    session.edit(change)


def population(here: Current) -> None:
    """Whose account in the ledger is charged, and its limit."""
    with frame.card(
        "Whose account is charged",
        Zone.PUBLIC,
        "Privacy lost in one release adds to the next one about the same people, whoever makes it. The ledger keeps the sum.",
    ):
        known, chosen = ledger.populations(), here.draft.get("population", "")
        if known:
            key = f"{here.project}:population_known"
            st.session_state[key] = chosen if chosen in known else NEW
            st.selectbox("Population", [*known, NEW], key=key, on_change=lambda: _choose_population(st.session_state[key]))
        if chosen in known:
            _account(chosen)
        else:
            _new_population()
        fields.number(
            "About how many people? (optional)",
            "wizard.people",
            _people,
            lambda n: f"{n:,}",
            placeholder="only if publicly known, such as 32,000",
            help="A public or rough figure, never the exact count of the private table. It is used to judge noise and delta.",
        )


def _people(text: str) -> int | None:
    return numbers.whole(text.replace(",", "").replace(" ", ""), "number of people", 1, 10**10) if text.strip() else None


def _choose_population(name: str) -> None:
    fields.store("population", "" if name == NEW else name)


def _account(name: str) -> None:
    spent = ledger.spent(name)
    releases = f"{spent.releases} release{'s' * (spent.releases != 1)}"
    st.progress(spent.share, text=f"ε {spent.epsilon:.2f} of {numbers.short(spent.cap_epsilon)} spent in {releases}")
    if spent.unit is not None:
        st.caption(f"Its releases protect {literal(spent.unit.words)}. Further ones must protect the same.")


def _new_population() -> None:
    fields.text("Name of the population", "population", placeholder="Patients of County Hospital, 2024", max_chars=200)
    left, right = st.columns(2)
    with left:
        fields.number(
            "Limit for all its releases: ε",
            "wizard.cap.epsilon",
            partial(numbers.positive, field="limit", example="10"),
            numbers.short,
            help="No run is started that would bring the sum above this limit.",
        )
    with right:
        fields.number("and δ", "wizard.cap.delta", partial(numbers.positive, field="limit", example="1e-9"), numbers.short)


def survey(here: Current) -> None:
    """How many lines cannot be read as the file is said to be written; never kept."""
    if project_table.is_simulated(here.draft):
        return
    with frame.card("Can every line be read?", Zone.CURATOR, "Exact counts of your table, for your eyes only: they are not published."):
        if not st.toggle("Look at every line", key=f"{here.project}:survey", value=project_table.is_small(here.draft)):
            st.caption("Reads the whole table once. Nothing is charged.")
            return
        try:
            sentences = project_table.survey(here.draft).value.sentences()
        except InputError as error:
            frame.refused(error)
            return
        for sentence in sentences:
            st.warning(literal(sentence), icon=":material/report:")
        if not sentences:
            st.caption(":green[:material/check_circle:] Every line has a value for each column.")


def preview(here: Current) -> None:
    """The first rows, only when asked for; never kept."""
    simulated = project_table.is_simulated(here.draft)
    zone = Zone.PUBLIC if simulated else Zone.CURATOR
    with frame.card("First rows", zone):
        if not st.toggle("Show the first rows", key=f"{here.project}:preview"):
            st.caption("These people are invented." if simulated else "Real records of real people: nobody else should see this screen.")
            return
        try:
            with frame.watermark(zone):
                st.dataframe(project_table.preview(here.draft).value, hide_index=True, alt="First rows of the table")
        except InputError as error:
            frame.refused(error)
