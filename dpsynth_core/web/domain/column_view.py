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
from dpsynth_core.web.domain import cells_picture, cells_view, domain_table, draft_rows, learning_view, origin_view
from dpsynth_core.web.domain.domain_table import Row
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


def panel(here: Current, row: Row) -> None:
    """All that can be said of the column."""
    with st.container(border=True, key="column_panel"):
        _head(row)
        if not row["use"]:
            return
        origin_view.suggestion(row)
        filled = domain_table.is_filled(row)
        kind, source = st.columns(2, gap="small")
        with kind:
            titles = {name: kind.title for name, kind in KINDS.items()}
            _choice(row, "kind", "Kind", _kinds(here, row), titles, KINDS[row["kind"]].help)
        if not filled:
            with source:
                way = origin_view.choice(here, row)
            origin_view.details(here, row, way)
        for option in KINDS[row["kind"]].options:
            if option.learnt or not row["most"]:
                _option(row, option)
        if row["most"]:
            learning_view.column(here, row)
            _wrong(row, domain_table.problems([row]).get(row["column"]), True)
        elif filled:
            _wrong(row, domain_table.problems([row]).get(row["column"]), True)
            _released_as(row)
        else:
            _declaration(here, row)
        _text(row, "about", "What it is about (optional)", placeholder="Shown in codebook and report", max_chars=500)


def _kinds(here: Current, row: Row) -> list[str]:
    """The kinds that the column may have: only those that can be learnt while it is to be learnt, and of the column that tells people
    apart those that release none of its values."""
    if row["column"] == here.draft["unit"]["person_column"]:
        return list(dict.fromkeys([*of_form(Form.FILLED), row["kind"]]))
    return [name for name, kind in KINDS.items() if kind.learnable or not row["most"]]


def _declaration(here: Current, row: Row) -> None:
    """Values or bounds, what happens to all others, and the cells that come of it."""
    place, error = domain_table.place_of_problem(row), domain_table.problems([row]).get(row["column"])
    if row["kind"] in domain_table.LISTED:
        _values(row)
        _wrong(row, error, place == "values")
    else:
        _numbers(row, place, error)
    if "other" in KINDS[row["kind"]].fields:
        for which, column in zip(("missing", "other"), st.columns(2, gap="small"), strict=True):
            with column:
                cells_view.treatment(here.project, row, which, draft_rows.change_row)
        _wrong(row, error, place == "cells")
    if error is None:
        _picture(row)
    _released_as(row)


def _released_as(row: Row) -> None:
    if "dtype" in KINDS[row["kind"]].fields:
        _choice(row, "dtype", "Released as", LABEL_DTYPES, DTYPE_NAMES)
    elif "decimals" in KINDS[row["kind"]].fields:
        _choice(row, "decimals", "Digits after the point", [None, *range(13)], {None: "as many as a number has"}, _DECIMALS_HELP)


def _head(row: Row) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch"):
            st.subheader(literal(row["column"], 60), anchor=False, width="content")
            if row["use"] and (origin := ORIGIN_NAMES.get(row["origin"])):
                st.badge(origin, color="orange" if row["origin"] == "data" else "gray")
        fields.linked(_key(row, "use"), row["use"], partial(_store, row, "use"), st.toggle, "Use it")
    if row["note"]:
        st.caption(f":material/info: {literal(row['note'])}")
    elif not row["use"]:
        st.caption("It will not be in the release.")
    if domain_table.offers_identifiers(row):
        st.button(
            "Give the rows new identifiers",
            key=f"identifiers_{row['column']}",
            icon=":material/tag:",
            help="The synthetic rows get a column of this name that is counted up. Nothing is measured for it, and it costs nothing.",
            on_click=draft_rows.change_row,
            args=(row["column"], {"use": True, "note": row["note"]}),
        )


def _key(row: Row, field: str) -> str:
    return f"{field}:{row['column']}"


def _store(row: Row, field: str, entered: Any) -> None:
    draft_rows.change_row(row["column"], {field: entered})


def _choice(row: Row, field: str, label: str, options: Any, names: dict[Any, str], help: str | None = None) -> None:
    look: dict[str, Any] = {"format_func": lambda option: names.get(option, str(option)), "help": help}
    look["placeholder"] = names.get(None)  # what a widget shows whose value is None
    fields.linked(_key(row, field), row[field], partial(_store, row, field), st.selectbox, label, options, **look)


def _text(row: Row, field: str, label: str, **look: Any) -> None:
    fields.remembered(_key(row, field), row[field], lambda entered: _store(row, field, entered.strip()), st.text_input, label, **look)


def _wrong(row: Row, error: InputError | None, here: bool) -> None:
    """What is wrong with the field above; no scolding where nobody has entered anything yet."""
    if error is None or not here:
        return
    if domain_table.is_untouched(row):
        st.caption(f":material/edit: {literal(capital(error.remedy))}.")
    else:
        fields.problem(error)


def _values(row: Row) -> None:
    def take(text: str) -> None:
        draft_rows.change_row(row["column"], domain_table.read_listed(text))

    lines = min(max(len(row["values"]) + 1, _SHORTEST), _LONGEST)
    look = {"height": _LINE * lines + 20, "placeholder": "f = female\nm = male", "help": _VALUES_HELP}
    fields.linked(_key(row, "list"), domain_table.listed_text(row), take, st.text_area, "Values, one per line", **look)


def _numbers(row: Row, place: str, error: InputError | None) -> None:
    if KINDS[row["kind"]].form is Form.CODED:
        _text(row, "bins", "How many codes", placeholder="32")
        _wrong(row, error, True)
        return
    lower, upper, groups = st.columns(3, gap="small")
    examples = KINDS[row["kind"]].examples
    with lower:
        _text(row, "lower", "Lowest", placeholder=examples[0], help="The lowest value that counts, from public knowledge.")
    with upper:
        _text(row, "upper", "Highest", placeholder=examples[1], help="The highest value that counts, from public knowledge.")
    with groups:
        _text(row, "bins", "Groups of", placeholder=examples[2], help=GROUPS_HELP)
    _wrong(row, error, place in ("bounds", "bins", "values"))


def _option(row: Row, option: Option) -> None:
    """What the kind has beside bounds, groups and values."""
    stated = str(row["options"].get(option.field, "")) or (option.choices[0] if option.choices else "")
    widget = st.selectbox if option.choices else st.text_area if option.lines else st.text_input
    look = {"options": option.choices} if option.choices else {"placeholder": option.example}

    def take(entered: str) -> None:
        draft_rows.change_option(row["column"], option.field, entered.strip())

    fields.linked(_key(row, option.field), stated, take, widget, option.title, help=option.help, **look)


def _picture(row: Row) -> None:
    attribute = domain_table.attribute(row)
    st.html(cells_picture.html(attribute))
    shown = " In the rows, both are empty and count as 'missing'." if other_is_missing(attribute) else ""
    st.caption(f":material/rule: {literal(outside_rule(attribute) + shown)}")
