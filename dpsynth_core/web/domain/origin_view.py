"""Part of the panel of a column: where its values come from. The cheapest for the people in the table first, reading them last."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.usual import UsualList, UsualRange
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.domain.domain_table import Row
from dpsynth_core.web.shell import fields
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal

TYPED, USUAL, LABELS, LEARN, READ = "typed", "usual", "labels", "learnt", "data"
_NAMES = {
    TYPED: "Typed, pasted or loaded",
    USUAL: "A usual list or bounds",
    LABELS: "Labels or types of the table",
    LEARN: "Learn them for a share of the budget",
    READ: "Read them from the data",
}
_HELP = "Public knowledge costs nothing. What is learnt with noise costs budget. What is read from the data is covered by no budget."
READING = (
    "This looks at the private records. A rare value or an extreme one can point to one person, and no noise covers it: no budget pays for "
    "this. The release is marked for good, and needs a sentence from you on why it is harmless."
)


def choice(here: Current, row: Row) -> str:
    """The way that is chosen; choosing to learn, or the labels, is done at once."""
    ways = [TYPED, USUAL, *([LABELS] if _labelled(here, row) else [])]
    ways += [LEARN] if row["most"] or _learnable(row) else []
    ways += [READ] if _has_records(here) else []
    key = f"{here.project}:way:{row['column']}"
    origin = LEARN if row["most"] else row["origin"] if row["origin"] in ways else TYPED
    if st.session_state.get(f"{key}:origin") != origin or st.session_state.get(key) not in ways:  # not what was chosen and waits for values
        st.session_state[key] = st.session_state[f"{key}:origin"] = origin

    def changed() -> None:
        way = st.session_state[key]
        if way == LABELS:
            draft_rows.save(lambda rows: domain_table.with_labels(rows, draft_rows.declared(here.draft), row["column"]), LABELS)
        elif (way == LEARN) != bool(row["most"]):
            draft_rows.change_row(row["column"], domain_table.learning(row, domain_table.DEFAULT_MOST if way == LEARN else 0))

    way: str = st.selectbox("Values from", ways, format_func=_NAMES.get, key=key, on_change=changed, help=_HELP)
    return way


def _has_records(here: Current) -> bool:
    return "data" in here.draft and not project_table.is_simulated(here.draft)


def _labelled(here: Current, row: Row) -> bool:
    return any(column.name == row["column"] for column in domain_table.labelled_columns(draft_rows.declared(here.draft)))


def _learnable(row: Row) -> bool:
    return KINDS[row["kind"]].learnable or KINDS[row["kind"]].form is Form.LISTED


def details(here: Current, row: Row, way: str) -> None:
    """What the chosen way needs."""
    if way == USUAL:
        _usual(here, row)
    elif way == READ and row["origin"] != DATA:
        st.caption(f":orange[:material/visibility_lock:] {READING}")
        st.button("Read this column all the same", key=f"read_{row['column']}", on_click=draft_rows.read, args=(row["column"],))


def suggestion(row: Row) -> None:
    """What the name of an open column suggests: one click takes it, written as the file writes it."""
    guess = usual.suggested(row["column"])
    if row["guessed"]:
        source = guess.source if isinstance(guess, UsualRange) else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":orange[:material/help: **Guessed from the name: check.**] {literal(source)}.", width="stretch")
            st.button(
                "It is right", key=f"right_{row['column']}", type="tertiary", on_click=draft_rows.change_row, args=(row["column"], {})
            )
    elif isinstance(guess, UsualList) and not row["values"] and row["kind"] in domain_table.LISTED:
        st.caption(f":orange[:material/help: **Guessed from the name:**] {literal(guess.title)}. How does the file write it?")
        _writings(row, guess, "suggested")


def _usual(here: Current, row: Row) -> None:
    """Lists and bounds to choose from, first what the name suggests; how the file writes the list; where it is laid down."""
    entries: dict[str, UsualList | UsualRange] = {one.name: one for one in usual.lists()}
    entries |= {one.name: one for one in usual.ranges()}
    suggested, key = usual.suggested(row["column"]), f"{here.project}:usual:{row['column']}"
    st.session_state.setdefault(key, next(iter(entries)) if suggested is None else suggested.name)
    chosen = entries[st.selectbox("Which list or bounds", list(entries), format_func=lambda name: entries[name].title, key=key)]
    if isinstance(chosen, UsualList):
        _writings(row, chosen, "chosen")
    else:
        bounds = domain_table.with_range(chosen)
        taken = all(row[name] == value for name, value in bounds.items())
        st.button(
            f"{chosen.lower} to {chosen.upper}",
            key=f"take_range_{row['column']}",
            icon=":material/check:" if taken else ":material/add:",
            disabled=taken,
            on_click=draft_rows.change_row,
            args=(row["column"], bounds, USUAL),
        )
    st.caption(f"Source: {literal(chosen.source)}")


def _writings(row: Row, chosen: UsualList, place: str) -> None:
    """One button for each way to write the list. place: tells two of them in a panel apart."""
    titles = [writing.title for writing in chosen.writings]
    written = next((writing.title for writing in chosen.writings if list(writing.values) == row["values"]), None)

    def take(title: str | None) -> None:
        if title is not None:
            values = domain_table.with_writing(chosen, chosen.writings[titles.index(title)])
            draft_rows.change_row(row["column"], values, USUAL)

    key = f"writing:{place}:{row['column']}:{chosen.name}"
    fields.linked(key, written, take, st.pills, "Written as", titles, label_visibility="collapsed")
