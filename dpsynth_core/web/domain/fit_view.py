"""Part of the Domain page: how the records fit the domain, with the misfits of each column and buttons that correct them.

The counts are exact counts of private records, for this screen only, and never stored. The release notes this look at the records, and
carries a warning if columns or values are changed afterwards. The counts show only when the curator asks for them. But the page needs a
decision: a misfit may be accepted, it is never overlooked. Unasked, the page names columns without a single understood value among the
first records, and shows no value: a run would spend its budget on nothing. A correction that takes values from the records makes the domain
one that was read from the data; a correction of the file format does not.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from itertools import chain
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.foundation.zones import Zone, Zoned, combine, public
from dpsynth_core.planning.private_views import COMPARED
from dpsynth_core.sources.characters import CASE, LOOK
from dpsynth_core.sources.detect_notation import Marks, other_marks
from dpsynth_core.sources.first_records import Remark
from dpsynth_core.sources.formats import TableFormat
from dpsynth_core.sources.look_alikes import listed_as
from dpsynth_core.sources.outside import ColumnFit
from dpsynth_core.sources.spelling import DECIMALS, THOUSANDS, example
from dpsynth_core.store import balance, runs
from dpsynth_core.vocabulary.domain import LEARNT
from dpsynth_core.vocabulary.recoding import other_is_missing
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import draft_rows
from dpsynth_core.web.domain.column_draft import ColumnDraft
from dpsynth_core.web.shell import curator, document, fields, frame, session, steps
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import capital, code, literal, names

MOST = 0.5
"""A column with a larger share of its values outside needs a reason from the curator."""
FEWEST = 20
"""Rarer values are not offered to be added: they could point to a person."""
_SHOWN = 6
_NUMBERS = ("integer", "numeric")
_ALIKE = {LOOK: "looks the same", CASE: "has the same letters"}
_CONFIRMED = "wizard.outside_is_right"
_KNOWN = "wizard.not_understood_is_right"
_GO_ON = "I know. Go on with these columns."
_LOOKED = "first_records"
"""Session key of the remarks on these tables with these domains, so that the tables are read once."""
_DECISION, _MADE, _DECLINED = "wizard.comparison", "made", "declined"
_BUTTON = "compare"
_TITLE = "Do the records fit this domain?"
_OFFER = "Without a comparison, a label that the file spells differently counts as “other”."
LOST = (
    "The rows leave these values empty, so they count as missing there, and every table of this column is off by as many people. List "
    "them or widen the bounds; if they are codes for missing, say so on the Data page."
)
_LEARNT = "These values were learnt from the records, and noisy counts say how many people have others. You need no comparison."
_LEARNT_BEFORE = (
    "The domain says that its values were learnt, and the ledger has an earlier release of these people. Whether that release learnt them, "
    "and how many people have others, was not checked: compare the records where you are not sure."
)
_NOT_LEARNT = "The domain says that its values were learnt, but the ledger has no release of these people. "
_WITHOUT = "You decided not to compare them: a label that the file spells differently counts as “other”. The results show how many."
HELP = (
    "This counts, without noise and for this screen only, the values without a place in the domain. A click mends each. If you correct "
    "how labels or missing values are written, you give nobody away; if you add values that only the records could tell, the domain "
    "counts as read from the data. The release notes that you looked, and warns if you change columns or values afterwards."
)

Comparison = Zoned[tuple[ColumnFit, ...]] | InputError | None
"""The fit of every column, or why the table could not be read; None if nothing was compared."""


def compared(project: Current) -> Comparison:
    """Return how every column's records fit the domain, in the domain's order; None if nothing is compared.

    The counts are exact and curator-only, unless the people are simulated. A private table is only read if
    the curator decided to compare, and one of more than 20 MB only when the button was pressed just now. The look
    is recorded. An InputError is returned, not raised, if the table cannot be read.
    """
    if document.problem(project.draft, "domain") is not None or "data" not in project.draft:
        return None
    simulated = project_table.is_simulated(project.draft)
    small = all(map(project_table.is_small, document.tables(project.draft)))
    is_asked_for = fields.value(_DECISION) == _MADE and (st.session_state.get(_BUTTON) or small)
    if not simulated and not is_asked_for:
        return None
    try:
        if not simulated:
            curator.note(COMPARED)
        with st.spinner("Reading the whole table …"):
            there = zip(document.tables(project.draft), document.read_domains(project.draft), strict=True)
            found = [project_table.outside_of(table, domain) for table, domain in there]
            return combine(lambda *fits: tuple(chain.from_iterable(fits)), *found)
    except InputError as error:
        return error


def remarks(comparison: Comparison) -> Zoned[Mapping[str, str]]:
    """Return a remark on each misfitting column by name, for the list of columns, with the comparison's zone.

    It counts, as Markdown, the values outside the domain, empty values without a cell of their own, and values that
    would be rounded. The mapping is empty and public if nothing was compared or the table could not be read.
    """
    if comparison is None or isinstance(comparison, InputError):
        return public({})
    told = {}
    for one in comparison.value:
        if one.outside or one.recoded or one.rounded:
            empty = [f"{one.missing:,} empty"] if one.missing and one.missing_to else []
            beyond = [f"{one.outside:,} outside"] if one.outside else []
            counts = " · ".join([*empty, *beyond, *([f"{one.rounded:,} rounded"] if one.rounded else [])])
            told[one.column] = f":red[**{counts}**]" if one.recoded else counts
    return Zoned(comparison.zone, told)


def section(project: Current, rows: Sequence[ColumnDraft], comparison: Comparison) -> str:
    """Draw the comparison of records and domain, or the decision whether to compare.

    The decision is stored in the draft. The button that declines also opens the next page; nothing after the call
    runs then. Before a comparison, the first 1,000 records of a private table are read unasked: columns
    without a single understood value are named, which is recorded as a look. Nothing is drawn without a table or a
    complete domain.

    Args:
        project: The open project.
        rows: The columns.
        comparison: The result of `compared`.

    Returns:
        The reason why the page cannot be left yet; "" if it can, also while the domain is not complete.
    """
    if document.problem(project.draft, "domain") is not None or "data" not in project.draft:
        return ""
    if project_table.is_simulated(project.draft):
        with frame.card(_TITLE, Zone.PUBLIC):
            return _shown(project, rows, comparison)
    with frame.card(_TITLE, Zone.CURATOR, HELP):
        decision = fields.value(_DECISION)
        said = _all_learnt(rows)
        known = said and project.draft.get("population") in balance.populations()
        if decision is None and known:
            st.caption(_LEARNT if _learnt_here(project, rows) else _LEARNT_BEFORE)
            st.button("Compare them all the same", key=_BUTTON, icon=":material/rule:", on_click=fields.store, args=(_DECISION, _MADE))
            return ""
        if decision != _MADE:
            unknown = _not_understood(project)
            st.caption(_WITHOUT if decision == _DECLINED else f"{_NOT_LEARNT if said and not known else ''}{_OFFER}")
        with st.container(horizontal=True, gap="small"):
            label, look = ("Compare again", "secondary") if decision == _MADE else ("Compare them now", "primary")
            st.button(label, key=_BUTTON, icon=":material/rule:", type=look, on_click=fields.store, args=(_DECISION, _MADE))
            if decision is None and st.button("Go on without", key="no_comparison"):
                _go_on(unknown)
        if decision != _MADE:
            return unknown if decision == _DECLINED else "Compare the records, or go on without."
        return _shown(project, rows, comparison)


def _go_on(unknown: str) -> None:
    """Store that nothing is compared, and open the next page; this page again if it cannot be left yet (`unknown`)."""
    fields.store(_DECISION, _DECLINED)
    following = steps.after("domain")
    if following is not None and not unknown:
        frame.forward("domain", following)
    st.rerun()


def _all_learnt(rows: Sequence[ColumnDraft]) -> bool:
    """Return whether the domain says of every column that its values were learnt."""
    return all(row.origin == LEARNT and not row.most for row in rows if row.use and not row.is_filled)


def _learnt_here(project: Current, rows: Sequence[ColumnDraft]) -> bool:
    """Return whether runs of this project about these people learnt all columns, and counted how many people have other values."""
    done = [run for run in runs.list(project.owner, project.id) if run.only_learns and run.state == "done"]
    own = [run.spec.domain["attributes"] for run in done if run.population == project.draft.get("population")]
    learnt = {one["name"] for attributes in own for one in attributes}
    return learnt >= {row.name for row in rows if row.use and not row.is_filled}


def _not_understood(project: Current) -> str:
    """Draw the columns of whose first values none is understood, without being asked.

    Returns:
        The reason why the page cannot be left yet; "" if it can.
    """
    there = list(zip(document.tables(project.draft), document.read_domains(project.draft), strict=True))
    key = json.dumps([[project.id, table["data"], domain.to_json()] for table, domain in there], sort_keys=True, default=str)
    if st.session_state.get(_LOOKED, ("", ()))[0] != key:
        try:
            found = [one for table, domain in there for one in project_table.not_understood(table, domain).value]
        except InputError:  # which comparing will say
            found = []
        st.session_state[_LOOKED] = key, tuple(one for one in found if one.is_nothing)
    remarks: tuple[Remark, ...] = st.session_state[_LOOKED][1]
    if not remarks:
        return ""
    curator.note(COMPARED)
    for one in remarks:
        st.error(literal(capital(one.found)), icon=":material/spellcheck:")
    nothing = [one.column for one in remarks]
    is_known = fields.value(_KNOWN) == nothing
    if fields.linked("not_understood", is_known, lambda on: fields.store(_KNOWN, nothing if on else []), st.checkbox, _GO_ON):
        return ""
    return f"No value of {names(nothing, 3)} is understood: correct the column, or tick that you know."


def _shown(project: Current, rows: Sequence[ColumnDraft], comparison: Comparison) -> str:
    if comparison is None:
        st.caption("The table is read when you press the button.")
        return ""
    if isinstance(comparison, InputError):
        frame.refused(comparison)
        return ""
    with frame.watermark(comparison.zone, "fit"):
        return _columns(project, {draft.name: draft for draft in rows}, comparison.value)


def _columns(project: Current, rows: dict[str, ColumnDraft], fits: Sequence[ColumnFit]) -> str:
    """Draw each column with values that have no cell of their own, the worst first.

    Args:
        project: The open project.
        rows: The columns of the page by name.
        fits: How each column's records fit.

    Returns:
        The reason why the page cannot be left yet, "" if it can: columns with most values outside
        the domain need the curator's explanation.
    """
    worth_telling = sorted((one for one in fits if one.outside or one.recoded or one.rounded), key=lambda one: -(one.recoded + one.outside))
    if not worth_telling:
        st.success("Every value has a cell of its own.", icon=":material/check_circle:")
        return ""
    if any(one.rows for one in fits) and not project_table.is_simulated(project.draft):
        st.caption(f":material/visibility_lock: {curator.WARNING}")
    for one in worth_telling:
        with st.container(border=True, key=f"fit_{[fit.column for fit in fits].index(one.column)}"):
            _column(project, rows[one.column], one)
    if not (far_off := [one.column for one in worth_telling if one.share_outside > MOST]):
        return ""
    st.error(f"Most values of {names(far_off)} are not in the domain. Compare how both write them.", icon=":material/spellcheck:")
    reason = fields.text("If that is right, say why", _CONFIRMED, placeholder="The register lists towns; we publish the five largest.")
    return "" if is_reason(reason) else f"Most values of {names(far_off, 3)} are not in the domain: correct it, or say why that is right."


def _column(project: Current, draft: ColumnDraft, one: ColumnFit) -> None:
    declared, form = draft.attribute(), TableFormat.of(document.every_column(project.draft)[one.column]["data"])
    is_bounded = declared.kind in _NUMBERS and not declared.most
    spelled = other_marks(one.values, declared.lower, declared.upper, form.notation) if is_bounded and one.values else None
    same, alike = listed_as((value for value, _ in one.values), declared.categories if declared.is_listed else ())
    st.markdown(f"{code(one.column)} {_in_words(one, other_is_missing(declared) and not spelled)}")
    if spelled:
        st.markdown(f":orange[:material/help:] {_differently(spelled, (form.decimal, form.thousands))}")
    if alike:
        text, category = next(iter(alike.items()))
        st.markdown(f":orange[:material/help:] {code(text, 30)} {_ALIKE[same]} as the listed {code(category, 30)}.")
    with st.container(horizontal=True, gap="small"):

        def mend(label: str, what: str, do: Callable[..., object], *arguments: Any) -> None:
            st.button(label, key=f"{project.id}:mend:{one.column}:{what}", on_click=do, args=arguments)

        if spelled:
            mend("Read it this way", "marks", _read_so, one.column, {"decimal": spelled[0], "thousands": spelled[1]})
        if alike:
            mend("Treat such texts as the same", "same", _read_so, one.column, {"same_text": same})
        if one.rounded:
            mend("Keep the decimals", "decimals", draft_rows.change_column, one.column, {"kind": "numeric"})
        if one.missing and one.missing_to:
            mend("Give empty values a cell of their own", "missing", draft_rows.change_column, one.column, {"missing": True})
        for value in one.placeholders:
            mend(f"{literal(value)} means missing", f"means_{value}", _means_missing, one.column, value)
        if one.outside and one.outside_to:
            mend("Count values outside as “other”", "aside", draft_rows.change_column, one.column, {"other": True})
        frequent = [value for value, count in one.values if count >= FEWEST and value not in (*one.placeholders, *alike)]
        if draft.is_listed and frequent:
            label = f"Add {len(frequent)} values…" if len(frequent) > 1 else f"Add {literal(frequent[0])}…"
            mend(label, "add", draft_rows.add_values, one.column, frequent)


def _in_words(one: ColumnFit, lost: bool) -> str:
    """Return how many values of a column have no cell of their own, and how they count, as Markdown.

    Args:
        one: How the column's records fit.
        lost: Whether rows show values outside the domain as missing.
    """
    parts = []
    if one.missing and one.missing_to:
        parts.append(f":red[**{one.missing:,} empty values would count as {literal(one.missing_to)}.**]")
    if one.outside:
        noun, go = ("value", "goes") if one.outside == 1 else ("values", "go")
        share = f"{one.outside:,} {noun} ({one.share_outside:.1%})"
        shown = ", ".join(f"{code(value, 30)} ({count:,} ×)" for value, count in one.values[:_SHOWN])
        more = f" and {len(one.values) - _SHOWN:,} other values" if len(one.values) > _SHOWN else ""
        fate = f":red[**{share} would count as {literal(one.outside_to)}**]" if one.outside_to else f"{share} {go} to “other”"
        parts.append(f"{fate}: {shown}{more}." if one.values else f"{fate}.")
        if lost:
            parts.append(f":orange[{LOST}]")
    if one.rounded:
        noun = "value has" if one.rounded == 1 else "values have"
        parts.append(f"{one.rounded:,} {noun} decimals and would be rounded to whole numbers.")
    return " ".join(parts)


def _differently(spelled: Marks, now: Marks) -> str:
    if spelled[0] != now[0]:
        theirs, ours = f"a decimal {DECIMALS[spelled[0]]}", f"a decimal {DECIMALS[now[0]]}"
    else:
        theirs, ours = (f"{THOUSANDS[mark] if mark else 'nothing'} between thousands" for mark in (spelled[1], now[1]))
    examples = code(example(*spelled)), code(example(*now))
    return f"The values look like numbers with {theirs}, as in {examples[0]}; the file is read with {ours}, as in {examples[1]}."


def _read_so(column: str, stated: Mapping[str, str]) -> None:
    session.edit(lambda draft: project_table.state(document.every_column(draft)[column], stated))


@session.edits
def _means_missing(draft: Draft, column: str, value: str) -> None:
    section = document.every_column(draft)[column]["data"]
    section["missing_markers"] = sorted({*TableFormat.of(section).notation.missing_markers, value})
