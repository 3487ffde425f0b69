"""The file format and the counting machine on the Data page, with defaults until the curator states otherwise."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation import extension
from dpsynth_core.sources import files
from dpsynth_core.sources.characters import CASE, EXACT, LOOK
from dpsynth_core.sources.detect_notation import MARKS
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.spelling import COLON, DATE_FORMATS, DECIMALS, NEGATIVES, THOUSANDS, TIME_FORMATS, WORDY_FORMATS, example
from dpsynth_core.web.data import project_table
from dpsynth_core.web.shell import curator, document, fields, refusals, session
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, literal

_QUOTING_HELP = (
    "A quoted cell ends with its line, so that one person's stray quote cannot swallow other people's lines. If cells contain line "
    "breaks, the file must be well-formed: the program checks it, and the release states the assumption."
)
_USUAL = ((".", ""), (".", ","), (",", ""), (",", "."), (",", " "))
_SPELLINGS = {marks: example(*marks) for marks in dict.fromkeys((*_USUAL, *MARKS))}
"""The five usual notations of numbers, then the others."""
_TIME_NAMES = dict(zip(TIME_FORMATS, ("08:30", "0830", "08.30", "8h30"), strict=True))
_BETWEEN = THOUSANDS | {"": "nothing"}
_DATE_NAMES = {form: form for form in (*DATE_FORMATS, *WORDY_FORMATS)}

_SUGGESTED = (
    "“Use” states that the file is written so, and the release says that its records suggested it. If you know how the file was exported, "
    "state that below instead."
)
_DATES_HELP = (
    "The program always reads dates such as 2023-12-31. You can type another form from yyyy or yy, mm or mmmm (a name), dd and dddd (a "
    "name). With yy, add the first year: dd.mm.yy from 1930 reads 29 as 2029, and 30 as 1930."
)
_DATES = ("Dates", "date_format", _DATE_NAMES, _DATES_HELP)
_NEGATIVE = ("Numbers below zero", "negative", {form: form for form in NEGATIVES}, "The program always reads numbers such as -5.")
_UNITS_HELP = "These texts may stand before or behind a number and do not change it: 45 % counts as 45."
_SAME_NAMES = {EXACT: "Equal texts", LOOK: "Texts that look the same", CASE: "The same, in capital or small letters"}
_SAME_HELP = (
    "Some texts look the same but differ: accents in pieces, spaces that do not break a line, dashes, curly quotes. This holds for every "
    "column."
)
_MARKS_HELP = "Choose both marks at once. A number may also have no mark between thousands."
_TIMES = ("Times of day", "time_format", _TIME_NAMES, "The program always reads times such as 08:30.")

Reread = Callable[..., None]
"""A function that gets the fields stated now, by their names in the draft's "data"."""


def _key(project: Current, name: str) -> str:
    """Return the key of the widget `name`, with the prefix of its table: two tables have the same fields."""
    return str(project.draft["wizard"].get("place", "")) + name


def panel(project: Current, reread: Reread) -> None:
    """Draw the fields of a file's format in an expander; fields that a format lacks are not drawn.

    Args:
        project: The open project, with the draft of one table.
        reread: Called with each changed field; it reads the header again and stores the format.
    """
    form = TableFormat.of(project.draft["data"])
    open_ones = {field for doubt in document.doubts(project.draft) for field in doubt.fields}
    with st.expander(_summary(form, open_ones), icon=":material/tune:"):
        st.caption("These follow from the header and from defaults. By going on you state that they are right; nothing is published.")
        if form.applies("sheet"):
            _sheet(project, reread)
        if form.applies("delimiter"):
            left, right = st.columns(2)
            with left:
                _choice(project, "Fields are separated by", "delimiter", project_table.DELIMITER_NAMES, reread)
            with right:
                _choice(project, "Text encoding", "encoding", project_table.ENCODING_NAMES, reread)
            quoting = {name: told for name, told in project_table.QUOTING_NAMES.items() if name != "standard" or _key(project, "") == ""}
            _choice(project, "Quotes", "quoting", quoting, reread, _QUOTING_HELP)
        elif form.applies("encoding"):
            _choice(project, "Text encoding", "encoding", project_table.ENCODING_NAMES, reread)
        if form.file_kind.has_texts:
            _values(project, reread, (_DATES, _TIMES))
        _same_text(project, reread)
        if form.applies("skip"):
            help = "Count the lines, or rows of a workbook, that have anything in them, such as a title."
            take, options = lambda count: reread(skip=count), list(dict.fromkeys([*range(11), form.skip]))
            fields.linked(_key(project, "skip"), form.skip, take, st.selectbox, "Lines above the header", options=options, help=help)
        if form.applies("names"):

            def toggled(has_header: bool) -> None:
                count = len(document.columns(project.draft))
                reread(names=[] if has_header else [f"column_{number}" for number in range(1, count + 1)])

            fields.linked(_key(project, "header"), not form.names, toggled, st.toggle, "The first line has the names of the columns")
            if form.names:
                named, title = "\n".join(form.names), "Names of the columns, one per line"
                fields.linked(_key(project, "names"), named, lambda text: reread(names=text.splitlines()), st.text_area, title)
        _missing(project, reread)


