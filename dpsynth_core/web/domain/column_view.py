"""Part of the Domain page: everything about the selected column, in ordinary fields, with what is wrong under the field it is about."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from html import escape
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.vocabulary.attribute import LABEL_DTYPES, Attribute
from dpsynth_core.vocabulary.kinds.kind import Form, Option
from dpsynth_core.vocabulary.kinds.registry import KINDS, of_form
from dpsynth_core.vocabulary.recoding import other_is_missing, outside_rule
from dpsynth_core.web.domain import draft_rows, origin_view
from dpsynth_core.web.domain.column_draft import COUNT_AS, NEAREST, NEVER, OWN, ColumnDraft, read_listed, treated
from dpsynth_core.web.domain.list_view import GROUPS_HELP, ORIGIN_NAMES
from dpsynth_core.web.shell import document, fields
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, literal, one_line

DTYPE_NAMES = {"string": "Text", "int64": "Whole number", "float64": "Number", "bool": "true / false"}
_VALUES_HELP = (
    "Write them as the file does. To show another name, add it after a tab or “ = ”; you can paste two columns of a spreadsheet."
)
_DECIMALS_HELP = "The rows round numbers to so many digits: prices 2, lengths in millimetres 0."
_LINE = 23
_SHORTEST, _LONGEST = 4, 10
"""Lines that a list of values shows at least and at most."""


def panel(project: Current, draft: ColumnDraft) -> None:
    """Draw the fields of the selected column; for a column that is not used, its heading only.

    Each change is saved in the project's draft.

    Args:
        project: The open project.
        draft: The column.
    """
    with st.container(border=True, key="column_panel"):
        _head(project, draft)
        if not draft.use:
            return
        origin_view.suggestion(draft)
        kind, source = st.columns(2, gap="small")
        with kind:
            titles = {name: known.title for name, known in KINDS.items()}
            names = [name for name, known in KINDS.items() if known.learnable or not draft.most]
            if document.is_linked(project.draft):  # whose rows have no identifiers but their keys
                names = [name for name in names if KINDS[name].form is not Form.FILLED]
            elif draft.name == project.draft["unit"]["person_column"]:  # of what tells people apart no value is released
                names = list(dict.fromkeys([*of_form(Form.FILLED), draft.kind]))
            _choice(draft, "kind", draft.kind, "Kind", names, titles, KINDS[draft.kind].help)
        if not draft.is_filled:
            with source:
                way = origin_view.choice(project, draft)
            origin_view.details(project, draft, way)
        for option in KINDS[draft.kind].options:
            if option.learnt or not draft.most:
                _option(draft, option)
        if draft.most:
            origin_view.learning(project, draft)
        if draft.most or draft.is_filled:
            _wrong(draft, draft.problem())
        else:
            _declaration(draft)
        _details(project, draft)


def _declaration(draft: ColumnDraft) -> None:
    place, error = draft.place_of_problem(), draft.problem()
    if draft.is_listed:
        lines = min(max(len(draft.categories or ()) + 1, _SHORTEST), _LONGEST)
        look = {"height": _LINE * lines + 20, "placeholder": "f = female\nm = male", "help": _VALUES_HELP}
        _field(draft, "list", draft.listed_text(), st.text_area, "Values, one per line", read=read_listed, **look)
        _wrong(draft, error, place == "values")
    else:
        _numbers(draft, place, error)
    _wrong(draft, error, place == "cells")
    if error is None:
        st.html(html(draft.attribute()))


def _details(project: Current, draft: ColumnDraft) -> None:
    """Draw settings whose defaults are right for most columns: missing and other values, type and label.

    They are in an expander whose title states how such values count.
    """
    title = "More about this column"
    if not draft.most and not draft.is_filled and draft.problem() is None:
        attribute = draft.attribute()
        shown = " In the rows, both are empty and count as 'missing'." if other_is_missing(attribute) else ""
        title = outside_rule(attribute) + shown
    with st.expander(literal(title), icon=":material/rule:", key=f"{project.id}:column_details:{draft.name}"):
        if "other" in KINDS[draft.kind].fields and not draft.most:
            for which, column in zip(("missing", "other"), st.columns(2, gap="small"), strict=True):
                with column:
                    _treatment(draft, which)
        if "dtype" in KINDS[draft.kind].fields and not draft.most:
            _choice(draft, "dtype", draft.dtype or LABEL_DTYPES[0], "Released as", LABEL_DTYPES, DTYPE_NAMES)
        elif "decimals" in KINDS[draft.kind].fields and not draft.most:
            digits = [None, *range(13)]
            _choice(draft, "decimals", draft.decimals, "Digits after the point", digits, {None: "as many as a number has"}, _DECIMALS_HELP)
        _text(draft, "label", draft.label, "What it is about (optional)", placeholder="The codebook and report show it", max_chars=500)


def _head(project: Current, draft: ColumnDraft) -> None:
    with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute", gap="small"):
        with st.container(horizontal=True, vertical_alignment="center", gap="small", width="stretch"):
            st.subheader(literal(draft.name), anchor=False, width="content")
            if draft.use and (origin := "to be learnt" if draft.most else ORIGIN_NAMES.get(draft.origin)):
                st.badge(origin, color="orange" if draft.origin == "data" else "gray")
        _field(draft, "use", draft.use, st.toggle, "Use it")
    if draft.note:
        st.caption(f":material/info: {literal(draft.note)}")
    elif not draft.use:
        st.caption("This column will not be in the release.")
    if draft.offers_identifiers and not document.is_linked(project.draft):
        help = "The synthetic rows get a column of this name that is counted up. It is not measured, and costs nothing."
        look = {"key": f"identifiers_{draft.name}", "icon": ":material/tag:", "help": help}
        take = partial(draft_rows.change_column, draft.name, {"use": True, "note": draft.note})
        st.button("Give the rows new identifiers", on_click=take, **look)


Read = Callable[[Any], dict[str, Any]]
"""A function that converts the entered value to fields of a column."""


def _field(draft: ColumnDraft, name: str, shown: Any, *widget: Any, read: Read | None = None, **look: Any) -> None:
    """Draw a widget for a field of the column, which is saved when it changes.

    Args:
        draft: The column.
        name: The name of the field; with `read`, only a name for the widget.
        shown: The value to show.
        *widget: The Streamlit function that draws the widget, and its arguments.
        read: Converts the entered value to fields of the column; None stores it in the field
            `name`.
        **look: Further arguments of the widget.
    """

    def take(entered: Any) -> None:
        draft_rows.change_column(draft.name, {name: entered} if read is None else read(entered))

    fields.linked(f"{name}:{draft.name}", shown, take, *widget, **look)


def _choice(draft: ColumnDraft, field: str, shown: Any, label: str, options: Any, names: dict[Any, str], help: str | None = None) -> None:
    look: dict[str, Any] = {"format_func": lambda option: names.get(option, str(option)), "help": help}
    look["placeholder"] = names.get(None)  # what a widget shows whose value is None
    _field(draft, field, shown, st.selectbox, label, options, **look)


def _text(draft: ColumnDraft, field: str, shown: str, label: str, **look: Any) -> None:
    """Draw a text input for a field of the column.

    Args:
        draft: The column.
        field: The name of the field; "bins" for a text that `ColumnDraft.read_bins` reads.
        shown: The text to show.
        label: The label.
        **look: Further arguments of the widget.
    """

    def take(text: str) -> None:
        entered = text.strip()
        draft_rows.change_column(draft.name, draft.read_bins(entered) if field == "bins" else {field: entered})

    fields.linked(f"{field}:{draft.name}", shown, take, st.text_input, label, **look)


def _wrong(draft: ColumnDraft, error: InputError | None, here: bool = True) -> None:
    """Draw the error of the field above; only its remedy while nothing is stated about the column.

    Args:
        draft: The column.
        error: The error, or None.
        here: Whether the error is about the field above; otherwise nothing is drawn.
    """
    if error is None or not here:
        return
    if draft.is_untouched:
        st.caption(f":material/edit: {literal(capital(error.remedy))}.")
    else:
        fields.problem(error)


def _numbers(draft: ColumnDraft, place: str, error: InputError | None) -> None:
    if KINDS[draft.kind].form is Form.CODED:
        _text(draft, "bins", draft.bins_text(), "How many codes", placeholder="32")
        _wrong(draft, error)
        return
    lower, upper, groups = st.columns(3, gap="small")
    examples = KINDS[draft.kind].examples
    for bound, field, title, example in ((lower, "lower", "Lowest", examples[0]), (upper, "upper", "Highest", examples[1])):
        with bound:
            help = f"The {title.lower()} value that counts, from public knowledge."
            _text(draft, field, draft.text(field), title, placeholder=example, help=help)
    with groups:
        _text(draft, "bins", draft.bins_text(), "Groups of", placeholder=examples[2], help=GROUPS_HELP)
    _wrong(draft, error, place in ("bounds", "bins", "values"))


def _option(draft: ColumnDraft, option: Option) -> None:
    """Draw the widget for an option of the column's kind; its value is saved in the column."""
    stated = draft.text(option.field) or (option.choices[0] if option.choices else "")
    widget = st.selectbox if option.choices else st.text_area if option.lines else st.text_input
    look = {"options": option.choices} if option.choices else {"placeholder": option.example}
    _field(draft, option.field, stated, widget, option.title, read=lambda text: {option.field: text.strip()}, help=option.help, **look)


