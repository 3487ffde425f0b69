"""Columns of the rows that say nothing of any record: a constant, and identifiers that are counted up."""

from __future__ import annotations

from dpsynth_core.vocabulary.kinds.kind import Form, Kind, Option

CONSTANT = Kind(
    "constant",
    "One value",
    "A column in which every row has the same value. It is not measured, costs nothing, and comes back in the rows.",
    Form.FILLED,
    ("value", "dtype"),
    options=(Option("value", "The value of every row", "From public knowledge: it is written as it stands here.", "2024"),),
)
IDENTIFIER = Kind(
    "identifier",
    "Identifier",
    "A column that tells people apart. The rows get new identifiers of the same shape, which depend on no record.",
    Form.FILLED,
    ("pattern",),
    options=(
        Option("pattern", "The first new one", "Its last number is counted up: P000001, P000002, … Choose one that nobody has.", "P000001"),
    ),
)
