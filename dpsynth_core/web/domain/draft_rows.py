"""The rows of the Domain page in the draft: read as stored, and stored again with each change, together with the domain that they mean."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import streamlit as st

from dpsynth_core.planning.origins import UNSTATED
from dpsynth_core.vocabulary.domain import DATA
from dpsynth_core.web.data import project_table
from dpsynth_core.web.domain import domain_table, zeros_table
from dpsynth_core.web.domain.codebooks import Codebook
from dpsynth_core.web.domain.domain_table import Row
from dpsynth_core.web.domain.zeros_table import Rule
from dpsynth_core.web.shell import curator, document, plan_first, refusals, session
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
    stored = [whole | row for row in draft["wizard"].get("rows", [])]
    return domain_table.fitted(stored, document.columns(draft), declared(draft))


def declared(draft: Draft) -> list[dict[str, Any]]:
    """What the table's file says of its columns besides their names."""
    return list(draft["wizard"].get("declared", ()))


def prefill(here: Current) -> Current:
    """Fill in what is known without being said: the domain of the simulated people; of other columns, what their names promise."""
    if "rows" not in here.draft["wizard"] and project_table.is_simulated(here.draft):
        save(lambda _: domain_table.from_guesses(project_table.look(here.draft).value), "public")
    elif "rows" not in here.draft["wizard"] and document.problem(here.draft, "domain") is None:
        stated = document.domain(here.draft)
        save(lambda rows: domain_table.with_domain(rows, stated), here.draft.get("domain_origin", ""))
    elif {row["column"] for row in here.draft["wizard"].get("rows", [])} != set(document.columns(here.draft)):
        save(lambda rows: [_first(here.draft, row) for row in rows])
    return session.current()


def _first(draft: Draft, row: Row) -> Row:
    """A row when columns appear: what tells people apart is left out, and what a plan that came before the table does not name."""
    if row["column"] == draft["unit"]["person_column"]:
        return domain_table.left_out(row)
    there = plan_first.differences(draft)
    return domain_table.not_planned(row) if there and row["column"] in there.extra else row


def save(change: Change, origin: str = "", rules: Callable[[], list[Rule]] | None = None) -> None:
    """Store changed rows, and the domain they mean if they are complete. origin: where the change came from, "" for what was typed.
    rules: new ones about what cannot occur."""

    def apply(draft: Draft) -> None:
        before = of(draft)
        rows = domain_table.with_origins(before, change(before), origin)
        complete = any(row["use"] and not domain_table.is_filled(row) for row in rows) and not domain_table.problems(rows)
        draft["wizard"]["rows"] = rows
        kept = zeros_table.rules_of(draft) if rules is None else rules()
        draft["domain"] = domain_table.domain_of(rows).to_json() if complete else None
        zeros_table.keep(draft, kept)
        draft["domain_origin"] = domain_table.origin_of(rows) or UNSTATED
        if origin == DATA or draft["domain_origin"] != DATA:  # a reason is for what was read, and for nothing that is read later
            draft["domain_justification"] = ""

    session.edit(apply)


def load(change: Change, origin: str, rules: Callable[[], list[Rule]] | None = None) -> None:
    """Replace the whole domain, or keep what is wrong for the next run of the page. Closes the popover it came from."""
    st.session_state[_LOADS] = st.session_state.get(_LOADS, 0) + 1
    refusals.attempt(PLACE, partial(save, change, origin, rules))


def adopt(codebook: Codebook) -> None:
    """Take a codebook whose columns are the draft's own, with its rules."""
    save(codebook.fill, codebook.origin, lambda: codebook.rules)


def loader_key(kind: str) -> str:
    """Key of a loader; a new one after each load, so that the file is forgotten and the popover closes."""
    return f"{kind}_{st.session_state.get(_LOADS, 0)}"


def change_row(column: str, values: dict[str, Any], origin: str = "") -> None:
    """Store changed entries of the row of a column. origin: where they came from, "" for what was typed."""
    confirmed = {"note": "", "guessed": False, **values}
    save(lambda rows: [row | confirmed if row["column"] == column else row for row in rows], origin)


def change_option(column: str, field: str, text: str) -> None:
    """Store one option of the kind of a column, beside those that are stored."""
    options = next(row["options"] for row in of(session.current().draft) if row["column"] == column)
    change_row(column, {"options": options | {field: text}})


def add_values(column: str, values: Sequence[str]) -> None:
    """Add values that the records hold: from then on the domain was read from the data."""

    def add(rows: list[Row]) -> list[Row]:
        return [domain_table.with_values(row, values) if row["column"] == column else row for row in rows]

    save(add, DATA)


def read(column: str) -> None:
    """Take what a column of the draft's own table looks like: a look at private records."""

    def take(rows: list[Row]) -> list[Row]:
        curator.note("domain")
        return domain_table.with_guess(rows, project_table.look(session.current().draft, [column]).value, column)

    refusals.attempt(PLACE, partial(save, take, DATA))
