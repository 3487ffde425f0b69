"""The checks of a bundle of rows from protected tables: that it says what it is, and that its rows follow from the tables in it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.bundle.remade import Remaking
from dpsynth_core.bundle.verdicts import Summary
from dpsynth_core.extensions.rows_from import document
from dpsynth_core.extensions.rows_from.fitting import Drawn, drawn
from dpsynth_core.extensions.rows_from.order import Order

_Made = tuple[Order, Drawn]

UNSEEN_IN_SHORT = "No check shows who made it, where its tables came from, or whether the giver's promise about them is true."
UNSEEN = (
    "These rows were made from protected tables and are not a release of this program: it gives no guarantee about the people who were "
    "counted. No check can show who made the bundle, where the tables in it came from, or whether the promise of their giver is true; "
    "that is the giver's word."
)


def _read(stated: Mapping[str, Any]) -> _Made:
    order = document.read_order(stated)
    return order, drawn(order)


def _size(made: _Made) -> str:
    order, _ = made
    return f"an order for {order.rows:,} rows of {len(order.domain.columns):,} columns from {len(order.tables):,} tables, with a promise"


def _summary(made: _Made) -> Summary:
    """Return what the bundle is, in this program's words and in its giver's."""
    order, rows = made
    statement = document.statement(order)
    facts = (
        ("Rows", f"{order.rows:,}"),
        ("People whom the tables count", f"{order.people:,.0f}"),
        ("Who made the tables", order.giver),
        ("What the giver promises", order.promise),
        ("Tables", "; ".join(map(str, order.tables))),
        ("Rows in another cell than a table says, at most", f"{max(rows.differences):.2%}"),
        ("Where the columns and their values came from", order.origin),
    )
    brief = (
        ("What it is", "rows from protected tables, without a guarantee of this program"),
        ("What the giver promises", f"{order.giver}: {order.promise}"),
        ("What was charged", "nothing: no table of records was opened"),
        facts[0],
    )
    return Summary((statement, *document.notes(order)), statement, facts, brief)


checking = Remaking[_Made](
    kind=document.KIND,
    what="rows from tables",
    document=document.DOCUMENT,
    read=_read,
    size=_size,
    to_json=lambda made: document.to_json(*made),
    writers=lambda made: document.writers(*made),
    summary=_summary,
    labelled="Does it say that it is not a release, and whose promise it has?",
    follows="Do the rows follow from the tables alone?",
    unseen=UNSEEN,
    unseen_in_short=UNSEEN_IN_SHORT,
).checking
"""The checks of a bundle of rows from protected tables (`Remaking.checking`)."""
