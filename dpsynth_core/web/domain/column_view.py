"""Part of the Domain page: everything about the selected column, in ordinary fields, with what is wrong under the field it is about."""

from __future__ import annotations

from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import LABEL_DTYPES
from dpsynth_core.vocabulary.kinds.kind import Form, Option
from dpsynth_core.vocabulary.kinds.registry import KINDS, of_form
from dpsynth_core.vocabulary.recoding import other_is_missing, outside_rule
from dpsynth_core.web.domain import cells_picture, cells_view, draft_rows, learning_view, origin_view
from dpsynth_core.web.domain.column_draft import ColumnDraft, read_listed
from dpsynth_core.web.domain.list_view import ORIGIN_NAMES
from dpsynth_core.web.shell import fields
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, literal

DTYPE_NAMES = {"string": "Text", "int64": "Whole number", "float64": "Number", "bool": "true / false"}
GROUPS_HELP = (
    "The width of each group: 10 gives 0 to 9, 10 to 19, …; for dates a number of days, week, month, quarter, year, 5 years or 10 years. "
    "Or the first values of the groups, separated by commas; or “20 bins” for 20 equal ones. Empty: a round width. Codes: how many."
)
_VALUES_HELP = (
    "As they are written in the file. To show another name, add it after a tab or “ = ”; two columns of a spreadsheet can be pasted."
)
_DECIMALS_HELP = "Numbers of the rows are rounded to so many, as the column has them: prices 2, lengths in millimetres 0."
_LINE = 23
_SHORTEST, _LONGEST = 4, 10
"""Lines that a list of values shows at least and at most."""


def panel(project: Current, draft: ColumnDraft) -> None:
    """All that can be said of the column."""
    with st.container(border=True, key="column_panel"):
        _head(draft)
        if not draft.use:
            return
        origin_view.suggestion(draft)
        filled = draft.is_filled
        kind, source = st.columns(2, gap="small")
        with kind:
            titles = {name: kind.title for name, kind in KINDS.items()}
            _choice(draft, "kind", draft.kind, "Kind", _kinds(project, draft), titles, KINDS[draft.kind].help)
        if not filled:
            with source:
                way = origin_view.choice(project, draft)
            origin_view.details(project, draft, way)
        for option in KINDS[draft.kind].options:
            if option.learnt or not draft.most:
                _option(draft, option)
        if draft.most:
            learning_view.column(project, draft)
            _wrong(draft, draft.problem(), True)
        elif filled:
            _wrong(draft, draft.problem(), True)
            _released_as(draft)
        else:
            _declaration(project, draft)
        _text(draft, "label", draft.label, "What it is about (optional)", placeholder="Shown in codebook and report", max_chars=500)


def _kinds(project: Current, draft: ColumnDraft) -> list[str]:
    """The kinds that the column may have: only those that can be learnt while it is to be learnt, and of the column that tells people
    apart those that release none of its values."""
    if draft.name == project.draft["unit"]["person_column"]:
        return list(dict.fromkeys([*of_form(Form.FILLED), draft.kind]))
    return [name for name, kind in KINDS.items() if kind.learnable or not draft.most]


def _declaration(project: Current, draft: ColumnDraft) -> None:
    """Values or bounds, what happens to all others, and the cells that come of it."""
    place, error = draft.place_of_problem(), draft.problem()
    if draft.is_listed:
        _values(draft)
        _wrong(draft, error, place == "values")
    else:
        _numbers(draft, place, error)
    if "other" in KINDS[draft.kind].fields:
        for which, column in zip(("missing", "other"), st.columns(2, gap="small"), strict=True):
            with column:
                cells_view.treatment(project.id, draft, which, draft_rows.change_column)
        _wrong(draft, error, place == "cells")
    if error is None:
        _picture(draft)
    _released_as(draft)


def _released_as(draft: ColumnDraft) -> None:
    if "dtype" in KINDS[draft.kind].fields:
        _choice(draft, "dtype", draft.dtype or LABEL_DTYPES[0], "Released as", LABEL_DTYPES, DTYPE_NAMES)
    elif "decimals" in KINDS[draft.kind].fields:
        digits = [None, *range(13)]
        _choice(draft, "decimals", draft.decimals, "Digits after the point", digits, {None: "as many as a number has"}, _DECIMALS_HELP)


