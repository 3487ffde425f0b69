"""Codes with a hierarchy, such as ICD-10, NACE, ISCO, NUTS and postcodes.

A code counts as its first characters, or as the group that a table names for it. The rows of a release carry the groups.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dpsynth_core.foundation.errors import InputError, first_repeated, shown
from dpsynth_core.vocabulary.hierarchy import Hierarchy
from dpsynth_core.vocabulary.kinds.kind import Form, Kind, Option
from dpsynth_core.vocabulary.names import column_field

LONGEST = 40
"""Largest number of characters of a code that a level may keep."""
_EQUALS = "="


def hierarchy(name: str, level: Any = None, groups: Any = None, digits: Any = None) -> Hierarchy:
    """Return the grouping of codes that JSON or typed input states; spaces around its texts are removed.

    Args:
        name: Name of the column in errors.
        level: Number of first characters that count, from 1 to 40; None, "" or 0 if groups are stated.
        groups: The group of each beginning of codes, as an object or as lines such as "A = Infections", in which a
            tab may stand for the "=".
        digits: Number of digits of a whole code whose leading zeros may be lost, up to 40; None, "" or 0 for any length.

    Raises:
        InputError: Not exactly one of level and groups is stated, a number is invalid, a beginning or a group is empty,
            a beginning has two groups, or a group has the name of a beginning that belongs to another group.
    """
    table = tuple(_table(name, groups)) if groups else ()
    read = Hierarchy(_count(name, level, "level"), table, _count(name, digits, "digits"))
    if bool(read.level) == bool(read.groups):
        remedy = "state how many first characters count (level), or which beginning belongs to which group (groups)"
        raise InputError(column_field(name), "it needs a level or a table of groups, one of the two", remedy)
    if (repeated := first_repeated([beginning for beginning, _ in table])) is not None:
        raise InputError(column_field(name), f"the beginning {shown(repeated)} has two groups", "name it once")
    by_beginning = dict(table)
    if (unclear := next((group for group in read.names if by_beginning.get(group, group) != group), None)) is not None:
        problem = f"the group {shown(unclear)} is also the beginning of codes of another group"
        raise InputError(column_field(name), problem, "give it another name")
    return read


def of_kind(name: str, kind: Kind, stated: Mapping[str, Any]) -> Hierarchy | None:
    """Return the grouping of a column's codes, or None for a kind without groups.

    Args:
        name: Name of the column in errors.
        kind: Kind of the column.
        stated: The entries of the column, of which level, groups and digits count.

    Raises:
        InputError: The kind has groups, but they are missing or unclear.
    """
    return hierarchy(name, *(stated.get(field) for field in ("level", "groups", "digits"))) if kind.grouped else None


def _count(name: str, stated: Any, what: str) -> int:
    text = str("" if stated is None else stated).strip()
    if text and not (text.isascii() and text.isdigit() and int(text) <= LONGEST):
        raise InputError(column_field(name), f"its {what} is not a whole number up to {LONGEST}", "correct it, or leave it out")
    return int(text or 0)


def _table(name: str, groups: Any) -> list[tuple[str, str]]:
    if isinstance(groups, Mapping):
        pairs = [(str(beginning).strip(), group.strip() if isinstance(group, str) else "") for beginning, group in groups.items()]
    else:
        lines = [line.replace("\t", _EQUALS).partition(_EQUALS) for line in str(groups).splitlines() if line.strip()]
        pairs = [(beginning.strip(), group.strip()) for beginning, _, group in lines]
    if not all(beginning and group for beginning, group in pairs):
        raise InputError(column_field(name), "a beginning has no group, or a group no beginning", 'write "A = Infections" for each')
    return pairs


_LEVEL_HELP = "Letters and digits; signs between them are kept. ICD-10: 3, NUTS: 3 to 5."
_DIGITS_HELP = "Where leading zeros can be lost, as of postcodes: 5 makes 01067 of 1067."

HIERARCHICAL = Kind(
    "hierarchical",
    "Codes in groups",
    "Codes such as ICD-10, NACE, ISCO, NUTS or postcodes that count as their first characters, or as groups of a table.",
    Form.LISTED,
    ("level", "groups", "digits", "categories", "labels", "other", "missing"),
    ordered=False,
    learnable=True,
    grouped=True,
    options=(
        Option("level", "First characters that count", _LEVEL_HELP, "3", learnt=True),
        Option("groups", "Or a table of groups", "One line for each: how codes begin, and their group.", "A = Infections", lines=True),
        Option("digits", "Digits of a whole code", _DIGITS_HELP, "5", learnt=True),
    ),
)