_TITLES = {"missing": "Empty values", "other": "Values outside"}
_NAMES = {
    "missing": {OWN: "a value of their own, “missing”", NEVER: "cannot occur", COUNT_AS: "count as …"},
    "other": {OWN: "a value of their own, “other”", NEVER: "cannot occur", NEAREST: "the nearest group", COUNT_AS: "count as …"},
}
_HELP = {
    "missing": "A value of their own costs a little accuracy. Choose “cannot occur” if the questionnaire or the register rules it out.",
    "other": "These values are not listed, not between the bounds, or cannot be read. A value of their own costs a little accuracy.",
}


def _treatment(draft: ColumnDraft, which: str) -> None:
    """Draw the choice of how missing or other values are treated, saved in the column.

    If they are to count as a listed value, this value and the published reason are drawn too.

    Args:
        draft: The column.
        which: "missing" or "other".
    """
    column, chosen, labels = draft.name, draft.treatment(which), draft.value_labels()

    def read(treatment: str) -> dict[str, Any]:
        return {which: treated(treatment, labels[0] if labels else "")}

    look = {"format_func": _NAMES[which].get, "help": _HELP[which]}
    _field(draft, which, chosen, st.selectbox, _TITLES[which], draft.treatments(which), read=read, **look)
    if chosen != COUNT_AS:
        return
    recode = getattr(draft, which)
    label = recode["as"] if recode["as"] in labels else labels[0] if labels else ""

    def named(label: str, why: str) -> None:
        draft_rows.change_column(column, {which: treated(COUNT_AS, label, why.strip())})

    if labels:
        fields.linked(f"{which}:label:{column}", label, partial(named, why=recode["why"]), st.selectbox, "… as those of", labels)
    look = {"max_chars": 500, "placeholder": "The form has no box for “none”."}
    fields.linked(f"{which}:why:{column}", recode["why"], partial(named, label), st.text_input, "Why? (published)", **look)