def _summary(form: TableFormat, open_ones: Collection[str]) -> str:
    """Return the file format in one line, always with an example of a number and both marks in it.

    Args:
        form: The format.
        open_ones: The fields about which there is an open question.
    """
    if not form.file_kind.has_texts:
        return "How this file is written"
    marks = f"{example(form.decimal, form.thousands)} (decimal {DECIMALS[form.decimal]}, {_BETWEEN[form.thousands]} between thousands)"
    written = ["numbers as you say above" if "decimal" in open_ones else f"numbers like {marks}"]
    if form.date_format != DATE_FORMATS[0]:
        written.append(f"dates {form.date_format}")
    if form.time_format != COLON:
        written.append(f"times {form.time_format}")
    if form.kind == "csv":
        separator = project_table.DELIMITER_NAMES.get(form.delimiter, "another sign").split()[0].lower()
        written = [f"{separator}-separated", project_table.ENCODING_NAMES.get(form.encoding, "another encoding"), *written]
    return f"Read as {', '.join(written)}" if form.kind == "csv" else f"Text in it is read as {', '.join(written)}"


def doubts(project: Current, reread: Reread, place: str) -> None:
    """Draw the open questions about the file format, with a button for each answer.

    Nothing is drawn without open questions. Taking an answer that the records suggest records that the curator
    looked at them.

    Args:
        project: The open project, with the draft of one table.
        reread: Called with the fields of the chosen answer.
        place: Where the page shows errors.
    """
    for number, doubt in enumerate(document.doubts(project.draft)):
        key = _key(project, f"doubt_{number}")
        with st.container(border=True, key=key):
            st.markdown(f":orange[:material/help:] **{literal(capital(doubt.question), 400)}.**")
            with st.container(horizontal=True, gap="small"):
                for position, (label, stated) in enumerate(doubt.answers):
                    is_taken = doubt.is_suggestion and position == 0
                    answer = partial(_use, reread, place, stated) if is_taken else partial(reread, **stated)
                    look: Any = "secondary" if doubt.is_suggestion and position else "primary"
                    st.button(literal(label), key=f"{key}_{position}", type=look, on_click=answer)
            if doubt.is_suggestion:
                st.caption(_SUGGESTED)


def _use(reread: Reread, place: str, stated: Mapping[str, Any]) -> None:
    """State the format that the records suggest, and record that the records were looked at for it.

    Args:
        reread: Called with the stated fields.
        place: Where the page shows errors.
        stated: The fields of the format.
    """
    with refusals.attempted(place):
        curator.note("form")
        reread(**stated)


def texts_panel(project: Current, restate: Reread) -> None:
    """Draw the fields for the notation of values in text columns of a table that is in no file.

    Args:
        project: The open project.
        restate: Called with the changed fields.
    """
    with st.expander("How its texts are written", icon=":material/tune:"):
        st.caption(
            "You need not describe columns of numbers and dates. By going on you state this about columns of text; nothing is published."
        )
        _values(project, restate, (_DATES,))
        _same_text(project, restate)
        _missing(project, restate)


