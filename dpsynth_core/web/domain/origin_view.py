"""Part of the panel of a column: where its values come from, from public knowledge first to reading the records last.

Values that the curator does not know can be learnt with noise for a share of the budget; the price is shown before.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import partial

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.mechanisms.discovery.learning import Portion
from dpsynth_core.planning import discovery
from dpsynth_core.planning.spec import DEFAULT_DISCOVERY
from dpsynth_core.vocabulary import usual
from dpsynth_core.vocabulary.attribute import DEFAULT_MOST, Attribute
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.vocabulary.kinds.kind import Form
from dpsynth_core.vocabulary.kinds.registry import KINDS
from dpsynth_core.vocabulary.usual import Usual
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, draft_rows
from dpsynth_core.web.domain.column_draft import NO_GROUPS, ColumnDraft
from dpsynth_core.web.shell import document, fields
from dpsynth_core.web.shell.numbers import short
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import literal, names, one_line

TYPED, USUAL, LABELS, LEARN, READ = "typed", "usual", "labels", "learnt", "data"
_NAMES = {
    TYPED: "Typed, pasted or loaded",
    USUAL: "A usual list or bounds",
    LABELS: "Labels or types of the table",
    LEARN: "Learn them for a share of the budget",
    READ: "Read them from the data",
}
_HELP = "Public knowledge costs nothing. Learning with noise costs budget. No budget covers what is read from the data."
READING = (
    "This looks at the private records. A rare or extreme value can point to one person, and no noise covers it. The release is marked "
    "for good, and you must write a sentence on why it is harmless."
)


def choice(project: Current, draft: ColumnDraft) -> str:
    """Draw the choice of where a column's values come from, and return the choice.

    Learning and taking the file's labels are saved in the column at once. Other choices are only
    remembered in the session until `details` gives the column values.

    Args:
        project: The open project.
        draft: The column.

    Returns:
        The origin, such as `TYPED` or `USUAL`.
    """
    ways = [TYPED, USUAL, *([LABELS] if draft_rows.labelled(project.draft, draft.name) else [])]
    learnable = KINDS[draft.kind].learnable or KINDS[draft.kind].form is Form.LISTED
    ways += [LEARN] if draft.most or (learnable and not document.is_linked(project.draft)) else []
    ways += [READ] if "data" in project.draft and not project_table.is_simulated(project.draft) else []
    origin = LEARN if draft.most else draft.origin if draft.origin in ways and draft.origin != LEARN else TYPED
    key = f"{project.id}:way:{draft.name}:{origin}"  # a widget of its own: a browser that shows the former origin does not undo this one
    if st.session_state.get(key) not in ways:  # else it was chosen, and waits for values
        st.session_state[key] = origin

    def changed() -> None:
        way = st.session_state[key]
        if way == LABELS:
            labelled = draft_rows.labelled(project.draft, draft.name)
            draft_rows.save(lambda drafts: domain_table.with_columns(drafts, labelled, LABELS), LABELS)
        elif (way == LEARN) != bool(draft.most):
            draft_rows.change_one(draft.name, lambda column: column.learning(DEFAULT_MOST if way == LEARN else 0).changed(note=""))

    way: str = st.selectbox("Values from", ways, format_func=_NAMES.get, key=key, on_change=changed, help=_HELP)
    return way


def details(project: Current, draft: ColumnDraft, way: str) -> None:
    """Draw what the chosen origin of values needs: usual lists or bounds, or a reading button.

    A list, bounds or values that were read are saved in the column. The reading button reads this column of the
    private table and records the look. Nothing is drawn for other origins.

    Args:
        project: The open project.
        draft: The column.
        way: The origin, such as `USUAL`.
    """
    if way == USUAL:
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
            take, icon = partial(draft_rows.change_column, draft.name, bounds, USUAL), ":material/check:" if taken else ":material/add:"
            st.button(title, key=f"take_range_{draft.name}", icon=icon, disabled=taken, on_click=take)
        st.caption(f"Source: {literal(chosen.source)}")
    elif way == READ and draft.origin != DATA:
        st.caption(f":orange[:material/visibility_lock:] {READING}")
        st.button("Read this column all the same", key=f"read_{draft.name}", on_click=draft_rows.read, args=(draft.name,))


def suggestion(draft: ColumnDraft) -> None:
    """Draw what the column's name suggests.

    For a column whose values or bounds were guessed from its name, this is a button that confirms them; for a
    listed column without values, a usual list to take with one click. Both save in the column. Nothing is drawn
    for any other column.
    """
    guess = usual.suggested(draft.name)
    if draft.guessed:
        source = guess.source if guess and not guess.is_list else ""
        with st.container(horizontal=True, vertical_alignment="center", gap="small"):
            st.caption(f":orange[:material/help: **Check what the name suggests:**] {literal(source)}.", width="stretch")
            st.button("It is right", key=f"right_{draft.name}", type="tertiary", on_click=draft_rows.change_column, args=(draft.name, {}))
    elif guess and guess.is_list and not draft.categories and draft.is_listed:
        st.caption(f":orange[:material/help: **The name suggests**] {literal(guess.title)}. How does the file write it?")
        _writings(draft, guess, "suggested")


def _writings(draft: ColumnDraft, chosen: Usual, place: str) -> None:
    """Draw a button for each spelling of a usual list; the picked one is saved in the column.

    Args:
        draft: The column.
        chosen: The usual list.
        place: Distinguishes two such rows in one panel.
    """
    titles = list(chosen.writings)
    written = next((title for title, fields in chosen.writings.items() if fields["categories"] == draft.categories), None)

    def take(title: str | None) -> None:
        if title is not None:
            draft_rows.change_column(draft.name, {"labels": None, "dtype": None, **chosen.writings[title]}, USUAL)

    key = f"writing:{place}:{draft.name}:{chosen.name}"
    fields.linked(key, written, take, st.pills, "Written as", titles, label_visibility="collapsed")


SHARE = "budget.discovery"
_SHARES = (0.02, 0.05, 0.1, 0.2, 0.3)
_MOST = (8, 16, 32, 64, 128, 256, 1024)
_MOST_HELP = "The plan counts so many cells for this column until its values are known."
_LEARNING_HELP = (
    "Before the mechanism starts, noisy counts find the values, and where numbers lie. They cannot find what only one person has. The "
    "learnt columns share this part of the budget equally."
)


def learning(project: Current, draft: ColumnDraft) -> None:
    """Draw the largest number of learnt values, saved in the column, and the price in budget.

    Args:
        project: The open project.
        draft: The column, whose values are to be learnt.
    """

    def take(most: int) -> None:
        draft_rows.change_column(draft.name, {"most": most})

    look = {"options": sorted({*_MOST, draft.most}), "format_func": "{:,}".format, "help": _MOST_HELP}
    fields.linked(f"most:{draft.name}", draft.most, take, st.selectbox, "Most values or groups", **look)
    _price(project, _unknown(draft_rows.of(project.draft)), draft.name)


def share(project: Current) -> None:
    """Draw a choice of the share of the budget (a fraction) that learns values, and save it in the draft.

    The stored share is a part of the widget's key, so that a share stored elsewhere is shown: a
    widget with a fixed key would keep its old value.
    """
    chosen = fields.value(SHARE, DEFAULT_DISCOVERY)
    options, key = sorted({*_SHARES, chosen}), f"{project.id}:{SHARE}:{chosen}"
    look = {"format_func": lambda one: f"{100 * one:g}%", "on_change": lambda: fields.store(SHARE, st.session_state[key])}
    st.selectbox("Share of the budget that learns values", options, options.index(chosen), key=key, help=_LEARNING_HELP, **look)


def kinds(rows: Sequence[ColumnDraft]) -> dict[str, str]:
    """Draw a choice of the kind of each open column, and return the kinds by name; {} if no column is open.

    Nothing is saved.

    Args:
        rows: The columns.
    """
    likely = domain_table.open_kinds(rows)
    if not likely:
        return {}
    many = f"kinds of the {len(likely)} open columns.** Their names suggest these."
    st.markdown(f"**Check the {many if len(likely) > 1 else 'kind of the open column.** Its name suggests this.'}")
    return _kinds(likely)


def with_release(project: Current, rows: Sequence[ColumnDraft], chosen: Mapping[str, str], *, only: bool) -> None:
    """Draw the share of the budget for learning values with the release, and a button for it.

    The button sets the open columns to be learnt. Without open columns it is not drawn.

    Args:
        project: The open project.
        rows: The columns.
        chosen: The kind of each open column, by name.
        only: Whether this is the only way to learn, so that the button is the main one.
    """
    share(project)
    if not chosen:
        st.caption("Every used column has its values. Delete values of a column, or choose “Learn them” in its panel.")
        return
    _found(project, _unknown(domain_table.to_learn(rows, chosen)))
    learn = partial(draft_rows.load, partial(domain_table.to_learn, kinds=chosen), LEARN)
    st.button("Learn them with the release", key="learn_open", type="primary" if only else "secondary", on_click=learn)


_STRIP = {"numeric": "Numbers", "date": "Dates", "timestamp": "Dates with times", "time": "Times of day"}
_ALIKE = {"integer": "numeric"}


def _kinds(likely: Mapping[str, str]) -> dict[str, str]:
    """Draw a choice of columns for each kind, and return the kind of each open column, by its name.

    A column that is chosen nowhere is categorical.

    Args:
        likely: The kind that each open column probably has, by its name.
    """
    said = dict.fromkeys(likely, "categorical")
    for kind, title in _STRIP.items():
        guessed = [name for name, one in likely.items() if _ALIKE.get(one, one) == kind]
        key = draft_rows.loader_key(f"kinds_{kind}:{guessed}")  # another one where the columns' kinds were changed elsewhere
        look = {"format_func": one_line, "placeholder": "none"}
        for name in st.multiselect(title, list(likely), guessed, key=key, **look):
            said[name] = likely[name] if name in guessed else kind
    return said


def _found(project: Current, unknown: Sequence[Attribute]) -> None:
    """Draw by column how many people must share a value to be learnt, and the price in budget.

    While the budget is not valid, a sentence says that the price is not known.

    Args:
        project: The open project.
        unknown: The columns whose values are to be learnt.
    """
    try:
        portions, budget = document.portions(project.draft, unknown), document.budget(project.draft)
    except InputError:
        st.caption("The price shows once the budget can be used.")
        return
    rows = project.draft["unit"]["max_rows_per_person"]
    for texts in (False, True):
        if some := [one for one in portions if bool(one.delta) == texts]:
            price = discovery.price(some[0], rows) + (" Texts that hardly repeat, such as names, are not found." if texts else "")
            st.caption(f":material/query_stats: {names([one.column.name for one in some])}: {literal(price)}")
    parts = f", in {len(unknown)} equal parts" if len(unknown) > 1 else ""
    st.caption(f"Price: {100 * budget.discovery:g}% of ε {short(budget.epsilon)}{parts}.")


def prices(project: Current, unknown: Sequence[Attribute]) -> list[str]:
    """Return sentences on how many people must share a value for it to be learnt, without repetitions.

    Args:
        project: The open project.
        unknown: The columns whose values are to be learnt; [] gives [].

    Raises:
        InputError: The budget or the unit is not valid.
    """
    return prices_of(document.portions(project.draft, unknown), project.draft["unit"]["max_rows_per_person"])


def prices_of(portions: Iterable[Portion], rows: int) -> list[str]:
    """Return sentences on how many people must share a value for it to be learnt, in order, without repetitions.

    Args:
        portions: The parts of the budget that learn columns, as `document.portions` returns them.
        rows: The largest number of rows per person.
    """
    return list(dict.fromkeys(discovery.price(portion, rows) for portion in portions))


def _unknown(rows: Iterable[ColumnDraft]) -> list[Attribute]:
    return [attribute for attribute in domain_table.measured(rows) if attribute.most]


def _price(project: Current, unknown: list[Attribute], name: str) -> None:
    try:
        portion = next(one for one in document.portions(project.draft, unknown) if one.column.name == name)
    except (InputError, StopIteration):
        st.caption("The price shows once the budget can be used.")
        return
    budget, people, columns = document.budget(project.draft), document.people(project.draft), len(unknown)
    rows = project.draft["unit"]["max_rows_per_person"]
    of_all = f" (of {people:,})" if people else ""
    each = f", {100 * budget.discovery / columns:.2g}% for each of {columns} columns" if columns > 1 else ""
    price = discovery.price(portion, rows).replace(" people to be found", f" people{of_all} to be found")
    words = literal(f"Price: {100 * budget.discovery:g}% of ε {short(budget.epsilon)}{each}. {price}")
    st.caption(f":blue[:material/query_stats:] {words}")