def _head(draft: ColumnDraft) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch"):
            st.subheader(literal(draft.name, 60), anchor=False, width="content")
            if draft.use and (origin := ORIGIN_NAMES.get(draft.origin)):
                st.badge(origin, color="orange" if draft.origin == "data" else "gray")
        fields.linked(_key(draft, "use"), draft.use, partial(_store, draft, "use"), st.toggle, "Use it")
    if draft.note:
        st.caption(f":material/info: {literal(draft.note)}")
    elif not draft.use:
        st.caption("It will not be in the release.")
    if draft.offers_identifiers:
        st.button(
            "Give the rows new identifiers",
            key=f"identifiers_{draft.name}",
            icon=":material/tag:",
            help="The synthetic rows get a column of this name that is counted up. Nothing is measured for it, and it costs nothing.",
            on_click=draft_rows.change_column,
            args=(draft.name, {"use": True, "note": draft.note}),
        )


def _key(draft: ColumnDraft, field: str) -> str:
    return f"{field}:{draft.name}"


def _store(draft: ColumnDraft, field: str, entered: Any) -> None:
    draft_rows.change_column(draft.name, {field: entered})


def _choice(draft: ColumnDraft, field: str, shown: Any, label: str, options: Any, names: dict[Any, str], help: str | None = None) -> None:
    look: dict[str, Any] = {"format_func": lambda option: names.get(option, str(option)), "help": help}
    look["placeholder"] = names.get(None)  # what a widget shows whose value is None
    fields.linked(_key(draft, field), shown, partial(_store, draft, field), st.selectbox, label, options, **look)


def _text(draft: ColumnDraft, field: str, shown: str, label: str, **look: Any) -> None:
    """field: of the column; "bins" for the text that `ColumnDraft.read_bins` reads."""

    def take(text: str) -> None:
        entered = text.strip()
        draft_rows.change_column(draft.name, draft.read_bins(entered) if field == "bins" else {field: entered})

    fields.remembered(_key(draft, field), shown, take, st.text_input, label, **look)


def _wrong(draft: ColumnDraft, error: InputError | None, project: bool) -> None:
    """What is wrong with the field above; no scolding where nobody has entered anything yet."""
    if error is None or not project:
        return
    if draft.is_untouched:
        st.caption(f":material/edit: {literal(capital(error.remedy))}.")
    else:
        fields.problem(error)


def _values(draft: ColumnDraft) -> None:
    def take(text: str) -> None:
        draft_rows.change_column(draft.name, read_listed(text))

    lines = min(max(len(draft.categories or ()) + 1, _SHORTEST), _LONGEST)
    look = {"height": _LINE * lines + 20, "placeholder": "f = female\nm = male", "help": _VALUES_HELP}
    fields.linked(_key(draft, "list"), draft.listed_text(), take, st.text_area, "Values, one per line", **look)


def _numbers(draft: ColumnDraft, place: str, error: InputError | None) -> None:
    if KINDS[draft.kind].form is Form.CODED:
        _text(draft, "bins", draft.bins_text(), "How many codes", placeholder="32")
        _wrong(draft, error, True)
        return
    lower, upper, groups = st.columns(3, gap="small")
    examples = KINDS[draft.kind].examples
    with lower:
        help = "The lowest value that counts, from public knowledge."
        _text(draft, "lower", draft.text("lower"), "Lowest", placeholder=examples[0], help=help)
    with upper:
        help = "The highest value that counts, from public knowledge."
        _text(draft, "upper", draft.text("upper"), "Highest", placeholder=examples[1], help=help)
    with groups:
        _text(draft, "bins", draft.bins_text(), "Groups of", placeholder=examples[2], help=GROUPS_HELP)
    _wrong(draft, error, place in ("bounds", "bins", "values"))


def _option(draft: ColumnDraft, option: Option) -> None:
    """What the kind has beside bounds, groups and values."""
    stated = draft.text(option.field) or (option.choices[0] if option.choices else "")
    widget = st.selectbox if option.choices else st.text_area if option.lines else st.text_input
    look = {"options": option.choices} if option.choices else {"placeholder": option.example}

    def take(entered: str) -> None:
        draft_rows.change_column(draft.name, {option.field: entered.strip()})

    fields.linked(_key(draft, option.field), stated, take, widget, option.title, help=option.help, **look)


def _picture(draft: ColumnDraft) -> None:
    attribute = draft.attribute()
    st.html(cells_picture.html(attribute))
    shown = " In the rows, both are empty and count as 'missing'." if other_is_missing(attribute) else ""
    st.caption(f":material/rule: {literal(outside_rule(attribute) + shown)}")
