"""Part of the Domain page: do the records fit? What would count as something else, column by column, and a button for each mend.

Exact counts of private records: on this screen only, kept nowhere. A mend that takes values from the records makes the domain one that was
read from the data; one that says how the file is written does not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.foundation.errors import InputError
from dpsynth_core.foundation.reasons import is_reason
from dpsynth_core.foundation.zones import Zone
from dpsynth_core.sources.outside import ColumnFit
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table
from dpsynth_core.web.domain.domain_table import OWN, Row
from dpsynth_core.web.shell import curator, document, fields, frame, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current
from dpsynth_core.web.shell.text import code, literal, names

MOST = 0.5
"""A column with more of its values outside needs a word from the curator."""
FEWEST = 20
"""Rarer values are not offered to be added: they could point to a person."""
_SHOWN = 6
_CONFIRMED = "wizard.outside_is_right"
HELP = (
    "Reads the private records without noise, for this screen only. Correcting how labels are written, or how missing is written, gives "
    "nobody away; adding values that only the records could tell makes this a domain that was read from the data."
)

TakeRow = Callable[[str, dict[str, Any]], None]
AddValues = Callable[[str, Sequence[str]], None]


def section(here: Current, rows: Sequence[Row], take: TakeRow, add: AddValues) -> str:
    """The check. Runs by itself on tables that are read in no time. Returns why the page cannot be left yet, "" if it can."""
    if document.problem(here.draft, "domain") is not None:
        return ""
    simulated = project_table.is_simulated(here.draft)
    zone = Zone.PUBLIC if simulated else Zone.CURATOR
    with frame.card("Do the records fit this domain?", zone, HELP):
        small = simulated or project_table.is_small(here.draft)
        if not st.toggle("Compare every value with it", key=f"{here.project}:check_domain", value=small):
            st.caption("Reads the whole table once; nothing is charged. A label that is written differently would become “other”.")
            return ""
        try:
            if not simulated:
                curator.note("outside")
            with st.spinner("Reading the whole table …"):
                fits = project_table.outside_of(here.draft, document.domain(here.draft))
        except InputError as error:
            frame.refused(error)
            return ""
        with frame.watermark(fits.zone):
            return _columns(here, {row["column"]: row for row in rows}, fits.value, take, add)


def _columns(here: Current, rows: dict[str, Row], fits: Sequence[ColumnFit], take: TakeRow, add: AddValues) -> str:
    worth_telling = sorted((one for one in fits if one.outside or one.recoded), key=lambda one: -(one.recoded + one.outside))
    if not worth_telling:
        st.success("Every value has a cell of its own.", icon=":material/check_circle:")
        return ""
    if any(one.rows for one in fits) and not project_table.is_simulated(here.draft):
        st.caption(f":material/visibility_lock: {curator.WARNING}")
    for one in worth_telling:
        with st.container(border=True, key=f"fit_{[fit.column for fit in fits].index(one.column)}"):
            _column(here, rows[one.column], one, take, add)
    far_off = [one.column for one in worth_telling if one.share_outside > MOST]
    return _confirmation(far_off) if far_off else ""


def _column(here: Current, row: Row, one: ColumnFit, take: TakeRow, add: AddValues) -> None:
    st.markdown(f"{code(one.column)} {_in_words(one)}")
    with st.container(horizontal=True, gap="small"):
        mend = partial(_mend, here, one.column)
        if one.missing and one.missing_to:
            change = domain_table.treated("missing", OWN)
            mend("Give empty values a cell of their own", "missing", take, one.column, change)
        for value in one.placeholders:
            mend(f"{literal(value)} means missing", f"means_{value}", _means_missing, value)
        if one.outside and one.outside_to:
            mend("Set those outside aside", "aside", take, one.column, domain_table.treated("other", OWN))
        frequent = [value for value, count in one.values if count >= FEWEST and value not in one.placeholders]
        if row["kind"] in domain_table.LISTED and frequent:
            mend(f"Add {len(frequent)} values…" if len(frequent) > 1 else f"Add {literal(frequent[0])}…", "add", add, one.column, frequent)


def _mend(here: Current, column: str, label: str, what: str, do: Callable[..., None], *arguments: Any) -> None:
    st.button(label, key=f"{here.project}:mend:{column}:{what}", on_click=do, args=arguments)


def _in_words(one: ColumnFit) -> str:
    parts = []
    if one.missing and one.missing_to:
        parts.append(f":red[**{one.missing:,} empty values would count as {literal(one.missing_to)}.**]")
    if one.outside:
        share = f"{one.outside:,} values ({one.share_outside:.1%})"
        shown = ", ".join(f"{code(value, 30)} {count:,}" for value, count in one.values[:_SHOWN])
        more = f" and {len(one.values) - _SHOWN:,} other values" if len(one.values) > _SHOWN else ""
        fate = f":red[**{share} would count as {literal(one.outside_to)}**]" if one.outside_to else f"{share} go to “other”"
        parts.append(f"{fate}: {shown}{more}.")
    return " ".join(parts)


def _confirmation(far_off: list[str]) -> str:
    """Asks for a sentence about columns that are mostly outside; why the page cannot be left while there is none."""
    st.error(f"Most values of {names(far_off)} are not in the domain. Compare how they are written.", icon=":material/spellcheck:")
    said = fields.text("If that is right, say why", _CONFIRMED, placeholder="The register lists towns; we publish the five largest.")
    return "" if is_reason(said) else f"Most values of {names(far_off, 3)} are not in the domain: mend it, or say why that is right."


def _means_missing(value: str) -> None:
    """State that the file writes missing so."""

    def change(draft: Draft) -> None:
        draft["data"]["missing_markers"] = project_table.with_marker(draft, value)

    session.edit(change)
