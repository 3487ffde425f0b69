"""Sentences on values without a cell of their own, for the curator, the codebook and readers of the release.

By default every column has a cell for missing values and one for all values outside its list or bounds. A curator may state that such
values cannot occur, that numbers beyond the bounds count in the nearest group, or that values count in a named cell, with a reason. A wrong
statement changes the counts but stops no run, because a stopped run would reveal the record.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from dpsynth_core.vocabulary.attribute import Attribute


def outside_rule(attribute: Attribute) -> str:
    """Return sentences on what happens to empty values and to those outside the declared ones.

    For codes in groups a sentence on the groups comes first. For a column whose values are to be learnt, the
    result is only that they are, and what happens to rare values and to numbers beyond the bounds. Labels are
    unescaped.
    """
    if attribute.most:
        return "Its values are to be learnt. Those that too few people share go to 'other', numbers beyond the bounds to the nearest group."
    groups = "" if attribute.hierarchy is None else f"{attribute.hierarchy.in_words()} "
    return f"{groups}{_unlisted(attribute)} {_empty(attribute)}"


def folded(attributes: Iterable[Attribute]) -> tuple[str, ...]:
    """Return a sentence for each column whose values count as others because the curator chose it; () without such columns.

    It begins with the column's name; name and labels are unescaped. A column has two sentences if
    both empty and unlisted values do.
    """
    return tuple(
        f"{attribute.name}: {sentence}"
        for attribute in attributes
        for sentence in (
            *([_unlisted(attribute)] if attribute.nearest or attribute.other_as else []),
            *([_empty(attribute)] if attribute.missing_as else []),
        )
    )


def unlisted_as_listed(attributes: Iterable[Attribute]) -> dict[str, str]:
    """Return, by column, the label of the declared value as which unlisted or unreadable values count.

    Columns with a cell for such values, or that count them as missing, are left out, and so are coded columns and
    those whose values are to be learnt.
    """
    shared = (one for one in attributes if not one.is_coded and not one.most and one.code_for_unlisted < one.values)
    return {one.name: one.cell_labels()[one.code_for_unlisted] for one in shared}


def other_is_missing(attribute: Attribute) -> bool:
    """Return whether released rows show undeclared values as empty, like missing ones.

    They do in columns that are not text and have a cell for both.
    """
    return attribute.dtype != "string" and attribute.other_code is not None and attribute.missing_code is not None


def written(attribute: Attribute, code: int) -> str:
    """Return how rows write a cell, if that differs from the cell's label; "" if rows write the label.

    That is the value of a labelled category, `other_text` for the cell of other values in texts,
    and "empty" for any other cell behind the values.

    Args:
        attribute: The column.
        code: The cell's code, counted from 0.
    """
    if code < attribute.values:
        return attribute.categories[code] if attribute.labels else ""
    return attribute.other_text if code == attribute.other_code and attribute.dtype == "string" else "empty"


def _empty(attribute: Attribute) -> str:
    label = attribute.cell_labels()[attribute.code_for_missing]
    if attribute.missing_as is not None:
        return f"Empty values count as '{label}', by the curator's choice: {_full_stop(attribute.missing_as.why)}"
    if attribute.missing or attribute.other or attribute.is_coded:
        return f"Empty values go to '{label}'."
    return f"The domain states that no value is empty. An empty value would count as '{label}'."


def _unlisted(attribute: Attribute) -> str:
    if attribute.is_coded:
        return f"Codes below 0 count as 0, above {attribute.upper} as {attribute.upper}."
    label = attribute.cell_labels()[attribute.code_for_unlisted]
    beyond = f"below {_bound(attribute, attribute.lower)} or above {_bound(attribute, attribute.upper)}"
    unreadable = f"text that is not a {attribute.scale.noun}" if attribute.is_number else ""
    if attribute.other_as is not None:
        values = f"Values {beyond} and {unreadable}" if attribute.is_number else "Values not listed"
        return f"{values} count as '{label}', by the curator's choice: {_full_stop(attribute.other_as.why)}"
    if not attribute.is_number:
        if attribute.other:
            return f"Values not listed go to '{label}'."
        return f"The domain states that all values are listed. Another value would count as '{label}'."
    if attribute.other:
        return f"Values {beyond}, and {unreadable}, go to '{label}'."
    text = f"{unreadable[0].upper()}{unreadable[1:]} goes to '{label}'."
    if attribute.nearest:
        return f"Values {beyond} count in the nearest group, by the curator's choice. {text}"
    return f"The domain states that no value is {beyond}. Such a value would count in the nearest group. {text}"


def _bound(attribute: Attribute, bound: Any) -> str:
    return attribute.scale.text(attribute.scale.number(bound)) if attribute.is_number else ""


def _full_stop(why: str) -> str:
    return why if why.endswith((".", "!", "?")) else f"{why}."
