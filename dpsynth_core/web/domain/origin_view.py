"""Part of the panel of a column: where its values come from. The cheapest for the people in the table first, reading them last."""

from __future__ import annotations

import streamlit as st

from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.usual import Usual
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.domain.column_draft import NO_GROUPS, ColumnDraft
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


def choice(project: Current, draft: ColumnDraft) -> str:
    """The way that is chosen; choosing to learn, or the labels, is done at once."""
    ways = [TYPED, USUAL, *([LABELS] if draft_rows.labelled(project.draft, draft.name) else [])]
    ways += [LEARN] if draft.most or _learnable(draft) else []
    ways += [READ] if _has_records(project) else []
    key = f"{project.id}:way:{draft.name}"
    origin = LEARN if draft.most else draft.origin if draft.origin in ways else TYPED
    if st.session_state.get(f"{key}:origin") != origin or st.session_state.get(key) not in ways:  # not what was chosen and waits for values
        st.session_state[key] = st.session_state[f"{key}:origin"] = origin

    def changed() -> None:
        way = st.session_state[key]
        if way == LABELS:
            labelled = draft_rows.labelled(project.draft, draft.name)
            draft_rows.save(lambda drafts: domain_table.with_columns(drafts, labelled, LABELS), LABELS)
        elif (way == LEARN) != bool(draft.most):
            draft_rows.change_one(draft.name, lambda column: column.learning(DEFAULT_MOST if way == LEARN else 0).changed(note=""))

    way: str = st.selectbox("Values from", ways, format_func=_NAMES.get, key=key, on_change=changed, help=_HELP)
    return way


def _has_records(project: Current) -> bool:
    return "data" in project.draft and not project_table.is_simulated(project.draft)


def _learnable(draft: ColumnDraft) -> bool:
    return KINDS[draft.kind].learnable or KINDS[draft.kind].form is Form.LISTED


def details(project: Current, draft: ColumnDraft, way: str) -> None:
    """What the chosen way needs."""
    if way == USUAL:
        _usual(project, draft)
    elif way == READ and draft.origin != DATA:
        st.caption(f":orange[:material/visibility_lock:] {READING}")
        st.button("Read this column all the same", key=f"read_{draft.name}", on_click=draft_rows.read, args=(draft.name,))


def suggestion(draft: ColumnDraft) -> None:
    """What the name of an open column suggests: one click takes it, written as the file writes it."""
    guess = usual.suggested(draft.name)
    if draft.guessed:
        source = guess.source if guess and not guess.is_list else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":orange[:material/help: **Guessed from the name: check.**] {literal(source)}.", width="stretch")
            st.button(
                "It is right", key=f"right_{draft.name}", type="tertiary", on_click=draft_rows.change_column, args=(draft.name, {})
            )
    elif guess and guess.is_list and not draft.categories and draft.is_listed:
        st.caption(f":orange[:material/help: **Guessed from the name:**] {literal(guess.title)}. How does the file write it?")
        _writings(draft, guess, "suggested")


def _usual(project: Current, draft: ColumnDraft) -> None:
    """Lists and bounds to choose from, first what the name suggests; how the file writes the list; where it is laid down."""
    entries = usual.entries()
    suggested, key = usual.suggested(draft.name), f"{project.id}:usual:{draft.name}"
    st.session_state.setdefault(key, next(iter(entries)) if suggested is None else suggested.name)
    chosen = entries[st.selectbox("Which list or bounds", list(entries), format_func=lambda name: entries[name].title, key=key)]
    if chosen.is_list:
        _writings(draft, chosen, "chosen")
    else:
        ((title, stated),) = chosen.writings.items()
        bounds = {**NO_GROUPS, "decimals": None, **stated}
        taken = all(getattr(draft, field) == value for field, value in bounds.items())
        st.button(
            title,
            key=f"take_range_{draft.name}",
            icon=":material/check:" if taken else ":material/add:",
            disabled=taken,
            on_click=draft_rows.change_column,
            args=(draft.name, bounds, USUAL),
        )
    st.caption(f"Source: {literal(chosen.source)}")


def _writings(draft: ColumnDraft, chosen: Usual, place: str) -> None:
    """One button for each way to write the list. place: tells two of them in a panel apart."""
    titles = list(chosen.writings)
    written = next((title for title, fields in chosen.writings.items() if fields["categories"] == draft.categories), None)

    def take(title: str | None) -> None:
        if title is not None:
            draft_rows.change_column(draft.name, {"labels": None, "dtype": None, **chosen.writings[title]}, USUAL)

    key = f"writing:{place}:{draft.name}:{chosen.name}"
    fields.linked(key, written, take, st.pills, "Written as", titles, label_visibility="collapsed")
