"""Looks: what of the private table its curator was shown without noise before a plan was sealed.

Columns, values, settings or a mechanism that are chosen because of what was seen carry it into the release, and no budget counts that. So a
plan names the looks, and its release is branded with them, also where they changed nothing: that cannot be told afterwards.
One look is a note and no brand: the domain was compared with the records, and is still the same. Where the Domain page says unasked that no
value of a column is understood, it was compared.

A look is everything for the curator's eyes that is worked out from the records without noise, before the charge, and that a choice of
what is published could follow from. What the first records suggest about the file's format is one where the curator states it, for it
decides how every record is read. Not a look: how many lines cannot be read. A promise about lines needs a person who knows that they are
read.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Final, Literal

from dpsynth_core.foundation.errors import InputError

Look = Literal["rows", "domain", "form", "compared", "outside", "truth", "trials"]

COMPARED: Final = "compared"
CHANGED: Final = "outside"
"""The comparison of domain and records, where the domain was changed after it, or that is unknown."""

LOOKS: Mapping[Look, str] = {
    "rows": "records of the table were shown",
    "domain": "columns and their values were read from the table",
    "form": "the way its file is written was read from its first records",
    COMPARED: "its domain was compared with the records, and no column or value of it was changed after that",
    CHANGED: "it was shown which values of the table are not in the domain, and how many",
    "truth": "true values of the table were shown",
    "trials": "errors of trials on the table were worked out exactly",
}
"""Each look as a clause."""

NOTHING = "nothing"
"""A curator's statement that no look was taken."""


def stated(looked: Sequence[str] | None, field: str) -> list[str] | None:
    """Return the looks that a curator states, as the list for a spec; [] for the statement "nothing", None if nothing was stated.

    Unknown looks are not refused here.

    Args:
        looked: The stated looks, or None.
        field: Name of the field for error messages.

    Raises:
        InputError: "nothing" is stated together with a look.
    """
    if looked is not None and NOTHING in looked and len(looked) > 1:
        raise InputError(field, f"{NOTHING} and something else cannot both be", "state what you saw, or that it was nothing")
    return None if looked is None else [look for look in looked if look != NOTHING]


def ordered(looks: Iterable[str]) -> tuple[Look, ...]:
    """Return each look once, in the order of `LOOKS`; unknown ones are dropped.

    COMPARED (the domain was not changed after the comparison) is dropped if CHANGED is among the
    looks.
    """
    there = set(looks)
    there -= {COMPARED} if CHANGED in there else set()
    return tuple(look for look in LOOKS if look in there)


def is_brand(looks: Iterable[Look]) -> bool:
    """Return whether readers must be warned that the release may contain what was seen: any look but COMPARED."""
    return bool(set(looks) - {COMPARED})


def sentence(looks: Collection[Look]) -> str:
    """Return a sentence for readers of a release on what its curator saw of the table before the plan was sealed.

    Args:
        looks: The looks, at least one.
    """
    if not is_brand(looks):
        unknown = "Whether tables, budget or mechanism were chosen because of it is not known."
        return f"Before this plan was sealed, {LOOKS[COMPARED]}. {unknown}"
    return (
        f"Choices may have been made after looking at the records: before this plan was sealed, {'; '.join(LOOKS[look] for look in looks)}."
        " No budget covers what was chosen because of that."
    )
