"""The rows of the Domain page in the draft: read as stored, and stored again with each change, together with the domain that they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.planning.origins import UNSTATED
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, zeros_table
from dpsynth_core.web.domain.domain_table import Row
from dpsynth_core.web.domain.zeros_table import Rule
from dpsynth_core.web.shell import curator, document, refusals, session
from dpsynth_core.web.shell.document import Draft
from dpsynth_core.web.shell.session import Current

Change = Callable[[list[Row]], list[Row]]

PLACE = "domain"
"""Where what is wrong with a whole domain is shown (`frame.refused_at`)."""
_LOADS = "_domain_loads"


def of(draft: Draft) -> list[Row]:
    """The rows as stored, fitted to the columns of the table."""
    stated = draft.get("domain_origin", UNSTATED)
    whole = {"origin": "" if stated == UNSTATED else stated}  # of rows that were kept without their own
    return domain_table.fitted([whole | row for row in draft["wizard"].get("rows", [])], document.columns(draft))


def prefill(here: Current) -> Current:
    """The simulated people come with their domain: it is public."""
    if "rows" not in here.draft["wizard"] and project_table.is_simulated(here.draft):
        save(lambda _: from_data(), "public")
    return session.current()


def save(change: Change, origin: str = "", rules: Callable[[], list[Rule]] | None = None) -> None:
    """Store changed rows, and the domain they mean if they are complete. origin: where the change came from, "" for what was typed.
    rules: new ones about what cannot occur."""

    def apply(draft: Draft) -> None:
        before = of(draft)
        rows = domain_table.with_origins(before, change(before), origin)
        complete = any(row["use"] for row in rows) and not domain_table.problems(rows)
        draft["wizard"]["rows"] = rows
        kept = zeros_table.rules_of(draft) if rules is None else rules()
        draft["domain"] = domain_table.domain_of(rows).to_json() if complete else None
        zeros_table.keep(draft, kept)
        draft["domain_origin"] = domain_table.origin_of(rows) or UNSTATED
        if origin:
            draft["domain_justification"] = ""

    session.edit(apply)


def load(change: Change, origin: str, rules: Callable[[], list[Rule]] | None = None) -> None:
    """Replace the whole domain, or keep what is wrong for the next run of the page. Closes the popover it came from."""
    st.session_state[_LOADS] = st.session_state.get(_LOADS, 0) + 1
    refusals.attempt(PLACE, partial(save, change, origin, rules))


def loader_key(kind: str) -> str:
    """Key of a loader; a new one after each load, so that the file is forgotten and the popover closes."""
    return f"{kind}_{st.session_state.get(_LOADS, 0)}"


def change_row(column: str, values: dict[str, Any]) -> None:
    """Store changed entries of the row of a column."""
    save(lambda rows: [row | values | {"note": ""} if row["column"] == column else row for row in rows])


def add_values(column: str, values: Sequence[str]) -> None:
    """Add values that the records hold: from then on the domain was read from the data."""

    def add(rows: list[Row]) -> list[Row]:
        return [domain_table.with_values(row, values) if row["column"] == column else row for row in rows]

    save(add, "data")


def from_data() -> list[Row]:
    """Rows as the draft's own table looks like: a look at private records, unless they are simulated."""
    draft = session.current().draft
    if not project_table.is_simulated(draft):
        curator.note("domain")
    return domain_table.from_guesses(project_table.look(draft).value)
