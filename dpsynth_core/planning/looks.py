"""Looks: what of the private table its curator was shown without noise before a plan was sealed.

Columns, values, settings or a mechanism that are chosen because of what was seen carry it into the release, and no budget counts that. So a
plan names the looks, and its release is branded with them, also where they changed nothing: that cannot be told afterwards.

A look is everything for the curator's eyes that is worked out from the records without noise, before the charge, and that a choice of
what is published could follow from. Not a look: how many lines cannot be read, and what the first bytes suggest about a file's format.
All that can follow from those is how the file is read, which is not published; and a promise about lines needs a person who knows that they
are read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Literal

Look = Literal["rows", "domain", "outside", "truth", "trials"]

LOOKS: Mapping[Look, str] = {
    "rows": "records of the table were shown",
    "domain": "columns and their values were read from the table",
    "outside": "it was shown which values of the table are not in the domain, and how many",
    "truth": "true values of the table were shown",
    "trials": "errors of trials on the table were worked out exactly",
}
"""What happened, as a clause."""

NOTHING = "nothing"
"""How a curator states on the command line that there was no look."""


def ordered(looks: Iterable[str]) -> tuple[Look, ...]:
    """Each of the looks once, in the order of `LOOKS`."""
    there = set(looks)
    return tuple(look for look in LOOKS if look in there)


def sentence(looks: Iterable[Look]) -> str:
    """What a reader is told of the looks at the table before a plan was sealed."""
    return (
        f"Choices may have been made after looking at the records: before this plan was sealed, {'; '.join(LOOKS[look] for look in looks)}."
        " No budget covers what was chosen because of that."
    )
