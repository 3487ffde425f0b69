"""The checks of a bundle of dummy rows: that it is one, and that its rows follow from its document alone, which are made again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.bundle.remade import Remaking
from dpsynth_core.bundle.verdicts import Summary
from dpsynth_core.extensions.dummy import document
from dpsynth_core.extensions.dummy.drawing import Drawn, drawn
from dpsynth_core.extensions.dummy.order import Order

_Made = tuple[Order, Drawn]

UNSEEN_IN_SHORT = "No check shows who made it, or where the codebook came from. These rows say nothing about people."
UNSEEN = (
    "These are dummy rows and no release: they carry no guarantee about a table, because none was opened. Relations in them are invented, "
    "so draw no conclusion from them. No check can show who made the bundle, or where the codebook and the published tables in it came "
    "from; they are its maker's word."
)


def _read(stated: Mapping[str, Any]) -> _Made:
    order = document.stated_order(stated)
    return order, drawn(order)


def _size(made: _Made) -> str:
    order, _ = made
    return f"an order for {order.rows:,} rows of {len(order.domain.columns):,} columns"


def _summary(found: _Made) -> Summary:
    """Return what the bundle is, in this program's words."""
    order, made = found
    statement = document.statement(order)
    number = f"{order.rows:,}" if made.members is None else f"{order.rows:,}, and {made.members.num_rows:,} of the second table"
    facts = (
        ("Rows", number),
        ("Columns", f"{len(order.row_domain.columns):,}"),
        ("Where the columns and their values came from", order.origin),
        ("Published tables", f"{len(order.domain.published):,}"),
    )
    brief = (("What it is", "dummy rows, to write code with"), ("What was charged", "nothing: no table of records was opened"), *facts[:1])
    return Summary((statement,), statement, facts, brief)


checking = Remaking[_Made](
    kind=document.KIND,
    what="dummy rows",
    document=document.DOCUMENT,
    read=_read,
    size=_size,
    to_json=lambda made: document.to_json(*made),
    writers=lambda made: document.writers(*made),
    summary=_summary,
    labelled="Does it say that it is not a release?",
    follows="Do the rows follow from the codebook alone?",
    unseen=UNSEEN,
    unseen_in_short=UNSEEN_IN_SHORT,
).checking
"""The checks of a bundle of dummy rows (`Remaking.checking`)."""