MOST_NAMED = 30
"""More cells are drawn as a bar of stripes, without their labels."""
_MOST_STRIPES = 200
_LABEL_LENGTH = 28


def html(attribute: Attribute) -> str:
    """Return a picture of a column's cells as HTML; labels in it are escaped and shortened.

    Up to 30 cells (`MOST_NAMED`) are drawn as chips with their labels. More are drawn as stripes, at most
    200, followed by the number of cells and the first and the last label. If the column has bins and at
    most 200 cells, each stripe is one cell, as wide as its bin; otherwise all stripes are equally wide.
    The cells for other and missing values are always chips, and come last. No counts are shown.
    """
    labels = attribute.cell_labels()
    own, extra = labels[: attribute.values], labels[attribute.values :]
    chips = "".join(_chip(label, "cell") for label in own) if len(own) <= MOST_NAMED else _stripes(attribute)
    return f'<div class="cells">{chips}{"".join(_chip(label, "cell extra") for label in extra)}</div>'


def _chip(label: str, kind: str) -> str:
    return f'<span class="{kind}">{escape(one_line(label, _LABEL_LENGTH))}</span>'


def _stripes(attribute: Attribute) -> str:
    labels = attribute.cell_labels()
    shown = min(attribute.values, _MOST_STRIPES)
    widths = [1.0] * shown
    if attribute.is_number and shown == attribute.values:
        widths = [high - low for low, high in zip(attribute.edges, attribute.edges[1:], strict=False)]
    whole = sum(widths)
    stripes = "".join(f'<i style="flex-grow:{width / whole:.5f}"></i>' for width in widths)
    ends = f"{escape(one_line(labels[0], _LABEL_LENGTH))} … {escape(one_line(labels[attribute.values - 1], _LABEL_LENGTH))}"
    return f'<span class="stripes" aria-hidden="true">{stripes}</span><span class="ends">{attribute.values:,} values: {ends}</span>'
