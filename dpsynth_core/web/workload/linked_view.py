"""What is measured of two linked tables, on the Workload page: tables of four kinds, in words. There is nothing to choose yet."""

from __future__ import annotations

from collections import Counter

import streamlit as st

from dpsynth_core.foundation.zones import Zone
from dpsynth_core.inference.households import ACROSS, CHILDREN, PARENTS, WITHIN, kinds
from dpsynth_core.vocabulary.link import Link
from dpsynth_core.web.shell import frame
from dpsynth_core.web.shell.text import literal

_HELP = (
    "A household, a row of the first table with its members, counts once in each table, divided evenly among its members, or among the "
    "ordered pairs of them: large households do not cost more than small ones."
)
KINDS = {
    PARENTS: ("Of households", "Two columns of the first table, or one with the number of members."),
    CHILDREN: ("Of members", "Two columns of the second table."),
    ACROSS: ("Across", "A column of the first table by one of a member."),
    WITHIN: ("Within", "A column of one member by one of another member of the same household."),
}
"""What pages call each kind of table, and what it is."""


def kinds_of_tables(link: Link) -> None:
    """Each kind with its number of tables."""
    number, first, second = Counter(kinds(link).values()), link.households.names[0], link.members.names[0]
    examples = {
        ACROSS: f"Such as {first} by {second}.",
        WITHIN: f"Such as {second} by {second} of another.",
    }
    with frame.card("What is measured of the two tables?", Zone.PUBLIC, _HELP):
        for kind, (title, what) in KINDS.items():
            if number[kind]:
                tables = f"{number[kind]:,} table{'s' * (number[kind] != 1)}"
                st.markdown(f"**{title}** · {tables}. {what} {literal(examples.get(kind, ''), 200)}")
        st.caption("All tables of two columns, so that there is nothing to choose. What is asked of three columns is the model's guess.")