def _values(project: Current, reread: Reread, stated: Sequence[tuple[str, str, Mapping[str, str], str | None]]) -> None:
    """Draw the fields for the notation of numbers, dates and times in text.

    A value in another notation is missing, never another number.

    Args:
        project: The open project, with the draft of one table.
        reread: Called with a changed field.
        stated: Label, field name, names of the options and tooltip of each field for dates and
            times.
    """
    form = TableFormat.of(project.draft["data"])
    now, look = (form.decimal, form.thousands), {"options": list(_SPELLINGS), "format_func": _SPELLINGS.get, "help": _MARKS_HELP}
    take, title = lambda one: reread(decimal=one[0], thousands=one[1]), "Numbers are written like"
    fields.linked(_key(project, "marks"), now, take, st.selectbox, title, **look)
    for first in range(0, len(stated), 2):  # four beside each other would cut what they say
        for place, (label, name, names, help) in zip(st.columns(2), stated[first : first + 2], strict=False):
            with place:
                _choice(project, label, name, names, reread, help, name == "date_format")
    left, right = st.columns(2)
    with left:
        _choice(project, *_NEGATIVE[:3], reread, _NEGATIVE[3])
    with right:
        units, restate = list(form.units), lambda typed: reread(units=typed)
        options: dict[str, Any] = {"accept_new_options": True, "help": _UNITS_HELP}
        fields.linked(_key(project, "units"), units, restate, st.multiselect, "Units", list(dict.fromkeys(["%", *units])), **options)


def _same_text(project: Current, reread: Reread) -> None:
    _choice(project, "Texts that count as one category", "same_text", _SAME_NAMES, reread, _SAME_HELP)


@refusals.explained()
def _sheet(project: Current, reread: Reread) -> None:
    sheets = files.sheets(project.draft["data"]["path"], project.draft["data"]["kind"])
    _choice(project, "Sheet", "sheet", {"": sheets[0] if sheets else "", **{name: name for name in sheets[1:]}}, reread)
    st.caption("Blank rows do not count as records.")


def _missing(project: Current, reread: Reread) -> None:
    markers, help = list(project.draft["data"]["missing_markers"]), "These texts count as a missing value in every column."
    look = {"format_func": lambda marker: marker or "(nothing)", "accept_new_options": True, "help": help}
    take, title = lambda stated: reread(missing_markers=sorted(stated)), "Codes that mean missing"
    fields.linked(_key(project, "markers"), markers, take, st.multiselect, title, sorted(markers), **look)


def _choice(
    project: Current, label: str, name: str, names: Mapping[str, str], reread: Reread, help: str | None = None, takes_others: bool = False
) -> None:
    """Draw a choice for one field of the format.

    Args:
        project: The open project, with the draft of one table.
        label: The label.
        name: The name of the field.
        names: The label of each value that can be chosen, by value.
        reread: Called with the changed field.
        help: The tooltip.
        takes_others: Whether another value can be typed.
    """
    now = project.draft["data"].get(name, next(iter(names)))
    look: dict[str, Any] = {"options": list(dict.fromkeys([*names, now])), "format_func": lambda o: names.get(o, o), "help": help}
    look |= {"accept_new_options": True} if takes_others else {}
    fields.linked(_key(project, name), now, lambda chosen: reread(**{name: chosen}), st.selectbox, label, **look)


HERE, _THIS_MACHINE = None, "This machine"
_HELP = "The release is the same either way. A cluster is for tables that take this machine too long."


def engine(project: Current) -> None:
    """Draw the choice of this machine or an engine of an extension, such as a Dask cluster, for counting.

    It is saved in the draft; another choice empties the entries of all engines. Nothing is drawn without engines,
    or if other people use the server, because it would trust their engines.

    Args:
        project: The open project, with a table that is a file.
    """
    engines = extension.engines()
    if not engines or not session.only_this_machine():
        return
    names: dict[str | None, str] = {HERE: _THIS_MACHINE, **{name: one.title for name, one in engines.items()}}
    with st.expander(f"Counted by {names[project.draft['data'].get('engine')].lower()}", icon=":material/memory:"):
        look: dict[str, Any] = {"kind": "segmented", "on_change": _forget_entries, "help": _HELP}
        chosen = fields.choice("Who counts it?", "data.engine", tuple(names), names, **look)
        if chosen is not HERE:
            extension.load(engines[chosen].settings)()


def _forget_entries() -> None:
    """Empty the entries of all engines, because each goes with its engine only."""
    for one in extension.engines().values():
        for entry in one.entries:
            if entry.name in session.current().draft["data"]:
                fields.store(f"data.{entry.name}", None)
